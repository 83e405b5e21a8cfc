package rescue

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/commits"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// A rescue outlives the repository.
func TestARepositoryThatWasRemoved(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	s.write("new/c", "untracked\n")
	s.write("kept", "as it was\n")
	taken := s.take()
	for _, name := range []string{".git", "a.txt", "new"} {
		if err := os.RemoveAll(s.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	got := s.restore(taken.ID)
	if s.read("a.txt") != "changed\n" || s.read("new/c") != "untracked\n" || got.Exact || len(got.Failed)+len(got.Beside) > 0 || len(got.Same) != 1 {
		t.Errorf("%+v", got)
	}
	if err := os.RemoveAll(s.top); err != nil {
		t.Fatal(err)
	}
	if got := s.restore(taken.ID, "new"); s.read("new/c") != "untracked\n" || !slices.Equal(got.Restored, []string{"new/c"}) {
		t.Errorf("without the directory: %+v", got)
	}
}

// What was staged comes back although the repository has lost it.
func TestStagedBytesThatTheRepositoryHasLost(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "staged\n")
	s.git("add", "a.txt")
	s.write("a.txt", "changed\n")
	before := s.status()
	taken := s.take()
	s.git("reset", "-q", "--hard")
	s.git("reflog", "expire", "--expire=now", "--all")
	s.git("gc", "-q", "--prune=now")
	if got := s.restore(taken.ID); !got.Exact || s.status() != before || s.git("show", ":a.txt") != "staged\n" {
		t.Errorf("%+v\n%s", got, s.status())
	}
}

// A restore replaces nothing that nobody has elsewhere.
func TestWhatHasChangedMeanwhileStays(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "rescued\n")
	s.write("new", "rescued\n")
	os.Remove(s.path("dir/b.txt"))
	taken := s.take()
	s.git("reset", "-q", "--hard")
	s.write("a.txt", "somebody's\n")
	s.write("new", "somebody's\n")
	s.write("dir/b.txt", "somebody's\n")
	s.git("add", "a.txt")
	before := s.status()
	beside := ".rescued-" + taken.ID
	for range 2 {
		got := s.restore(taken.ID)
		if d := cmp.Diff([]Beside{{"a.txt", "a.txt" + beside}, {"new", "new" + beside}}, got.Beside); d != "" || len(got.Failed) != 1 || got.Exact {
			t.Errorf("%+v: %s", got, d)
		}
	}
	for _, name := range []string{"a.txt", "new", "dir/b.txt"} {
		if s.read(name) != "somebody's\n" {
			t.Errorf("%s is %q", name, s.read(name))
		}
	}
	if s.read("a.txt"+beside) != "rescued\n" || s.read("new"+beside) != "rescued\n" {
		t.Error("the rescued files aren't beside")
	}
	os.Remove(s.path("a.txt" + beside))
	os.Remove(s.path("new" + beside))
	if now := s.status(); now != before {
		t.Errorf("the index and status were\n%s, are\n%s", before, now)
	}
	s.write("a.txt"+beside, "somebody's\n")
	if got := s.restore(taken.ID, "a.txt"); s.read("a.txt"+beside) != "somebody's\n" || len(got.Failed) == 0 || len(got.Beside) > 0 {
		t.Errorf("with something in the place beside: %+v", got)
	}
}

// What somebody has staged in the place of a directory, or of a file, stays staged.
func TestWhatIsStagedInThePlaceOfAPath(t *testing.T) {
	s := newScratch(t)
	s.write("x/y", "rescued\n")
	s.write("z", "rescued\n")
	s.git("add", ".")
	taken := s.take()
	s.git("reset", "-q", "--hard")
	s.write("x", "staged since\n")
	s.write("z/in", "staged since\n")
	s.git("add", ".")
	os.Remove(s.path("x"))
	os.RemoveAll(s.path("z"))
	got := s.restore(taken.ID)
	if s.git("show", ":x") != "staged since\n" || s.git("show", ":z/in") != "staged since\n" || len(got.Failed) != 2 || got.Exact ||
		s.read("x/y") != "rescued\n" || s.read("z") != "rescued\n" {
		t.Errorf("%+v\n%s", got, s.status())
	}
}

