package store_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick/edits"
)

// TestEdited: what is noted of a checkout's files comes back, and only of that checkout.
func TestEdited(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		big := edits.FileState{Sum: "ab", Size: 1 << 40, ModTime: 1790000000123456789, Inode: 1<<64 - 1, Mode: 0o100755}
		a := edits.EditedFile{
			Path: "a b/ü.go", State: big,
			Editors: []edits.Editor{{Agent: "claude:a", Turn: 3, Held: true, Under: "claude:b", At: 7}, {At: 9}},
		}
		b := edits.EditedFile{Path: "b.go", Asleep: 11, Editors: []edits.Editor{{Agent: "codex:b", Claim: true, At: 8}}}
		update(t, db, func(tx *store.Tx) error {
			return try(
				tx.PutEdited(id, "/work", []edits.EditedFile{b, a, {Path: "not \xff text"}}),
				tx.PutEdited(id, "/work/worktrees/t", []edits.EditedFile{
					{Path: "a b/ü.go", Editors: []edits.Editor{{Agent: "claude:x"}}},
				}),
			)
		})

		noted := func(paths ...string) (out []edits.EditedFile) {
			view(t, db, func(tx *store.Tx) (err error) { out, err = tx.Edited(id, "/work", paths); return err })
			return out
		}

		view(t, db, func(tx *store.Tx) error {
			tops, err := tx.EditedCheckouts(id)
			if diff := cmp.Diff([]string{"/work", "/work/worktrees/t"}, tops); diff != "" {
				t.Errorf("the checkouts:\n%s", diff)
			}
			return err
		})

		if diff := cmp.Diff([]edits.EditedFile{a, b}, noted()); diff != "" {
			t.Errorf("what was noted, as put and as read:\n%s", diff)
		}
		b.Asleep, b.State.Sum = 0, "cd"
		update(t, db, func(tx *store.Tx) error {
			return try(tx.PutEdited(id, "/work", []edits.EditedFile{b}),
				tx.DropEdited(id, "/work", []string{a.Path, "never noted"}))
		})
		if diff := cmp.Diff([]edits.EditedFile{b}, noted("b.go", a.Path)); diff != "" {
			t.Errorf("after another edit, and one that was forgotten:\n%s", diff)
		}

		view(t, db, func(tx *store.Tx) error {
			for checkout, want := range map[string]int{"/work": 1, "/work/worktrees/t": 1, "/": 0} {
				if n, err := tx.CountEdited(id, checkout); err != nil || n != want {
					t.Errorf("%s: %d files, %v", checkout, n, err)
				}
			}
			return nil
		})
	})
}

// TestManyEdited: thousands of files are read and forgotten by their paths.
func TestManyEdited(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		var files []edits.EditedFile
		var paths []string
		for i := range 2500 {
			paths = append(paths, fmt.Sprintf("%04d", i))
			files = append(files, edits.EditedFile{Path: paths[i], Editors: []edits.Editor{}})
		}

		update(t, db, func(tx *store.Tx) error { return tx.PutEdited(id, "/w", files) })
		view(t, db, func(tx *store.Tx) error {
			got, err := tx.Edited(id, "/w", paths)
			if diff := cmp.Diff(files, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			return nil
		})

		update(t, db, func(tx *store.Tx) error { return tx.DropEdited(id, "/w", paths[1:]) })
		view(t, db, func(tx *store.Tx) error {
			if n, err := tx.CountEdited(id, "/w"); err != nil || n != 1 {
				t.Errorf("%d are left, %v", n, err)
			}
			return nil
		})
	})
}
