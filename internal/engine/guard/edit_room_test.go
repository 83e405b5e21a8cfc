package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestARefusalOfAnotherRoomNamesIt: who edits in a repository beside its own learns of which room the holder
// is, and gets commands that mean that room.
func TestARefusalOfAnotherRoomNamesIt(t *testing.T) {
	s := scene.InGit(t)
	lib := s.Dir("lib")
	s.GitIn(lib, "init", "-q")
	s.CommitIn(lib, "parse.go", "package lib")
	ann, bob, pat := s.Agent("claude:a"), s.AgentIn("codex:b", lib), s.Person("pat")
	s.Joins(ann, bob)
	bob.Try().Is(stick.YourTurn)
	path := filepath.Join(lib, "parse.go")
	named := func(what string, why, hint string) {
		t.Helper()
		s.Check(strings.HasPrefix(why, "in the room of "+lib+", ") && strings.Contains(hint, " --path "+lib), "%s: %s; %s", what, why, hint)
	}
	told := ann.Edits(nil, path).OK()
	s.Check(told.Allowed, "the room warns")
	named("told", string(told.Told), string(told.Hint))
	pat.SetRoomPolicy(engine.SetRoomPolicyParams{Where: core.Where{Path: lib}, Set: []string{"enforce=stick"}}).OK()
	denied := ann.Edits(nil, path).OK()
	named("denied", string(denied.Reason), string(denied.Hint))
	e := stick.AsError(denied.Refusal())
	s.Check(e.Fields["workspace"] == lib && len(denied.Denied) == 1 && denied.Denied[0] == "parse.go", "%+v", e)
	own := bob.Edits(nil, path).OK()
	s.Check(own.Allowed && own.Told == "", "%+v", own)
	here := ann.Edits(nil, "README").OK()
	s.Check(!strings.Contains(string(here.Reason+here.Told), "in the room of"), "%+v", here)

	pat.SetRoomPolicy(engine.SetRoomPolicyParams{Where: core.Where{Path: lib}, Set: []string{"enforce=scopes"}}).OK()
	bob.Release("done", "go on").OK()
	ann.WaitForTurn(engine.WaitForTurnParams{Where: core.Where{Path: lib}, MaxWaitMS: new(int64)}).Is(stick.YourTurn)
	bob.Reserve("parse.go").OK()
	bob.Edits(func() { os.WriteFile(path, []byte("package lib // by bob"), 0o600) }, path).Allowed()
	takes := ann.Executes("git -C "+lib+" checkout -- parse.go", nil)
	s.Check(!takes.Allowed, "the holder takes bob's work: %+v", takes)
	named("a command", string(takes.Reason), string(takes.Hint))
}
