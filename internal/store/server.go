package store

import (
	"context"

	"talkingstick/internal/store/postgres"
	"talkingstick/stick"
)

// Server asks the server about itself. It returns nil for a database without one.
func (db *DB) Server(ctx context.Context) (*postgres.Server, error) {
	p, ok := db.dialect.(*postgres.DB)
	if !ok {
		return nil, nil
	}

	s := p.NewServer()
	err := db.View(ctx, func(*Tx) error { return p.FillServer(s) })
	if err != nil {
		return nil, err
	}

	s.Delivers, err = p.DeliversNotices(ctx)
	return s, p.CodeError(err)
}

// NameOf says which server and database an address means, without its secrets. It fails with
// [stick.CodeUsage].
func NameOf(address string) (stick.Words, error) {
	a, err := postgres.ParseAddress(address)
	if err != nil {
		return "", err
	}
	return a.Words(), nil
}

// DumpLine is how pg_dump or pg_restore, as program says, is run for the database at an address, without its
// password. It fails with [stick.CodeUsage].
func DumpLine(address, program string) (stick.Words, error) {
	a, err := postgres.ParseAddress(address)
	if err != nil {
		return "", err
	}

	return a.DumpLine(program).Words(), nil
}
