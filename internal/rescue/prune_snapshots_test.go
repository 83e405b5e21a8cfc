package rescue

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// keptAt makes a snapshot at a time, with another content of a file.
func (s *scratch) keptAt(at stick.Time, text string) string {
	s.t.Helper()
	s.now = at
	s.write("new", text)
	return s.keep("new").ID
}

// have checks which snapshots there are, and that each is whole.
func (s *scratch) have(want ...string) {
	s.t.Helper()
	want = slices.Sorted(slices.Values(want))
	got := s.ids()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.t.Errorf("there are %q, want %q", got, want)
	}
	s.whole()
}

func TestPruneSnapshots_ByTime(t *testing.T) {
	s := newScratch(t)
	begin := stick.At(time.Now().UTC().Truncate(time.Hour))
	s.write("a.txt", "as it was at first\n")
	first := s.keptAt(begin, "one")
	second := s.keptAt(begin.Add(20*time.Minute), "two")
	third := s.keptAt(begin.Add(70*time.Minute), "three")
	late := s.keptAt(begin.Add(40*time.Hour), "four")

	s.store.Prune(context.Background(), begin.Add(41*time.Hour))
	s.have(first, second, third, late)
	s.store.Prune(context.Background(), begin.Add(50*time.Hour)) // of the first hour, its last stays
	s.have(second, third, late)
	if got := s.blob(second, "a.txt"); got != "as it was at first\n" { // which lies in the pack of the one that is gone
		t.Errorf("a.txt is %q", got)
	}
	s.store.Prune(context.Background(), begin.Add(14*24*time.Hour+time.Hour))
	s.have(third, late)
	if err := s.store.Mark(third, manifest.Loss{}); err != nil {
		t.Fatal(err)
	}
	s.store.Prune(context.Background(), begin.Add(30*24*time.Hour))
	s.have(third)
	if err := s.store.Unmark(third); err != nil {
		t.Fatal(err)
	}
	s.store.Prune(context.Background(), begin.Add(40*24*time.Hour))
	s.have()
	if left := s.packs(); len(left) > 0 {
		t.Errorf("packs are left: %q", left)
	}
	if err := s.store.Mark(third, manifest.Loss{}); stick.CodeOf(err) != stick.CodeNotFound {
		t.Errorf("mark what is gone: %v", err)
	}
}

