package rescue

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// crash has a child process carry an order out, and die in it.
func (s *scratch) crash(o order) {
	s.t.Helper()
	o.Dir, o.Limits = s.store.Dir, s.store.Limits
	text, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "TT_TEST_RESCUE="+string(text))
	out, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != died {
		s.t.Fatalf("the child didn't die at %q: %v\n%s", o.Point, err, out)
	}
}

// points lists the points that something passes.
func (s *scratch) points(do func()) (passed []string) {
	s.store.Kill = func(point string) { passed = append(passed, point) }
	do()
	s.store.Kill = nil
	return passed
}

// whole checks that everything that the store lists is whole, and returns how many there are.
func (s *scratch) whole() int {
	s.t.Helper()
	listed, err := s.store.List(context.Background(), s.tree.Common, 0, Every)
	if err != nil || len(listed.Damaged) > 0 {
		s.t.Fatalf("damaged: %q, %v", listed.Damaged, err)
	}
	all := listed.Rescues
	for _, m := range all {
		if _, err := s.store.Show(context.Background(), m.ID); err != nil {
			s.t.Errorf("%s is listed, and can't be shown: %v", m.ID, err)
		}
		l, err := s.store.loadRescue(context.Background(), m.ID)
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := l.readBlobs(context.Background(), manifest.BlobsOf(l.state.Entries)); err != nil {
			s.t.Errorf("%s is listed, and isn't whole: %v", m.ID, err)
		}
	}
	refs, err := s.store.repositoryOf(s.tree.Common).ListRefs("")
	if err != nil || len(refs) != len(all) {
		s.t.Errorf("%d refs, %d rescues: %v", len(refs), len(all), err)
	}
	if len(all) > 0 {
		if out, err := exec.Command("git", "--git-dir", s.store.repositoryOf(s.tree.Common).Path, "fsck", "--full", "--strict").CombinedOutput(); err != nil {
			s.t.Errorf("git fsck: %v\n%s", err, out)
		}
	}
	return len(all)
}

// leftovers lists the files of the store that no rescue needs.
func (s *scratch) leftovers() (left []string) {
	s.t.Helper()
	r := s.store.repositoryOf(s.tree.Common)
	needed := map[string]bool{"HEAD": true, "config": true, "description": true}
	refs, err := r.ListRefs("")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range refs {
		needed[f.Form.Refs+"/"+f.Checkout+"/"+f.ID] = true
		for _, id := range append(s.needs(f), f.ID) {
			base := bare.PacksName + "/" + f.Form.Prefix + id
			needed[base+pack.Suffix], needed[base+pack.IndexSuffix], needed[base+bare.KeepSuffix] = true, true, true
		}
		needed[bare.StateName+"/"+f.Checkout], needed[bare.StateName+"/"+f.Checkout+bare.LockSuffix] = true, true
	}
	needed[makingLock], needed[prunedName] = true, true
	for name := range snapshot(s.t, s.store.Root()) {
		if rel, ok := strings.CutPrefix(filepath.ToSlash(name), filepath.Base(r.Path)+"/"); !ok || !needed[rel] {
			left = append(left, name)
		}
	}
	return left
}

