package store_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// toMove copies the file of a database, and opens the copy. kill is called at the kill points of its updates,
// and may be nil.
func toMove(t *testing.T, db *store.DB, kill func(string)) *store.DB {
	t.Helper()
	dir := t.TempDir()
	if _, err := storetest.Raw(t, db).Exec("VACUUM INTO ?", filepath.Join(dir, store.FileName)); err != nil {
		t.Fatal(err)
	}
	return opened(t, store.Options{Dir: dir, Kill: kill})
}

// opened opens a database without the check at the end.
func opened(t *testing.T, opt store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), opt, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// server opens an empty database on a server.
func server(t *testing.T, kill func(string)) *store.DB {
	t.Helper()
	return opened(t, store.Options{
		Dir: t.TempDir(), URL: storetest.PostgresURL(t), HostName: "alpha", Boot: "b1", Kill: kill,
	})
}

// keyOf makes a key for a room.
func keyOf(r stick.Room) string { return "room/" + string(r.ID) }

// eventsOf reads the log of all rooms, without what a move changes.
func eventsOf(t *testing.T, db *store.DB) (all []string) {
	t.Helper()
	view(t, db, func(tx *store.Tx) error {
		rooms, err := tx.Rooms(nil, "")
		if err != nil {
			return err
		}

		for _, r := range rooms {
			for after, more := int64(0), true; more; {
				var events []stick.Event
				if events, more, err = tx.Events(store.EventQuery{Room: r.ID, After: after, Limit: 500}); err != nil {
					return err
				}

				for _, e := range events {
					handoff, err := json.Marshal(e.Handoff)
					if err != nil {
						return err
					}
					all = append(all,
						strings.ReplaceAll(
							fmt.Sprintln(e.Seq, e.ID, e.Room, e.Turn, e.Type, e.From, e.To, e.CreatedAt,
								string(handoff), e.Say()),
							"@alpha", "",
						))
					after = e.Seq
				}
			}
		}

		return nil
	})

	slices.Sort(all)
	return all
}

// TestMove moves the database that an earlier program wrote to a server. Everything is there then, and the
// file is closed to all programs.
func TestMove(t *testing.T) {
	old := storetest.Old(t, "8cc1f78", nil)
	want := eventsOf(t, old)
	from, to := toMove(t, old, nil), server(t, nil)
	m, err := store.Move(t.Context(), from, to, keyOf)
	if err != nil {
		t.Fatal(err)
	}
	if m.Events != len(want) || m.Already {
		t.Errorf("%+v; want %d events", m, len(want))
	}
	if got := eventsOf(t, to); !slices.Equal(got, want) {
		t.Errorf("the log is another one:\n%s", cmp.Diff(want, got))
	}

	storetest.Check(t, to)
	var rooms []stick.Room
	view(t, old, func(tx *store.Tx) (err error) {
		rooms, err = tx.Rooms(nil, "")
		return err
	})

	for _, r := range rooms {
		view(t, to, func(tx *store.Tx) error {
			at, ok, err := tx.RoomAt([]string{r.Path})
			if err != nil || !ok || at.ID != r.ID || at.Turn.ID != r.Turn.ID {
				t.Errorf("at %s: %s, %v, %v", r.Path, at.ID, ok, err)
			}

			for _, x := range at.Members {
				if x.Agent.Human() && !strings.HasSuffix(string(x.Agent), "@alpha") || x.Checkout.Path != r.Path {
					t.Errorf("%s is in %v", x.Agent, x.Checkout)
				}
			}

			tasks, err := tx.Tasks(r.ID)
			for _, x := range tasks {
				if x.In.Path != r.Path || x.In.Host == "" {
					t.Errorf("%s is in %v", x.ID, x.In)
				}
			}

			return err
		})
		join(t, to, r.ID, "claude:new") // the rooms go on
	}

	storetest.Check(t, to)

	err = from.View(t.Context(), func(*store.Tx) error { return nil })
	refused(t, err, stick.CodeDatabaseMoved)
	_, err = store.Open(t.Context(), store.Options{Dir: from.Dir()}, true)
	no := refused(t, err, stick.CodeDatabaseMoved)
	if !strings.Contains(no.Message, "PostgreSQL at") || strings.Contains(no.Message, "swordfish") {
		t.Error(no.Message)
	}

	if m, err = store.Move(t.Context(), toMove(t, old, nil), to, keyOf); err != nil || !m.Already {
		t.Errorf("the same file once more: %+v, %v", m, err)
	}
	other := toMove(t, old, nil)
	join(t, other, rooms[0].ID, "claude:other")
	_, err = store.Move(t.Context(), other, to, keyOf)
	refused(t, err, stick.CodeAlreadyExists)
}