func (s *scratch) packs() []string {
	all, err := bare.ListNames(s.store.repositoryOf(s.tree.Common).PathTo(bare.PacksName))
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func TestPruneSnapshots_BySize(t *testing.T) {
	s := newScratch(t)
	var ids []string
	for i := range 6 {
		ids = append(ids, s.keptAt(s.now, fmt.Sprint("text ", i)))
	}
	r := s.store.repositoryOf(s.tree.Common)
	if err := s.store.Mark(ids[0], manifest.Loss{}); err != nil {
		t.Fatal(err)
	}
	packs := map[string]bool{}
	for _, id := range ids[4:] {
		for _, p := range append(s.needsOf(id), id) {
			packs[p] = true
		}
	}
	s.store.Limits.SnapshotsTotal = 0
	for id := range packs {
		s.store.Limits.SnapshotsTotal += r.RescueBytes(bare.Ref{Form: bare.LeanForm, ID: id})
	}
	s.store.Prune(context.Background(), s.now)
	s.have(ids[0], ids[4], ids[5])
}

func TestPruneSnapshots_OnceAnHour(t *testing.T) {
	s := newScratch(t)
	s.store.Limits.SnapshotsTotal = 1
	due := func(want bool) {
		t.Helper()
		if got := s.store.repositoryOf(s.tree.Common).isPruneDue(s.now); got != want {
			t.Errorf("due: %v", got)
		}
	}
	s.keptAt(s.now, "one")
	due(true)
	s.store.Prune(context.Background(), s.now)
	s.have()
	due(false)
	second := s.keptAt(s.now, "two")
	s.store.Prune(context.Background(), s.now)
	s.have(second)
	s.now = s.now.Add(2 * time.Hour)
	due(true)
	s.now = s.now.Add(-5 * time.Hour) // the clock was set back
	due(true)
}

// While somebody makes a snapshot, none goes. While some go, a new one leans on nothing.
func TestPruneSnapshots_Locked(t *testing.T) {
	s := newScratch(t)
	first := s.keptAt(s.now, "one")
	r := s.store.repositoryOf(s.tree.Common)
	maker, ok := bare.TryLock(r.PathTo(makingLock), bare.LockShared)
	if !ok {
		t.Fatal("no lock")
	}
	s.store.Limits.SnapshotsTotal = 1
	s.store.Prune(context.Background(), s.now)
	s.have(first)
	maker.Unlock()

	pruner, ok := bare.TryLock(r.PathTo(makingLock), bare.LockExclusive)
	if !ok {
		t.Fatal("no lock")
	}
	second := s.keptAt(s.now, "two")
	if needs := s.needsOf(second); len(needs) > 0 {
		t.Errorf("it needs %q", needs)
	}
	pruner.Unlock()
	for s.store.repositoryOf(s.tree.Common).isPruneDue(s.now) { // the one that gave up waiting gets its lock now, and returns it
		s.store.Prune(context.Background(), s.now)
	}
	s.have()
}

// Wherever removing snapshots dies, what is kept is whole, and the next one goes on.
func TestPruneSnapshots_Dies(t *testing.T) {
	for _, o := range []order{{Point: "dropped snapshot", N: 1}, {Point: "dropped snapshot", N: 3}, {Point: "dropped index", N: 1}, {Point: "dropped index", N: 2}} {
		t.Run(fmt.Sprint(o.Point, o.N), func(t *testing.T) {
			s := newScratch(t)
			s.write("a.txt", "kept by all\n")
			begin := s.now
			for i := range 5 {
				s.keptAt(begin.Add(time.Duration(i)*time.Millisecond), fmt.Sprint("text ", i))
			}
			last := s.keptAt(begin.Add(10*24*time.Hour), "last")
			o.Prune = begin.Add(15 * 24 * time.Hour)
			s.crash(o)
			if n := s.whole(); n < 1 || n > 5 {
				t.Errorf("%d snapshots", n)
			}
			s.store.Prune(context.Background(), stick.At(time.Now()).Add(2*bare.CrashAge))
			s.store.Prune(context.Background(), o.Prune.Add(2*bare.CrashAge))
			s.have(last)
			if got := s.blob(last, "a.txt"); got != "kept by all\n" {
				t.Errorf("a.txt is %q", got)
			}
			if left := s.leftovers(); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// Wherever a snapshot dies, what is listed is whole, the next one works, and what was left behind goes.
func TestSnapshot_Dies(t *testing.T) {
	for _, files := range []bool{false, true} {
		probe := newScratch(t)
		probe.snapshot()
		probe.write("a.txt", "changed\n")
		points := probe.points(func() { probe.keep("a.txt") })
		if len(points) < 5 {
			t.Fatalf("a snapshot passes only %q", points)
		}
		for _, point := range testenv.Nth(t, "points at which a snapshot dies", 3, points) {
			t.Run(fmt.Sprint(point, files), func(t *testing.T) {
				s := newScratch(t)
				s.snapshot()
				s.write("a.txt", "changed\n")
				r := s.call("a.txt")
				s.crash(order{Request: r, Files: files, Point: point, N: 1})
				s.whole()
				taken := s.snapshot()
				if got := s.blob(taken.ID, "a.txt"); got != "changed\n" {
					t.Errorf("a.txt is %q", got)
				}
				s.whole()
				s.store.Prune(context.Background(), stick.At(time.Now()).Add(2*bare.CrashAge))
				if left := s.leftovers(); len(left) > 0 {
					t.Errorf("a crash has left %q", left)
				}
			})
		}
	}
}

// Snapshots and their removal at the same time don't harm each other.
func TestPruneSnapshots_BesideMakers(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "kept by all\n")
	s.snapshot()
	begin := s.now
	var makers, pruner sync.WaitGroup
	done := make(chan struct{})
	for n := range 2 {
		s.write(fmt.Sprint("file", n), "begin")
		makers.Go(func() {
			store := New(s.store.Dir, git.Client{})
			store.Limits = s.store.Limits
			for i := range 40 {
				path := fmt.Sprint("file", n)
				if err := os.WriteFile(s.path(path), fmt.Append(nil, i), 0o600); err != nil {
					t.Error(err)
				}
				r := Request{Tree: s.tree, Paths: []string{path}, At: begin.Add(time.Duration(i-40) * 40 * time.Minute)}
				if taken, err := store.KeepFiles(context.Background(), r); err != nil || taken.ID == "" {
					t.Errorf("%+v, %v", taken, err)
				}
			}
		})
	}
	pruner.Go(func() {
		store := New(s.store.Dir, git.Client{})
		store.Limits = s.store.Limits
		store.Limits.SnapshotsAll = time.Hour
		for {
			select {
			case <-done:
				return
			default:
				store.Prune(context.Background(), begin)
				os.Remove(store.repositoryOf(s.tree.Common).PathTo(prunedName)) // as if an hour had passed
			}
		}
	})
	makers.Wait()
	close(done)
	pruner.Wait()
	s.whole()
	last := s.snapshot()
	for n := range 2 {
		if got := s.blob(last.ID, fmt.Sprint("file", n)); got != "39" {
			t.Errorf("file%d is %q", n, got)
		}
	}
	s.whole()
}

// Of several who ask, one is to look through the snapshots: once an hour, and ten minutes after one that may
// have died. Of a new repository nobody is.
func TestBeginPrune(t *testing.T) {
	s := newScratch(t)
	if s.store.BeginPrune(s.tree.Common, s.now) {
		t.Error("of no repository")
	}
	made := stick.At(time.Now()) // as files are dated
	s.keptAt(s.now, "one")
	r := s.store.repositoryOf(s.tree.Common)
	for _, c := range []struct {
		name  string
		after time.Duration
		prune bool // somebody does, before the question
		want  bool
	}{
		{"a new repository", time.Minute, false, false},
		{"an hour later", 2 * time.Hour, false, true},
		{"at the same time", 2 * time.Hour, false, false},
		{"after one that has died", 2*time.Hour + 11*time.Minute, false, true},
		{"after one that has done it", 2*time.Hour + 30*time.Minute, true, false},
		{"an hour after that", 3*time.Hour + 31*time.Minute, false, true},
		{"a clock that went back", time.Minute, false, true},
	} {
		now := made.Add(c.after)
		if c.prune {
			s.store.Prune(context.Background(), now)
		}
		if got := s.store.BeginPrune(s.tree.Common, now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if _, err := os.Lstat(r.PathTo(prunedName)); err != nil {
		t.Error(err)
	}
}
