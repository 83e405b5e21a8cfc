package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick/edits"
)

// TestCommits: who made a commit first stays, is told for the room only, and is forgotten when it is old, or
// one of too many.
func TestCommits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		ann := edits.Editor{Agent: "claude:a", Turn: 3, Held: true, Under: "claude:b", At: 10}
		bob := edits.Editor{Agent: "codex:b", At: 20}
		kim := edits.Editor{Agent: "codex:k", At: 30}
		update(t, db, func(tx *store.Tx) error {
			return try(tx.PutCommits(id, []string{"1", "2"}, ann), tx.PutCommits(id, []string{"2", "3", "4"}, bob),
				tx.PutCommits(id, []string{"5"}, kim))
		})

		noted := func(want map[string]edits.Editor) {
			t.Helper()
			view(t, db, func(tx *store.Tx) error {
				got, err := tx.Commits(id, []string{"1", "2", "3", "4", "5", "6"})
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%v\n%s", err, diff)
				}

				none, err := tx.Commits("another", []string{"1"})
				if err != nil || len(none) > 0 {
					t.Errorf("of another room: %v, %v", none, err)
				}

				return nil
			})
		}

		noted(map[string]edits.Editor{"1": ann, "2": ann, "3": bob, "4": bob, "5": kim})
		update(t, db, func(tx *store.Tx) error {
			return try(tx.DropCommits(id, []string{"4", "6"}), tx.ForgetCommits(id, 10, 4))
		})
		noted(map[string]edits.Editor{"1": ann, "2": ann, "3": bob, "5": kim})
		update(t, db, func(tx *store.Tx) error { return tx.ForgetCommits(id, 11, 5) })
		noted(map[string]edits.Editor{"3": bob, "5": kim})
		update(t, db, func(tx *store.Tx) error { return tx.ForgetCommits(id, 11, 1) })
		noted(map[string]edits.Editor{"5": kim})
	})
}
