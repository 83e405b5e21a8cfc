package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestHead(t *testing.T) {
	const one, two = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	write := func(t *testing.T, top, name, text string) {
		t.Helper()
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	for _, c := range []struct {
		name           string
		files          map[string]string
		commit, branch string
		ok             bool
	}{
		{
			"a branch",
			map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": one + "\n"},
			one,
			"main",
			true,
		},
		{
			"a branch with a slash",
			map[string]string{".git/HEAD": "ref: refs/heads/feat/x\n", ".git/refs/heads/feat/x": one + "\n"},
			one,
			"feat/x",
			true,
		},
		{
			"packed",
			map[string]string{
				".git/HEAD":        "ref: refs/heads/main\n",
				".git/packed-refs": "# pack-refs\n" + two + " refs/heads/main2\n" + one + " refs/heads/main\n",
			},
			one,
			"main",
			true,
		},
		{
			"loose before packed",
			map[string]string{
				".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": two,
				".git/packed-refs": one + " refs/heads/main\n",
			},
			two,
			"main",
			true,
		},
		{"detached", map[string]string{".git/HEAD": one + "\n"}, one, "", true},
		{"no commit yet", map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, "", "main", false},
		{
			"a ref that leads out",
			map[string]string{".git/HEAD": "ref: ../../secret\n", "../secret": one},
			"",
			"../../secret",
			false,
		},
		{"not a commit", map[string]string{".git/HEAD": "nonsense\n"}, "nonsense", "", false},
		{"no git", nil, "", "", false},
		{"a linked worktree", map[string]string{
			".git":                               "gitdir: ../main/.git/worktrees/w\n",
			"../main/.git/worktrees/w/HEAD":      "ref: refs/heads/w\n",
			"../main/.git/worktrees/w/commondir": "../..\n",
			"../main/.git/refs/heads/w":          one,
		}, one, "w", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "top")
			if err := os.MkdirAll(top, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range c.files {
				write(t, top, name, text)
			}
			commit, branch, ok := Head(top)
			if commit != c.commit && c.ok || branch != c.branch || ok != c.ok {
				t.Errorf("Head = %q, %q, %v, want %q, %q, %v", commit, branch, ok, c.commit, c.branch, c.ok)
			}
		})
	}
}

func TestDefaultBranches(t *testing.T) {
	top := t.TempDir()
	if got := DefaultBranches(top); got != nil {
		t.Errorf("outside git: %q", got)
	}

	head := func(remote, text string) {
		t.Helper()
		dir := filepath.Join(top, ".git", "refs", "remotes", remote)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			return
		}

		if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want := func(what string, want ...string) {
		t.Helper()
		if got := DefaultBranches(top); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}

	if err := os.MkdirAll(filepath.Join(top, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, ".git", "HEAD"), []byte("ref: refs/heads/x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want("no remote", "main", "master")

	head("origin", "")
	head("odd", "refs/remotes/other/main\n")
	want("none is known", "main", "master")
	head("origin", "ref: refs/remotes/origin/release/2\n")
	head("upstream", "ref: refs/remotes/upstream/dev\n")
	want("two remotes", "release/2", "dev")
}
