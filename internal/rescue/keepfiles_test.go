package rescue

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/stick"
)

func TestKeepFiles(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	s.settle()
	s.snapshot()
	if again := s.keep("a.txt"); !again.Same {
		t.Errorf("nothing has changed: %+v", again)
	}
	if n := s.reads(func() { s.keep("a.txt") }); n != 0 {
		t.Errorf("%d files were read", n)
	}

	s.store.Git.Path = filepath.Join(s.top, "no git") // it isn't asked
	s.write("a.txt", "edited\n")
	edited := s.keep("a.txt")
	if edited.Same || s.blob(edited.ID, "a.txt") != "edited\n" {
		t.Errorf("%+v", edited)
	}
	os.Remove(s.path("a.txt"))
	if gone := s.keep("a.txt"); gone.Same || s.blob(gone.ID, "a.txt") != "nothing" {
		t.Errorf("%+v", gone)
	}
	s.write("a.txt", "back\n")
	clean := s.keep("a.txt", "dir/b.txt", "dir", "none", "dir/none/none")
	if s.blob(clean.ID, "dir/b.txt") != "two\n" || s.blob(clean.ID, "a.txt") != "back\n" {
		t.Errorf("%+v", clean)
	}
	if again := s.keep("a.txt", "dir/b.txt", "dir", "none", "dir/none/none"); !again.Same {
		t.Errorf("%+v", again)
	}
	for _, path := range []string{"../out", "/etc/passwd", "."} {
		if _, err := s.store.KeepFiles(context.Background(), s.call(path)); stick.CodeOf(err) != stick.CodeUsage {
			t.Errorf("%s: %v", path, err)
		}
	}

	s.store.Git.Path = ""
	all := s.snapshot()
	if s.blob(all.ID, "dir/b.txt") != "nothing" || s.blob(all.ID, "a.txt") != "back\n" { // the first is as committed
		t.Errorf("%+v", all)
	}
	if s.whole() != 5 {
		t.Error("not all snapshots are whole")
	}
}

// Restoring what was kept of one file alone changes nothing of its index entry, which nobody has looked at.
// TestKeepFiles_first: also of a checkout without an earlier snapshot, a named file without uncommitted
// changes is kept.
func TestKeepFiles_first(t *testing.T) {
	s := newScratch(t)
	before := s.keep("a.txt", "none")
	if s.blob(before.ID, "a.txt") != "one\n" {
		t.Errorf("%+v", before)
	}
	s.write("a.txt", "edited\n")
	s.write("none", "made\n")
	changes, err := s.store.Changes(context.Background(), before.ID, s.keep("a.txt", "none").ID)
	if err != nil || len(changes) != 2 || changes[0].Kind != ChangeChanged || changes[1].Kind != ChangeMade {
		t.Errorf("%+v, %v", changes, err)
	}
}

func TestKeepFiles_Restore(t *testing.T) {
	s := newScratch(t)
	s.snapshot()
	kept := s.keep("a.txt", "made")
	s.write("a.txt", "edited\n")
	s.write("made", "made\n")
	index := s.git("ls-files", "-s", "-v")
	if got := s.restore(kept.ID, "a.txt"); len(got.Restored) != 0 || len(got.Beside) != 1 {
		t.Errorf("over what somebody has written since: %+v", got)
	}
	s.git("checkout", "-q", "a.txt")
	if got := s.restore(kept.ID); len(got.Failed) != 1 || got.Failed[0].Path != "made" || s.read("a.txt") != "one\n" {
		t.Errorf("%+v", got)
	}
	if now := s.git("ls-files", "-s", "-v"); now != index {
		t.Errorf("the index was\n%sis\n%s", index, now)
	}
}

// What an edit tool wrote after git was asked isn't lost from the snapshot that asked.
func TestSnapshot_FileKeptMeanwhile(t *testing.T) {
	s := newScratch(t)
	s.snapshot()
	began := time.Now()
	s.write("a.txt", "edited\n")
	s.keep("a.txt")
	taking := &rescueTaker{
		store: s.store, r: s.call(), seen: &survey{entries: map[string]*manifest.Entry{}},
		snapshot: &snapshotTaker{began: began, stamps: map[string]seenStamp{}},
	}
	taking.snapshot.leanOn(s.store.repositoryOf(s.tree.Common).readCache(s.tree))
	if again := taking.carryOverEntries(); len(again) != 0 || taking.seen.entries["a.txt"] == nil {
		t.Errorf("%+v, %+v", again, taking.seen.entries)
	}
}

// A file in the place of a directory, or the other way round, takes the place of what was kept there.
func TestKeepFiles_FileForDirectory(t *testing.T) {
	s := newScratch(t)
	s.write("new/file", "below\n")
	s.snapshot()
	os.RemoveAll(s.path("new"))
	s.write("new", "a file\n")
	file := s.keep("new")
	if s.blob(file.ID, "new") != "a file\n" || s.blob(file.ID, "new/file") != "nothing" {
		t.Errorf("%+v", file)
	}
	os.Remove(s.path("new"))
	s.write("new/file", "below again\n")
	below := s.keep("new/file")
	if s.blob(below.ID, "new") != "nothing" || s.blob(below.ID, "new/file") != "below again\n" {
		t.Errorf("%+v", below)
	}
	s.whole()
}

// foreign has git take the repository for another user's.
func (s *scratch) foreign() {
	s.t.Helper()
	if runtime.GOOS == "windows" {
		s.t.Skip("the git of this test is a shell script")
	}
	s.store.Git = s.fake("export GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
}

// Where git refuses to work, the named files are kept all the same. A later snapshot leans on nothing of
// that, and has everything.
func TestKeepFiles_RepositoryOfAnotherUser(t *testing.T) {
	s := newScratch(t)
	s.write("dir/b.txt", "changed\n")
	s.foreign()
	if _, err := s.store.Take(context.Background(), s.call()); git.RefusalOf(err) == nil {
		t.Fatalf("git works there: %v", err)
	}

	s.write("a.txt", "edited\n")
	alone := s.keep("a.txt", "new")
	if s.blob(alone.ID, "a.txt") != "edited\n" || s.blob(alone.ID, "dir/b.txt") != "nothing" ||
		!slices.Equal(alone.LeftOut, []manifest.LeftOut{{Path: "./", Why: manifest.WhyRefused}}) || s.store.Last(s.tree) != "" {
		t.Errorf("%+v", alone)
	}

	s.store.Git = git.Client{}
	all := s.snapshot()
	if s.blob(all.ID, "dir/b.txt") != "changed\n" || s.blob(all.ID, "new") != "nothing" || len(all.LeftOut) != 0 || len(s.needsOf(all.ID)) != 0 {
		t.Errorf("%+v", all)
	}
	s.foreign()
	s.write("a.txt", "edited again\n")
	if again := s.keep("a.txt"); s.blob(again.ID, "a.txt") != "edited again\n" || s.blob(again.ID, "dir/b.txt") != "changed\n" {
		t.Errorf("with a last state: %+v", again)
	}
	s.whole()
}
