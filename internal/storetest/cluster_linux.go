package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/store"
	"talkingstick/internal/testenv"
)

// PostgresBin is where Debian puts the programs of PostgreSQL 15.
const PostgresBin = "/usr/lib/postgresql/15/bin"

// cluster is a PostgreSQL of this test binary, with a socket in its directory. All tests that don't end its server share one, each with
// a schema of its own. It doesn't sync to disk.
type cluster struct {
	dir    string
	port   int // on 127.0.0.1, with TLS
	attr   *syscall.SysProcAttr
	server *exec.Cmd
	over   chan string // what the server has said, when it has ended
	names  atomic.Int64
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
		if err := Script(pg.url(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	return pg.url() + "&search_path=" + schema
}

// HasPostgres reports whether PostgreSQL is installed.
func HasPostgres() bool {
	_, err := os.Stat(filepath.Join(PostgresBin, "postgres"))
	return err == nil
}

// requirePostgres returns the cluster, or skips the test where PostgreSQL isn't installed.
func requirePostgres(t testing.TB) *cluster {
	t.Helper()
	if !HasPostgres() {
		t.Skip("SKIPPED: PostgreSQL 15 isn't installed: make deps-test")
	}
	startCluster.Do(func() {
		if theCluster, clusterErr = newCluster(); clusterErr == nil {
			testenv.AtEnd(theCluster.stop)
		}
	})
	if clusterErr != nil {
		t.Fatalf("start PostgreSQL: %v", clusterErr)
	}
	return theCluster
}

// url is the address of the cluster, for its superuser.
func (pg *cluster) url() string {
	u := url.URL{Scheme: "postgres", User: url.User("tt"), Path: "/postgres", RawQuery: url.Values{"host": {pg.dir}, "port": {strconv.Itoa(pg.port)}}.Encode()}
	return u.String()
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

// newCluster makes a cluster and starts its server.
func newCluster() (*cluster, error) {
	dir, err := os.MkdirTemp("", "tt-pg-")
	if err != nil {
		return nil, err
	}
	pg := &cluster{dir: dir, over: make(chan string, 1)}
	if err := pg.prepare(); err != nil {
		return nil, err
	}
	if err := pg.run("initdb", "-D", pg.data(), "-U", "tt", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"); err != nil {
		return nil, err
	}
	if err := pg.secure(pg.attr, pg.data()); err != nil {
		return nil, err
	}
	return pg, pg.start("-c", "wal_level=minimal", "-c", "max_wal_senders=0")
}

// prepare finds a port, and the user that owns the files.
func (pg *cluster) prepare() (err error) {
	pg.attr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // not left behind by a binary that is killed
	if os.Getuid() == 0 {                                      // PostgreSQL refuses to run as root
		if err := pg.giveAway(pg.attr); err != nil {
			return err
		}
	}
	pg.port, err = freePort()
	return err
}

// data is the directory with the files of the database.
func (pg *cluster) data() string { return filepath.Join(pg.dir, "data") }

// run runs a program of PostgreSQL until it ends.
func (pg *cluster) run(name string, args ...string) error {
	if out, err := pg.command(pg.attr, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// start starts the server, and returns when it takes connections.
func (pg *cluster) start(settings ...string) error {
	pg.server = pg.command(pg.attr, "postgres", append([]string{
		"-D", pg.data(), "-k", pg.dir, "-p", strconv.Itoa(pg.port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
		"-c", "shared_buffers=16MB", "-c", "max_connections=200", "-c", "autovacuum=off", "-c", "ssl=on",
	}, settings...)...)
	ready, started := make(chan bool, 2), make(chan error)
	go pg.serve(ready, started)
	if err := <-started; err != nil {
		return err
	}
	select {
	case <-ready:
		return nil
	case said := <-pg.over:
		return fmt.Errorf("it didn't start:\n%s", said)
	case <-time.After(time.Minute):
		return errors.Join(errors.New("it wasn't ready within a minute"), pg.stop())
	}
}

// serve starts the server and reads what it says. The thread that starts it lives as long as the server: when it ended, the kernel
// would end the server.
func (pg *cluster) serve(ready chan<- bool, started chan<- error) {
	runtime.LockOSThread()
	log, err := pg.server.StderrPipe()
	if err == nil {
		err = pg.server.Start()
	}
	started <- err
	if err != nil {
		return
	}
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), "ready to accept") { // connections, or read-only ones
			select {
			case ready <- true:
			default: // a standby that takes over says it again
			}
		}
	}
	pg.over <- all.String()
}

// crash ends the server at once, as a failure of its machine would, but for what the operating system has in its caches.
func (pg *cluster) crash() {
	if pg.server == nil {
		return // it has crashed before
	}
	_ = pg.server.Process.Signal(syscall.SIGQUIT)
	select {
	case <-pg.over:
	case <-time.After(30 * time.Second):
		_ = pg.server.Process.Kill()
	}
	_ = pg.server.Wait()
	pg.server = nil
}

// stop ends the server and removes its files.
func (pg *cluster) stop() error {
	pg.crash()
	return os.RemoveAll(pg.dir)
}

// giveAway lets the user postgres, which Debian's package makes, own the directory and run the programs.
func (pg *cluster) giveAway(attr *syscall.SysProcAttr) error {
	u, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(os.Chmod(pg.dir, 0o711), os.Chown(pg.dir, uid, gid))
}

// command is a program of PostgreSQL, in an environment without anything that names the user's own PostgreSQL.
func (pg *cluster) command(attr *syscall.SysProcAttr, name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(PostgresBin, name), args...)
	c.Dir, c.SysProcAttr = pg.dir, attr
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + pg.dir, "LC_ALL=C", "TZ=UTC"}
	return c
}
