package rescue

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// undo looks at what has changed between two snapshots.
func (s *scratch) undo(before, after string, paths ...string) *Undo {
	s.t.Helper()
	u, err := s.store.Undo(context.Background(), UndoRequest{Tree: s.tree, Before: before, After: after, Paths: paths})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(u.Close)
	return u
}

// takeBack does all steps, and returns what each was by its path, or why it failed.
func (s *scratch) takeBack(u *Undo) map[string]string {
	s.t.Helper()
	done := map[string]string{}
	for _, remove := range []bool{true, false} {
		for _, f := range slices.Backward(u.Files) {
			f.Alone = true
			step, why := f.Step()
			if f.Nested {
				step, why = edits.UndoLeave, edits.UndoNested
			}
			if done[f.Path] = string(step) + string(why); (step != edits.UndoRestore || remove) && (step != edits.UndoRemove || !remove) {
				continue
			}
			if err := u.Restore(context.Background(), f); err != nil {
				done[f.Path] = "failed: " + err.Error()
			}
		}
	}
	return done
}

func TestUndo(t *testing.T) {
	s := newScratch(t)
	s.write("mine.txt", "uncommitted\n")
	s.write("gone/deep/x.txt", "uncommitted\n")
	s.write("secret", "a key\n")
	os.Chmod(s.path("secret"), 0o600)
	os.Symlink("a.txt", s.path("link"))
	s.write("file", "a file\n")
	os.MkdirAll(s.path("folder"), 0o777)
	s.write("folder/in", "in\n")
	files := snapshot(t, s.top, ".git")
	before := s.snapshot()

	s.write("a.txt", "overwritten\n")
	os.RemoveAll(s.path("dir"))
	s.write("mine.txt", "overwritten\n")
	os.RemoveAll(s.path("gone"))
	os.Remove(s.path("secret"))
	os.Remove(s.path("link"))
	os.Symlink("mine.txt", s.path("link"))
	os.Remove(s.path("file"))
	s.write("file/inside", "a directory now\n")
	os.RemoveAll(s.path("folder"))
	s.write("folder", "a file now\n")
	s.write("made/by/it", "new\n")
	after := s.snapshot()

	u := s.undo(before.ID, after.ID)
	want := map[string]string{
		"a.txt": "restore", "dir/b.txt": "restore", "mine.txt": "restore", "gone/deep/x.txt": "restore", "secret": "restore", "link": "restore",
		"file": "restore", "file/inside": "remove", "folder": "remove", "folder/in": "restore", "made/by/it": "remove",
	}
	if d := cmp.Diff(want, s.takeBack(u)); d != "" {
		t.Error(d)
	}
	compare(t, "the files", files, snapshot(t, s.top, ".git"), nil)
	if _, err := os.Lstat(s.path("made")); err == nil {
		t.Error("the directories of a file that the call made are still there")
	}

	undone := s.snapshot()
	back := s.undo(after.ID, undone.ID)
	s.takeBack(back)
	if s.read("a.txt") != "overwritten\n" || s.read("folder") != "a file now\n" || s.read("file/inside") != "a directory now\n" {
		t.Error("undoing the undo doesn't bring the call's files back")
	}

	again := s.undo(before.ID, after.ID, "made", "secret")
	if got := slices.Sorted(maps.Keys(s.takeBack(again))); !slices.Equal(got, []string{"made/by/it", "secret"}) {
		t.Errorf("of two paths: %q", got)
	}
	for _, path := range []string{"nowhere", "mad"} {
		_, err := s.store.Undo(context.Background(), UndoRequest{Tree: s.tree, Before: before.ID, After: after.ID, Paths: []string{path}})
		if stick.CodeOf(err) != stick.CodeNotFound {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestUndo_changed: a path that has changed since it was looked at stays, whatever is there now.
func TestUndo_changed(t *testing.T) {
	for name, change := range map[string]func(*scratch){
		"other bytes":              func(s *scratch) { s.write("dir/b.txt", "a word of another\n") },
		"removed":                  func(s *scratch) { os.Remove(s.path("dir/b.txt")) },
		"a directory":              func(s *scratch) { os.Remove(s.path("dir/b.txt")); s.write("dir/b.txt/in", "in\n") },
		"a link out of the tree":   func(s *scratch) { os.Remove(s.path("dir/b.txt")); os.Symlink(s.outside(), s.path("dir/b.txt")) },
		"a link for its directory": func(s *scratch) { os.RemoveAll(s.path("dir")); os.Symlink(filepath.Dir(s.outside()), s.path("dir")) },
		"a program":                func(s *scratch) { os.Chmod(s.path("dir/b.txt"), 0o755) },
		"a file for its directory": func(s *scratch) { os.RemoveAll(s.path("dir")); s.write("dir", "a file\n") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScratch(t)
			before := s.snapshot()
			s.write("dir/b.txt", "overwritten\n")
			u := s.undo(before.ID, s.snapshot().ID)
			change(s)
			files := snapshot(t, filepath.Dir(s.top), "data", ".git")

			if err := u.Restore(context.Background(), u.Files[0]); !errors.Is(err, ErrChanged) {
				t.Errorf("%v", err)
			}
			compare(t, "the files", files, snapshot(t, filepath.Dir(s.top), "data", ".git"), nil)

			at, err := u.PutBeside(context.Background(), u.Files[0], ".before-7")
			if err != nil || s.read(at) != "two\n" {
				t.Errorf("beside it, at %q: %v", at, err)
			}
			if again, err := u.PutBeside(context.Background(), u.Files[0], ".before-7"); err != nil || again != at {
				t.Errorf("once more, at %q: %v", again, err)
			}
			s.write(at, "somebody's\n")
			if _, err := u.PutBeside(context.Background(), u.Files[0], ".before-7"); err == nil || s.read(at) != "somebody's\n" {
				t.Errorf("over another file: %v", err)
			}
		})
	}
}

// outside makes a file beside the tree that no undo may touch, named as one in the tree.
func (s *scratch) outside() string {
	path := filepath.Join(filepath.Dir(s.top), "outside", "b.txt")
	os.MkdirAll(filepath.Dir(path), 0o777)
	if err := os.WriteFile(path, []byte("overwritten\n"), 0o666); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// TestUndo_conversions: a file without uncommitted changes comes back as git would check it out. Of one with
// a filter nobody knows that.
func TestUndo_conversions(t *testing.T) {
	for name, attributes := range map[string]string{"by attributes": "*.txt text eol=crlf\n", "of all texts": ""} {
		t.Run(name, func(t *testing.T) {
			s := newScratch(t)
			s.git("config", "filter.odd.smudge", "cat")
			if attributes == "" {
				s.git("config", "core.autocrlf", "true")
			}
			s.write(".gitattributes", attributes+"*.odd filter=odd\n")
			s.write("x.odd", "filtered\n")
			s.write("new\nline.txt", "odd\n")
			s.write("run.sh", "#!/bin/sh\n")
			os.Chmod(s.path("run.sh"), 0o755)
			s.git("add", ".")
			s.git("commit", "-qm", "second")
			for _, name := range []string{"a.txt", "dir/b.txt", "x.odd", "run.sh", "new\nline.txt"} {
				os.Remove(s.path(name))
			}
			s.git("checkout", "-q", ".")
			files := snapshot(t, s.top, ".git")
			before := s.snapshot()
			for _, name := range []string{"a.txt", "dir/b.txt", "x.odd", "run.sh", "new\nline.txt"} {
				os.Remove(s.path(name))
			}

			u := s.undo(before.ID, s.snapshot().ID)
			if got := s.takeBack(u); got["x.odd"] != "leaveunkept" || got["a.txt"] != "restore" {
				t.Errorf("%v", got)
			}
			compare(t, "the files", files, snapshot(t, s.top, ".git"), named{"x.odd": true})
			if s.read("a.txt") != "one\r\n" {
				t.Errorf("%q", s.read("a.txt"))
			}
		})
	}
}

func TestUndo_HeadMove(t *testing.T) {
	for name, x := range map[string]struct {
		call func(*scratch)
		want []string // with $1 for the commit before
	}{
		"a commit":               {func(s *scratch) { s.git("commit", "-qam", "second") }, []string{"git reset $1"}},
		"another branch":         {func(s *scratch) { s.git("checkout", "-q", "-f", "other") }, []string{"git symbolic-ref HEAD refs/heads/main", "git reset", "git restore -- dir/b.txt"}},
		"a hard reset":           {func(s *scratch) { s.git("reset", "-q", "--hard", "other") }, []string{"git reset $1", "git restore -- dir/b.txt"}},
		"a merge of other files": {func(s *scratch) { s.git("merge", "-q", "beside") }, []string{"git reset --keep $1"}},
		"no move":                {func(s *scratch) { s.write("a.txt", "again\n") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScratch(t)
			s.git("branch", "-M", "main")
			s.git("checkout", "-q", "-b", "other")
			s.write("a.txt", "other\n")
			s.write("dir/b.txt", "other\n")
			s.git("commit", "-qam", "other")
			s.git("checkout", "-q", "-b", "beside", "main")
			s.write("c.txt", "beside\n")
			s.git("add", ".")
			s.git("commit", "-qm", "beside")
			s.git("checkout", "-q", "main")
			head := s.git("rev-parse", "HEAD")[:40]
			s.write("a.txt", "uncommitted\n")
			status := s.git("status", "--porcelain", "--branch")
			before := s.snapshot()
			x.call(s)

			u := s.undo(before.ID, s.snapshot().ID)
			s.takeBack(u)
			m, err := u.HeadMove(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range m.Back() {
				got = append(got, c.String())
				words := []string{}
				for _, w := range c[1:] {
					words = append(words, w.Text)
				}
				s.git(words...)
			}
			for i, w := range x.want {
				x.want[i] = strings.ReplaceAll(w, "$1", head)
			}
			if !slices.Equal(got, x.want) {
				t.Errorf("%q, want %q", got, x.want)
			}
			if now := s.git("status", "--porcelain", "--branch"); now != status {
				t.Errorf("git status says\n%s\nand said\n%s", now, status)
			}
		})
	}

	t.Run("moved again since", func(t *testing.T) {
		s := newScratch(t)
		before := s.snapshot()
		s.git("commit", "-q", "--allow-empty", "-m", "second")
		after := s.snapshot()
		s.git("commit", "-q", "--allow-empty", "-m", "third")
		if m, err := s.undo(before.ID, after.ID).HeadMove(context.Background()); err != nil || m.Moved() {
			t.Errorf("%+v, %v", m, err)
		}
	})
}
