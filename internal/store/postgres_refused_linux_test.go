package store_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

const password = "swordfish-7319"

// TestPostgresRefuses: whatever keeps tt from the database is said clearly, with its code and the next step,
// and never with the password. Nothing is made.
func TestPostgresRefuses(t *testing.T) {
	address := storetest.PostgresURL(t)
	for _, script := range []string{
		"CREATE ROLE needs_word LOGIN SUPERUSER PASSWORD '" + password + "'", "CREATE ROLE needs_tls LOGIN SUPERUSER",
		"CREATE ROLE no_rights LOGIN", "CREATE ROLE is_full LOGIN CONNECTION LIMIT 0",
		"CREATE ROLE reads LOGIN SUPERUSER; ALTER ROLE reads SET default_transaction_read_only = on",
	} {
		if err := storetest.Script(address, script); err != nil {
			t.Fatal(err)
		}
	}

	t.Cleanup(func() {
		if err := storetest.Script(address, "DROP ROLE needs_word; DROP ROLE needs_tls; DROP ROLE no_rights; DROP ROLE is_full; DROP ROLE reads"); err != nil {
			t.Error(err)
		}
	})

	tcp := func(user *url.Userinfo, host, settings string) string {
		address, _ := storetest.PostgresTCP(t, user, host, settings)
		return address
	}

	secret := url.UserPassword("needs_word", password)
	_, certificate := storetest.PostgresTCP(t, secret, "", "")
	noServer := "postgres://needs_word:" + password + "@/x?host=" + t.TempDir()
	for _, c := range []struct {
		name, address string
		code          stick.Code
		says          string
	}{
		{
			"another password",
			tcp(url.UserPassword("needs_word", "wrong-"+password), "127.0.0.1", "sslmode=disable"),
			stick.CodeDatabaseUnavailable,
			"doesn't let the role needs_word in",
		},
		{
			"no such role",
			tcp(url.User("nobody"), "127.0.0.1", "sslmode=disable"),
			stick.CodeDatabaseUnavailable,
			"doesn't let the role nobody in",
		},
		{
			"TLS is required",
			tcp(url.User("needs_tls"), "127.0.0.1", "sslmode=disable"),
			stick.CodeDatabaseUnavailable,
			"doesn't let the role needs_tls in",
		},
		{
			"no TLS there",
			"postgres://needs_word:" + password + "@" + withoutTLS(t) + "/x",
			stick.CodeDatabaseUnavailable,
			"don't agree on TLS",
		},
		{"an unknown certificate", tcp(secret, "localhost", ""), stick.CodeDatabaseUnavailable, "don't agree on TLS"},
		{
			"a certificate of another name",
			tcp(secret, "127.0.0.1", "sslrootcert="+certificate),
			stick.CodeDatabaseUnavailable,
			"don't agree on TLS",
		},
		{"no such certificate", tcp(secret, "localhost", "sslrootcert=/nowhere"), stick.CodeUsage, "can't be read"},
		{"no server", noServer, stick.CodeDatabaseUnavailable, "doesn't answer"},
		{
			"too many connections",
			as("is_full", address),
			stick.CodeDatabaseUnavailable,
			`takes no more connections: "too many connections for role`,
		},
		{
			"a setting that isn't",
			tcp(secret, "127.0.0.1", "sslmode=disable&options=-c%20no_such%3D30s"),
			stick.CodeUsage,
			"doesn't know a setting that the database's address has",
		},
		{
			"no such database",
			strings.Replace(address, "/postgres?", "/nowhere?", 1),
			stick.CodeDatabaseUnavailable,
			"database nowhere can't be opened",
		},
		{
			"no right to make a schema",
			as("no_rights", address),
			stick.CodeDatabaseUnavailable,
			"doesn't give the role no_rights the rights",
		},
		{"a server that is read-only", as("reads", address), stick.CodeDatabaseUnavailable, "is read-only"},
		{"no address", "postgres://needs_word:" + password + "@host:port/", stick.CodeUsage, "can't be read"},
		{
			"an address of something else",
			"mysql://needs_word:" + password + "@host/x",
			stick.CodeUsage,
			"can't be read",
		},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			wait := 10 * time.Second
			switch { // it would wait for a server that is just starting, or has no place
			case c.address == noServer:
				wait = 50 * time.Millisecond
			case strings.Contains(c.address, "is_full"):
				wait = 3 * time.Second // enough for the server's answer on a busy machine
			}

			_, err := store.Open(ctx, store.Options{Dir: dir, URL: c.address, ReadWait: wait}, true)
			e := refused(t, err, c.code)
			if !strings.Contains(e.Message, c.says) || len(e.Hint) == 0 {
				t.Errorf("it says %q (%s), and not %q", e.Message, e.Hint, c.says)
			}
			if all := fmt.Sprintf("%s %s %v %v", e.Message, e.Hint, e.Fields, e.Err); strings.Contains(all, password) {
				t.Errorf("the password is in %s", all)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("it has made the data directory")
			}
		})
	}

	t.Run("in order", func(t *testing.T) {
		for _, good := range []string{
			tcp(secret, "127.0.0.1", "sslmode=disable&search_path=good"),
			tcp(url.User("needs_tls"), "localhost", "search_path=good&sslrootcert="+certificate),
			tcp(url.User("needs_tls"), "localhost",
				"search_path=good&options=-c%20statement_timeout%3D30s&sslrootcert="+certificate),
		} {
			db, err := store.Open(ctx, store.Options{Dir: t.TempDir(), URL: good}, true)
			if err != nil {
				t.Fatal(err)
			}
			newRoom(t, db, "/"+t.TempDir())
			db.Close()
		}

		if err := storetest.Script(address, "DROP SCHEMA good CASCADE"); err != nil {
			t.Error(err)
		}
	})
}

