package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// errNotText is why a text isn't stored that PostgreSQL doesn't take for one.
var errNotText = errors.New("a text with a zero byte can't be stored")

// sqlState is the code that PostgreSQL gave an error, empty if the error isn't PostgreSQL's.
func sqlState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// isAnswer reports whether the server has answered with an error and goes on. It ends the connection with
// other errors, so they say nothing sure about a COMMIT.
func isAnswer(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.SeverityUnlocalized == "ERROR"
}

// isLost reports whether there is no server to talk to at the moment, so that another attempt may find one.
func isLost(err error) bool {
	if err == nil || isTLS(err) || isForbidden(err) || errors.Is(err, errNotText) {
		return false
	}

	switch state := sqlState(err); {
	case state == "":
		_, connecting := errors.AsType[*pgconn.ConnectError](err)
		_, network := errors.AsType[net.Error](err)
		return connecting || network || errors.Is(err, pgconn.ErrConnClosed) || isEOF(err)
	case strings.HasPrefix(state, "08"), strings.HasPrefix(state, "57P"):
		return true
	default:
		return state == "25P03" || state == "53300" // idle for too long, as a stopped process is; too many connections
	}
}

// isForbidden reports whether the system doesn't let this process connect to anything, as in a sandbox.
func isForbidden(err error) bool { return errors.Is(err, syscall.EPERM) }

// isTLS reports whether the server and we don't agree on TLS.
func isTLS(err error) bool {
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)

	return verify || record || alert || name || authority || invalid || refusesTLS(err)
}

// runsAgain reports whether an attempt may succeed if it is made again.
func runsAgain(err error) bool {
	if state := sqlState(err); state == "40001" || state == "40P01" || isDuplicate(err) {
		return true // another transaction was in the way
	}

	code := stick.CodeOf(err)
	return errors.Is(err, errLost) || code == stick.CodeDatabaseUnavailable && isLost(err)
}

// isLocked reports whether others kept a lock for too long.
func isLocked(err error) bool {
	state := sqlState(err)
	return state == "55P03" || state == "57014"
}

// isDuplicate reports whether there is such a row already. Perhaps another transaction has made it at the
// same moment; then this one finds it when it runs again.
func isDuplicate(err error) bool { return sqlState(err) == "23505" }

// CodeError gives the failures of PostgreSQL their codes, by number. No message of it holds a password:
// addresses print without.
func (p *DB) CodeError(err error) error {
	// What has its code already keeps it.
	if _, ok := errors.AsType[*stick.Error](err); ok || err == nil || err == dialect.ErrAbsent {
		return err
	}

	// The driver's error for this names a deadline or a closed connection.
	if p.ctx.Err() == context.Canceled {
		return context.Canceled
	}

	code, message, hint := p.explainError(err)

	// A missing table may have other reasons, which only another connection can find out.
	if code == stick.CodeDatabaseMoved {
		switch allowed, there := p.findTables(); {
		case !allowed:
			code, message, hint = p.explainError(errNoRights)
		case there:
			code, message, hint = explainRest(err, p.address.Words())
		}
	}

	if code == "" {
		return err
	}

	e := stick.Errorf(code, "%s: %s", message, errorLine(err)).Hintf("%s", hint)
	e.Err = err
	return e
}

// errNoRights is why a role finds no tables that are there.
var errNoRights = &pgconn.PgError{Code: "42501", Message: "permission denied for schema"}

// findTables looks for the reason why a table isn't found. allowed is false if the schema is there and the
// role may not use it: a search for tables leaves such a schema out. there is true if the first table is
// where it was.
func (p *DB) findTables() (allowed, there bool) {
	ctx, cancel := context.WithTimeout(background, p.waits.connect)
	defer cancel()

	// The transaction has failed, so its own connection answers nothing.
	conn, err := pgconn.ConnectConfig(ctx, p.address.config)
	if err != nil {
		return true, false
	}
	defer p.hangUp(conn)

	result := conn.ExecParams(ctx, "SELECT has_schema_privilege(n.oid, 'USAGE'), "+
		"EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'meta') "+
		"FROM pg_namespace n WHERE n.nspname = $1",
		[][]byte{[]byte(p.address.schema)}, nil, nil, nil).Read()

	if result.Err != nil || len(result.Rows) == 0 {
		return true, false
	}

	return string(result.Rows[0][0]) == "t", string(result.Rows[0][1]) == "t"
}

// hangUp closes a connection of its own, and waits for nobody.
func (p *DB) hangUp(conn *pgconn.PgConn) {
	closing, cancel := context.WithTimeout(background, 100*time.Millisecond)
	defer cancel()
	_ = conn.Close(closing)
}

