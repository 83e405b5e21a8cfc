package store

import (
	"testing"

	"talkingstick/stick"
)

// TestEarlierProgramsBesideThisOne: a migration raises min_reader if an earlier program would do harm after
// it. All programs refuse by the same rule, so this one, with the migrations that an earlier one knew, stands
// for it. A program of schema 6 (8cc1f78) knows one boot for all hosts and is refused.
func TestEarlierProgramsBesideThisOne(t *testing.T) {
	all, err := readMigrations(embedded)
	if err != nil {
		t.Fatal(err)
	}
	for _, newest := range all[:len(all)-1] {
		dir := t.TempDir()
		earlier, err := openStore(background, Options{Dir: dir}, true, all[:newest.number])
		if err != nil {
			t.Fatal(err)
		}
		defer earlier.Close()
		now, err := Open(background, Options{Dir: dir}, false)
		if err != nil {
			t.Fatal(err)
		}
		defer now.Close()
		var want stick.Code
		if newest.number < all[len(all)-1].minReader {
			want = stick.CodeUpgraded
		}
		if newest.number == 6 && want == "" {
			t.Error("a program of schema 6 works beside this one")
		}
		nothing := func(*Tx) error { return nil }
		for what, err := range map[string]error{"read": earlier.View(background, nothing), "write": earlier.Update(background, nothing)} {
			if (err != nil || want != "") && stick.CodeOf(err) != want {
				t.Errorf("after the upgrade a running program of schema %d tries to %s: %v, want the code %q", newest.number, what, err, want)
			}
		}
		if want != "" {
			want = stick.CodeSchemaTooNew
		}
		again, err := openStore(background, Options{Dir: dir}, false, all[:newest.number])
		if (err != nil || want != "") && stick.CodeOf(err) != want {
			t.Errorf("a program of schema %d opens the database: %v, want the code %q", newest.number, err, want)
		}
		if err == nil {
			again.Close()
		}
	}
}