// On another commit only files come back, and only where that commit has the path as it was.
func TestOnAnotherCommit(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "rescued\n")
	s.git("add", "a.txt")
	s.write("dir/b.txt", "rescued\n")
	s.write("new", "rescued\n")
	s.write("gone", "x\n")
	s.git("add", "gone")
	s.git("commit", "-qm", "gone", "--", "gone")
	os.Remove(s.path("gone"))
	taken := s.take()
	s.git("reset", "-q", "--hard")
	os.Remove(s.path("new"))
	s.write("dir/b.txt", "committed since\n")
	s.git("commit", "-qam", "later")
	got := s.restore(taken.ID)
	if s.read("a.txt") != "rescued\n" || s.read("new") != "rescued\n" || s.read("dir/b.txt") != "committed since\n" ||
		s.read("dir/b.txt.rescued-"+taken.ID) != "rescued\n" || s.read("gone") != "x\n" || got.Exact || len(got.Index) > 0 {
		t.Errorf("%+v\n%s", got, s.status())
	}
}

// A conflict belongs to the commits that were merged. On another commit the file that is in its place stays,
// whatever it holds, also where it is just what one side had.
func TestAConflictOnAnotherCommit(t *testing.T) {
	s := newScratch(t)
	s.git("switch", "-qc", "other")
	s.write("a.txt", "theirs\n")
	s.write("dir/b.txt", "theirs\n")
	s.git("commit", "-qam", "theirs")
	s.git("switch", "-q", "-")
	s.write("a.txt", "ours\n")
	s.git("rm", "-q", "dir/b.txt")
	s.git("commit", "-qam", "ours")
	if said, err := s.try("merge", "other"); err == nil {
		t.Fatalf("no conflict:\n%s", said)
	}
	s.write("a.txt", "half resolved\n")
	s.write("dir/b.txt", "half resolved\n")
	taken := s.take()

	s.git("merge", "--abort")
	s.git("commit", "-q", "--allow-empty", "-m", "later")
	for _, now := range []string{"ours\n", "theirs\n", "two\n"} {
		for _, name := range []string{"a.txt", "dir/b.txt"} {
			s.write(name, now)
			got := s.restore(taken.ID, name)
			if s.read(name) != now || s.read(name+".rescued-"+taken.ID) != "half resolved\n" || got.Exact || len(got.Index) > 0 {
				t.Errorf("where %s held %q it holds %q: %+v\n%s", name, now, s.read(name), got, s.status())
			}
		}
	}
}

func TestOnlyTheChosenPathsComeBack(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "rescued\n")
	s.write("dir/b.txt", "rescued\n")
	s.write("dirt", "rescued\n")
	taken := s.take()
	s.git("reset", "-q", "--hard")
	os.Remove(s.path("dirt"))
	if got := s.restore(taken.ID, "dir"); !slices.Equal(got.Restored, []string{"dir/b.txt"}) || s.read("a.txt") != "one\n" {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"none", "dir/b"} {
		if _, err := s.store.Restore(context.Background(), RestoreRequest{ID: taken.ID, Paths: []string{path}}); stick.CodeOf(err) != stick.CodeNotFound {
			t.Errorf("restore %s: %v", path, err)
		}
	}
	if _, err := s.store.Restore(context.Background(), RestoreRequest{ID: taken.ID, Paths: []string{"../a.txt"}}); stick.CodeOf(err) != stick.CodeUsage {
		t.Errorf("restore a path outside: %v", err)
	}
	if _, err := s.store.Restore(context.Background(), RestoreRequest{ID: "000000000-0000"}); stick.CodeOf(err) != stick.CodeNotFound {
		t.Errorf("restore what isn't there: %v", err)
	}
}

