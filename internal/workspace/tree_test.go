package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes an empty directory outside of any workspace, and gives its canonical path.
func tree(t testing.TB) string {
	t.Helper()
	dir, err := canonicalPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if p := resolve(t, dir, Env{}); p.Found != FoundPath {
		t.Fatalf("the temporary directory lies in the workspace %s; set TMPDIR to a place outside of it", p.Root)
	}

	return dir
}

// write makes files, and directories for the names that end with a slash, below dir.
func write(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		name, content, _ := strings.Cut(name, "=")
		p := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(p, 0o755))
			continue
		}

		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(t, os.WriteFile(p, []byte(content), 0o644))
	}
}

// gitDirFiles is what git needs to see in a directory to take it for a git directory.
func gitDirFiles(dir string) []string {
	return []string{dir + "/HEAD=ref: refs/heads/main\n", dir + "/objects/", dir + "/refs/"}
}

// git runs the real git in dir, with nothing of the user's configuration.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-C", dir}, args...)...)
	mine := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	cmd.Env = append(mine,
		"HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")

	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}

	return strings.TrimSuffix(string(out), "\n")
}

// repository makes a git repository with one commit at dir.
func repository(t testing.TB, dir string) string {
	t.Helper()
	write(t, dir, "sub/deep/file.txt=x")
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func resolve(t testing.TB, path string, env Env) Place {
	t.Helper()
	p, err := Resolve(path, env)
	if err != nil {
		t.Fatalf("Resolve(%s): %v", path, err)
	}
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
