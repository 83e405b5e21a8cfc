package store_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/store"
)

// postgresBin is where Debian puts the programs of PostgreSQL 15.
const postgresBin = "/usr/lib/postgresql/15/bin"

// TestPostgres lets PostgreSQL apply the schema and prepare every query, so that the schema and the queries stay ready
// for it. Each parameter must be of the kind that the store passes.
func TestPostgres(t *testing.T) {
	db := rebooted(t)
	rec := recorded(t, db)
	texts := queries(rec)
	pg := startPostgres(t)
	pg.run(t, store.PostgresSchema(t))
	if got, want := pg.run(t, "SELECT key || value FROM meta ORDER BY key;"), strings.Join(column(t, openRaw(t, fresh(t).Dir()), "SELECT key || value FROM meta ORDER BY key"), "\n")+"\n"; got != want {
		t.Errorf("PostgreSQL has\n%sand SQLite has\n%s", got, want)
	}
	t.Run("columns", func(t *testing.T) {
		out := pg.run(t, `SELECT table_name || '.' || column_name || ' is ' || data_type || ' ' || COALESCE(collation_name, '')
			FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1;`)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		for _, line := range lines {
			if !strings.HasSuffix(line, " is bigint ") && !strings.HasSuffix(line, " is text C") {
				t.Errorf("%s: only 64 bit integers and text in the order of its bytes hold what SQLite's columns do", line)
			}
		}
		if len(lines) < 50 {
			t.Errorf("there are only %d columns", len(lines))
		}
	})
	t.Run("queries", func(t *testing.T) {
		var script strings.Builder
		for i, text := range texts {
			fmt.Fprintf(&script, "\\warn at q%d:\nPREPARE q%d AS %s;\n", i, i, store.PostgresQuery(text))
		}
		script.WriteString("SELECT name || ' ' || array_to_string(parameter_types, ',') FROM pg_prepared_statements;\n")
		out, said, err := pg.psql(script.String(), false)
		if err != nil {
			t.Fatalf("psql: %v\n%s", err, said)
		}
		types := map[string]string{}
		for line := range strings.Lines(out) {
			name, kinds, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			types[name] = kinds
		}
		for i, text := range texts {
			name := fmt.Sprintf("q%d", i)
			want, ok := types[name]
			if !ok {
				_, why, _ := strings.Cut(said, "at "+name+":\n")
				why, _, _ = strings.Cut(why, "at q")
				t.Errorf("PostgreSQL can't prepare\n%s\nIt says: %s", text, why)
				continue
			}
			for _, args := range rec.Statements[text].Args {
				if got := kinds.Replace(args); got != want {
					t.Errorf("the store passes (%s) where PostgreSQL expects (%s):\n%s", got, want, text)
				}
			}
		}
	})
}

// kinds are PostgreSQL's types for what the store passes; truth values are 0 and 1.
var kinds = strings.NewReplacer("int64", "bigint", "bool", "bigint", "string", "text")

// cluster is the test's own PostgreSQL, with a socket in its directory.
type cluster struct{ dir string }

// startPostgres makes a cluster and ends it with the test. It doesn't sync to disk. PostgreSQL refuses to run as root.
func startPostgres(t *testing.T) cluster {
	t.Helper()
	if _, err := os.Stat(filepath.Join(postgresBin, "postgres")); err != nil {
		t.Skip("SKIPPED: PostgreSQL 15 isn't installed: make deps-test")
	}
	pg := cluster{t.TempDir()}
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // not left behind by a test that is killed
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres") // Debian's package makes it
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		err = try(os.Chmod(filepath.Dir(pg.dir), 0o711), os.Chmod(pg.dir, 0o711), os.Chown(pg.dir, uid, gid))
		if err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(postgresBin, name), args...)
		c.Dir, c.Env, c.SysProcAttr = pg.dir, pg.env(), attr
		return c
	}
	data := filepath.Join(pg.dir, "data")
	initdb := command("initdb", "-D", data, "-U", "tt", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := command("postgres", "-D", data, "-k", pg.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=4MB",
		"-c", "max_connections=5", "-c", "autovacuum=off", "-c", "wal_level=minimal", "-c", "max_wal_senders=0")
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ready, over := make(chan bool, 1), make(chan string, 1)
	go func() {
		var all strings.Builder
		for lines := bufio.NewScanner(log); lines.Scan(); {
			fmt.Fprintln(&all, lines.Text())
			if strings.Contains(lines.Text(), "ready to accept connections") {
				ready <- true
			}
		}
		over <- all.String()
	}()
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGINT)
		select {
		case <-over:
		case <-time.After(30 * time.Second):
			t.Error("PostgreSQL doesn't end")
			server.Process.Kill()
		}
		server.Wait()
	})
	select {
	case <-ready:
	case said := <-over:
		over <- said
		t.Fatalf("PostgreSQL didn't start:\n%s", said)
	case <-time.After(30 * time.Second):
		t.Fatal("PostgreSQL wasn't ready within 30 seconds")
	}
	return pg
}

// env returns an environment without anything that names the user's own PostgreSQL.
func (pg cluster) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + pg.dir, "LC_ALL=C", "TZ=UTC"}
}

// psql runs a script, up to its first error or to its end.
func (pg cluster) psql(script string, stop bool) (out, said string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(postgresBin, "psql"), "-X", "-q", "-A", "-t", "-v", fmt.Sprintf("ON_ERROR_STOP=%t", stop),
		"-h", pg.dir, "-U", "tt", "-d", "postgres", "-f", "-")
	var stdout, stderr bytes.Buffer
	c.Env, c.Stdin, c.Stdout, c.Stderr = pg.env(), strings.NewReader(script), &stdout, &stderr
	err = c.Run()
	return stdout.String(), stderr.String(), err
}

func (pg cluster) run(t *testing.T, script string) string {
	t.Helper()
	out, said, err := pg.psql(script, true)
	if err != nil {
		t.Fatalf("psql: %v\n%s\n%s", err, said, script)
	}
	return out
}
