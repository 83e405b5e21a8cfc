package storetest

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
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

// cluster is a PostgreSQL of this test binary. All tests that don't end its server share it, each with a schema of its own.
type cluster struct {
	*pgserver.Server
	names atomic.Int64
}

var (
	theCluster   *cluster
	clusterErr   error
	startCluster sync.Once
)

// PostgresURL returns the address of an empty schema of the test, which is dropped when the test ends. The first test that asks
// starts PostgreSQL; it ends with the binary.
func PostgresURL(t testing.TB) string {
	t.Helper()
	pg := requirePostgres(t)
	schema := fmt.Sprintf("t%d", pg.names.Add(1))
	t.Cleanup(func() {
		if err := Script(pg.URL(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	return pg.URL() + "&search_path=" + schema
}

// HasPostgres reports whether PostgreSQL is installed.
func HasPostgres() bool { return pgserver.Installed() }

// requirePostgres returns the cluster, or skips the test where PostgreSQL isn't installed.
func requirePostgres(t testing.TB) *cluster {
	t.Helper()
	if !HasPostgres() {
		t.Skip("SKIPPED: PostgreSQL 15 isn't installed: make deps-test")
	}
	startCluster.Do(func() {
		server, err := pgserver.New()
		if clusterErr = err; err == nil {
			theCluster = &cluster{Server: server}
			testenv.AtEnd(server.Stop)
		}
	})
	if clusterErr != nil {
		t.Fatalf("start PostgreSQL: %v", clusterErr)
	}
	return theCluster
}

// Script runs statements at an address of PostgreSQL.
func Script(address, script string) error {
	_, err := query(address, script)
	return err
}

// query runs statements, and returns the first column of the last.
func query(address, script string) (values []string, err error) {
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

// PostgresTCP returns the address of a role's schema over TCP, with further settings of the address, and the file with the
// certificate of the server, which is for the name localhost.
func PostgresTCP(t testing.TB, user *url.Userinfo, host, settings string) (address, certificate string) {
	t.Helper()
	pg := requirePostgres(t)
	return fmt.Sprintf("postgres://%s@%s:%d/postgres?%s", user, host, pg.Port, settings), filepath.Join(pg.Dir, "server.crt")
}
