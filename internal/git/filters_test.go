package git

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNoFilters_asks_git_if_unsure: a repository that sets no filter is known by its files, and git is asked
// about each other one.
func TestNoFilters_asks_git_if_unsure(t *testing.T) {
	set := func(args ...string) func(dir, linked string) {
		return func(dir, _ string) { git(t, dir, append([]string{"config"}, args...)...) }
	}

	tests := map[string]struct {
		change   func(dir, linked string)
		isLinked bool
		turned   bool // a filter is turned off
		asked    int
	}{
		"nothing set":        {},
		"in a worktree":      {isLinked: true},
		"another setting":    {change: set("core.editor", "true")},
		"a filter":           {change: set("filter.x.clean", "cat"), turned: true, asked: 1},
		"a worktree's own":   {change: setInWorktree(t), isLinked: true, turned: true, asked: 1},
		"another worktree's": {change: setInWorktree(t)},
		"seen by a worktree": {change: set("filter.x.clean", "cat"), isLinked: true, turned: true, asked: 1},
		"included": {turned: true, asked: 1, change: func(dir, _ string) {
			write(t, dir, "more", "[filter \"x\"]\nclean = cat\n")
			git(t, dir, "config", "include.path", filepath.Join(dir, "more"))
		}},
		"in capitals": {turned: true, asked: 1, change: func(dir, _ string) {
			write(t, dir, ".git/config", "[core]\nrepositoryformatversion = 0\n[FILTER \"x\"]CLEAN=cat\n")
		}},
		"no directory of objects": {asked: 1, change: func(dir, _ string) {
			if err := os.Rename(filepath.Join(dir, ".git", "objects"), filepath.Join(dir, ".git", "o")); err != nil {
				t.Fatal(err)
			}
		}},
		"a HEAD that is none": {asked: 1, change: func(dir, _ string) { write(t, dir, ".git/HEAD", "none\n") }},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir, _ := repository(t)
			linked := filepath.Join(t.TempDir(), "linked")
			git(t, dir, "worktree", "add", "-q", "-b", "linked", linked)
			if test.change != nil {
				test.change(dir, linked)
			}

			c, count := countedGit(t)
			top := dir
			if test.isLinked {
				top = linked
			}

			off := c.noFilters(t.Context(), top)
			if len(off) > 1 != test.turned || count() != test.asked {
				t.Errorf("%d gits turn off %q", count(), off)
			}
		})
	}
}

// TestNoFilters_asks_git_below_the_top_level: git finds the repository, which may be any of those above.
func TestNoFilters_asks_git_below_the_top_level(t *testing.T) {
	dir, _ := repository(t)
	git(t, dir, "config", "filter.x.clean", "cat")
	below := filepath.Join(dir, "below")
	if err := os.MkdirAll(filepath.Join(below, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}

	if off := (Client{}).noFilters(t.Context(), below); len(off) < 2 {
		t.Errorf("it turns off %q", off)
	}
}

func setInWorktree(t *testing.T) func(dir, linked string) {
	return func(dir, linked string) {
		git(t, dir, "config", "extensions.worktreeConfig", "true")
		git(t, linked, "config", "--worktree", "filter.x.clean", "cat")
	}
}
