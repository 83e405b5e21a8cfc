package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// nameInUse names the server that is connected, of several that the address has. After a failover that isn't
// the first one.
func (p *DB) nameInUse() string {
	hosts := p.address.hostNames()
	if len(hosts) == 1 || p.conn == nil {
		return p.address.String()
	}
	return fmt.Sprintf("PostgreSQL at %s, of %s, database %s", p.conn.Conn().RemoteAddr(), strings.Join(hosts, " and "), p.address.config.Database)
}

// NewServer says which server it is.
func (p *DB) NewServer() *Server {
	return &Server{Name: p.address.String(), Schema: p.address.schema}
}

// FillServer fills in what the server tells of itself, in the transaction that is open.
func (p *DB) FillServer(s *Server) error {
	askedAt := time.Now()
	rows, err := p.queryRows(`SELECT current_setting('server_version_num')::integer / 10000, current_user,
		(SELECT rolsuper FROM pg_roles WHERE rolname = current_user)::integer,
		` + clockExpr + `,
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
		current_setting('max_connections')::integer`)
	if err != nil {
		return err
	}

	var super int
	var now stick.Time
	if err := pgScan(rows[0], []any{&s.Version, &s.Role, &super, &now, &s.Used, &s.Most}); err != nil {
		return err
	}

	s.Super = super != 0
	s.Name = p.nameInUse()

	// The server has read its clock somewhere in between.
	middle := askedAt.Add(time.Since(askedAt) / 2)
	s.Clock = now.Sub(stick.At(middle))
	if err := p.fillTransactions(s); err != nil {
		return err
	}

	return p.fillTables(s)
}

// fillTransactions finds the oldest transaction of the database, other than this one. Rows that it may still
// see can't be removed.
func (p *DB) fillTransactions(s *Server) error {
	rows, err := p.queryRows(`SELECT pid, floor(extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint
		FROM pg_stat_activity
		WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
		ORDER BY xact_start LIMIT 1`)
	if err != nil {
		return err
	}

	return eachRow(rows, func(scan dialect.RowScan) error {
		var ms int64
		err := scan(&s.LongestPID, &ms)
		s.Longest = time.Duration(ms) * time.Millisecond
		return err
	})
}

func (p *DB) fillTables(s *Server) error {
	rows, err := p.queryRows(`SELECT COALESCE(sum(n_dead_tup), 0)::bigint, COALESCE(sum(n_live_tup), 0)::bigint,
		COALESCE(floor(extract(epoch FROM clock_timestamp()
			- max(greatest(last_vacuum, last_autovacuum)) FILTER (WHERE relname = 'rooms')) * 1000)::bigint, -1)
		FROM pg_stat_user_tables WHERE schemaname = $1`, p.address.schema)
	if err != nil {
		return err
	}

	var ms int64
	err = pgScan(rows[0], []any{&s.Dead, &s.Live, &ms})
	s.SinceVacuum = time.Duration(ms) * time.Millisecond
	return err
}

// DeliversNotices reports whether a notice reaches who listens, as the witness gets them: from another
// connection.
func (p *DB) DeliversNotices(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, p.waits.connect)
	defer cancel()

	heard := false

	// The listener is a connection of its own, as that of a witness is.
	config := p.address.config.Copy()
	config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { heard = true }
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer p.hangUp(conn)

	channel := `"` + p.opt.NewID() + `"`
	if _, err := conn.Exec(ctx, "LISTEN "+channel).ReadAll(); err != nil {
		return false, err
	}
	if err := p.execApart(ctx, "NOTIFY "+channel); err != nil {
		return false, err
	}

	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()

	// It fails when none comes.
	_ = conn.WaitForNotification(soon)
	return heard, nil
}

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
