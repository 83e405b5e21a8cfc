package store

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// prepared are the statements that the server keeps parsed and planned for a connection. A process that runs the same ones again and again
// saves it most of its work so; a command that runs each once or twice never gets there.
type prepared struct {
	conn   *pgconn.PgConn       // whose they are
	pooled bool                 // a pooler stands between, and the next transaction may have another session: nothing is prepared
	known  map[string]*repeated // by their texts
	names  int
}

// repeated is a statement that a connection has run.
type repeated struct {
	uses  int
	name  string   // empty until it is prepared
	types []uint32 // of its arguments, as it was prepared
}

// often is how often a connection has run a statement before it is prepared.
const often = 3

// nameOf returns the name of a statement that is prepared, empty for one that isn't. It prepares what has been run often.
func (p *postgresDB) nameOf(ctx context.Context, q queued) (string, error) {
	if p.conn.TxStatus() != 'T' {
		return "", nil // the settings of the transaction aren't there yet, which say where tables are
	}
	s := &p.prepared
	if s.conn != p.conn {
		*s = prepared{conn: p.conn, known: map[string]*repeated{}}
	}
	is := s.known[q.text]
	if is == nil {
		is = &repeated{}
		s.known[q.text] = is
	}
	if is.name != "" {
		if slices.Equal(is.types, q.args.types) {
			return is.name, nil
		}
		return "", nil
	}
	if is.uses++; is.uses <= often || s.pooled {
		return "", nil
	}
	if s.names == 0 {
		if pooled, err := isPooled(ctx, p.conn); err != nil || pooled {
			s.pooled = pooled
			return "", err
		}
	}
	s.names++
	name := "s" + strconv.Itoa(s.names)
	if _, err := p.conn.Prepare(ctx, name, q.text, q.args.types); err != nil {
		return "", err
	}
	is.name, is.types = name, q.args.types
	return name, nil
}

// isPooled reports whether a pooler stands between: it tells another process id than that of the session.
func isPooled(ctx context.Context, conn *pgconn.PgConn) (bool, error) {
	results, err := conn.Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return false, err
	}
	pid, err := strconv.ParseUint(string(results[0].Rows[0][0]), 10, 32)
	return uint32(pid) != conn.PID(), err
}
