package rescue

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

func TestCompareStates(t *testing.T) {
	file := func(blob string) *manifest.WorkFile { return &manifest.WorkFile{Mode: pack.ModeFile, Blob: blob} }
	head := &manifest.Version{Mode: pack.ModeFile, OID: "h"}
	index := func(oid string) []manifest.Version { return []manifest.Version{{Mode: pack.ModeFile, OID: oid}} }
	conflict := []manifest.Version{{Mode: pack.ModeFile, OID: "b", Stage: 1}, {Mode: pack.ModeFile, OID: "o", Stage: 2}}
	modified := func(blob string) *manifest.Entry {
		return &manifest.Entry{Head: head, Index: index("h"), Work: file(blob)}
	}
	deleted := &manifest.Entry{Head: head, Index: index("h")}
	untracked := func(blob string) *manifest.Entry { return &manifest.Entry{Work: file(blob)} }
	unsure := func(w *manifest.WorkFile) *manifest.Entry { return &manifest.Entry{Unsure: true, Work: w} }

	const one, two = "commit one", "commit two"
	of := func(blob string) Side { return Side{Mode: pack.ModeFile, Blob: blob} }
	for _, c := range []struct {
		name       string
		was, is    *manifest.Entry
		moved      bool // HEAD is another commit in the second
		missed     string
		leftOut    string
		want       ChangeKind // empty for no change
		old, new   Side
		wantUnsure bool
	}{
		{name: "the same", was: modified("a"), is: modified("a")},
		{name: "changed again", was: modified("a"), is: modified("b"), want: ChangeChanged, old: of("a"), new: of("b")},
		{name: "another mode", was: modified("a"), is: &manifest.Entry{Head: head, Index: index("h"), Work: &manifest.WorkFile{Mode: pack.ModeProgram, Blob: "a"}}, want: ChangeChanged, old: of("a"), new: Side{Mode: pack.ModeProgram, Blob: "a"}},
		{name: "a committed file changed", is: modified("a"), want: ChangeChanged, old: Side{Commit: one}, new: of("a")},
		{name: "a committed file deleted", is: deleted, want: ChangeDeleted, old: Side{Commit: one}},
		{name: "a changed file deleted", was: modified("a"), is: deleted, want: ChangeDeleted, old: of("a")},
		{name: "a deleted file made again", was: deleted, is: modified("a"), want: ChangeMade, new: of("a")},
		{name: "a deleted file restored", was: deleted, want: ChangeClean, new: Side{Commit: one}},
		{name: "a change undone", was: modified("a"), want: ChangeClean, old: of("a"), new: Side{Commit: one}},
		{name: "a change committed", was: modified("a"), moved: true, want: ChangeClean, old: of("a"), new: Side{Commit: two}},
		{name: "an untracked file made", is: untracked("a"), want: ChangeMade, old: Side{Commit: one}, new: of("a")},
		{name: "an untracked file for which there was no time", is: untracked("a"), missed: "./"},
		{name: "an untracked file in a directory for which there was no time", is: untracked("a"), missed: "dir/"},
		{name: "a committed file changed, where there was no time for new ones", is: modified("a"), missed: "./", want: ChangeChanged, old: Side{Commit: one}, new: of("a")},
		{name: "an untracked file deleted that was known though there was no time", was: untracked("a"), missed: "./", want: ChangeDeleted, old: of("a")},
		{name: "an untracked file that was seen to be gone", was: untracked("a"), is: unsure(nil), leftOut: "./", want: ChangeDeleted, old: of("a"), wantUnsure: true},
		{name: "an untracked file changed", was: untracked("a"), is: untracked("b"), want: ChangeChanged, old: of("a"), new: of("b")},
		{name: "an untracked file deleted", was: untracked("a"), want: ChangeDeleted, old: of("a")},
		{name: "an untracked file committed", was: untracked("a"), moved: true, want: ChangeClean, old: of("a"), new: Side{Commit: two}},
		{name: "an untracked file staged", was: untracked("a"), is: &manifest.Entry{Index: index("a"), Work: file("a")}, want: ChangeStaged, old: of("a"), new: of("a")},
		{name: "a staged new file deleted by a reset", was: &manifest.Entry{Index: index("a"), Work: file("a")}, want: ChangeDeleted, old: of("a")},
		{name: "a staged new file that was deleted, unstaged", was: &manifest.Entry{Index: index("a")}, want: ChangeStaged, new: Side{Commit: one}},
		{name: "a staged new file without a file", is: &manifest.Entry{Index: index("a")}, want: ChangeStaged, old: Side{Commit: one}},
		{name: "what was staged, lost", was: &manifest.Entry{Head: head, Index: index("x"), Work: file("a")}, is: modified("a"), want: ChangeStaged, old: of("a"), new: of("a")},
		{name: "taken out of the index", is: &manifest.Entry{Head: head, Work: file("h")}, want: ChangeStaged, old: Side{Commit: one}, new: of("h")},
		{name: "taken out of the index, and changed", is: &manifest.Entry{Head: head, Work: file("a")}, want: ChangeChanged, old: Side{Commit: one}, new: of("a")},
		{name: "a conflict", is: &manifest.Entry{Index: conflict, Work: file("a")}, want: ChangeChanged, old: Side{Commit: one}, new: of("a")},
		{name: "a conflict undone", was: &manifest.Entry{Index: conflict, Work: file("a")}, want: ChangeClean, old: of("a"), new: Side{Commit: one}},
		{name: "left out now", was: modified("a"), is: &manifest.Entry{Head: head, Index: index("h"), LeftOut: true}, want: ChangeChanged, old: of("a"), new: Side{LeftOut: true}},
		{name: "left out in both", was: &manifest.Entry{Head: head, Index: index("h"), LeftOut: true}, is: &manifest.Entry{Head: head, Index: index("h"), LeftOut: true}},
		{name: "kept now, left out before", was: &manifest.Entry{LeftOut: true}, is: untracked("a"), want: ChangeKept, old: Side{LeftOut: true}, new: of("a")},
		{name: "a new file, left out now", was: untracked("a"), is: &manifest.Entry{LeftOut: true}, leftOut: "dir/file"},
		{name: "a file that was left out is gone", was: &manifest.Entry{LeftOut: true}, want: ChangeDeleted, old: Side{LeftOut: true}},
		{name: "in a directory that couldn't be read", was: untracked("a"), leftOut: "dir/"},
		{name: "the time was over", was: untracked("a"), leftOut: "./"},
		{name: "beside a directory that couldn't be read", was: untracked("a"), leftOut: "di/", want: ChangeDeleted, old: of("a")},
		{name: "kept before an edit", is: unsure(file("a")), want: ChangeKept, old: Side{Commit: one}, new: of("a"), wantUnsure: true},
		{name: "kept before a file is made", is: unsure(nil)},
		{name: "a file made by a tool", was: unsure(nil), is: unsure(file("a")), want: ChangeMade, new: of("a"), wantUnsure: true},
		{name: "edited by a tool", was: unsure(file("a")), is: unsure(file("b")), want: ChangeChanged, old: of("a"), new: of("b"), wantUnsure: true},
		{name: "deleted by a tool", was: unsure(file("a")), is: unsure(nil), want: ChangeDeleted, old: of("a"), wantUnsure: true},
		{name: "looked at by git after a tool", was: unsure(file("a")), is: modified("a"), wantUnsure: true},
		{name: "found clean by git", was: unsure(file("a")), want: ChangeClean, old: of("a"), new: Side{Commit: one}, wantUnsure: true},
		{name: "found absent by git", was: unsure(nil)},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := manifest.State{Head: one}, manifest.State{Head: one}
			for st, e := range map[*manifest.State]*manifest.Entry{&before: c.was, &after: c.is} {
				same := modified("same")
				same.Path = "same"
				if e != nil {
					found := *e
					found.Path = "dir/file"
					st.Entries = append(st.Entries, found)
				}
				st.Entries = append(st.Entries, *same)
			}
			if c.moved {
				after.Head = two
			}
			missed := []manifest.LeftOut{{Path: c.missed, Why: manifest.WhyTime}}
			want := []PathChange{}
			if c.want != "" {
				want = append(want, PathChange{Path: "dir/file", Kind: c.want, Old: c.old, New: c.new, Unsure: c.wantUnsure})
			}
			if d := cmp.Diff(want, compareStates(before, after, missed, []manifest.LeftOut{{Path: c.leftOut}})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestStore_Changes(t *testing.T) {
	s := newScratch(t)
	before := s.snapshot()
	s.write("a.txt", "changed\n")
	s.write("new", "new\n")
	os.Remove(s.path("dir/b.txt"))
	after := s.snapshot()
	got, err := s.store.Changes(context.Background(), before.ID, after.ID)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]ChangeKind{}
	for _, c := range got {
		kinds[c.Path] = c.Kind
	}
	if d := cmp.Diff(map[string]ChangeKind{"a.txt": ChangeChanged, "dir/b.txt": ChangeDeleted, "new": ChangeMade}, kinds); d != "" {
		t.Error(d)
	}

	linked := filepath.Join(filepath.Dir(s.top), "linked")
	s.git("worktree", "add", "-q", "--detach", linked)
	s.top = linked
	s.find()
	if _, err := s.store.Changes(context.Background(), after.ID, s.snapshot().ID); stick.CodeOf(err) != stick.CodeUsage {
		t.Errorf("of two checkouts: %v", err)
	}
	if _, err := s.store.Changes(context.Background(), after.ID, "none"); stick.CodeOf(err) != stick.CodeNotFound {
		t.Errorf("of one that isn't there: %v", err)
	}
}
