package guard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// distrusting makes a git that takes all repositories for another user's.
func distrusting(t *testing.T) (path string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the git of this test is a shell script")
	}
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "git")
	script := "#!/bin/sh\nexport GIT_TEST_ASSUME_DIFFERENT_OWNER=1\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWhereGitRefusesToWork: in a repository of another user no copies can be kept. A command that names what
// it takes away is denied once, and whoever runs another is told once in a session.
func TestWhereGitRefusesToWork(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	ann.Edits(func() { s.File("a.go", "a, by ann") }, "a.go")
	git := distrusting(t)
	ann, bob = ann.WithGit(git), bob.WithGit(git)

	const why = "git doesn't work in "
	for _, command := range []string{"rm a.go", "git checkout -- a.go", "git clean -fd"} {
		res := bob.Executes(command, nil)
		s.Check(!res.Allowed && strings.Contains(string(res.Reason), `no copy can be kept of what "`+command+`" would take away: `+why) &&
			strings.Contains(string(res.Hint), "git config --global --add safe.directory "+s.Work+"; else copy that yourself"), "%s: %+v", command, res)
		s.Check(bob.Executes(command, func() {}).Allowed, "%s was denied again", command)
	}
	for _, command := range []string{"make", "git add -A", "git switch other", "rm gone.go"} {
		s.Check(ann.Executes(command, func() {}).Allowed, "%s was denied", command)
	}

	var told []stick.AgentID
	for _, e := range ann.GetRoomEvents(eventlog.GetRoomEventsParams{EventFilter: eventlog.EventFilter{Types: []stick.EventType{stick.EventEditTold}}}).OK().Events {
		if strings.HasSuffix(string(e.Say()), " was told that no copies can be kept of "+s.Work) && e.To == "" {
			told = append(told, e.From)
		}
	}
	s.Check(slices.Equal(told, []stick.AgentID{bob.ID, ann.ID}), "%q", told)
	found := ann.Engine.Guard.Restorer.CheckCopies(t.Context())
	s.Check(found.Status == core.FindingWarning && strings.Contains(string(found.Detail), "none can be kept here: "+why), "%+v", found)
}

// TestWhatIsToldOfCopies: a call is answered with what is against the rules, and the next one with that no
// copies can be kept.
func TestWhatIsToldOfCopies(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	git := distrusting(t)
	bob = bob.WithGit(git)

	var said []string
	for range 3 {
		p := bob.CommandParams("make > out.txt")
		bob.CheckEdit(p).OK()
		said = append(said, string(bob.CheckEdited(p).Told))
	}
	s.Check(strings.Contains(said[0], "isn't yours to change") && strings.Contains(said[1], "no copies can be kept of uncommitted work there: git doesn't work in ") && said[2] == "", "%q", said)
}

// TestWhereGitCantRead: whatever keeps git from telling what is uncommitted, no copies can be kept, and it is as in
// a repository of another user.
func TestWhereGitCantRead(t *testing.T) {
	for _, broken := range []struct{ name, file, text string }{
		{"a main checkout that is said to be bare", ".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"},
		{"a configuration that isn't one", ".git/config", "[core\n"},
		{"an extension that git doesn't know", ".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tunheard = 1\n"},
		{"an index that isn't one", ".git/index", "junk, and more than an index has at its end\n"},
		{"a HEAD that isn't in the repository", ".git/refs/heads/main", "1234567890123456789012345678901234567890\n"},
	} {
		t.Run(broken.name, func(t *testing.T) {
			s := scene.InGit(t)
			ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
			s.Joins(ann, bob)
			ann.Try().Is(stick.YourTurn)
			ann.Edits(func() { s.File("a.go", "a, by ann") }, "a.go")
			s.File(broken.file, broken.text)

			res := bob.Executes("rm a.go", nil)
			s.Check(!res.Allowed && strings.Contains(string(res.Reason), `no copy can be kept of what "rm a.go" would take away: git `) &&
				strings.HasPrefix(string(res.Hint), "fix what git complains about; else copy that yourself"), "%+v", res)
			s.Check(bob.Executes("rm a.go", func() {}).Allowed, "it was denied again")

			var said []string
			for range 2 {
				p := bob.CommandParams("make")
				bob.CheckEdit(p).OK()
				said = append(said, string(bob.CheckEdited(p).Told))
			}
			s.Check(strings.Contains(said[0]+said[1], "no copies can be kept of uncommitted work there: git ") && said[1] == "", "%q", said)

			found := ann.Engine.Guard.Restorer.CheckCopies(t.Context())
			s.Check(found.Status == core.FindingWarning && strings.Contains(string(found.Detail), "none can be kept here: git "), "%+v", found)
		})
	}
}
