package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/schema"
	"talkingstick/stick"
)

// Address is where a database is, and how it is reached. It prints without secrets.
type Address struct {
	config *pgconn.Config
	schema string // that our tables are in; also the channel of our notices
}

// defaultSchema is the schema of our tables, unless the address names another one by search_path.
const defaultSchema = "talkingstick"

// ParseAddress reads an address such as postgres://user@host/database. Over a network it asks for TLS and for
// the server's certificate, unless the address has an sslmode. No error of it holds the address, which may
// hold a password.
func ParseAddress(address string) (*Address, error) {
	bad := stick.Errorf(stick.CodeUsage, "the database's address can't be read").
		Hintf("write it like postgres://user@host/database, with %%-escapes for special characters")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, bad
	}

	q := u.Query()
	if !q.Has("sslmode") {
		const mode = "sslmode=verify-full" // a socket in the file system has no TLS, and ignores it
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+mode, "&")
	} // the rest stays as it is: the driver takes a + for itself, which an encoded blank would become

	config, err := pgconn.ParseConfig(u.String())
	if err != nil {
		e, ok := errors.AsType[*pgconn.ParseConfigError](err)
		if ok && errors.Unwrap(e) != nil && q.Get("sslrootcert") != "" {
			return nil, stick.Errorf(stick.CodeUsage, "the certificates that the database's address names can't be read").
				Hintf("correct sslrootcert, sslcert or sslkey in the address")
		}

		return nil, bad
	}

	a := &Address{config: config, schema: defaultSchema}
	if path := config.RuntimeParams["search_path"]; path != "" {
		a.schema, _, _ = strings.Cut(path, ",")
		a.schema = strings.Trim(strings.TrimSpace(a.schema), `"`)
	}

	if a.schema == "" || len(a.schema) > 60 || strings.ContainsAny(a.schema, "\"\\\x00") {
		return nil, stick.Errorf(stick.CodeUsage, "the search_path of the database's address names no schema that tt can use").
			Hintf("name one schema, or none: tt makes %s", defaultSchema)
	}

	// Poolers refuse it, and it would outlive the transaction.
	delete(config.RuntimeParams, "search_path")
	for _, tls := range append([]*pgconn.FallbackConfig{{TLSConfig: config.TLSConfig}}, config.Fallbacks...) {
		// What is sent together has to arrive together: COMMIT, and what follows it.
		if tls.TLSConfig != nil {
			tls.TLSConfig.DynamicRecordSizingDisabled = true
		}
	}

	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "tt"
	}

	return a, nil
}

// String says which server and database it is.
func (a *Address) String() string {
	return fmt.Sprintf("PostgreSQL at %s, database %s", strings.Join(a.hostNames(), " or "), a.config.Database)
}

// hostNames are the servers of the address, in its order, of which one is connected.
func (a *Address) hostNames() (all []string) {
	// One server may stand there several times.
	add := func(host string, port uint16) {
		if !filepath.IsAbs(host) { // else it is a socket
			host = fmt.Sprintf("%s:%d", host, port)
		}
		if !slices.Contains(all, host) {
			all = append(all, host)
		}
	}

	add(a.config.Host, a.config.Port)

	// Among these is the same server with and without TLS.
	for _, f := range a.config.Fallbacks {
		add(f.Host, f.Port)
	}

	return all
}

// Words says in words of ours which server and database it is.
func (a *Address) Words() stick.Words { return stick.Words(a.String()) }

// DumpLine is how pg_dump is run for the tables of the address, or pg_restore. The password is in neither: it would
// be in the shell's history.
func (a *Address) DumpLine(program string) stick.Command {
	c := a.config
	if program == "pg_restore" {
		return stick.Cmd("pg_restore --host <host> --port <port> --username <user> --clean --if-exists --dbname <database> talking-stick.dump",
			c.Host, c.Port, c.User, c.Database)
	}
	return stick.Cmd("pg_dump --host <host> --port <port> --username <user> --schema <schema> --format custom "+
		"--file talking-stick.dump <database>", c.Host, c.Port, c.User, a.schema, c.Database)
}

// quotedSchema is the name of the schema in a statement.
func (a *Address) quotedSchema() string { return `"` + a.schema + `"` }

// databaseID tells a database from others that programs with the same data directory use.
func (a *Address) databaseID() string {
	// The user doesn't count: two roles may use one database.
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%d\n%s\n%s", a.config.Host, a.config.Port, a.config.Database, a.schema)
	return fmt.Sprintf("%016x", h.Sum64())
}

// lockKey tells the locks of a schema from those of others in the same database.
func (a *Address) lockKey() int64 {
	h := fnv.New32a()
	h.Write([]byte(a.schema))
	return int64(int32(h.Sum32()))
}

