package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// before makes a database as a program that knew only the first migrations would leave it, with the rows of
// db that such a program has, and opens it with the present store.
func before(t *testing.T, db *store.DB, last int) *store.DB {
	t.Helper()
	dir := t.TempDir()
	raw, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	raw.SetMaxOpenConns(1)

	run := func(text string, args ...any) {
		t.Helper()
		if _, err := raw.Exec(text, args...); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}

	run(`PRAGMA application_id=0x54547374; PRAGMA journal_mode=WAL; CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)`)
	for _, m := range readMigrations(t, last) {
		run(m)
	}
	run("DELETE FROM counters")
	run("ATTACH DATABASE ? AS now", filepath.Join(db.Dir(), store.FileName))
	tables := column(t, raw, "SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY rowid")
	if len(tables) < 9 {
		t.Fatalf("the tables were %q", tables)
	}

	for _, table := range tables {
		columns := strings.Join(column(t, raw, "SELECT name FROM pragma_table_info(?, 'main')", table), ", ")
		run(fmt.Sprintf("INSERT INTO main.%s (%s) SELECT %[2]s FROM now.%[1]s", table, columns))
	}

	run("UPDATE main.meta SET value = ? WHERE key IN ('schema', 'min_reader')", fmt.Sprint(last))
	run("DETACH DATABASE now")
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	old, err := store.Open(ctx, store.Options{Dir: dir}, false)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if found, err := old.Check(ctx); err != nil || len(found) > 0 {
			t.Errorf("after all, the check found %q (%v)", found, err)
		}
		if err := old.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})

	return old
}

// column reads a column of texts.
func column(t *testing.T, raw *sql.DB, query string, args ...any) (out []string) {
	t.Helper()
	rs, err := raw.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Close()

	for rs.Next() {
		var s string
		if err := rs.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}

	if err := rs.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// fresh returns an empty database.
func fresh(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(ctx, store.Options{Dir: t.TempDir()}, true)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})

	return db
}

// TestUpgradeFromRooms: a database that is older than messages gets the receipts that follow from its log,
// the addressees get their events, and everything new works in it.
func TestUpgradeFromRooms(t *testing.T) {
	now := fresh(t)
	id := newRoom(t, now, "/work").ID
	for _, a := range []stick.AgentID{"claude:a", "codex:b", "gemini:c"} {
		join(t, now, id, a)
	}
	claim(t, now, id, "claude:a")
	pass(t, now, id, "claude:a", "codex:b")

	play(t, now, id, func(r stick.Room, at stick.Time) (stick.Room, []stick.Event) {
		r, events, _, err := r.Takeover(stick.Take{By: "gemini:c", Reason: "asked", Operator: true}, "lease",
			blind(), at)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	pass(t, now, id, "gemini:c", "claude:a")
	claim(t, now, id, "claude:a")
	play(t, now, id, func(r stick.Room, at stick.Time) (stick.Room, []stick.Event) {
		r, events, err := r.SetPolicy("codex:b", true, []string{"order=sequence"}, at)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	play(t, now, id, func(r stick.Room, at stick.Time) (stick.Room, []stick.Event) {
		r, events, err := r.SetPolicy("claude:a", true, []string{"order=fair"}, at) // by the owner: for nobody
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	play(t, now, id, func(r stick.Room, at stick.Time) (stick.Room, []stick.Event) {
		r, events, err := r.Kick(stick.Kicking{By: "claude:a", Who: "gemini:c", Force: true}, blind(), at)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	old := before(t, now, 1)
	receipts := func(db *store.DB) []string {
		return column(t, openRaw(t, db.Dir()), `SELECT room_id || ' ' || agent_id || ' ' || event_seq || ' ' || owes || thread || read_at || acked_at
			|| withdrawn || is_open || shown_at FROM receipts ORDER BY event_seq, agent_id`)
	}

	want := receipts(now)
	if diff := cmp.Diff(want, receipts(old)); diff != "" || len(want) != 5 {
		t.Errorf("the %d receipts aren't what the log would have brought:\n%s", len(want), diff)
	}
	if diff := cmp.Diff(load(t, now, id), load(t, old, id)); diff != "" {
		t.Errorf("the room changed:\n%s", diff)
	}

	view(t, old, func(tx *store.Tx) error {
		events, _, err := tx.Events(store.EventQuery{Room: id, For: "codex:b", Fresh: true, Limit: 9})
		if len(events) != 2 || events[0].Type != stick.EventPass || events[1].Type != stick.EventTakeover {
			t.Errorf("for codex:b there are %+v", events)
		}

		unread, unacked, err2 := tx.CountOpen(id, "codex:b")
		if unread+unacked != 0 {
			t.Errorf("what is older than inboxes lies in one: %d unread, %d to acknowledge", unread, unacked)
		}

		return try(err, err2)
	})

	sent := send(t, old, id, talk.Sending{
		By: "claude:a", Message: stick.Message{To: []stick.AgentID{"codex:b"}, Body: "hello"},
	})
	note(t, old, id, "codex:b", "remember", true)
	view(t, old, func(tx *store.Tx) error {
		entries, _, err := tx.Inbox(store.InboxQuery{Room: id, Agent: "codex:b", Open: true, Limit: 9})
		if len(entries) != 1 || entries[0].Seq != sent.Seq {
			t.Errorf("the inbox holds %+v", entries)
		}

		n, err2 := tx.CountNotes(store.NoteQuery{Room: id})
		if n != 1 {
			t.Errorf("there are %d notes", n)
		}

		return try(err, err2)
	})

	meta := func(db *store.DB) []string {
		return column(t, openRaw(t, db.Dir()), "SELECT key || ' ' || value FROM meta ORDER BY key")
	}
	if diff := cmp.Diff(meta(now), meta(old)); diff != "" {
		t.Errorf("the database says of itself:\n%s", diff)
	}
}

// TestUpgradeOfAPersonsWord: a log stays sound in which an agent acted on a person's word before people had
// inboxes.
func TestUpgradeOfAPersonsWord(t *testing.T) {
	now := fresh(t)
	id := played(t, now)
	join(t, now, id, "human:h")

	play(t, now, id, func(r stick.Room, at stick.Time) (stick.Room, []stick.Event) {
		r, events, err := r.Kick(stick.Kicking{By: "claude:a", Who: "codex:b", Force: true, Relayed: true}, blind(), at)
		if err != nil {
			t.Fatal(err)
		}
		events[0] = stick.Amend(events[0], func(p *stick.KickPayload) { p.Told = nil })
		events[0].For = nil
		return r, events
	})
	before(t, now, 1)
}
