package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRefs: who asks for refs gets them without a look at the worktrees; who asks for branches is told where
// each is checked out.
func TestRefs(t *testing.T) {
	w := newWork(t)
	head := w.git("rev-parse", "HEAD")
	seconds := w.git("log", "-1", "--format=%ct", head)
	aside := filepath.Join(filepath.Dir(w.dir), "aside")
	w.git("worktree", "add", "--quiet", "-b", "feat/a", aside)
	w.git("branch", "--quiet", "other")
	w.git("update-ref", "refs/remotes/origin/main", head)
	w.git("remote", "add", "origin", "elsewhere")
	w.git("branch", "--quiet", "--set-upstream-to=origin/main", "main")
	want := []Ref{
		{Name: "refs/heads/feat/a", Commit: head},
		{Name: "refs/heads/main", Commit: head, Upstream: "refs/remotes/origin/main"},
	}
	patterns := []string{"refs/heads/main", "refs/heads/feat/", "refs/heads/none"}

	branches, err := w.Branches(t.Context(), w.dir, patterns...)
	if err != nil || len(branches) != 2 || branches[0].Checkout != aside || branches[1].Checkout != w.dir {
		t.Fatalf("%+v, %v", branches, err)
	}

	for i, b := range branches {
		if b.Ref != want[i] || fmt.Sprint(b.Committed.Go().Unix()) != seconds {
			t.Errorf("branch %d is %+v", i, b)
		}
	}

	// as git leaves it for a moment
	if err := os.Truncate(filepath.Join(w.dir, ".git", "worktrees", "aside", "commondir"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Branches(t.Context(), w.dir, patterns...); err == nil {
		t.Error("the record of a worktree is half made, and nobody says so")
	}
	if refs, err := w.Refs(t.Context(), w.dir, patterns...); err != nil || !slices.Equal(refs, want) {
		t.Errorf("%+v, %v", refs, err)
	}
}
