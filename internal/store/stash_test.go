package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick/edits"
)

// TestStashed: who made an entry of the stash is told for the room only, is replaced, and is forgotten when
// it is old, or one of too many.
func TestStashed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		ann := edits.StashEntry{
			Commit: "1", Checkout: "/work/t1",
			By: edits.Editor{Agent: "claude:a", Turn: 3, Held: true, At: 10},
		}
		bob := edits.StashEntry{Commit: "2", Checkout: "/work", By: edits.Editor{Agent: "codex:b", At: 20}}
		kim := edits.StashEntry{Commit: "3", Checkout: "/work", By: edits.Editor{Agent: "codex:k", At: 30}}

		noted := func(want ...edits.StashEntry) {
			t.Helper()
			entries := map[string]edits.StashEntry{}
			for _, e := range want {
				entries[e.Commit] = e
			}

			view(t, db, func(tx *store.Tx) error {
				got, err := tx.Stashed(id, []string{"1", "2", "3", "4"})
				if diff := cmp.Diff(entries, got); err != nil || diff != "" {
					t.Errorf("%v\n%s", err, diff)
				}

				none, err := tx.Stashed("another", []string{"1"})
				if err != nil || len(none) > 0 {
					t.Errorf("of another room: %v, %v", none, err)
				}

				return nil
			})
		}

		update(t, db, func(tx *store.Tx) error { return tx.PutStashed(id, []edits.StashEntry{ann, bob, kim}) })
		noted(ann, bob, kim)

		adopted := ann
		adopted.By, adopted.Checkout = edits.Editor{Agent: "codex:b", At: 40}, "/work"
		update(t, db, func(tx *store.Tx) error { return tx.PutStashed(id, []edits.StashEntry{adopted}) })
		noted(adopted, bob, kim)

		update(t, db, func(tx *store.Tx) error { return tx.ForgetStashed(id, 21, 5) })
		noted(adopted, kim)
		update(t, db, func(tx *store.Tx) error { return tx.ForgetStashed(id, 21, 1) })
		noted(adopted)
	})
}