// as returns an address for another role.
func as(role, address string) string { return strings.Replace(address, "://tt@", "://"+role+"@", 1) }

// withoutTLS is the address of a server that refuses TLS.
func withoutTLS(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })

	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.ReadFull(c, make([]byte, 8))
			c.Write([]byte("N"))
			c.Close()
		}
	}()

	return l.Addr().String()
}

// TestPostgresWritesNotAllowed: a role that may read and not write, and a server that became read-only,
// refuse writers and let readers go on.
func TestPostgresWritesNotAllowed(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"no-right": {"ALTER ROLE only_reads RESET ALL", "doesn't give the role only_reads the rights"},
		"read-only": {
			"ALTER ROLE only_reads SUPERUSER; ALTER ROLE only_reads SET default_transaction_read_only = on",
			"is read-only",
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
				opt := storetest.Options(db)
				u, _ := url.Parse(opt.URL)
				schema := u.Query().Get("search_path")
				id := played(t, db)
				storetest.Exec(t,
					db,
					fmt.Sprintf(
						"CREATE ROLE only_reads LOGIN; GRANT USAGE ON SCHEMA %s TO only_reads; GRANT SELECT ON ALL TABLES IN SCHEMA %[1]s TO only_reads; %s",
						schema, c.script,
					))
				t.Cleanup(func() { storetest.Exec(t, db, "DROP OWNED BY only_reads; DROP ROLE only_reads") })
				opt.URL = as("only_reads", opt.URL)
				reader, err := store.Open(ctx, opt, false)
				if err != nil {
					t.Fatal(err)
				}
				defer reader.Close()
				load(t, reader, id)
				err = reader.Update(ctx, func(tx *store.Tx) error { return tx.Heartbeat(id, "x") })
				if e := refused(t, err, stick.CodeDatabaseUnavailable); !strings.Contains(e.Message, c.says) {
					t.Errorf("it says %q, and not %q", e.Message, c.says)
				}
				refused(t, reader.Trial(ctx), stick.CodeDatabaseUnavailable) // by which the doctor knows
			})
		})
	}
}

// TestNoTextForPostgres: what PostgreSQL doesn't take for text is refused, and nothing is written.
func TestNoTextForPostgres(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		for _, bad := range []string{"a\x00b", "a\xffb"} {
			err := db.Update(ctx, func(tx *store.Tx) error {
				_, err := tx.NewRoom("/"+bad, storetest.Key(bad))
				return err
			})
			refused(t, err, stick.CodeUsage)
		}
		newRoom(t, db, "/good")
	})
}

