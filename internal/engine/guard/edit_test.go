package guard_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/scene"
	"talkingstick/internal/shell"
	"talkingstick/stick"
)

// TestMayIEdit: depending on the policy an edit needs the stick, a reservation, or nothing.
func TestMayIEdit(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	bob.MayIEdit("x").Allowed() // there is no room
	bob.MayIEdit().Refused(stick.CodeUsage)
	s.Joins(ann, bob)
	ann.Try().Granted(1)
	bob.MayIEdit("x").Allowed()
	ann.Sets("enforce=stick").OK()
	ann.MayIEdit("x", "dir/").Allowed()
	bob.MayIEdit("x").Denied("x")
	carl.MayIEdit("x").Allowed()
	bob.MayIEdit("/elsewhere/x").Allowed()
	bob.MayEdit(guard.MayEditParams{Tree: true}).That("the whole tree denied", func(r guard.MayEditResult) bool { return !r.Allowed })
	bob.MayEdit(guard.MayEditParams{Where: s.ByID(), Tree: true}).That("the whole tree denied", func(r guard.MayEditResult) bool { return !r.Allowed && r.Holder == ann.ID })
	many := make([]string, 6000)
	for i := range many {
		many[i] = "x"
	}
	scene.Editing{Answer: bob.MayEdit(guard.MayEditParams{Paths: many})}.That("denied", func(r guard.MayEditResult) bool { return !r.Allowed })
	carl.Sets("enforce=scopes").OK()
	bob.Reserve("src/**").OK()
	bob.MayIEdit("src/a.go").Allowed()
	bob.MayIEdit("lib/a.go").Denied("lib/a.go")
	ann.MayIEdit("src/a.go").That("that bob has reserved it", func(r guard.MayEditResult) bool { return len(r.Reserved) == 1 })
}

// TestHooksAskBeforeAnEdit: a denial is recorded once. If an agent lost the right to an edit while it ran, an
// event says so.
func TestHooksAskBeforeAnEdit(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob)
	ann.Sets("enforce=stick").OK()
	ann.Try().Granted(1)
	bob.Edits(nil, "x").Denied("x")
	bob.Edits(nil, "x").Denied("x")
	ann.Edits(nil, "x").Allowed()
	ann.Edits(nil).Allowed()
	ann.Edits(func() { ann.Release("s", "n").OK() }, "x").Allowed() // it gave the stick up itself
	ann.Try().Granted(2)
	ann.Edits(func() {
		carl.TakeoverStick(engine.TakeoverStickParams{Reason: "stop", Operator: true}).OK()
	}, "x").Allowed()
	s.Has(stick.EventLateEdit)
	events := carl.GetRoomEvents(eventlog.GetRoomEventsParams{EventFilter: eventlog.EventFilter{Types: []stick.EventType{stick.EventStickDenied, stick.EventLateEdit}}}).OK().Events
	s.Check(len(events) == 2, "%d events", len(events))
	bob.CheckEdit(guard.CheckEditParams{HookParams: core.HookParams{Tool: "Bash"}, Trees: []string{s.Work}}).That("denied", func(r guard.MayEditResult) bool { return !r.Allowed })
	bob.CheckEdit(guard.CheckEditParams{HookParams: core.HookParams{Tool: "Bash"}, Names: []string{"x"}, Paths: []string{"x"}, Tracked: []string{"y"}}).That("denied", func(r guard.MayEditResult) bool { return len(r.Denied) == 2 })
}

// TestPrimaryOnlyFiles: a helper may not change the primary's files, even with the stick.
func TestPrimaryOnlyFiles(t *testing.T) {
	s := scene.New(t)
	s.File(".talking-stick.toml", "[roles]\nprimary_only = [\"lead/**\"]\nappend = [\"log.md\"]\n")
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Starts().As(stick.RolePrimary, stick.StartFresh)
	bob.Starts().As(stick.RoleHelper, stick.StartHelper).That("the contract", func(r roster.StartSessionResult) bool {
		return len(r.Contract.Append) == 1 && len(r.Contract.PrimaryOnly) == 1
	})
	ann.Sets("enforce=stick").OK()
	bob.Try().Granted(1)
	bob.MayIEdit("lead/x").Denied("lead/x")
	bob.MayIEdit("other").Allowed()
	bob.MayIEdit(bob.Session().Context).Allowed()
	ann.MayIEdit(ann.Session().Context).Allowed()
}

