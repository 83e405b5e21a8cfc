package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

func TestEventKeepsEveryColumn(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRoom(t, db, "/work")
		join(t, db, r.ID, "claude:a")
		claim(t, db, r.ID, "claude:a")

		given := stick.Handoff{
			Status: "naïve \u2028 \x7f \"quoted\"", NextAction: "línea 2\nline",
			OpenQuestions: []string{"why?"}, DoNot: []string{"touch"},
			Artifacts: []stick.Artifact{
				{Path: "a/b.go", Lines: &stick.Lines{3, 9}, Role: "edit", Note: "n", RoomPath: "a/b.go"},
			},
			Workspace: &stick.Workspace{Head: "abc", Branch: "main", Dirty: []string{"x", "y"}, DirtyCount: 2},
		}

		var want stick.Event
		_, saved := play(t, db, r.ID, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
			r, events, err := r.Release("claude:a", stick.Fence{Turn: 1, Lease: r.Turn.Lease}, given, blind(), now)
			if err != nil {
				t.Fatal(err)
			}
			e := &events[0]
			e.ID, e.Session, e.Task, e.Reason = "given", "s-1", "FEAT 9: täsk", "because <this>"
			want = *e
			return r, events
		})

		if want.Payload == nil || want.Handoff == nil || want.Turn != 1 || want.From == "" {
			t.Fatalf("the event leaves columns empty: %+v", want)
		}

		view(t, db, func(tx *store.Tx) error {
			got, err := tx.Event(r.ID, saved[0].Seq)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(&saved[0], got); diff != "" {
				t.Errorf("what was loaded isn't what was saved:\n%s", diff)
			}

			want.Seq, want.Room, want.CreatedAt, want.Sum = got.Seq, r.ID, stick.At(clock.Now()), got.Sum
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("what was saved isn't what was made:\n%s", diff)
			}
			if e, err := tx.Event(r.ID, saved[0].Seq+1); e != nil || err != nil {
				t.Errorf("an event that isn't there is %v (%v)", e, err)
			}

			return nil
		})
	}, storetest.At(clock))
}

// TestCounterAndChain: two rooms share the counter, and each has a chain of its own.
func TestCounterAndChain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		rooms := []stick.RoomID{newRoom(t, db, "/one").ID, newRoom(t, db, "/two").ID}
		last := int64(0)
		for i := range 20 {
			e := join(t, db, rooms[i%2], stick.AgentID(fmt.Sprintf("claude:%d", i)))
			if e.Seq != last+1 {
				t.Errorf("event %d follows event %d", e.Seq, last)
			}
			last = e.Seq
		}

		view(t, db, func(tx *store.Tx) error {
			for _, id := range rooms {
				events, more, err := tx.Events(store.EventQuery{Room: id, Limit: 100})
				if err != nil || more || len(events) != 10 {
					t.Fatalf("%d events, more: %v, %v", len(events), more, err)
				}

				sum := ""
				for _, e := range events {
					if e.Room != id || e.Sum != e.Chain(sum) {
						t.Errorf("event %d of %s isn't chained to the one before it", e.Seq, e.Room)
					}
					sum = e.Sum
				}

				if seq, err := tx.LastSeq(id); err != nil || seq != events[9].Seq {
					t.Errorf("the last event is %d (%v), want %d", seq, err, events[9].Seq)
				}
			}

			return nil
		})
	}, storetest.Counted())
}

func TestEventIDIsUnique(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/work").ID
		twice := func(tx *store.Tx) error {
			r, err := tx.Room(id)
			if err != nil {
				return err
			}
			next, events, _, err := r.Join("claude:a", "", true, tx.Now())
			if err != nil {
				return err
			}

			events[0].ID = "chosen before"
			_, _, err = tx.Save(r, next, append(events, events...))
			return err
		}

		if err := db.Update(ctx, twice); err == nil {
			t.Error("two events have one id")
		}
	})
}

