//go:build unix

package git

import (
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/stick"
)

// meetsRemoval makes the next worktree add of a client fail as it does when another git removes the last
// worktree meanwhile: the branch is made, and then the directory of the records is missing.
func (w *work) meetsRemoval(branch string) {
	w.Helper()
	met := filepath.Join(w.TempDir(), "met")
	w.Client = program(w.T, `
case "$*" in
*"worktree add"*)
	if ! [ -e '`+met+`' ]; then
		: >'`+met+`'
		git -C '`+w.dir+`' branch --force `+branch+`
		echo "fatal: could not create directory of '.git/worktrees/x': No such file or directory" >&2
		exit 128
	fi
esac
exec git "$@"
`)
}

// TestAddWorktree_BesideRemoval: a worktree is added although another git removes the last one at that moment.
func TestAddWorktree_BesideRemoval(t *testing.T) {
	w := newWork(t)
	ctx, head := t.Context(), w.git("rev-parse", "HEAD")
	path := func(name string) string { return filepath.Join(w.dir, "trees", name) }

	w.meetsRemoval("feat/x")
	if err := w.AddWorktree(ctx, w.dir, path("x"), "feat/x", head, "why"); err != nil {
		t.Errorf("with a new branch: %v", err)
	}

	w.git("branch", "feat/y")
	w.meetsRemoval("feat/y")
	if err := w.AddWorktreeOf(ctx, w.dir, path("y"), "feat/y", "why"); err != nil {
		t.Errorf("of a branch: %v", err)
	}

	w.meetsRemoval("main-too")
	if err := w.AddDetached(ctx, w.dir, path("z"), head); err != nil {
		t.Errorf("at a commit: %v", err)
	}

	list := w.git("worktree", "list", "--porcelain")
	if strings.Count(list, "locked why") != 2 || strings.Count(list, "detached") != 1 {
		t.Errorf("the worktrees:\n%s", list)
	}
}

// TestAddWorktree_BranchExists: a branch that somebody else has made is never moved.
func TestAddWorktree_BranchExists(t *testing.T) {
	w := newWork(t)
	first := w.git("rev-parse", "HEAD")
	w.git("branch", "feat/x")
	w.commit("b", "two\n")

	err := w.AddWorktree(t.Context(), w.dir, filepath.Join(w.dir, "trees", "x"), "feat/x",
		w.git("rev-parse", "HEAD"), "why")
	if stick.CodeOf(err) != stick.CodeGitFailed {
		t.Errorf("it is added: %v", err)
	}
	if at := w.git("rev-parse", "feat/x"); at != first {
		t.Errorf("the branch has moved to %s", at)
	}
}
