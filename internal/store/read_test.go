package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick/edits"
)

func TestReads(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		room := played(t, db)
		one := edits.NotedRead{
			Agent: "claude:a", Path: "a.go",
			State: edits.FileState{Sum: "1", Size: 2, ModTime: 3, Inode: 1 << 63, Mode: 4}, At: 10,
		}
		two := edits.NotedRead{
			Agent: "claude:a", Path: "b.go", State: edits.FileState{Sum: "2"}, Wrote: true, Refused: "9",
			At: 20,
		}
		of := edits.NotedRead{Agent: "claude:a", Helper: "sub", Path: "a.go", State: edits.FileState{Sum: "3"}, At: 30}

		noted := func(name, helper, checkout string, want ...edits.NotedRead) {
			t.Helper()
			view(t, db, func(tx *store.Tx) error {
				got, err := tx.Reads(store.ReadQuery{
					Room: room, Agent: "claude:a", Helper: helper, Checkout: checkout,
					Paths: []string{"a.go", "b.go", "c.go"},
				})
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s: %v\n%s", name, err, diff)
				}
				return nil
			})
		}

		others := func(name, helper string, want bool) {
			t.Helper()
			view(t, db, func(tx *store.Tx) error {
				got, err := tx.HasOtherReads(room, "claude:a", helper)
				if err != nil || got != want {
					t.Errorf("%s: %v, %v", name, got, err)
				}
				return nil
			})
		}

		unsaid := edits.NotedRead{Agent: "claude:a", Path: "\xff", At: 10}
		update(t, db, func(tx *store.Tx) error {
			return tx.PutReads(room, "/app", []edits.NotedRead{one, two, unsaid})
		})
		others("nobody else", "", false)
		update(t, db, func(tx *store.Tx) error { return tx.PutReads(room, "/app", []edits.NotedRead{of}) })
		noted("of the agent", "", "/app", one, two)
		noted("of its sub-agent", "sub", "/app", of)
		noted("in another checkout", "", "/lib")
		others("a sub-agent", "", true)
		others("the agent above", "sub", true)

		one.State.Sum, one.At = "4", 40
		update(t, db, func(tx *store.Tx) error { return tx.PutReads(room, "/app", []edits.NotedRead{one}) })
		noted("read again", "", "/app", one, two)

		update(t, db, func(tx *store.Tx) error { return tx.BoundReads(room, "claude:a", 2, 10) })
		noted("the oldest of three is gone", "", "/app", one)
		noted("of its sub-agent", "sub", "/app", of)
		update(t, db, func(tx *store.Tx) error { return tx.BoundReads(room, "codex:b", 2, 31) })
		noted("what is old is gone, whosever it is", "sub", "/app")
		update(t, db, func(tx *store.Tx) error { return tx.ForgetReads(room, "claude:a") })
		noted("all of the agent is gone", "", "/app")
	})
}
