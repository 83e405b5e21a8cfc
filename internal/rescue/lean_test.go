package rescue

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// call asks for a snapshot.
func (s *scratch) call(paths ...string) Request {
	r := s.request()
	r.Paths, r.Facts.Cause = paths, manifest.CauseCall
	return r
}

func (s *scratch) snapshot() Taken {
	s.t.Helper()
	return s.must(s.store.Take(context.Background(), s.call()))
}

func (s *scratch) keep(paths ...string) Taken {
	s.t.Helper()
	return s.must(s.store.KeepFiles(context.Background(), s.call(paths...)))
}

func (s *scratch) must(taken Taken, err error) Taken {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	return taken
}

// age makes files old enough that their stamps are settled.
func (s *scratch) age(paths ...string) {
	s.t.Helper()
	old := time.Unix(1_700_000_000, 123_000_000)
	for _, p := range paths {
		if err := os.Chtimes(s.path(p), old, old); err != nil {
			s.t.Fatal(err)
		}
	}
}

// settle has the store take the stamp of every file for settled: by its clock, an hour has passed.
func (s *scratch) settle() {
	s.store.clock = func() time.Time { return time.Now().Add(time.Hour) }
}

// reads counts the files that something reads.
func (s *scratch) reads(do func()) (n int) {
	for _, point := range s.points(do) {
		if point == "reading" {
			n++
		}
	}
	return n
}

