package store_test

import (
	"net/url"
	"os"
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
)

// TestRoleOfTheManual: the role that docs/POSTGRESQL.md makes is enough, and may do nothing outside of its
// schema.
func TestRoleOfTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/POSTGRESQL.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(manual), "```sql\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("the manual has %d blocks of SQL", len(blocks))
	}

	server, err := url.Parse(storetest.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	q := server.Query()
	q.Del("search_path")
	server.RawQuery = q.Encode()
	within := *server
	within.Path = "/talkingstick"

	t.Cleanup(func() {
		for _, s := range []string{
			"DROP DATABASE IF EXISTS talkingstick WITH (FORCE)", "DROP ROLE IF EXISTS talkingstick",
		} {
			if err := storetest.Script(server.String(), s); err != nil {
				t.Error(err)
			}
		}
	})

	for i, address := range []string{server.String(), within.String()} {
		block, _, _ := strings.Cut(blocks[i], "```")
		for _, statement := range strings.Split(strings.TrimSpace(block), "\n") {
			if err := storetest.Script(address, statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}

	within.User = url.UserPassword("talkingstick", "a long one")
	db, err := store.Open(ctx, store.Options{Dir: t.TempDir(), URL: within.String(), Boot: "1", HostName: "here"}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	newRoom(t, db, "/work")
	s, err := db.Server(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s.Role != "talkingstick" ||
		s.Super ||
		!s.Delivers ||
		s.Version < 15 ||
		s.Schema != "talkingstick" ||
		s.Most == 0 ||
		s.Used == 0 {
		t.Errorf("the server is %+v", s)
	}

	for _, forbidden := range []string{
		"CREATE SCHEMA other",
		"CREATE TABLE public.t (x int)",
		"CREATE ROLE r",
		"CREATE TEMP TABLE t (x int)",
	} {
		if err := storetest.Script(within.String(), forbidden); err == nil {
			t.Errorf("the role may %s", forbidden)
		}
	}
}
