package storetest

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"talkingstick/internal/pgserver"
)

// pgbouncer is where Debian puts it.
const pgbouncer = "/usr/sbin/pgbouncer"

// Pooled returns an address of the same schema as another one, through a pooler that gives each transaction a
// session of the server. It ends with the test.
func Pooled(t testing.TB, address string) string {
	t.Helper()
	pg := requirePostgres(t)
	if _, err := os.Stat(pgbouncer); err != nil {
		t.Skip("SKIPPED: pgbouncer isn't installed: make deps-test")
	}

	// The socket lies in a folder of its own, because its path has to be short.
	dir, err := os.MkdirTemp("", "tt-pool-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })

	port, err := pgserver.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	startPooler(t, pg, writePoolerSettings(t, pg, dir, port))

	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}

	q := u.Query()
	q.Set("host", dir)
	q.Set("port", strconv.Itoa(port))
	u.RawQuery = q.Encode()
	return u.String()
}

// writePoolerSettings writes the settings of a pooler whose socket is in a directory, for the user that it
// runs as, and returns their file.
func writePoolerSettings(t testing.TB, pg *cluster, dir string, port int) (settings string) {
	t.Helper()
	if c := pg.Attr.Credential; c != nil {
		if err := os.Chown(dir, int(c.Uid), int(c.Gid)); err != nil {
			t.Fatal(err)
		}
	}

	settings = filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
postgres = host=%s port=%d
[pgbouncer]
pool_mode = transaction
default_pool_size = 3
auth_type = trust
auth_file = %s
unix_socket_dir = %s
listen_port = %d
`, pg.Dir, pg.Port, filepath.Join(dir, "users"), dir, port)
	if err := os.WriteFile(settings, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "users"), []byte(`"tt" ""`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	// The pooler runs as the user of the server, and the test as another one.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}

	return settings
}

// startPooler starts a pooler, and waits until it has said that it is ready. It ends with the test.
func startPooler(t testing.TB, pg *cluster, settings string) {
	t.Helper()
	pooler := exec.Command(pgbouncer, settings)
	pooler.SysProcAttr = &syscall.SysProcAttr{Credential: pg.Attr.Credential}
	log, err := pooler.StderrPipe()
	if err == nil {
		err = pooler.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pooler.Process.Kill()
		_ = pooler.Wait()
	})

	var said strings.Builder
	lines := bufio.NewScanner(log)
	for !strings.Contains(lines.Text(), "process up") {
		if !lines.Scan() {
			t.Fatalf("the pooler didn't start:\n%s", said.String())
		}
		fmt.Fprintln(&said, lines.Text())
	}

	// Somebody has to read on, or the pooler would wait for a reader. This ends with it.
	go func() {
		for lines.Scan() {
		}
	}()
}