// A link in the place of a directory leads nowhere, whatever it is put there for.
func TestALinkInThePlaceOfADirectory(t *testing.T) {
	s := newScratch(t)
	outside := filepath.Join(filepath.Dir(s.top), "outside")
	if err := os.Mkdir(outside, 0o777); err != nil {
		t.Fatal(err)
	}
	s.write("dir/b.txt", "rescued\n")
	s.write("dir/sub/new", "rescued\n")
	s.write("a.txt", "x\n")
	os.Remove(s.path("a.txt"))
	taken := s.take()
	if err := os.WriteFile(filepath.Join(outside, "b.txt"), []byte("two\n"), 0o666); err != nil { // what the commit has
		t.Fatal(err)
	}
	if err := os.RemoveAll(s.path("dir")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, s.path("dir")); err != nil {
		t.Skip("this system makes no links:", err)
	}
	before := snapshot(t, outside)
	got := s.restore(taken.ID)
	compare(t, "files outside", before, snapshot(t, outside), nil)
	if at := "dir.rescued-" + taken.ID; s.read(at+"/b.txt") != "rescued\n" || s.read(at+"/sub/new") != "rescued\n" || len(got.Beside) != 2 {
		t.Errorf("%+v", got)
	}
	if again := s.take(); again.Files != 5 { // the link, what lies beside it, and two that are deleted; nothing behind the link
		t.Errorf("%+v", again)
	}
}

// A tree that has moved behind a link isn't the one that was rescued.
func TestATopLevelBehindALink(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "rescued\n")
	taken := s.take()
	moved := s.top + "-moved"
	if err := os.Rename(s.top, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, s.top); err != nil {
		t.Skip("this system makes no links:", err)
	}
	if _, err := s.store.Restore(context.Background(), RestoreRequest{ID: taken.ID}); stick.CodeOf(err) != stick.CodeNotFound {
		t.Error(err)
	}
	tree, _ := workspace.FindCheckout(moved, workspace.Env{})
	if got, err := s.store.Restore(context.Background(), RestoreRequest{ID: taken.ID, Tree: tree}); err != nil || !got.Exact {
		t.Errorf("to where it is now: %+v, %v", got, err)
	}
}

// forge writes a rescue with any entries, as somebody may who can write to the data directory.
func (s *scratch) forge(entries ...manifest.Entry) string {
	s.t.Helper()
	repo, err := s.store.prepareRepository(context.Background(), s.tree.Common)
	if err != nil {
		s.t.Fatal(err)
	}
	w := repo.BeginWriting(bare.WholeForm)
	blob := w.Pack.AddObject(pack.KindBlob, []byte("forged\n"))
	for i := range entries {
		entries[i].Work = &manifest.WorkFile{Mode: pack.ModeFile, Perm: 0o644, Blob: blob}
	}
	root := &pack.TreeBuilder{}
	text, err := manifest.EncodeState(manifest.State{Head: strings.TrimSpace(s.git("rev-parse", "HEAD")), Entries: entries})
	if err != nil {
		s.t.Fatal(err)
	}
	root.PutFile(bare.EntriesName, pack.ModeFile, w.Pack.AddObject(pack.KindBlob, text))
	id, err := w.Complete(context.Background(), bare.CheckoutName(s.tree), root.AddTo(w.Pack), manifest.Manifest{At: s.now, Top: s.top})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func TestPathsThatLeadOutOfTheTree(t *testing.T) {
	s := newScratch(t)
	var entries []manifest.Entry
	for _, path := range []string{"../out", "/tmp/out", "dir/../../out", ".git/hooks/post-checkout", "dir/.GIT/config", "", ".", "a//b", "nul\x00"} {
		entries = append(entries, manifest.Entry{Path: manifest.BytesText(path)})
	}
	id := s.forge(entries...)
	before := snapshot(t, filepath.Dir(s.top), "data")
	got := s.restore(id)
	if len(got.Failed) < len(entries) || len(got.Restored)+len(got.Beside)+len(got.Index) > 0 {
		t.Errorf("%+v", got)
	}
	compare(t, "all files", before, snapshot(t, filepath.Dir(s.top), "data"), nil)
}

// A store that is a link, or has one in it, isn't written to.
func TestAStoreBehindALink(t *testing.T) {
	for _, name := range []string{"", "repository", "objects", bare.PacksName, bare.RefsName, "checkout"} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			s := newScratch(t)
			s.write("a.txt", "changed\n")
			s.take()
			r := s.store.repositoryOf(s.tree.Common)
			at := map[string]string{"": s.store.Root(), "repository": r.Path, "checkout": r.PathTo(bare.RefsName + "/" + bare.CheckoutName(s.tree))}[name]
			if at == "" {
				at = r.PathTo(name)
			}
			elsewhere := filepath.Join(filepath.Dir(s.top), "elsewhere")
			if err := os.Rename(at, elsewhere); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, at); err != nil {
				t.Skip("this system makes no links:", err)
			}
			before := snapshot(t, elsewhere)
			s.write("a.txt", "changed again\n")
			if got, err := s.store.Take(context.Background(), s.request()); stick.CodeOf(err) != stick.CodeDataDirNotWritable {
				t.Errorf("%+v, %v", got, err)
			}
			s.store.Prune(context.Background(), s.now.Add(100*24*time.Hour))
			compare(t, "the files behind the link", before, snapshot(t, elsewhere), nil)
		})
	}
}