func TestEventFilters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/work").ID
		join(t, db, id, "claude:a") // 1
		join(t, db, id, "codex:b")  // 2

		for range 4 { // 3…18
			claim(t, db, id, "claude:a")
			pass(t, db, id, "claude:a", "codex:b")
			claim(t, db, id, "codex:b")
			pass(t, db, id, "codex:b", "claude:a")
		}

		play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) { // 19
			r, events, _, err := r.Join("gemini:c", "", true, now)
			if err != nil {
				t.Fatal(err)
			}
			events[0].Task = "task 7"
			return r, events
		})

		for _, c := range []struct {
			name string
			q    store.EventQuery
			want []int64
			more bool
		}{
			{
				"all",
				store.EventQuery{Limit: 100},
				[]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19},
				false,
			},
			{"the oldest", store.EventQuery{Limit: 2}, []int64{1, 2}, true},
			{"exactly as many as there are", store.EventQuery{After: 16, Limit: 3}, []int64{17, 18, 19}, false},
			{"the newest", store.EventQuery{Limit: 3, Newest: true}, []int64{17, 18, 19}, true},
			{"behind a cursor", store.EventQuery{After: 17, Limit: 9}, []int64{18, 19}, false},
			{"before one", store.EventQuery{Before: 3, Limit: 9}, []int64{1, 2}, false},
			{
				"before one, the newest",
				store.EventQuery{Before: 9, After: 3, Limit: 2, Newest: true},
				[]int64{7, 8},
				true,
			},
			{"a turn", store.EventQuery{Turn: 3, Limit: 9}, []int64{7, 8}, false},
			{
				"types",
				store.EventQuery{Types: []stick.EventType{stick.EventClaim, stick.EventJoin}, Limit: 4},
				[]int64{1, 2, 3, 5},
				true,
			},
			{
				"types, the newest",
				store.EventQuery{Types: []stick.EventType{stick.EventJoin}, Limit: 2, Newest: true},
				[]int64{2, 19},
				true,
			},
			{"from", store.EventQuery{From: "codex:b", Limit: 3}, []int64{2, 5, 6}, true},
			{"to, filtered before the limit", store.EventQuery{For: "codex:b", Limit: 2}, []int64{4, 8}, true},
			{"to, all", store.EventQuery{For: "claude:a", Limit: 9}, []int64{6, 10, 14, 18}, false},
			{
				"several at once",
				store.EventQuery{Types: []stick.EventType{stick.EventPass}, From: "claude:a", After: 8, Limit: 1},
				[]int64{12},
				true,
			},
			{"nothing", store.EventQuery{From: "nobody", Limit: 9}, nil, false},
			{"another room", store.EventQuery{Room: "room-nobody", Limit: 9}, nil, false},
		} {
			view(t, db, func(tx *store.Tx) error {
				if c.q.Room == "" {
					c.q.Room = id
				}
				events, more, err := tx.Events(c.q)
				var got []int64
				for _, e := range events {
					got = append(got, e.Seq)
				}
				if diff := cmp.Diff(c.want, got); diff != "" || more != c.more {
					t.Errorf("%s: more: %v\n%s", c.name, more, diff)
				}

				return err
			})
		}
	})
}

// TestBack counts events back over those of another room.
func TestBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id, other := newRoom(t, db, "/work").ID, newRoom(t, db, "/other").ID
		for _, name := range []stick.AgentID{"claude:1", "claude:2", "claude:3"} { // 1, 3, 5
			join(t, db, id, name)
			join(t, db, other, name)
		}

		for _, c := range []struct {
			before int64
			n      int
			want   int64
		}{{0, 0, 5}, {0, 2, 1}, {0, 3, 0}, {5, 0, 3}, {4, 0, 3}, {5, 1, 1}, {1, 0, 0}} {
			view(t, db, func(tx *store.Tx) error {
				got, err := tx.SeqBack(id, c.before, c.n)
				if got != c.want {
					t.Errorf("%d back from %d is event %d, want %d", c.n, c.before, got, c.want)
				}
				return err
			})
		}
	}, storetest.Counted())
}

func TestCursorsOnlyGoForward(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/work").ID
		at := func(a stick.AgentID, stream string) (seq int64, ok bool) {
			view(t, db, func(tx *store.Tx) (err error) {
				seq, ok, err = tx.Cursor(id, a, stream)
				return err
			})
			return seq, ok
		}

		if _, ok := at("claude:a", "wait"); ok {
			t.Error("a cursor that was never set is there")
		}

		for _, step := range []struct{ to, want int64 }{{5, 5}, {9, 9}, {7, 9}, {9, 9}, {0, 9}, {10, 10}} {
			update(t, db, func(tx *store.Tx) error { return tx.AdvanceCursor(id, "claude:a", "wait", step.to) })
			if got, _ := at("claude:a", "wait"); got != step.want {
				t.Errorf("advanced to %d, the cursor is %d, want %d", step.to, got, step.want)
			}
		}

		for _, other := range []struct {
			a      stick.AgentID
			stream string
		}{{"codex:b", "wait"}, {"claude:a", "inbox"}} {
			if _, ok := at(other.a, other.stream); ok {
				t.Errorf("the cursor of %v moved with another", other)
			}
		}
	})
}

