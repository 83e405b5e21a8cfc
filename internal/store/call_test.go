package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

func TestCalls(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		room := played(t, db)
		first := edits.Call{
			Agent: "claude:a", Helper: "sub", Tool: "Bash", Command: "make", Key: "toolu_1", Checkout: "/app",
			Before: "s1", Started: 10,
		}
		second := edits.Call{
			Agent: "codex:b", Tool: "apply_patch", Command: "a.go", Checkout: "/app", Before: "s2",
			After: "s3", Files: 2, Started: 20, Ended: 21,
		}
		third := edits.Call{Agent: "claude:a", Tool: "Bash", Command: "ls", Checkout: "/lib", Started: 30, Ended: 31}

		update(t, db, func(tx *store.Tx) error {
			return try(tx.PutCall(room, &first), tx.PutCall(room, &second), tx.PutCall(room, &third))
		})
		first.After, first.Files, first.Overlapped, first.Ended = "s4", 1, true, 25
		update(t, db, func(tx *store.Tx) error { return tx.PutCall(room, &first) })
		if first.ID != 1 || second.ID != 2 || third.ID != 3 {
			t.Errorf("their numbers are %d, %d, %d", first.ID, second.ID, third.ID)
		}

		for name, c := range map[string]struct {
			q    store.CallQuery
			want []edits.Call
		}{
			"all":           {store.CallQuery{Room: room, Limit: 9}, []edits.Call{third, second, first}},
			"the newest":    {store.CallQuery{Room: room, Limit: 1}, []edits.Call{third}},
			"of a checkout": {store.CallQuery{Room: room, Checkout: "/app", Limit: 9}, []edits.Call{second, first}},
			"of an agent":   {store.CallQuery{Room: room, Agent: "claude:a", Limit: 9}, []edits.Call{third, first}},
			"that changed": {
				store.CallQuery{Room: room, Agent: "claude:a", Changed: true, Limit: 9}, []edits.Call{first},
			},
			"by its number": {store.CallQuery{Room: room, ID: 2, Limit: 9}, []edits.Call{second}},
			"that ran lately": {
				store.CallQuery{Room: room, Checkout: "/app", Since: 22, Limit: 9}, []edits.Call{first},
			},
			"that ran before":  {store.CallQuery{Room: room, Until: 20, Limit: 9}, []edits.Call{second, first}},
			"of another room":  {store.CallQuery{Room: "another", Limit: 9}, nil},
			"of an idle agent": {store.CallQuery{Room: room, Agent: "pi:c", Limit: 9}, nil},
		} {
			view(t, db, func(tx *store.Tx) error {
				got, err := tx.Calls(c.q)
				if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
					t.Errorf("%s: %v\n%s", name, err, diff)
				}
				return nil
			})
		}
	})
}

// A look that was noted late has overwritten what a newer one had noted, so it is the last one that counts.
func TestTx_LastNoted_InTheOrderOfNoting(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		room := played(t, db)
		callOf := func(after string, ended stick.Time, noted bool) *edits.Call {
			return &edits.Call{
				Agent: "claude:a", Tool: "Bash", Checkout: "/app", After: after, Started: 10, Ended: ended,
				Noted: noted,
			}
		}
		elsewhere := callOf("s9", 20, true)
		elsewhere.Checkout = "/lib"

		for _, c := range []struct {
			put  *edits.Call
			want string
		}{
			{callOf("s2", 15, true), "s2"},
			{callOf("s1", 12, true), "s1"},
			{callOf("s3", 16, false), "s1"},
			{elsewhere, "s1"},
		} {
			update(t, db, func(tx *store.Tx) error { return tx.PutCall(room, c.put) })
			view(t, db, func(tx *store.Tx) error {
				if got, err := tx.LastNoted(room, "/app"); err != nil || got != c.want {
					t.Errorf("after the call with %s it was last noted with %q, want %q (%v)",
						c.put.After, got, c.want, err)
				}
				return nil
			})
		}
	})
}

// The newest call stays, so that no number is given twice.
func TestForgottenCalls(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		room := played(t, db)
		left := func(before stick.Time, most int) (ids []int64) {
			update(t, db, func(tx *store.Tx) error { return tx.ForgetCalls(room, before, most) })
			view(t, db, func(tx *store.Tx) error {
				calls, err := tx.Calls(store.CallQuery{Room: room, Limit: 9})
				for _, c := range calls {
					ids = append(ids, c.ID)
				}
				return err
			})

			return ids
		}

		for at := stick.Time(10); at <= 50; at += 10 {
			c := edits.Call{Agent: "claude:a", Tool: "Bash", Checkout: "/app", Started: at, Ended: at}
			update(t, db, func(tx *store.Tx) error { return tx.PutCall(room, &c) })
		}

		for _, c := range []struct {
			before stick.Time
			most   int
			want   []int64
		}{
			{0, 9, []int64{5, 4, 3, 2, 1}}, {20, 9, []int64{5, 4, 3, 2}}, {0, 3, []int64{5, 4, 3}}, {99, 9, []int64{5}},
		} {
			if got := left(c.before, c.most); !cmp.Equal(got, c.want) {
				t.Errorf("before %d, at most %d: %v are left, not %v", c.before, c.most, got, c.want)
			}
		}
	})
}

// TestTx_Calls_open: calls without an end are found for a checkout, or for an agent in all rooms, for as long
// as they count as running.
func TestTx_Calls_open(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		one, other := newRoom(t, db, "/work").ID, newRoom(t, db, "/other").ID
		now := stick.At(clock.Now())
		late := edits.Call{Agent: "claude:a", Checkout: "/work", Before: "s0", Started: now.Add(-edits.LongestCall)}
		here := edits.Call{Agent: "claude:a", Checkout: "/work", Before: "s1", Started: now.Add(-time.Minute)}
		ended := edits.Call{Agent: "claude:a", Checkout: "/work", Before: "s2", Started: now, Ended: now}
		bobs := edits.Call{Agent: "codex:b", Checkout: "/work", Before: "s3", Started: now}
		there := edits.Call{Agent: "claude:a", Checkout: "/other", Before: "s4", Started: now}
		update(t, db, func(tx *store.Tx) error {
			return try(tx.PutCall(one, &late), tx.PutCall(one, &here), tx.PutCall(one, &ended),
				tx.PutCall(one, &bobs), tx.PutCall(other, &there))
		})

		for name, c := range map[string]struct {
			q    store.CallQuery
			want []edits.Call
		}{
			"of a checkout": {
				store.CallQuery{Room: one, Checkout: "/work", Open: true, Limit: 9}, []edits.Call{bobs, here},
			},
			"of an agent there": {
				store.CallQuery{Room: one, Checkout: "/work", Agent: "claude:a", Open: true, Limit: 9},
				[]edits.Call{here},
			},
			"of an agent elsewhere": {
				store.CallQuery{Agent: "claude:a", Open: true, Limit: 9}, []edits.Call{here, there},
			},
		} {
			view(t, db, func(tx *store.Tx) error {
				got, err := tx.Calls(c.q)
				if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
					t.Errorf("%s: %v\n%s", name, err, diff)
				}
				return nil
			})
		}
	}, storetest.At(clock))
}
