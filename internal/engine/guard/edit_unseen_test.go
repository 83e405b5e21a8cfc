package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/guard"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestEditOfUnseenChanges: an edit tool that changes a file which a person has just changed is told, though
// no look has seen it so. What is as committed, what the tool has made, and what its agent has changed
// before, isn't.
func TestEditOfUnseenChanges(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	for _, name := range []string{"a.go", "b.go", "c.go", "crlf.txt"} {
		s.Commit(name, name+"\n")
	}
	s.Commit(".gitattributes", "*.txt eol=crlf\n")
	if err := os.Remove(filepath.Join(s.Work, "crlf.txt")); err != nil {
		t.Fatal(err)
	}
	s.Git("checkout", "--", "crlf.txt")
	ann.Try().Is(stick.YourTurn)
	ann.Edits(func() { s.File("c.go", "by ann") }, "c.go")
	ann.LearnsAfterTool()
	edits := func(name string) string {
		t.Helper()
		ann.Edits(func() { s.File(name, "by ann") }, name)
		return strings.Join(ann.LearnsAfterTool(), "; ")
	}

	s.File("b.go", "by a person\n")
	s.File("new.go", "by a person\n")
	for _, name := range []string{"b.go", "new.go"} {
		said := edits(name)
		s.Check(strings.Contains(said, " ran Edit, which took "+name+"; a copy was kept before: tt rescue show "), "%s: told %q", name, said)
	}
	for _, name := range []string{"a.go", "b.go", "c.go", "made.go", "crlf.txt"} {
		said := edits(name)
		s.Check(said == "", "%s: told %q", name, said)
	}

	s.Git("add", ".")
	s.Git("commit", "-qm", "all")
	ann.Runs(nil)
	s.File("b.go", "by a person again\n")
	said := edits("b.go")
	s.Check(strings.Contains(said, " ran Edit, which took b.go; "), "after a commit: told %q", said)
}

// TestChangesAreNoted_AfterALongSnapshot: what a command has changed is its agent's, though making the snapshot after it took all the time that
// there is for looking.
func TestChangesAreNoted_AfterALongSnapshot(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)

	call := guard.CheckEditParams{HookParams: ann.Hook(), Unread: true, Text: "make"}
	call.Tool = "Bash"
	may := ann.CheckEdit(call).OK()
	if err := ann.Engine.Guard.EditChecked(t.Context(), call, may); err != nil {
		t.Fatal(err)
	}
	s.File("made.go", "by ann")
	call.LookFor = time.Nanosecond
	ann.CheckEdited(call)

	got := ann.Changes()
	s.Check(got == "made.go own by claude:a", "%s", got)
}
