package storetest

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/pgserver"
	"talkingstick/internal/store"
	"talkingstick/internal/testenv"
)

// PostgresBin is where the programs of PostgreSQL are.
const PostgresBin = pgserver.Bin

// cluster is a PostgreSQL of this test binary. All tests that don't end its server share it, each with a
// schema of its own.
type cluster struct {
	*pgserver.Server
	names atomic.Int64
}

var (
	theCluster   *cluster
	clusterErr   error
	startCluster sync.Once
)

// PostgresURL returns the address of an empty schema of the test, which is dropped when the test ends. The
// first test that asks starts PostgreSQL; it ends with the binary.
func PostgresURL(t testing.TB) string {
	t.Helper()
	requirePostgres(t)
	address, drop, err := NewSchema()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})

	return address
}

// NewSchema returns the address of an empty schema, as [PostgresURL] does, and what drops it.
func NewSchema() (address string, drop func() error, err error) {
	pg, err := sharedCluster()
	if err != nil {
		return "", nil, err
	}

	schema := fmt.Sprintf("t%d", pg.names.Add(1))
	drop = func() error { return Script(pg.URL(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE") }
	return pg.URL() + "&search_path=" + schema, drop, nil
}

// CopySchema returns the address of a schema with the content of another one, and what drops it.
func CopySchema(of string) (address string, drop func() error, err error) {
	// PostgreSQL itself writes the statements, one for each table, sequence and reference.
	statements, err := runQuery(of, `
		SELECT format('CREATE TABLE %1$I (LIKE %2$I.%1$I INCLUDING ALL);
				INSERT INTO %1$I OVERRIDING SYSTEM VALUE SELECT * FROM %2$I.%1$I', tablename, schemaname)
			FROM pg_tables WHERE schemaname = current_schema()
		UNION ALL SELECT format('CREATE SEQUENCE %1$I;
				SELECT setval(''%1$I'', last_value, is_called) FROM %2$I.%1$I', sequencename, schemaname)
			FROM pg_sequences WHERE schemaname = current_schema()
		UNION ALL SELECT format('ALTER TABLE %s ADD %s', conrelid::regclass, pg_get_constraintdef(oid))
			FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`)
	if err != nil {
		return "", nil, err
	}

	address, drop, err = NewSchema()
	if err == nil {
		u, _ := url.Parse(address)
		err = Script(address, "CREATE SCHEMA "+u.Query().Get("search_path")+"; "+strings.Join(statements, "; "))
	}

	return address, drop, err
}

// Dump returns the content of all tables at an address as text; empty where there are none. When hosts were
// last seen isn't part of it: waits renew that.
func Dump(address string) (string, error) {
	tables, err := runQuery(address, `SELECT format('SELECT %L || (to_jsonb(t) - %L)::text FROM %I t',
			tablename || ': ', CASE tablename WHEN 'host_boots' THEN 'seen_at' ELSE '' END, tablename)
		FROM pg_tables WHERE schemaname = current_schema()`)
	if err != nil || len(tables) == 0 {
		return "", err
	}

	// One statement reads all tables in one state.
	rows, err := runQuery(address, strings.Join(tables, " UNION ALL ")+" ORDER BY 1")
	return strings.Join(rows, "\n"), err
}

// HasPostgres reports whether PostgreSQL is installed.
func HasPostgres() bool { return pgserver.Installed() }

// requirePostgres returns the cluster. It skips the test in a short run, and where PostgreSQL isn't
// installed.
func requirePostgres(t testing.TB) *cluster {
	t.Helper()
	skipServer(t)
	if !HasPostgres() {
		t.Skip("SKIPPED: PostgreSQL 15 isn't installed: make deps-test")
	}

	pg, err := sharedCluster()
	if err != nil {
		t.Fatal(err)
	}

	return pg
}

// sharedCluster returns the cluster, which the first call starts.
func sharedCluster() (*cluster, error) {
	startCluster.Do(func() {
		server, err := pgserver.New()
		if err != nil {
			clusterErr = fmt.Errorf("start PostgreSQL: %w", err)
			return
		}

		theCluster = &cluster{Server: server}
		testenv.AtEnd(server.Stop)
	})

	return theCluster, clusterErr
}

// Script runs statements at an address of PostgreSQL.
func Script(address, script string) error {
	_, err := runQuery(address, script)
	return err
}

// Hold runs statements in a transaction that stays open until it is released.
func Hold(address, script string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	conn, err := pgconn.Connect(ctx, address)
	if err != nil {
		return nil, err
	}

	// The server rolls the transaction back when the connection ends.
	release = func() { _ = conn.Close(context.Background()) }
	if _, err := conn.Exec(ctx, "BEGIN; "+script).ReadAll(); err != nil {
		release()
		return nil, err
	}

	return release, nil
}

// runQuery runs statements, and returns the first column of the last.
func runQuery(address, script string) (values []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	conn, err := pgconn.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)

	results, err := conn.Exec(ctx, script).ReadAll()
	if err != nil {
		return nil, err
	}

	for _, row := range results[len(results)-1].Rows {
		values = append(values, string(row[0]))
	}

	return values, nil
}

// Listen returns the notices that a database on PostgreSQL sends from now on.
func Listen(t testing.TB, db *store.DB) <-chan string {
	t.Helper()
	address := placeOf(db).opt.URL
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}

	config, err := pgconn.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}

	// A test that doesn't read at once loses no notice.
	notices := make(chan string, 100)
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { notices <- n.Payload }
	ctx, cancel := context.WithCancel(context.Background())
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err == nil {
		_, err = conn.Exec(ctx, "LISTEN "+u.Query().Get("search_path")).ReadAll()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}

	// The driver takes notices only while somebody waits for them.
	over := make(chan bool)
	go func() {
		defer close(over)
		for conn.WaitForNotification(ctx) == nil {
		}
	}()

	t.Cleanup(func() {
		cancel()
		<-over
		conn.Close(context.Background())
	})

	return notices
}

// PostgresTCP returns the address of a role's schema over TCP, with further settings of the address, and the
// file with the certificate of the server, which is for the name localhost.
func PostgresTCP(t testing.TB, user *url.Userinfo, host, settings string) (address, certificate string) {
	t.Helper()
	pg := requirePostgres(t)
	address = fmt.Sprintf("postgres://%s@%s:%d/postgres?%s", user, host, pg.Port, settings)
	return address, filepath.Join(pg.Dir, "server.crt")
}