// TestLargeEvents writes more than one page of every text that has no limit of its own.
func TestLargeEvents(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/work").ID
		join(t, db, id, "claude:a")
		long := string(make([]byte, 0))
		for len(long) < 20_000 {
			long += "zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. "
		}

		_, saved := play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
			r, events, _, err := r.Join("codex:b", "", true, now)
			if err != nil {
				t.Fatal(err)
			}
			events[0].Reason, events[0].Task = long, long
			return r, events
		})

		view(t, db, func(tx *store.Tx) error {
			got, err := tx.Event(id, saved[0].Seq)
			if err == nil && (got.Reason != long || got.Task != long) {
				t.Error("a long text came back changed")
			}
			return err
		})
	})
}

// TestEventQueries compares queries, random ones among them, with what a loop over the log finds.
func TestEventQueries(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		p := newPost(t, db, clock)
		var log []stick.Event
		view(t, db, func(tx *store.Tx) (err error) {
			log, _, err = tx.Events(store.EventQuery{Room: p.room, Limit: 1000})
			return err
		})

		if diff := cmp.Diff(p.log, log); diff != "" {
			t.Fatalf("the log isn't what was made:\n%s", diff)
		}
		last := log[len(log)-1].Seq

		types := []stick.EventType{
			stick.EventJoin, stick.EventClaim, stick.EventPass, stick.EventKick,
			stick.EventMessageSent, stick.EventMessageSent, stick.EventMessageRead, stick.EventMessageAcked,
			stick.EventMessageWithdrawn,
		}

		someone := rapid.SampledFrom(append([]stick.AgentID{"", "", "", "", "", "", "codex:x", "nobody"}, postmen...))
		compare := func(t interface{ Errorf(string, ...any) }, q store.EventQuery) {
			var want []stick.Event
			for _, e := range log {
				d := p.at(e.Seq, q.For)
				if e.Seq > q.After &&
					(q.Before == 0 || e.Seq < q.Before) &&
					(q.Turn == 0 || e.Turn == q.Turn) &&
					(len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) &&
					(q.From == "" || e.From == q.From) && (q.Task == "" || e.Task == q.Task) &&
					(q.For == "" || d != nil && (!q.Fresh || d.ShownAt == 0 && d.State() == stick.Unread)) {
					want = append(want, e)
				}
			}

			more := len(want) > q.Limit
			if more && q.Newest {
				want = want[len(want)-q.Limit:]
			} else if more {
				want = want[:q.Limit]
			}

			err := db.View(ctx, func(tx *store.Tx) error {
				got, gotMore, err := tx.Events(q)
				if diff := cmp.Diff(want, got); diff != "" || gotMore != more {
					t.Errorf("%+v: more %v, want %v\n%s", q, gotMore, more, diff)
				}
				return err
			})
			if err != nil {
				t.Errorf("%+v: %v", q, err)
			}
		}

		for _, a := range append(postmen, "codex:x", "nobody") {
			for _, fresh := range []bool{false, true} {
				for _, task := range []string{"", "T1"} {
					compare(t, store.EventQuery{Room: p.room, For: a, Fresh: fresh, Task: task, Limit: 1000})
				}
			}
		}

		compare(t, store.EventQuery{Room: p.room, Task: "T1", Limit: 1000})
		rapid.Check(t, func(rt *rapid.T) {
			compare(rt, store.EventQuery{
				Room: p.room, After: rapid.SampledFrom([]int64{0, 0, 0, last / 3, last / 2, last}).Draw(rt, "after"),
				Before: rapid.SampledFrom([]int64{0, 0, 0, 1, last / 2, last}).Draw(rt, "before"),
				Turn:   rapid.SampledFrom([]int64{0, 0, 0, 0, 0, 1, 3, 9}).Draw(rt, "turn"),
				Types:  rapid.SliceOfN(rapid.SampledFrom(types), 0, 3).Draw(rt, "types"),
				From:   someone.Draw(rt, "from"), For: someone.Draw(rt, "for"), Fresh: rapid.Bool().Draw(rt, "fresh"),
				Task:   rapid.SampledFrom([]string{"", "", "", "", "T1", "T1", "T2", "T9"}).Draw(rt, "task"),
				Limit:  rapid.SampledFrom([]int{1, 3, 10, 1000}).Draw(rt, "limit"),
				Newest: rapid.Bool().Draw(rt, "newest"),
			})
		})
	}, storetest.At(clock))
}