// Nobody else can read what was rescued.
func TestRescuesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	s := newScratch(t)
	s.write("secret", "x\n")
	s.take()
	err := filepath.Walk(s.store.Dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A rescue that is damaged is refused, and hides no other.
func TestADamagedRescue(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "first\n")
	first := s.take()
	s.write("a.txt", "second\n")
	second := s.take()
	pack := s.store.repositoryOf(s.tree.Common).PackBase(bare.WholeForm, first.ID) + ".pack"
	b, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(pack, int64(len(b)/2)); err != nil {
		t.Fatal(err)
	}
	if ids := s.ids(); !slices.Equal(ids, []string{second.ID}) {
		t.Errorf("listed: %q", ids)
	}
	s.git("reset", "-q", "--hard")
	if _, err := s.store.Restore(context.Background(), RestoreRequest{ID: first.ID}); err == nil {
		t.Error("a damaged rescue was restored")
	}
	if got := s.restore(second.ID); !got.Exact || s.read("a.txt") != "second\n" {
		t.Errorf("%+v", got)
	}
}

func TestRescuesThatAreTooOldTooManyOrTooLarge(t *testing.T) {
	s := newScratch(t)
	var ids []string
	take := func() {
		s.write("a.txt", fmt.Sprint("state ", len(ids)))
		ids = append(ids, s.take().ID)
	}
	have := func(what string, want ...string) {
		t.Helper()
		want = slices.Clone(want)
		slices.Reverse(want)
		if got := s.ids(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	for range 3 {
		take()
	}
	have("at first", ids...)
	s.store.Limits.Count = 3
	take()
	have("one too many", ids[1:]...)
	s.store.Limits.Count, s.store.Limits.Total = 10, 2*s.store.repositoryOf(s.tree.Common).RescueBytes(bare.Ref{Form: bare.WholeForm, ID: ids[1]})+100
	take()
	have("too large", ids[3:]...)
	s.store.Limits.Total = 1
	take()
	have("the newest stays", ids[5:]...)
	s.store.Limits.Count, s.store.Limits.Total = Defaults.Count, Defaults.Total
	s.now = s.now.Add(Defaults.Age - time.Minute)
	take()
	have("not too old", ids[5:]...)

	// a rescue of another repository drops what is too old here, too
	other := newScratch(t)
	other.store.Dir, other.now = s.store.Dir, s.now.Add(2*time.Minute)
	other.store.Limits.Count = 1
	other.write("a.txt", "other\n")
	other.take()
	if l, err := s.store.List(context.Background(), s.tree.Common, 0, Every); err != nil || len(l.Rescues) != 1 || l.Rescues[0].ID != ids[6] {
		t.Errorf("after the rescue of another repository: %+v, %v", l.Rescues, err)
	}
	s.store.Prune(context.Background(), other.now.Add(Defaults.Age+time.Hour))
	have("in the end")
	if left := s.leftovers(); len(left) > 3+3 { // those of the other repository
		t.Errorf("left: %q", left)
	}
}

func TestADiff(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "one\nrescued\n")
	s.write("binary", "\x00rescued")
	s.write("large", strings.Repeat("rescued\n", maxDiffed/8+1))
	s.write("new\nline", "rescued\n")
	s.write("same", "same\n")
	os.Remove(s.path("dir/b.txt"))
	taken := s.take()
	s.git("reset", "-q", "--hard")
	for _, name := range []string{"binary", "large", "new\nline"} {
		os.Remove(s.path(name))
	}
	got, cut, err := s.store.Diff(context.Background(), RestoreRequest{ID: taken.ID})
	want := `diff now/a.txt rescued/a.txt
--- now/a.txt
+++ rescued/a.txt
@@ -1,1 +1,2 @@
 one
+rescued
binary differs: it is binary
diff now/dir/b.txt /dev/null
--- now/dir/b.txt
+++ /dev/null
@@ -1,1 +0,0 @@
-two
large differs: it is large
diff /dev/null rescued/"new\nline"
--- /dev/null
+++ rescued/"new\nline"
@@ -0,0 +1,1 @@
+rescued
`
	if d := cmp.Diff(want, got); d != "" || cut || err != nil {
		t.Errorf("%v %v %s", cut, err, d)
	}
	if got, _, err := s.store.Diff(context.Background(), RestoreRequest{ID: taken.ID, Paths: []string{"same"}}); got != "" || err != nil {
		t.Errorf("of the same: %q, %v", got, err)
	}
	s.write("long", strings.Repeat("x\n", maxDiffed/2))
	s.write("long, too", strings.Repeat("x\n", maxDiffed/2))
	taken = s.take()
	os.Remove(s.path("long"))
	os.Remove(s.path("long, too"))
	if got, cut, err := s.store.Diff(context.Background(), RestoreRequest{ID: taken.ID}); !cut || err != nil || len(got) > maxDiff || !strings.HasSuffix(got, "\n") {
		t.Errorf("%d bytes, cut: %v, %v", len(got), cut, err)
	}
}

func TestTipsOfDeletedBranches(t *testing.T) {
	s := newScratch(t)
	ctx := context.Background()
	commit := func(text string) string {
		s.git("commit", "-q", "--allow-empty", "-m", text)
		return strings.TrimSpace(s.git("rev-parse", "HEAD"))
	}
	s.git("switch", "-qc", "topic/one")
	first := commit("one")
	hook := s.path(".git/hooks/reference-transaction")
	if err := os.MkdirAll(filepath.Dir(hook), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho ran >>'"+s.path("ran")+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	keep := func(ref, commit string, at stick.Time) (commits.Tip, error) {
		kept, err := s.store.KeepTips(ctx, s.tree.Common, []commits.Tip{{Of: ref, Commit: commit}}, at)
		if err != nil {
			return commits.Tip{}, err
		}
		return kept[0], nil
	}
	kept, err := keep("refs/heads/topic/one", first, s.now)
	if err != nil || kept.Of != "refs/heads/topic/one" || kept.Commit != first || kept.At != s.now || !strings.HasPrefix(kept.Ref, commits.KeptRefs) {
		t.Fatalf("%+v, %v", kept, err)
	}
	if again, err := keep("refs/heads/topic/one", first, s.now+5); err != nil || again != kept {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := os.Lstat(s.path("ran")); err == nil {
		t.Error("a hook ran")
	}
	os.Remove(hook)
	if all, err := filepath.Glob(s.path(".git/logs/refs/talkingstick/*")); err != nil || len(all) > 0 {
		t.Errorf("there is a reflog: %q, %v", all, err)
	}
	s.git("switch", "-q", "main")
	s.git("branch", "-qD", "topic/one")
	s.git("reflog", "expire", "--expire=now", "--all")
	s.git("gc", "-q", "--prune=now")
	s.git("cat-file", "-e", first)

	// the same moment, then too many, then too old
	second, third := commit("two"), commit("three")
	same, err := keep("refs/heads/topic/one", second, s.now)
	if err != nil || same.Ref == kept.Ref {
		t.Errorf("%+v, %v", same, err)
	}
	s.store.Limits.Count = 2
	newest, err := keep("refs/tags/v1", third, s.now+10)
	if err != nil {
		t.Fatal(err)
	}
	tips, err := s.store.Tips(ctx, s.tree.Common)
	if err != nil || len(tips) != 2 || tips[0] != newest {
		t.Errorf("%+v, %v", tips, err)
	}
	last, err := keep("refs/heads/x", third, s.now.Add(Defaults.Age+time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if tips, err := s.store.Tips(ctx, s.tree.Common); err != nil || len(tips) != 1 || tips[0] != last {
		t.Errorf("%+v, %v", tips, err)
	}
	// several at once: a known one, one twice, and all of those before are too many
	s.store.Limits.Count = 3
	many, err := s.store.KeepTips(ctx, s.tree.Common, []commits.Tip{{Of: "refs/heads/x", Commit: third}, {Of: "refs/heads/y", Commit: third}, {Of: "refs/heads/y", Commit: third}, {Of: "refs/heads/y", Commit: second}}, last.At+1)
	if err != nil || len(many) != 4 || many[0] != last || many[1] != many[2] || many[3].Commit != second {
		t.Errorf("%+v, %v", many, err)
	}
	if tips, err := s.store.Tips(ctx, s.tree.Common); err != nil || len(tips) != 3 {
		t.Errorf("%+v, %v", tips, err)
	}
	for _, bad := range [][2]string{{"heads/x", third}, {"refs/heads/x", "main"}, {"refs/heads/a..b", third}, {"refs/heads/x\n", third}, {"refs/heads/y", strings.Repeat("1", 40)}} {
		if _, err := keep(bad[0], bad[1], s.now); stick.CodeOf(err) != stick.CodeGitFailed {
			t.Errorf("keep %q at %q: %v", bad[0], bad[1], err)
		}
	}
}

// A commit of the store is what git makes of it: people can look into it with git alone.
func TestGitReadsTheStore(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "staged\n")
	s.git("add", "a.txt")
	s.write("a.txt", strings.Repeat("a long text\n", 30000))
	s.write("a.d/x", "1")
	s.write("a/x", "2")
	s.write("a0", "3")
	taken := s.take()
	if s.whole() != 1 {
		t.Fatal("not one rescue")
	}
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"--git-dir", s.store.repositoryOf(s.tree.Common).Path}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	ref := bare.RefsName + "/" + bare.CheckoutName(s.tree) + "/" + taken.ID
	if got, want := git("ls-tree", "-r", "--name-only", ref), "entries\nindex/a.txt\nwork/a.d/x\nwork/a.txt\nwork/a/x\nwork/a0\n"; got != want {
		t.Errorf("the tree has %q, want %q", got, want)
	}
	if git("show", ref+":index/a.txt") != "staged\n" || git("show", ref+":work/a.txt") != s.read("a.txt") {
		t.Error("other bytes")
	}
	git("gc", "-q", "--prune=now") // somebody tidies up
	s.store.Prune(context.Background(), s.now)
	if s.whole() != 1 {
		t.Error("a gc of the store has lost the rescue")
	}
}

func TestNamesOfObjects(t *testing.T) {
	for sum, want := range map[string]string{
		strings.Repeat("0", 40): "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
		strings.Repeat("0", 64): "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
	} {
		if got := pack.ObjectName(pack.NewHash(sum), "blob", nil); got != want {
			t.Errorf("the empty blob is %s, want %s", got, want)
		}
		if _, err := hex.DecodeString(want); err != nil {
			t.Error(err)
		}
	}
}

// A repository whose objects have SHA-256 names is rescued into the same kind of store.
func TestSHA256(t *testing.T) {
	s := newScratch(t)
	if err := os.RemoveAll(s.path(".git")); err != nil {
		t.Fatal(err)
	}
	s.git("init", "-q", "--object-format=sha256")
	s.git("add", ".")
	s.git("commit", "-qm", "first")
	s.find()
	s.write("a.txt", "staged\n")
	s.git("add", "a.txt")
	s.git("update-index", "--assume-unchanged", "dir/b.txt")
	s.write("a.txt", "changed\n")
	before := s.status()
	taken := s.take()
	if taken.Files != 1 {
		t.Errorf("%+v", taken)
	}
	s.git("reset", "-q", "--hard")
	s.git("reflog", "expire", "--expire=now", "--all")
	s.git("gc", "-q", "--prune=now")
	if got := s.restore(taken.ID); !got.Exact || s.status() != before {
		t.Errorf("%+v\n%s", got, s.status())
	}
}
