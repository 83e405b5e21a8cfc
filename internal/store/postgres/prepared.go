package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// prepared are the statements that the server keeps parsed and planned for a connection. A process that runs
// the same ones again and again saves it most of its work so; a command that runs each once or twice never
// gets there.
type prepared struct {
	conn   *pgconn.PgConn       // whose they are
	pooled bool                 // a pooler stands between: the next transaction may have another session
	own    string               // the host in the settings that the session keeps; empty if it keeps none
	known  map[string]*repeated // by their texts
	names  int
}

// repeated is a statement that a connection has run.
type repeated struct {
	uses  int
	name  string   // empty until it is prepared
	types []uint32 // of its arguments, as it was prepared
}

// prepareAfter is how often a connection has run a statement before it is prepared. A wait never gets there:
// it is woken once, and has no time then.
const prepareAfter = 20

// preparedStmts is what is known of the connection.
func (p *DB) preparedStmts() *prepared {
	// Statements are prepared in a session, and end with it.
	if p.prepared.conn != p.conn {
		p.prepared = prepared{conn: p.conn, known: map[string]*repeated{}}
	}
	return &p.prepared
}

// settingsQuery is the statement that says where tables are, how long the server waits, and which host asks:
// for the transaction, or for the session. Through a pooler the next transaction of the session may be
// another program's.
func (p *DB) settingsQuery(transaction bool) (text string, args []any) {
	ms := func(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }
	for _, s := range [][2]string{
		{"search_path", p.address.quotedSchema()},
		{"lock_timeout", ms(p.waits.lock)},
		{"statement_timeout", ms(p.waits.statement)},
		{"idle_in_transaction_session_timeout", ms(idleInTransaction)},
		{"talkingstick.host", p.hostID},
	} {
		args = append(args, s[1])
		text += fmt.Sprintf(", set_config('%s', $%d, %t)", s[0], len(args), transaction)
	}

	return "SELECT " + strings.TrimPrefix(text, ", "), args
}

// keepSettings gives the session its settings, once it is known that no pooler stands between. A transaction
// then begins without setting them, and its first statements are prepared, too.
func (p *DB) keepSettings(ctx context.Context) error {
	s := p.preparedStmts()
	if s.names == 0 || s.own == p.hostID {
		return nil
	}

	s.own = ""
	text, args := p.settingsQuery(false)
	if err := p.queueQuery(nil, text, args...); err != nil {
		return err
	}
	if _, err := p.sendQueued(ctx); err != nil {
		return err
	}

	s.own = p.hostID
	return nil
}

// preparedName returns the name of a statement that is prepared, empty for one that isn't. It prepares what
// has been run often.
func (p *DB) preparedName(ctx context.Context, q queued) (string, error) {
	s := p.preparedStmts()
	if p.conn.TxStatus() != 'T' && s.own == "" {
		return "", nil // the settings of the transaction aren't there yet, which say where tables are
	}

	is := s.known[q.text]
	if is == nil {
		is = &repeated{}
		s.known[q.text] = is
	}

	if is.name != "" {
		// Another call may give a value of another type.
		if slices.Equal(is.types, q.args.types) {
			return is.name, nil
		}
		return "", nil
	}

	if is.uses++; is.uses <= prepareAfter || s.pooled {
		return "", nil
	}

	if s.names == 0 {
		// Each connection is asked once, before its first statement is prepared.
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