// TestPostgresRightsRevoked: a role that may no longer use the schema hears that, and not that the tables are
// gone.
func TestPostgresRightsRevoked(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		opt := storetest.Options(db)
		u, _ := url.Parse(opt.URL)
		schema := u.Query().Get("search_path")
		id := played(t, db)
		storetest.Exec(t,
			db,
			fmt.Sprintf(
				"CREATE ROLE loses_rights LOGIN; GRANT USAGE ON SCHEMA %s TO loses_rights; GRANT SELECT ON ALL TABLES IN SCHEMA %[1]s TO loses_rights",
				schema,
			))
		t.Cleanup(func() { storetest.Exec(t, db, "DROP OWNED BY loses_rights; DROP ROLE loses_rights") })
		opt.URL = as("loses_rights", opt.URL)
		reader, err := store.Open(ctx, opt, false)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		load(t, reader, id)

		storetest.Exec(t, db, "REVOKE USAGE ON SCHEMA "+schema+" FROM loses_rights")
		err = reader.View(ctx, func(tx *store.Tx) error {
			_, err := tx.Room(id)
			return err
		})

		e := refused(t, err, stick.CodeDatabaseUnavailable)
		if !strings.Contains(e.Message, "doesn't give the role loses_rights the rights") {
			t.Errorf("it says %q", e.Message)
		}
	})
}

// TestPostgresStatementTimeout: a limit of the address that comes before tt's own is named as one, and not
// tt's.
func TestPostgresStatementTimeout(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		played(t, db)
		opt := storetest.Options(db)
		release, err := storetest.Hold(opt.URL, "SELECT 1; LOCK TABLE meta")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		opt.URL += "&options=-c%20statement_timeout%3D50"
		_, err = store.Open(ctx, opt, false)
		e := refused(t, err, stick.CodeDatabaseBusy)
		if !strings.Contains(e.Message,
			`has ended a statement early: "canceling statement due to statement timeout"`) ||
			!strings.Contains(e.Hint.String(), "shorter statement_timeout") {
			t.Errorf("it says %q (%s)", e.Message, e.Hint)
		}
	})
}

// TestPostgresNamesTheServerInUse: of several servers in the address, the doctor names the one that answers.
func TestPostgresNamesTheServerInUse(t *testing.T) {
	live, _ := storetest.PostgresTCP(t, url.User("tt"), "127.0.0.1", "sslmode=disable&search_path=of_several")
	u, err := url.Parse(live)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(ctx,
		store.Options{Dir: t.TempDir(), URL: strings.Replace(live, u.Host, "127.0.0.1:1,"+u.Host, 1)}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := db.Server(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if want := "PostgreSQL at " + u.Host + ", of 127.0.0.1:1 and " + u.Host + ", database postgres"; s.Name != want {
		t.Errorf("it is %q, want %q", s.Name, want)
	}

	if err := storetest.Script(live, "DROP SCHEMA of_several CASCADE"); err != nil {
		t.Error(err)
	}
	if want := "PostgreSQL at 127.0.0.1:1 or " + u.Host + ", database postgres"; db.DisplayName() != want {
		t.Errorf("its address says %q, want %q", db.DisplayName(), want)
	}
}

// TestPostgresDamagedContent: what is wrong with the tables is said in our words, with a next step.
func TestPostgresDamagedContent(t *testing.T) {
	const unread = "UPDATE rooms SET policy = '{'"
	for name, c := range map[string]struct{ damage, says string }{
		"a table is gone":       {"DROP TABLE cursors", "aren't as tt made them"},
		"a column is gone":      {"ALTER TABLE cursors RENAME COLUMN stream TO name", "aren't as tt made them"},
		"a row contradicts":     {"ALTER TABLE cursors ADD CHECK (event_seq < 0)", "contradict each other"},
		"a row that isn't read": {unread, "can't be read"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
				id := played(t, db)
				storetest.Exec(t, db, c.damage)
				err := storetest.Again(t, db).Update(ctx, func(tx *store.Tx) error {
					_, err := tx.Room(id)
					return try(err, tx.AdvanceCursor(id, "codex:b", "wait", 1))
				})
				if e := refused(t, err, stick.CodeDatabaseCorrupt); !strings.Contains(e.Message, c.says) || !strings.Contains(e.Hint.String(), "start in another schema") {
					t.Errorf("it says %q (%s)", e.Message, e.Hint)
				}
				storetest.Exec(t, db, unread) // which the check finds
			}, storetest.Damaged())
		})
	}
}
