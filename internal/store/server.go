package store

import (
	"context"
	"time"

	"talkingstick/stick"
)

// Server is what there is to know about the server of a database, for who looks after it.
type Server struct {
	Name    string // where it is, without secrets
	Schema  string // that has the tables of tt
	Version int    // the major version
	Role    string // that tt has there
	Super   bool   // the role may do anything

	Clock       time.Duration // how far the server's clock is ahead of this host's
	Used, Most  int           // connections
	Longest     time.Duration // of the transactions that are open in the database; 0 for none
	LongestPID  int           // its process on the server
	Dead, Live  int64         // rows of tt's tables, as the server reckons
	SinceVacuum time.Duration // since the table of rooms was last vacuumed; negative for never

	Delivers bool // notices reach who listens; a pooler that gives each transaction another session breaks that
}

// Server asks the server about itself. It returns nil for a database without one.
func (db *DB) Server(ctx context.Context) (*Server, error) {
	p, ok := db.dialect.(*postgresDB)
	if !ok {
		return nil, nil
	}

	s := &Server{Name: p.address.String(), Schema: p.address.schema}
	err := db.View(ctx, func(*Tx) error { return p.fillServer(s) })
	if err != nil {
		return nil, err
	}

	s.Delivers, err = p.deliversNotices(ctx)
	return s, p.codeError(err)
}

// NameOf says which server and database an address means, without its secrets. It fails with
// [stick.CodeUsage].
func NameOf(address string) (stick.Words, error) {
	a, err := parseAddress(address)
	if err != nil {
		return "", err
	}
	return a.Words(), nil
}
