package store

import (
	"os"
	"testing"

	"talkingstick/internal/store/schema"
	"talkingstick/stick"
)

// TestMigrationsAreCounted: each file is a migration, and a new database has and counts all of them.
func TestMigrationsAreCounted(t *testing.T) {
	files, err := os.ReadDir("schema/migrations")
	if err != nil {
		t.Fatal(err)
	}
	ms, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	if len(ms) != len(files) {
		t.Errorf("%d files are %d migrations", len(files), len(ms))
	}

	db, err := Open(t.Context(), Options{Dir: t.TempDir()}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	newest := ms[len(ms)-1]
	err = db.View(t.Context(), func(tx *Tx) error {
		if tx.meta.Schema != int64(len(files)) || tx.meta.MinReader != newest.MinReader {
			t.Errorf("after %s a new database has schema %d and min_reader %d",
				files[len(files)-1].Name(), tx.meta.Schema, tx.meta.MinReader)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestEarlierProgramsBesideThisOne: a migration raises min_reader if an earlier program would do harm after
// it. All programs refuse by the same rule, so this one, with the migrations that an earlier one knew, stands
// for it. A program of schema 6 (8cc1f78) knows one boot for all hosts and is refused.
func TestEarlierProgramsBesideThisOne(t *testing.T) {
	all, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}

	for _, newest := range all[:len(all)-1] {
		dir := t.TempDir()
		earlier, err := openStore(t.Context(), Options{Dir: dir}, true, all[:newest.Number])
		if err != nil {
			t.Fatal(err)
		}
		defer earlier.Close()
		now, err := Open(t.Context(), Options{Dir: dir}, false)
		if err != nil {
			t.Fatal(err)
		}
		defer now.Close()
		var want stick.Code
		if newest.Number < all[len(all)-1].MinReader {
			want = stick.CodeUpgraded
		}
		if newest.Number == 6 && want == "" {
			t.Error("a program of schema 6 works beside this one")
		}

		nothing := func(*Tx) error { return nil }
		for what, err := range map[string]error{
			"read": earlier.View(t.Context(), nothing), "write": earlier.Update(t.Context(), nothing),
		} {
			if (err != nil || want != "") && stick.CodeOf(err) != want {
				t.Errorf("after the upgrade a running program of schema %d tries to %s: %v, want the code %q",
					newest.Number, what, err, want)
			}
		}

		if want != "" {
			want = stick.CodeSchemaTooNew
		}
		again, err := openStore(t.Context(), Options{Dir: dir}, false, all[:newest.Number])
		if (err != nil || want != "") && stick.CodeOf(err) != want {
			t.Errorf("a program of schema %d opens the database: %v, want the code %q", newest.Number, err, want)
		}

		if err == nil {
			again.Close()
		}
	}
}