// explainError says what a failure means. The code is empty for one that only a fault of ours can cause.
func (p *DB) explainError(err error) (code stick.Code, message, hint stick.Words) {
	at, role := p.address.Words(), p.address.config.User
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	const unavailable, tryAgain = stick.CodeDatabaseUnavailable, "nothing was changed; try again"

	switch state := sqlState(err); {
	case errors.Is(err, errNotText), state == "22021", state == "22P05":
		return stick.CodeUsage, "a text can't be stored", "leave out zero bytes and what isn't UTF-8"
	case state == "54000":
		return stick.CodeUsage, "a path or pattern is too long to be stored", "use a shorter one"
	case state == "40001", state == "40P01":
		return stick.CodeDatabaseBusy, "other transactions stayed in the way", tryAgain
	case state == "55P03":
		return stick.CodeDatabaseBusy, stick.Wordsf("another process kept the database locked for %s", p.waits.lock), tryAgain
	case state == "57014":
		return stick.CodeDatabaseBusy, at + " has ended a statement early", stick.Wordsf("nothing was changed; try again; tt gives a statement %s, "+
			"and a shorter statement_timeout of the role, the database or the address comes first", p.waits.statement)
	case state == "XX001", state == "XX002":
		return stick.CodeDatabaseCorrupt, at + " is damaged", "nothing more is written until whoever runs the server has repaired it"
	case state == "42P01", state == "3F000":
		return stick.CodeDatabaseMoved, "the tables are gone from " + at, "run the command again, which opens the database that is there now"
	case state == "28P01", state == "28000":
		return unavailable, stick.Wordsf("%s doesn't let the role %s in", at, role),
			"see whether the role, its password and the server's pg_hba.conf are right; the password may also be in ~/.pgpass"
	case state == "3D000":
		return unavailable, at + " can't be opened", "make the database with createdb, or correct the address"
	case state == "42501":
		return unavailable, stick.Wordsf("%s doesn't give the role %s the rights", at, role),
			stick.Wordsf("have the owner of the schema %s grant them, or the owner of the database the right to make it", p.address.schema)
	case state == "25006":
		return unavailable, at + " is read-only", "name the server that can be written, or have this one made writable"
	case state == "53300":
		return unavailable, at + " takes no more connections", "nothing was changed; wait until others have ended, or raise the server's max_connections or the role's limit"
	case connecting && (state == "42704" || state == "22023"):
		return stick.CodeUsage, at + " doesn't know a setting that the database's address has", "correct options in the address"
	case state == "53100":
		return unavailable, "the disk of " + at + " is full", "nothing was changed; free some space there"
	case isTLS(err):
		return unavailable, at + " and tt don't agree on TLS", "the server needs a certificate for its name; sslrootcert in the address names who signed it, " +
			"and sslmode=disable does without TLS where the network is safe"
	case isForbidden(err):
		return unavailable, "the system doesn't let tt connect to " + at, "let tt use the network here; in Codex's sandbox use the MCP tools of tt, " +
			"or have a person write network_access = true below [sandbox_workspace_write] in its config.toml"
	case errors.Is(err, errLost):
		return unavailable, "the connection to " + at + " broke", tryAgain
	case isLost(err):
		return unavailable, at + " doesn't answer", "nothing was changed; see whether the server runs"
	}
	return explainRest(err, at)
}

// explainRest says what the failures mean that nothing but damage causes, and all that are left.
func explainRest(err error, at stick.Words) (code stick.Code, message, hint stick.Words) {
	const anew = "nothing was changed; ask whoever runs the server to restore the database, or start in another schema: ?search_path=<name> at the end of its address"
	_, isRow := errors.AsType[*dialect.RowError](err)
	switch state := sqlState(err); {
	case strings.HasPrefix(state, "23"):
		return stick.CodeDatabaseCorrupt, "the tables of " + at + " contradict each other", anew
	case strings.HasPrefix(state, "42"):
		return stick.CodeDatabaseCorrupt, "the tables of " + at + " aren't as tt made them", anew
	case strings.HasPrefix(state, "22"):
		return stick.CodeUsage, "a value can't be stored", "use a smaller number, or a shorter text"
	case state != "":
		return stick.CodeDatabaseUnavailable, at + " has refused", stick.Wordsf("nothing was changed; try again; if it lasts, whoever runs the server knows more by the code %s", state)
	case isRow:
		return stick.CodeDatabaseCorrupt, "a row of " + at + " can't be read", anew
	}
	return "", "", "" // a fault of ours
}

// refusesTLS and isEOF look for what the driver gives no type of its own.
func refusesTLS(err error) bool {
	return strings.Contains(err.Error(), "server refused TLS connection")
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// errorLine is what an error says, in one line.
func errorLine(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Message
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err.Error()
	}

	return stick.Clip(strings.Join(strings.Fields(err.Error()), " "), 200)
}