// TestNobodyRemovesTheWorkspace: its root and its repository are no agent's to remove, and the log says who
// tried.
func TestNobodyRemovesTheWorkspace(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob)
	ann.Try().Granted(1)
	removes := func(path string) guard.CheckEditParams {
		act := shell.Act{Kind: shell.Removes, Form: "rm -rf it", Dir: s.Work, Paths: []string{path}}
		return guard.CheckEditParams{HookParams: core.HookParams{Tool: "Bash"}, Paths: act.Paths, Acts: []shell.Act{act}}
	}
	for path, denied := range map[string]string{
		filepath.Join(s.Work, ".git"): ".git", s.Work: ".", filepath.Dir(s.Work): ".", filepath.Join(s.Work, ".git", "refs"): ".git/refs",
	} {
		for _, by := range []*scene.Actor{ann, bob} {
			by.CheckEdit(removes(path)).That("denied", func(r guard.MayEditResult) bool { return !r.Allowed && slices.Equal(r.Denied, []string{denied}) })
		}
		carl.CheckEdit(removes(path)).That("allowed", func(r guard.MayEditResult) bool { return r.Allowed })
	}
	some := removes(s.Work)
	some.Acts[0].Some = true
	ann.CheckEdit(some).That("allowed, because nobody knows which files", func(r guard.MayEditResult) bool { return r.Allowed })
	ann.CheckEdit(removes(s.File("src/a.go", ""))).That("allowed", func(r guard.MayEditResult) bool { return r.Allowed })
	carl.Sets("enforce=off").OK()
	ann.CheckEdit(removes(s.Work)).That("allowed", func(r guard.MayEditResult) bool { return r.Allowed })
}

// TestRepository_IsntRemoved: a command whose text tells that it removes the repository is denied to every
// agent under every policy but off, also to the holder. One that leaves it alone isn't.
func TestRepository_IsntRemoved(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob)
	s.File("build/a", "a")
	s.File("build/b.pyc", "b")
	ann.Try().Granted(1)

	for _, policy := range []string{"warn", "scopes", "stick"} {
		carl.Sets("enforce=" + policy).OK()
		for _, by := range []*scene.Actor{ann, bob} {
			for _, command := range []string{
				"find .git -delete", "find . -delete", "find . -exec rm -rf {} +", "find . -name .git -exec rm -rf {} \\;", "ls -A | xargs rm -rf", "shopt -s dotglob; rm -rf *",
				"D=.git; rm -rf $D", "rm -rf \"$PWD\"", "rm -rf \"$(git rev-parse --show-toplevel)\"", "rm -rf \"$(git rev-parse --git-dir)\"", "cd .git && rm -rf *", "mv .git x", "rm -rf ./.git/", "rm .git/HEAD",
				"find .. -name .git -execdir rm -rf {} +", "find . -print0 | xargs -0 rm -rf", "rsync -a --delete ../none/ ./", "cd build && rm -rf ../.git", "find . -name .git | while read d; do rm -rf \"$d\"; done",
			} {
				res := by.Executes(command, nil)
				s.Check(!res.Allowed && (strings.Contains(string(res.Reason), "without which there is no repository") || strings.Contains(string(res.Reason), "the root of the room")), "enforce=%s, %s: %+v", policy, command, res)
			}
		}
		for _, command := range []string{
			"find . -name '*.pyc' -delete", "find build -delete", "rm -rf build/*", "rm -rf node_modules/*", "cd build && ls | xargs rm -f", "cd build && ls -A | xargs rm -rf",
			"find . -mindepth 1 -maxdepth 1 ! -name .git -exec echo {} +", "ls -A | xargs ls", "find . -name .git -prune -o -name '*.pyc' -exec rm {} +", "rm -rf $UNKNOWN", "git worktree remove .", "git clean -fdxn",
		} {
			s.Check(ann.Executes(command, nil).Allowed, "enforce=%s, %s is denied", policy, command)
		}
	}

	carl.Sets("enforce=off").OK()
	s.Check(bob.Executes("find . -delete", nil).Allowed, "enforce=off denies")
}