// needs returns the packs that a rescue needs beside its own.
func (s *scratch) needs(f bare.Ref) []string {
	s.t.Helper()
	l, err := s.store.loadRescue(context.Background(), f.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return l.manifest.Needs
}

// Wherever a rescue dies, what is listed is whole, the next rescue works, and what was left behind goes.
func TestARescueThatDies(t *testing.T) {
	probe := newScratch(t)
	probe.write("a.txt", "changed\n")
	points := probe.points(func() { probe.take() })
	if len(points) < 5 {
		t.Fatalf("a rescue passes only %q", points)
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			s := newScratch(t)
			s.write("a.txt", "changed\n")
			s.crash(order{Request: s.request(), Point: point, N: 1})
			made := s.whole()
			if want := map[string]int{"ref": 1}[point]; made != want {
				t.Errorf("%d rescues after a death at %q, want %d", made, point, want)
			}
			taken := s.take()
			if taken.ID == "" || taken.Same != (made == 1) {
				t.Errorf("the next rescue: %+v", taken)
			}
			if s.whole() != 1 {
				t.Error("not one rescue in the end")
			}
			s.store.Prune(context.Background(), stick.At(time.Now()).Add(2*bare.CrashAge))
			if left := s.leftovers(); len(left) > 0 {
				t.Errorf("a crash has left %q", left)
			}
			s.git("reset", "-q", "--hard")
			if got := s.restore(taken.ID); !got.Exact || s.read("a.txt") != "changed\n" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A file that somebody may still be writing isn't taken for one that a crash has left.
func TestWhatIsNewStays(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	s.crash(order{Request: s.request(), Point: "pack", N: 1})
	before := s.leftovers()
	s.take()
	if after := s.leftovers(); len(before) == 0 || len(after) != len(before) {
		t.Errorf("of %q there is %q", before, after)
	}
}

// What a killed hook has left goes after an hour, although there is nothing new to keep.
func TestWhatAKilledRescueHasLeftGoes(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	s.take()
	s.write("a.txt", "changed again\n")
	s.crash(order{Request: s.request(), Point: "claimed", N: 1})
	s.write("a.txt", "changed\n")
	left := s.leftovers()
	if !slices.ContainsFunc(left, func(name string) bool { return strings.HasPrefix(filepath.Base(name), bare.TempPrefix) }) {
		t.Fatalf("the killed one has left %q", left)
	}
	if s.take(); len(s.leftovers()) != len(left) {
		t.Errorf("of %q there is %q before the hour is over", left, s.leftovers())
	}
	old := time.Now().Add(-bare.CrashAge - time.Minute)
	for _, name := range left {
		if err := os.Chtimes(filepath.Join(s.store.Root(), name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if taken := s.take(); !taken.Same || len(s.leftovers()) > 0 {
		t.Errorf("%+v, and there is %q", taken, s.leftovers())
	}
}

// Wherever dropping rescues dies, the rest is whole, and the next rescue goes on.
func TestDroppingThatDies(t *testing.T) {
	for _, point := range []string{"dropped ref", "dropped index"} {
		t.Run(point, func(t *testing.T) {
			s := newScratch(t)
			for _, text := range []string{"one", "two", "three"} {
				s.write("a.txt", text)
				s.take()
			}
			s.store.Limits.Count = 1
			s.crash(order{Prune: s.now, Point: point, N: 1})
			if n := s.whole(); n != 2 {
				t.Errorf("%d rescues after the death of dropping, want 2", n)
			}
			s.write("a.txt", "four")
			s.take()
			if n := s.whole(); n != 1 {
				t.Errorf("%d rescues after the next one, want 1", n)
			}
			s.store.Prune(context.Background(), stick.At(time.Now()).Add(2*bare.CrashAge))
			if left := s.leftovers(); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// A restore that died can be run again.
func TestARestoreThatDies(t *testing.T) {
	for _, o := range []order{{Point: "restored a file", N: 1}, {Point: "restored a file", N: 2}, {Point: "wrote a file", N: 1}, {Point: "restored the index", N: 1}} {
		t.Run(o.Point, func(t *testing.T) {
			s := newScratch(t)
			s.write("a.txt", "changed\n")
			s.git("add", "a.txt")
			s.write("dir/b.txt", "changed, too\n")
			os.Chmod(s.path("dir/b.txt"), 0o755)
			files, index := snapshot(t, s.top, ".git"), s.status()
			taken := s.take()
			s.git("reset", "-q", "--hard")
			o.Restore = taken.ID
			s.crash(o)
			if got := s.restore(taken.ID); !got.Exact {
				t.Errorf("%+v", got)
			}
			compare(t, "files", files, snapshot(t, s.top, ".git"), nil)
			if now := s.status(); now != index {
				t.Errorf("the index was\n%s, is\n%s", index, now)
			}
		})
	}
}

// Several rescues at the same moment don't harm each other.
func TestRescuesAtTheSameMoment(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	r := s.request()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			store := New(s.store.Dir, git.Client{})
			store.Limits = s.store.Limits
			if taken, err := store.Take(context.Background(), r); err != nil || taken.ID == "" || len(taken.LeftOut) > 0 {
				t.Errorf("%+v, %v", taken, err)
			}
		})
	}
	all.Wait()
	if n := s.whole(); n < 1 || n > 8 {
		t.Errorf("%d rescues", n)
	}
	if left := s.leftovers(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
