package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzGitFile(f *testing.F) {
	for _, s := range []string{
		"", "gitdir: ", "gitdir: .git\n", "gitdir: ../.git/modules/lib\r\n", "gitdir:x", "gitdir: a b \n\n",
		"gitdir: a\x00b", "gitdir: a\nb\n",
	} {
		f.Add([]byte(s))
	}

	f.Fuzz(func(t *testing.T, b []byte) {
		path, ok := parseGitFile(b)
		if !ok {
			return
		}
		if path == "" || strings.ContainsRune(path, 0) || strings.HasSuffix(path, "\n") {
			t.Fatalf("%q gave the path %q", b, path)
		}
		if again, ok := parseGitFile([]byte("gitdir: " + path + "\n")); !ok || again != path {
			t.Fatalf("%q is read back as %q", path, again)
		}
	})
}

func FuzzGitConfig(f *testing.F) {
	for _, s := range []string{
		"",
		"[core]\n\tworktree = ../x\n",
		"[core]\nworktree=\"a\\\"b\" # c\n",
		"[core]\nworktree=\\",
		"[CORE]\nWorkTree = a;b",
		"[other]\nworktree = x",
	} {
		f.Add([]byte(s))
	}

	f.Fuzz(func(t *testing.T, b []byte) {
		if path, ok := parseWorktree(b); ok && (path == "" || strings.ContainsRune(path, 0)) {
			t.Fatalf("%q gave the path %q", b, path)
		}
	})
}

// TestGitConfig lets git write the file.
func TestGitConfig(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	for _, want := range []string{
		"../../../lib", "/a b/c", " edge ", "a#b;c", `back\slash`, `quo"te`, "tab\tand\nline", "ümläut",
	} {
		git(t, dir, "config", "--file", config, "core.bare", "false")
		git(t, dir, "config", "--file", config, "core.worktree", want)
		git(t, dir, "config", "--file", config, "remote.origin.url", "/x")
		b, err := os.ReadFile(config)
		must(t, err)
		if got, ok := parseWorktree(b); !ok || got != want {
			t.Errorf("got %q, %v, want %q from\n%s", got, ok, want, b)
		}
	}

	for _, b := range []string{
		"", "[core]\n", "[core]\nworktree\n", "[core]\nworktree =\n", "[core \"sub\"]\nworktree = x\n",
		"[core]\nworktree = \"x\n", "[core]\nworktree = a\\q\n",
	} {
		if got, ok := parseWorktree([]byte(b)); ok {
			t.Errorf("%q gave %q", b, got)
		}
	}
}
