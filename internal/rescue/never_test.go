package rescue

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/workspace"
)

// neverKeep has the store keep no file whose name ends with one of these.
func (s *scratch) neverKeep(ends ...string) {
	s.store.Never = func(workspace.Checkout) func(string) bool {
		return func(path string) bool {
			return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) })
		}
	}
}

// secrets writes what may not be kept: untracked, ignored, staged, changed, in conflict with nothing else,
// and in a repository inside.
func (s *scratch) secrets() {
	s.t.Helper()
	s.write(".gitignore", "*.log\nbuild/\n")
	s.write("tracked.pem", "committed\n")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "first")
	s.write("tracked.pem", "hunter2, staged\n")
	s.git("add", "tracked.pem")
	s.write("tracked.pem", "hunter2, changed\n")
	s.write("new.pem", "hunter2, new\n")
	s.write("ignored.pem.log", "hunter2, ignored\n")
	s.write("build/x.pem", "hunter2, below an ignored directory\n")
	s.write("inside/x.pem", "hunter2, in a repository inside\n")
	s.write("inside/y", "not secret\n")
	s.git("init", "-q", "inside")
	s.write("draft", "not secret\n")
}

// TestNever: what may not be kept is in no rescue, and each names it as left out. Other files are there.
func TestNever(t *testing.T) {
	for name, keep := range map[string]func(*scratch) Taken{
		"a whole rescue": func(s *scratch) Taken {
			r := s.request()
			r.Untracked, r.Ignored, r.Nested = true, true, true
			return s.must(s.store.Take(context.Background(), r))
		},
		"a snapshot":            func(s *scratch) Taken { return s.must(s.store.Take(context.Background(), s.call("build"))) },
		"a snapshot of changes": func(s *scratch) Taken { s.snapshot(); s.write("draft", "more\n"); return s.snapshot() },
		"a snapshot of files": func(s *scratch) Taken {
			s.snapshot()
			s.write("new.pem", "hunter2, again\n")
			s.write("other.pem", "hunter2, another\n")
			return s.keep("new.pem", "other.pem", "draft", "build/x.pem")
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			s := newScratch(t)
			s.neverKeep(".pem", ".pem.log")
			s.secrets()
			taken := keep(s)
			if s.holds("hunter2") {
				t.Error("a secret was kept")
			}
			if s.blob(taken.ID, "draft") == "nothing" {
				t.Error("another file wasn't kept")
			}
			for _, path := range []string{"tracked.pem", "new.pem", "ignored.pem.log", "inside/x.pem"} {
				if !slices.Contains(taken.LeftOut, manifest.LeftOut{Path: path, Why: manifest.WhyNever}) {
					t.Errorf("%s isn't named: %+v", path, taken.LeftOut)
				}
			}
		})
	}
}

// TestNever_Later: what earlier snapshots have isn't carried on, once it may not be kept.
func TestNever_Later(t *testing.T) {
	for _, all := range []bool{true, false} {
		s := newScratch(t)
		s.secrets()
		before := s.snapshot().ID
		if !s.holds("hunter2") {
			t.Fatal("nothing was kept")
		}
		s.neverKeep(".pem", ".pem.log")
		again := func() Taken {
			if all {
				return s.snapshot()
			}
			return s.keep("draft")
		}
		after := again()
		if s.blob(after.ID, "new.pem") != "nothing" || s.blob(after.ID, "draft") != "not secret\n" || !slices.Contains(after.LeftOut, manifest.LeftOut{Path: "new.pem", Why: manifest.WhyNever}) {
			t.Errorf("%+v", after)
		}
		if next := again(); !next.Same || next.ID != after.ID {
			t.Errorf("nothing has changed since: %+v", next)
		}
		if err := s.store.Forget(context.Background(), before); err != nil {
			t.Fatal(err)
		}
		if s.holds("hunter2") {
			t.Error("the earlier snapshot is forgotten, and a secret is there")
		}
	}
}

// TestNever_Comes: a file that goes and comes back is looked at each time, and the snapshot says what is so.
func TestNever_Comes(t *testing.T) {
	s := newScratch(t)
	s.neverKeep(".pem")
	s.write("draft", "not secret\n")
	s.snapshot()
	lacks := func(taken Taken) bool {
		return slices.Contains(taken.LeftOut, manifest.LeftOut{Path: "a.pem", Why: manifest.WhyNever})
	}
	if taken := s.keep("a.pem"); lacks(taken) {
		t.Errorf("a file that isn't there: %+v", taken)
	}
	s.write("a.pem", "hunter2\n")
	if taken := s.keep("a.pem"); !lacks(taken) {
		t.Errorf("a new file: %+v", taken)
	}
	s.write("a.pem", "hunter2, changed\n")
	if taken := s.keep("a.pem"); !lacks(taken) || !taken.Same {
		t.Errorf("a changed file: %+v", taken)
	}
	if err := os.Remove(s.path("a.pem")); err != nil {
		t.Fatal(err)
	}
	if taken := s.keep("a.pem"); lacks(taken) {
		t.Errorf("a file that is gone: %+v", taken)
	}
}