// needs returns the packs that a snapshot needs beside its own.
func (s *scratch) needsOf(id string) []string {
	s.t.Helper()
	l, err := s.store.loadRescue(context.Background(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return l.manifest.Needs
}

func (s *scratch) blob(id, path string) string {
	s.t.Helper()
	l, err := s.store.loadRescue(context.Background(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range l.state.Entries {
		if string(e.Path) == path && e.Work != nil {
			data, err := l.readBlobs(context.Background(), []string{e.Work.Blob})
			if err != nil {
				s.t.Fatal(err)
			}
			return string(data[e.Work.Blob])
		}
	}
	return "nothing"
}

func TestSnapshot_Same(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	s.write("new", "new\n")
	first := s.snapshot()
	before := snapshot(t, s.store.Root(), bare.StateName)

	if again := s.snapshot(); !again.Same || again.ID != first.ID || again.Files != 2 || again.Bytes != first.Bytes {
		t.Errorf("%+v after %+v", again, first)
	}
	compare(t, "the store", before, snapshot(t, s.store.Root(), bare.StateName), nil)
	s.settle()
	s.snapshot()
	if n := s.reads(func() { s.snapshot() }); n != 0 {
		t.Errorf("%d files were read again", n)
	}
}

// A snapshot of a tree without uncommitted changes is one, too: what comes after it is compared with it.
func TestSnapshot_Clean(t *testing.T) {
	s := newScratch(t)
	clean := s.snapshot()
	if clean.ID == "" || !clean.Nothing || clean.Files != 0 {
		t.Errorf("%+v", clean)
	}
	if again := s.snapshot(); !again.Same || again.ID != clean.ID {
		t.Errorf("%+v", again)
	}
	s.git("commit", "-q", "--allow-empty", "-m", "moved")
	if moved := s.snapshot(); moved.Same {
		t.Errorf("HEAD has moved: %+v", moved)
	}
	if s.whole() != 2 {
		t.Error("not two snapshots")
	}
}

func TestSnapshot_Leans(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", strings.Repeat("changed\n", 1000))
	s.write("new", "new\n")
	s.write("staged", "staged\n")
	s.git("add", "staged")
	first := s.snapshot()
	s.write("new", "newer\n")
	second := s.snapshot()
	if needs := s.needsOf(second.ID); len(needs) != 1 || needs[0] != first.ID {
		t.Errorf("%s needs %q", second.ID, needs)
	}
	r := s.store.repositoryOf(s.tree.Common)
	p, err := pack.Open(r.PackBase(bare.LeanForm, second.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, ok := p.ObjectOffset(s.entryBlob(first.ID, "a.txt")); ok {
		t.Error("the second has the bytes of the first again")
	}
	for id, want := range map[string]string{first.ID: "new\n", second.ID: "newer\n"} {
		if got := s.blob(id, "new"); got != want {
			t.Errorf("new in %s: %q", id, got)
		}
	}
	if s.whole() != 2 {
		t.Error("not two snapshots")
	}
	if left := s.leftovers(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}

	s.git("reset", "-q", "--hard")
	os.Remove(s.path("new"))
	if got := s.restore(second.ID); !got.Exact || s.read("new") != "newer\n" || s.read("staged") != "staged\n" {
		t.Errorf("%+v", got)
	}
}

func (s *scratch) entryBlob(id, path string) string {
	s.t.Helper()
	l, err := s.store.loadRescue(context.Background(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range l.state.Entries {
		if string(e.Path) == path {
			return e.Work.Blob
		}
	}
	s.t.Fatalf("%s has no %s", id, path)
	return ""
}

// A snapshot needs few packs, and no old ones: it writes what lies in others again, but for large objects.
func TestSnapshot_Needs(t *testing.T) {
	s := newScratch(t)
	s.write("large", strings.Repeat("0123456789", maxRewritten/10+1))
	first := s.snapshot()
	for i := range maxNeeds + 10 {
		s.write(fmt.Sprint("new", i), fmt.Sprintln("file", i))
		if n := len(s.needsOf(s.keep(fmt.Sprint("new", i)).ID)); n > maxNeeds {
			t.Fatalf("snapshot %d needs %d packs", i, n)
		}
	}
	s.now = s.now.Add(maxNeedAge + time.Hour)
	s.write("last", "last\n")
	last := s.snapshot()
	if needs := s.needsOf(last.ID); len(needs) != 1 || needs[0] != first.ID {
		t.Errorf("after a day, it needs %q, and the large file is in %s", needs, first.ID)
	}
	if got := s.blob(last.ID, "new3"); got != "file 3\n" {
		t.Errorf("new3 is %q", got)
	}
	if n := s.whole(); n != maxNeeds+12 {
		t.Errorf("%d snapshots", n)
	}
}

// A pack that an earlier snapshot has, and that is damaged, is noticed when it is needed, and then everything
// is written again.
func TestSnapshot_DamagedNeed(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	first := s.snapshot()
	name := s.store.repositoryOf(s.tree.Common).PackBase(bare.LeanForm, first.ID) + pack.Suffix
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := pack.HeaderSize + 4; i < len(b)-pack.NameSize; i++ {
		b[i] ^= 0x55
	}
	os.Chmod(name, 0o600)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(maxNeedAge + time.Hour)
	s.write("new", "new\n")
	taken := s.snapshot()
	if got := s.blob(taken.ID, "a.txt"); got != "changed\n" || len(s.needsOf(taken.ID)) > 0 {
		t.Errorf("a.txt is %q, needs %q", got, s.needsOf(taken.ID))
	}
	listed, err := s.store.List(context.Background(), "", 0, Every)
	if err != nil || len(listed.Rescues) != 1 || len(listed.Damaged) != 1 || listed.Damaged[0] != first.ID {
		t.Errorf("%+v, %v", listed, err)
	}
	if _, err := s.store.Show(context.Background(), first.ID); stick.CodeOf(err) != stick.CodeGitFailed {
		t.Errorf("a damaged snapshot: %v", err)
	}
}

func TestSnapshot_Ignored(t *testing.T) {
	s := newScratch(t)
	s.write(".gitignore", "*.o\nbuild/\n")
	s.git("add", ".gitignore")
	s.git("commit", "-qm", "ignore")
	s.write("x.o", "x")
	s.write("build/y", "y")
	s.write("large.o", strings.Repeat("x", 1<<20+1))
	first := s.snapshot()
	if s.blob(first.ID, "x.o") != "x" || s.blob(first.ID, "build/y") != "nothing" || s.blob(first.ID, "large.o") != "nothing" {
		t.Errorf("%+v", first)
	}
	if len(first.LeftOut) != 1 || first.LeftOut[0].Path != "large.o" {
		t.Errorf("left out: %v", first.LeftOut)
	}

	named := s.must(s.store.Take(context.Background(), s.call("build")))
	if s.blob(named.ID, "build/y") != "y" || s.blob(named.ID, "x.o") != "x" {
		t.Errorf("%+v", named)
	}
	if again := s.snapshot(); !again.Same { // what was named once stays, though git doesn't tell of it
		t.Errorf("%+v", again)
	}
	s.write("build/y", "other")
	if now := s.snapshot(); s.blob(now.ID, "build/y") != "other" {
		t.Errorf("%+v", now)
	}
	os.RemoveAll(s.path("build"))
	if gone := s.snapshot(); s.blob(gone.ID, "build/y") != "nothing" {
		t.Errorf("%+v", gone)
	}
	s.store.Limits.SnapshotIgnored = 3
	s.write("y.o", "yyy")
	if got := s.snapshot(); len(got.LeftOut) != 2 || s.blob(got.ID, "x.o") != "x" || s.blob(got.ID, "y.o") != "nothing" {
		t.Errorf("%+v", got)
	}
}

// The ids of a checkout's snapshots sort as they were made, also within a millisecond, and after the clock
// went back.
func TestSnapshotsSortAsTheyWereMade(t *testing.T) {
	f := newScratch(t)
	last := ""
	for i, back := range []time.Duration{0, 0, time.Hour, 0} {
		f.write("a", strconv.Itoa(i))
		r := f.call()
		r.At = stick.At(time.UnixMilli(1_800_000_000_000).Add(-back))
		taken, err := f.store.Take(t.Context(), r)
		if err != nil || taken.ID <= last {
			t.Errorf("%q comes after %q (%v)", taken.ID, last, err)
		}
		last = taken.ID
	}
}

// Somebody who has git tidy up our repository, or looks at it with git, finds all snapshots.
func TestSnapshot_Git(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	first := s.snapshot()
	s.write("new", "new\n")
	second := s.keep("new")
	dir := s.store.repositoryOf(s.tree.Common).Path
	s.git("--git-dir="+dir, "gc", "-q", "--prune=now")
	ref := bare.LeanForm.Refs + "/" + bare.CheckoutName(s.tree) + "/" + second.ID
	if got := s.git("--git-dir="+dir, "show", ref+":work/a.txt"); got != "changed\n" {
		t.Errorf("git shows %q", got)
	}
	s.have(first.ID, second.ID)
}
