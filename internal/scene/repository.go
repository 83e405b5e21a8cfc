package scene

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/storetest"
)

// InGit returns a scene whose workspace is a git repository with one commit on main.
func InGit(t *testing.T) *Scene {
	t.Helper()
	s := New(t)
	s.makeRepository()
	return s
}

// InQueue returns the scene of [InGit] with an integration branch, and with a gate; empty for none. It is as
// after [Scene.Queue].
func InQueue(t *testing.T, gate string) *Scene {
	t.Helper()
	s := New(t)
	s.copyTemplate("queue with the gate "+gate, func() {
		s.beginRepository()
		s.commitGate(gate)
		s.Git("branch", "integration")
	})
	return s
}

// OnServer returns the scene of [InGit] with a database on a server, and a remote that other hosts can clone:
// see [Scene.Elsewhere].
func OnServer(t *testing.T) *Scene {
	t.Helper()
	t.Parallel()
	s := newScene(t, storetest.PostgresURL(t))
	s.makeRepository()
	s.GitIn(s.dir, "init", "-q", "--bare", "origin.git")
	s.Git("remote", "add", "origin", filepath.Join(s.dir, "origin.git"))
	return s
}

func (s *Scene) makeRepository() {
	s.Helper()
	s.copyTemplate("one commit", s.beginRepository)
}

func (s *Scene) beginRepository() {
	s.Helper()
	s.GitIn(s.dir, "init", "-q", s.Work)
	s.Commit("README", "one\n")
}

// Git runs git in the workspace, and returns its output.
func (s *Scene) Git(args ...string) string {
	s.Helper()
	return s.GitIn(s.Work, args...)
}

// GitIn runs git in a directory, and returns its output.
func (s *Scene) GitIn(dir string, args ...string) string {
	s.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		s.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Commit writes and commits a file of the workspace, and returns the commit.
func (s *Scene) Commit(name, text string) string {
	s.Helper()
	return s.CommitIn(s.Work, name, text)
}

// CommitIn writes and commits a file of a checkout, and returns the commit.
func (s *Scene) CommitIn(dir, name, text string) string {
	s.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}

	s.GitIn(dir, "add", "--", name)

	// With long abbreviations, git says the whole id.
	said := s.GitIn(dir, "-c", "core.abbrev=40", "commit", "-m", "change "+name)
	return commitID.FindString(said)
}

// commitID finds a whole id in what git says.
var commitID = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

// CommitMerged resolves a conflict of a rebase, and continues the rebase.
func (s *Scene) CommitMerged(dir, name, text string) {
	s.Helper()
	s.writeFile(filepath.Join(dir, name), text)
	s.GitIn(dir, "add", "--", name)
	s.GitIn(dir, "-c", "core.editor=true", "rebase", "--continue")
}

// Embed makes a repository inside the scene's, with one commit.
func (s *Scene) Embed(name string) (dir, commit string) {
	s.Helper()
	dir = filepath.Join(s.Work, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.Fatal(err)
	}

	s.GitIn(dir, "init", "-q", "-b", "main")
	return dir, s.CommitIn(dir, "one", "one")
}

// Content reads a file of the workspace; "" if there is none.
func (s *Scene) Content(name string) string {
	b, _ := os.ReadFile(filepath.Join(s.Work, name))
	return string(b)
}
