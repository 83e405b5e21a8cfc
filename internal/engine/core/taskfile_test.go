package core_test

import (
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/workspace"
)

// TestNameTree: a worktree is known by its place relative to the main checkout, and a task's that was moved by the
// place at which it was made.
func TestNameTree(t *testing.T) {
	work := t.TempDir()
	root := filepath.Join(work, "shop")
	task := func(made string) string {
		return `{"task_id": "t1", "workspace_root": "` + root + `", "worktree": "` + filepath.Join(root, made) + `"}`
	}

	for _, c := range []struct{ name, at, file, want string }{
		{"in the checkout", "shop/worktrees/t1", task("worktrees/t1"), "worktrees/t1"},
		{"beside it", "shop.tasks/t1", task("../shop.tasks/t1"), "../shop.tasks/t1"},
		{"elsewhere", "a/b/c", "", filepath.Join(work, "a/b/c")},
		{"moved", "moved/x/y", task("worktrees/t2"), "worktrees/t2"},
		{"moved, and another made in its place", "moved/x/z", task("worktrees/t1"), filepath.Join(work, "moved/x/z")},
		{"with a file of nobody", "shop/other", "{}", "other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := filepath.Join(work, c.at)
			if err := os.MkdirAll(tree, 0o755); err != nil {
				t.Fatal(err)
			}
			if c.file != "" {
				if err := os.WriteFile(filepath.Join(tree, core.TaskFileName), []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}

			if got := core.NameTree(workspace.Place{Root: root, Worktree: tree}); got != c.want {
				t.Errorf("%s is called %q, want %q", c.at, got, c.want)
			}
		})
	}
}