// TestKilledMove kills a move before and after each of its two commits. The next one finishes it, or begins
// anew, and nothing is there twice.
func TestKilledMove(t *testing.T) {
	old := storetest.Old(t, "8cc1f78", nil)
	want := eventsOf(t, old)
	for _, point := range []string{
		"the server's before commit",
		"the server's after commit",
		"the file's before commit",
		"the file's after commit",
	} {
		t.Run(point, func(t *testing.T) {
			kill := func(whose string) func(string) {
				return func(at string) {
					if whose+" "+at == point {
						runtime.Goexit()
					}
				}
			}

			opt := store.Options{
				Dir: t.TempDir(), URL: storetest.PostgresURL(t), HostName: "alpha", Boot: "b1",
				Kill: kill("the server's"),
			}
			from := toMove(t, old, kill("the file's"))
			over, ended := make(chan struct{}), false
			go func() { // ends at the kill point
				defer close(over)
				_, _ = store.Move(t.Context(), from, opened(t, opt), keyOf)
				ended = true
			}()

			<-over
			if ended {
				t.Fatal("it reached its end")
			}

			opt.Kill = nil
			to := opened(t, opt)
			again, err := store.Open(t.Context(), store.Options{Dir: from.Dir()}, true)
			if point == "the file's after commit" {
				refused(t, err, stick.CodeDatabaseMoved)
			} else {
				if err != nil {
					t.Fatal(err)
				}
				defer again.Close()
				m, err := store.Move(t.Context(), again, to, keyOf)
				if err != nil || m.Already != (point != "the server's before commit") {
					t.Fatalf("%+v, %v", m, err)
				}
			}

			if got := eventsOf(t, to); !slices.Equal(got, want) {
				t.Errorf("the log is another one:\n%s", cmp.Diff(want, got))
			}
			storetest.Check(t, to)
		})
	}
}

// TestDamagedFileIsntMoved: a file that isn't what its log says stays where it is.
func TestDamagedFileIsntMoved(t *testing.T) {
	old := storetest.Old(t, "8cc1f78", nil)
	from, to := toMove(t, old, nil), server(t, nil)
	raw, err := sql.Open("sqlite", filepath.Join(from.Dir(), store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec("UPDATE events SET reason = 'x' WHERE event_seq = (SELECT MIN(event_seq) FROM events)"); err != nil {
		t.Fatal(err)
	}

	_, err = store.Move(t.Context(), from, to, keyOf)
	refused(t, err, stick.CodeDatabaseCorrupt)
	if got := eventsOf(t, to); len(got) > 0 {
		t.Errorf("%d events were moved", len(got))
	}

	if err := from.View(t.Context(), func(*store.Tx) error { return nil }); err != nil {
		t.Errorf("the file is closed: %v", err)
	}
}

// TestMoveKnowsAllTables: a new table has to be copied, or to be named here as one that isn't.
func TestMoveKnowsAllTables(t *testing.T) {
	stays := []string{"meta", "counters", "boots", "listeners", "hosts", "host_boots", "checkouts"}
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		want := append(
			storetest.Exec(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"),
			"",
		)
		slices.Sort(want)
		got := append(slices.Concat(stays, store.MovedTables), "")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// TestMove_checkpoint: a log that begins with a checkpoint is the same on the server, with the names and places there.
func TestMove_checkpoint(t *testing.T) {
	old := storetest.Old(t, "8cc1f78", nil)
	for _, id := range rooms(t, old) {
		q := store.CutRequest{Room: id, Before: stick.At(time.Now().Add(time.Hour)), By: "human:x"}
		if _, err := old.CutLog(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	want := eventsOf(t, old)
	if n := len(rowsAt(t, filepath.Join(old.Dir(), store.FileName), "SELECT room_id FROM checkpoints")); n == 0 {
		t.Fatal("no log was cut")
	}

	to := server(t, nil)
	if _, err := store.Move(t.Context(), toMove(t, old, nil), to, keyOf); err != nil {
		t.Fatal(err)
	}
	if got := eventsOf(t, to); !slices.Equal(got, want) {
		t.Errorf("the log is another one:\n%s", cmp.Diff(want, got))
	}
	storetest.Check(t, to)

	for _, id := range rooms(t, to) {
		join(t, to, id, "claude:new") // the rooms go on
	}
	storetest.Check(t, to)
}