// Open opens the database at opt.URL, and makes its schema if there is none.
func Open(ctx context.Context, opt dialect.Options, create bool, migrations []schema.Migration) (*DB, error) {
	address, err := ParseAddress(opt.URL)
	if err != nil {
		return nil, err
	}

	p := &DB{
		opt: opt, migrations: migrations, address: address, waits: waitsOf(opt), ctx: ctx,
		locked: map[stick.RoomID]bool{}, fresh: map[dialect.Class]bool{}, texts: map[string]string{},
	}

	p.waiting.Store(opt.Waits)
	if err := p.prepareSchema(ctx, create); err != nil {
		p.Close()
		return nil, p.CodeError(err)
	}

	p.markIdle()

	// A program that only reads leaves the directory to the first write.
	if create {
		if err := plainfile.MkdirAll(opt.Dir); err != nil {
			p.Close()
			return nil, dialect.ErrNotWritable(opt.Dir, err)
		}
	}

	return p, nil
}

// connect connects, unless there is a connection. While the server doesn't answer or is starting, it tries
// again.
func (p *DB) connect(ctx context.Context) error {
	if err := p.finishRollback(); err != nil {
		p.dropConn()
	}
	if p.conn != nil && !p.conn.IsClosed() {
		return nil
	}

	// Of many that Begin to wait at once, some wait for their turn to connect.
	p.takeReadPlace(ctx)
	limited, cancel := context.WithTimeout(ctx, p.waits.connect)
	defer cancel()

	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		conn, err := pgconn.ConnectConfig(limited, p.address.config)
		if err == nil {
			p.conn, p.heard = conn, time.Now()
			return nil
		}

		p.conn = nil
		if !isLost(err) || !sleepFor(limited, pause) {
			p.leaveReadPlace()
			return err
		}
	}
}

// prepareSchema makes the schema or brings it up to date. It refuses one that needs a newer program.
func (p *DB) prepareSchema(ctx context.Context, create bool) error {
	if err := p.connect(ctx); err != nil {
		return err
	}

	have, reader, err := p.readSchema(ctx)
	if err != nil {
		return err
	}

	known := schema.Newest(p.migrations)
	switch {
	case have == schemaAbsent && !create:
		return dialect.ErrAbsent
	case reader > known:
		return schema.ErrTooNew(have, reader, known)
	case have < known:
		return p.migrate(ctx)
	}
	return nil
}

// schemaAbsent is the number of the schema where there are no tables.
const schemaAbsent = -1

// readSchema returns the number of the schema, and which programs can read it.
func (p *DB) readSchema(ctx context.Context) (have, reader int64, err error) {
	number := "(SELECT value::bigint FROM " + p.address.quotedSchema() + ".meta WHERE key = "
	err = p.queueQuery(func(rows [][][]byte) error { return pgScan(rows[0], []any{&have, &reader}) },
		"SELECT COALESCE("+number+"'schema'), 0), COALESCE("+number+"'min_reader'), 0)")
	if err == nil {
		_, err = p.sendQueued(ctx)
	}
	if state := sqlState(err); state == "42P01" || state == "3F000" { // no such table or schema
		return schemaAbsent, 0, nil
	}

	return have, reader, err
}

// migrate makes what is missing of the schema, all or nothing. Of several processes one does it, when no
// transaction writes.
func (p *DB) migrate(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, max(time.Minute, p.waits.statement))
	defer cancel()

	run := func(script string) error {
		_, err := p.conn.Exec(limited, script).ReadAll()
		return err
	}

	err := run(fmt.Sprintf("BEGIN; SELECT set_config('lock_timeout', '%dms', true), pg_advisory_xact_lock(%d, %d)",
		p.waits.lock.Milliseconds(), p.address.lockKey(), dialect.SchemaClass))
	if err != nil {
		return err
	}
	if err = p.migrateLocked(limited, run); err == nil {
		err = run("COMMIT")
	}
	if err != nil {
		p.dropConn()
	}

	return err
}

// migrateLocked applies what is missing, inside the transaction that has the lock.
func (p *DB) migrateLocked(ctx context.Context, run func(script string) error) error {
	quoted := p.address.quotedSchema()

	// Another process may have made it until this one got the lock.
	results, err := p.conn.Exec(ctx, fmt.Sprintf("SELECT to_regnamespace('%s') IS NULL, to_regclass('%s.meta') IS NULL",
		strings.ReplaceAll(quoted, "'", "''"), strings.ReplaceAll(quoted, "'", "''"))).ReadAll()
	if err != nil {
		return err
	}

	var noSchema, noTables bool
	if err := pgScan(results[0].Rows[0], []any{&noSchema, &noTables}); err != nil {
		return err
	}

	if noSchema {
		if err := run("CREATE SCHEMA " + quoted); err != nil {
			return err
		}
	}
	if err := run("SET LOCAL search_path TO " + quoted); err != nil {
		return err
	}

	var have int64
	if noTables {
		if err := run(translateSchema(dialect.MetaTable) + ownTables); err != nil {
			return err
		}
	} else if have, _, err = p.readSchema(ctx); err != nil { // another process may have done it meanwhile
		return err
	}

	for _, m := range p.migrations {
		if m.Number <= have {
			continue
		}
		if err := run(m.UpgradeScript(translateSchema(m.Text))); err != nil {
			return fmt.Errorf("migration %d: %w", m.Number, err)
		}
	}

	return nil
}

// ownTables is what only PostgreSQL has, made with the first table.
const ownTables = "CREATE SEQUENCE event_seq;\n" +
	"CREATE TABLE blob_contents (sum TEXT COLLATE \"C\" PRIMARY KEY, content BYTEA NOT NULL);"
