package store_test

import (
	"database/sql"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// full sets every field of a struct of plain fields to a different value that isn't zero.
func full[T any](t *testing.T, seed int, v *T) {
	t.Helper()
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		f := s.Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString(s.Type().Field(i).Name + string(rune('a'+seed)))
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(1000*seed + i + 1))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice, reflect.Struct:
		default:
			t.Fatalf("a field of kind %s: teach this test to fill it", f.Kind())
		}
	}
}

func TestRoomKeepsEveryColumn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		before := newRoom(t, db, "/work")
		want := before
		full(t, 1, &want.Turn)
		want.Closed, want.Generation = true, 7
		full(t, 2, &want.Policy)

		for i := range reflect.TypeFor[stick.Policy]().NumField() { // durations are kept in milliseconds
			if f := reflect.ValueOf(&want.Policy).Elem().Field(i); f.Kind() == reflect.Int64 {
				f.SetInt(f.Int() * int64(time.Millisecond))
			}
		}

		want.Policy.Order = stick.Sequence
		for i, a := range []stick.AgentID{"claude:a", "codex:b"} {
			var m stick.Member
			full(t, 3+i, &m)
			m.Agent, m.State = a, stick.Joined
			m.HooksSeen, m.BusySince, m.IdleAt = false, 0, 0 // evidence of the session, below
			want.Members = append(want.Members, m)
		}

		update(t, db, func(tx *store.Tx) error {
			saved, _, err := tx.Save(before, want, nil)
			want.UpdatedAt = saved.UpdatedAt
			return err
		})

		if diff := cmp.Diff(want, load(t, db, before.ID)); diff != "" {
			t.Fatalf("what was loaded isn't what was saved (-saved +loaded):\n%s", diff)
		}

		// Changed once more: an update keeps as much as an insert.
		was := load(t, db, before.ID)
		again := was
		full(t, 5, &again.Turn)
		again.Closed = false
		again.Members = append([]stick.Member(nil), was.Members...)

		for i := range again.Members {
			a := again.Members[i].Agent
			full(t, 6+i, &again.Members[i])
			again.Members[i].Agent, again.Members[i].State = a, stick.Left
			again.Members[i].HooksSeen, again.Members[i].BusySince, again.Members[i].IdleAt = false, 0, 0
		}

		update(t, db, func(tx *store.Tx) error {
			saved, _, err := tx.Save(was, again, nil)
			again.UpdatedAt = saved.UpdatedAt
			return err
		})

		if diff := cmp.Diff(again, load(t, db, before.ID)); diff != "" {
			t.Fatalf("what was loaded isn't what was saved again (-saved +loaded):\n%s", diff)
		}
	})
}

func TestNewRoom(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRoom(t, db, "/work")
		if diff := cmp.Diff(r, load(t, db, r.ID)); diff != "" {
			t.Errorf("a new room isn't loaded as it was made:\n%s", diff)
		}
		if r.Turn.FreeSince != stick.At(clock.Now()) || r.Turn.State != stick.Idle || r.Generation != 1 {
			t.Errorf("a new room is %+v", r)
		}

		err := db.Update(ctx, func(tx *store.Tx) error {
			_, err := tx.NewRoom("/work", storetest.Key("/work"))
			return err
		})

		if err == nil {
			t.Error("two rooms were made at one path")
		}

		err = db.View(ctx, func(tx *store.Tx) error {
			_, err := tx.Room("room-nobody")
			return err
		})
		refused(t, err, stick.CodeNoRoom)
	}, storetest.At(clock), storetest.Counted())
}

func TestRoomsByPath(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ids := map[string]stick.RoomID{}
		for _, p := range []string{"/", "/work", "/work/sub", "/work/sub/deep", "/work-other", "/workX"} {
			ids[p] = newRoom(t, db, p).ID
		}

		view(t, db, func(tx *store.Tx) error {
			r, ok, err := tx.RoomAt([]string{"/work/sub/none", "/work/sub", "/work"})
			if err != nil || !ok || r.ID != ids["/work/sub"] {
				t.Errorf("the first of a chain with a room is %v (%v, %v)", r.Path, ok, err)
			}
			if _, ok, _ := tx.RoomAt([]string{"/none"}); ok {
				t.Error("a path without a room has one")
			}

			for _, c := range []struct {
				at    []string
				below string
				want  []string
			}{
				{nil, "", []string{"/", "/work", "/work-other", "/work/sub", "/work/sub/deep", "/workX"}},
				{[]string{"/work"}, "/work", []string{"/work", "/work/sub", "/work/sub/deep"}},
				{
					[]string{"/work/sub", "/work", "/"},
					"/work/sub",
					[]string{"/", "/work", "/work/sub", "/work/sub/deep"},
				},
				{nil, "/work/sub/", []string{"/work/sub/deep"}},
			} {
				rooms, err := tx.Rooms(c.at, c.below)
				var got []string
				for _, r := range rooms {
					got = append(got, r.Path)
				}
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
					t.Errorf("rooms at %v and below %q: %v\n%s", c.at, c.below, err, diff)
				}
			}

			return nil
		})
	})
}

