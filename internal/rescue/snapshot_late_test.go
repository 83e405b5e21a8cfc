package rescue

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/rescue/manifest"
)

// TestTake_snapshotIsLate: a snapshot for which git had no time to list new files has those that the last one
// had, as far as they are there. Nobody is told of one that it hasn't seen.
func TestTake_snapshotIsLate(t *testing.T) {
	s := newScratch(t)
	for _, name := range []string{"kept", "changed", "gone"} {
		s.write(name, "new\n")
	}
	before := s.snapshot()

	s.write("changed", "changed\n")
	s.write("unseen", "new\n")
	os.Remove(s.path("gone"))
	all := s.store.Limits
	s.store.Limits.Status = time.Nanosecond
	late := s.snapshot()
	s.store.Limits = all
	finished := s.snapshot()

	changes := func(from, to string) map[string]ChangeKind {
		t.Helper()
		found, err := s.store.Changes(context.Background(), from, to)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]ChangeKind{}
		for _, c := range found {
			kinds[c.Path] = c.Kind
		}
		return kinds
	}

	for _, c := range []struct {
		name, from, to string
		want           map[string]ChangeKind
	}{
		{"of what was known", before.ID, late.ID, map[string]ChangeKind{"changed": ChangeChanged, "gone": ChangeDeleted}},
		{"of what was there already", late.ID, finished.ID, map[string]ChangeKind{}},
		{"of all", before.ID, finished.ID, map[string]ChangeKind{"changed": ChangeChanged, "gone": ChangeDeleted, "unseen": ChangeMade}},
	} {
		if d := cmp.Diff(c.want, changes(c.from, c.to)); d != "" {
			t.Errorf("changes %s:\n%s", c.name, d)
		}
	}
}

// TestTake_snapshotWithoutTime: where there is no time to look at any new file, the snapshot has them as the
// last one knew them, and the next one needn't read them again.
func TestTake_snapshotWithoutTime(t *testing.T) {
	s := newScratch(t)
	s.write("new", "new\n")
	first := s.snapshot()

	tk := &rescueTaker{store: s.store, snapshot: &snapshotTaker{}}
	tk.r.Tree = s.tree
	base := s.store.repositoryOf(s.tree.Common).readCache(s.tree)
	tk.snapshot.stamps = map[string]seenStamp{}
	tk.snapshot.leanOn(base)
	tk.seen = &survey{entries: map[string]*manifest.Entry{}, lacksNew: true, head: base.state.Head, index: []indexLine{}}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	tk.reading = over

	for _, e := range tk.carryOverEntries() {
		tk.measureFile(e, classUntracked)
	}

	st := tk.collectState()
	if !st.IsEqual(base.state) || tk.snapshot.stamps["new"] != base.stamps["new"] || len(tk.taken.LeftOut) != 1 {
		t.Errorf("after %s it has %+v, and lacks %v", first.ID, st, tk.taken.LeftOut)
	}
}
