package git

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is staged is asked of the index that the hook's surroundings name, and only in a hook.
func TestStaged(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	git(t, dir, "init", "--quiet")
	write(t, dir, "a b.txt", "1")
	write(t, dir, "sub/ü.txt", "1")
	git(t, dir, "add", ".")

	staged := func(c Client) []string {
		t.Helper()
		got, err := c.Staged(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}

	if d := cmp.Diff([]string{"a b.txt", "sub/ü.txt"}, staged(Client{})); d != "" {
		t.Errorf("before the first commit:\n%s", d)
	}
	git(t, dir, "commit", "--quiet", "-m", "one")
	git(t, dir, "mv", "a b.txt", "c.txt")
	if d := cmp.Diff([]string{"a b.txt", "c.txt"}, staged(Client{})); d != "" {
		t.Errorf("a rename is both of its paths:\n%s", d)
	}

	t.Setenv("GIT_INDEX_FILE", filepath.Join(dir, "other-index"))
	git(t, dir, "status") // makes none
	if d := cmp.Diff([]string{"a b.txt", "sub/ü.txt"}, staged(Client{InHook: true})); d != "" {
		t.Errorf("with an empty index:\n%s", d)
	}
	if got := staged(Client{}); len(got) != 2 || got[1] != "c.txt" {
		t.Errorf("outside of a hook: %q", got)
	}
}

func TestValuesAndBetween(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	git(t, dir, "init", "--quiet")
	write(t, dir, "a.txt", "1")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "one")
	one := git(t, dir, "rev-parse", "HEAD")
	git(t, dir, "branch", "old")
	write(t, dir, "a.txt", "2")
	write(t, dir, "b.txt", "2")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "two")
	two := git(t, dir, "rev-parse", "HEAD")
	git(t, dir, "pack-refs", "--all")
	at, err := Client{}.RefValues(ctx, dir, "refs/heads/main", "refs/heads/old", "refs/heads/none")
	if d := cmp.Diff(map[string]string{"refs/heads/main": two, "refs/heads/old": one}, at); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}

	paths, err := Client{}.Between(ctx, dir, one, two)
	if d := cmp.Diff([]string{"a.txt", "b.txt"}, paths); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if _, err := (Client{}).Between(ctx, dir, one, strings.Repeat("1", 40)); err == nil {
		t.Error("an object that isn't there")
	}
}

// The scope shows who has set core.hooksPath: the repository, or the user for all repositories.
func TestHooksPath(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	git(t, dir, "init", "--quiet")
	ask := func() Setting {
		t.Helper()
		s, err := Client{}.HooksPath(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}

	if s := ask(); s != (Setting{}) {
		t.Errorf("unset: %+v", s)
	}
	global := filepath.Join(t.TempDir(), "config")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	git(t, dir, "config", "--global", "core.hooksPath", "~/hooks")
	if s := ask(); s.Scope != "global" ||
		s.Origin != global ||
		!strings.HasSuffix(s.Value, "/hooks") ||
		strings.Contains(s.Value, "~") {
		t.Errorf("global: %+v", s)
	}

	git(t, dir, "config", "core.hooksPath", ".hooks")
	if s := ask(); s != (Setting{".hooks", "local", ".git/config"}) {
		t.Errorf("local: %+v", s)
	}
}