// TestSaveWritesOnlyChanges reads the version of the database, which rises whenever a transaction writes
// anything.
func TestSaveWritesOnlyChanges(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		raw := storetest.Raw(t, db)
		raw.SetMaxOpenConns(1)

		version := func() (v int) {
			if err := raw.QueryRow("PRAGMA data_version").Scan(&v); err != nil {
				t.Fatal(err)
			}
			return v
		}

		same := func(r stick.Room, _ stick.Time) (stick.Room, []stick.Event) { return r, nil }
		was := version()
		play(t, db, id, same)
		if version() != was {
			t.Error("saving an unchanged room wrote something")
		}

		row := func(query string) (out [][]any) { return rows(t, raw, query) }
		rooms, members := "SELECT * FROM rooms", "SELECT * FROM members WHERE agent_id <> 'codex:b'"
		r0, m0 := row(rooms), row(members)

		play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
			r.Members = append([]stick.Member(nil), r.Members...)
			r.Members[1].LastSeenAt++
			return r, nil
		})

		if diff := cmp.Diff(r0, row(rooms)); diff != "" {
			t.Errorf("saving a member changed the room:\n%s", diff)
		}
		if diff := cmp.Diff(m0, row(members)); diff != "" {
			t.Errorf("saving a member changed another:\n%s", diff)
		}
		if version() == was {
			t.Error("saving a changed member wrote nothing")
		}
	})
}

func rows(t *testing.T, raw *sql.DB, query string) (out [][]any) {
	t.Helper()
	rs, err := raw.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Close()
	names, err := rs.Columns()
	if err != nil {
		t.Fatal(err)
	}

	for rs.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rs.Scan(into...); err != nil {
			t.Fatal(err)
		}
		out = append(out, values)
	}

	return out
}

func TestSaveStampsTheRoom(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/work").ID
		a, b := join(t, db, id, "claude:a"), join(t, db, id, "codex:b")
		claim(t, db, id, "claude:a")
		gave := release(t, db, id, "claude:a")
		r := load(t, db, id)
		ma, _ := r.Member("claude:a")
		mb, _ := r.Member("codex:b")
		if ma.JoinSeq != a.Seq ||
			mb.JoinSeq != b.Seq ||
			ma.HeldSeq != gave.Seq ||
			mb.HeldSeq != 0 ||
			r.Turn.HandoffSeq != gave.Seq {
			t.Errorf("the room isn't stamped: %+v", r)
		}
	})
}

func TestRoomPart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		join(t, db, id, "gemini:c")
		join(t, db, id, "gemini:d")
		claim(t, db, id, "claude:a")
		update(t, db, func(tx *store.Tx) error {
			return tx.PutListener(id, stick.Listener{ID: "l1", Agent: "codex:b", Purpose: stick.Work})
		})

		view(t, db, func(tx *store.Tx) error {
			r, err := tx.RoomPart(id, "gemini:c")
			if err != nil || len(r.Members) != 2 || len(r.Listeners) != 0 || r.Turn.Owner != "claude:a" {
				t.Errorf("the part of a room is %+v (%v)", r, err)
			}

			_, err = tx.RoomPart("room-nobody", "gemini:c")
			refused(t, err, stick.CodeNoRoom)
			return nil
		})
		update(t, db, func(tx *store.Tx) error { return tx.DropListener("l1") })
	})
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		before := load(t, db, id)
		failed := errors.New("no")
		err := db.Update(ctx, func(tx *store.Tx) error {
			r, err := tx.Room(id)
			if err != nil {
				return err
			}
			next, events, _, err := r.Join("gemini:c", "", true, tx.Now())
			if err != nil {
				return err
			}

			if _, _, err := tx.Save(r, next, events); err != nil {
				return err
			}
			if err := tx.PutSession(store.Session{Key: "k", Agent: "gemini:c", Harness: "gemini"}); err != nil {
				return err
			}

			return failed
		})

		if !errors.Is(err, failed) {
			t.Fatalf("got %v", err)
		}
		if diff := cmp.Diff(before, load(t, db, id)); diff != "" {
			t.Errorf("a transaction that failed changed the room:\n%s", diff)
		}

		view(t, db, func(tx *store.Tx) error {
			if known, err := tx.IsKnownName("gemini:c"); known || err != nil {
				t.Errorf("its session was kept (%v)", err)
			}
			return nil
		})
	})
}

func TestViewReadsOneState(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		other := storetest.Again(t, db)
		view(t, db, func(tx *store.Tx) error {
			first, err := tx.Room(id)
			if err != nil {
				return err
			}
			join(t, other, id, "gemini:c")
			second, err := tx.Room(id)
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("a view saw a commit that came after it began:\n%s", diff)
			}

			return err
		})

		if r := load(t, db, id); len(r.Members) != 3 {
			t.Errorf("the next view doesn't see the commit: %d members", len(r.Members))
		}
	})
}
