package stash_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/scene"
	"talkingstick/internal/shell"
	"talkingstick/internal/storetest"
)

// stashes is a scene with two agents, each of which works in a worktree of its own.
type stashes struct {
	*scene.Scene
	ann, bob *scene.Actor
}

func newStashes(t *testing.T, policy string) stashes {
	s := scene.InGit(t)
	s.Git("worktree", "add", "-q", "../t1", "-b", "t1")
	s.Git("worktree", "add", "-q", "../t2", "-b", "t2")
	beside := filepath.Dir(s.Work)
	ann, bob, pat := s.AgentIn("claude:a", filepath.Join(beside, "t1")), s.AgentIn("codex:b", filepath.Join(beside, "t2")), s.Person("pat")
	s.Joins(ann, bob)
	pat.Sets("enforce=" + policy).OK()
	return stashes{s, ann, bob}
}

// git runs git in an agent's worktree at the time of the story.
func (s stashes) git(a *scene.Actor, args ...string) {
	s.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = a.Hook().Path, append(os.Environ(), fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", s.Now()/1000))
	if out, err := c.CombinedOutput(); err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// change changes a file of an agent's worktree, by no tool that a hook sees.
func (s stashes) change(a *scene.Actor) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(a.Hook().Path, "README"), []byte(a.Name), 0o600); err != nil {
		s.Fatal(err)
	}
}

// call is a tool call of an agent that runs a command.
type call struct {
	s  stashes
	by *scene.Actor
	p  guard.CheckEditParams
}

// before plays the hook before a command in an agent's worktree.
func (s stashes) before(a *scene.Actor, command string) (guard.CheckEditParams, guard.MayEditResult) {
	s.Helper()
	c := shell.Edits(command, a.Hook().Path, shell.Env{})
	p := guard.CheckEditParams{HookParams: a.Hook(), Paths: c.Paths, Names: c.Names, Trees: c.Trees, Acts: c.Acts, Unread: !c.Reads}
	p.Tool = "Bash"
	res := a.CheckEdit(p).OK()
	if err := a.Engine.Guard.EditChecked(s.Context(), p, res); err != nil {
		s.Fatal(err)
	}
	return p, res
}

// begins is a call whose command is let through.
func (s stashes) begins(a *scene.Actor, command string) call {
	s.Helper()
	p, res := s.before(a, command)
	if !res.Allowed {
		s.Fatalf("%s: %+v", command, res)
	}
	return call{s, a, p}
}

// ends plays the hook after the command.
func (c call) ends() {
	c.s.Helper()
	c.by.CheckEdited(c.p)
	res := c.by.ReadNews(core.HookParams{}).OK()
	if err := c.by.Engine.RecordShownByHook(c.s.Context(), c.by.Hook(), res); err != nil {
		c.s.Fatal(err)
	}
}

// asks plays the hook before a command, and returns its answer.
func (s stashes) asks(a *scene.Actor, command string) guard.MayEditResult {
	s.Helper()
	_, res := s.before(a, command)
	return res
}

// TestStashOfTwoAtOnce: of two agents that stash at the same time, each has the entry of its own branch.
func TestStashOfTwoAtOnce(t *testing.T) {
	storetest.SkipQuick(t, "two stashes at once")

	s := newStashes(t, "stick")
	s.change(s.ann)
	s.change(s.bob)
	anns, bobs := s.begins(s.ann, "git stash"), s.begins(s.bob, "git stash")
	s.git(s.ann, "stash", "-q")
	s.git(s.bob, "stash", "-q")
	bobs.ends()
	anns.ends()

	s.Check(s.asks(s.bob, "git stash pop").Allowed && s.asks(s.ann, "git stash pop 1").Allowed, "an agent's own entry was denied")
	for a, command := range map[*scene.Actor]string{s.ann: "git stash pop", s.bob: "git stash drop stash@{1}"} {
		res := s.asks(a, command)
		s.Check(!res.Allowed && strings.Contains(string(res.Reason), " of "), "%s: %s: %+v", a.Name, command, res)
	}
}

// TestStashByAScript: what a call stashes whose text doesn't say so is the caller's only if its branch says
// so, and nobody else's call runs.
func TestStashByAScript(t *testing.T) {
	storetest.SkipQuick(t, "a stash by a script")

	s := newStashes(t, "stick")
	s.change(s.ann)
	alone := s.begins(s.ann, "./deploy")
	s.git(s.ann, "stash", "-q")
	alone.ends()
	s.Check(!s.asks(s.bob, "git stash pop").Allowed, "the entry of a script's caller")
	s.git(s.ann, "stash", "drop", "-q")
	s.Later(time.Second) // the next entry is another commit

	s.change(s.ann)
	elsewhere := s.begins(s.bob, "./deploy")
	s.git(s.ann, "stash", "-q") // as a person would
	elsewhere.ends()
	s.Check(s.asks(s.ann, "git stash pop").Allowed, "an entry from another branch than the caller's")
	s.git(s.ann, "stash", "drop", "-q")
	s.Later(time.Second) // the next entry is another commit

	s.change(s.ann)
	anns, bobs := s.begins(s.ann, "./deploy"), s.begins(s.bob, "make")
	s.git(s.ann, "stash", "-q")
	anns.ends()
	bobs.ends()
	s.Check(s.asks(s.bob, "git stash pop").Allowed, "an entry that was made while two calls ran")
}

// TestStashBeforeTheCall: an entry that was there before is nobody's, and so is one of which nobody knows
// when the call began.
func TestStashBeforeTheCall(t *testing.T) {
	s := newStashes(t, "stick")
	s.change(s.ann)
	s.git(s.ann, "stash", "-q")
	s.Later(time.Minute)
	s.change(s.ann)
	later := s.begins(s.ann, "git stash")
	s.git(s.ann, "stash", "-q")
	later.ends()
	s.Check(!s.asks(s.bob, "git stash pop").Allowed, "the entry of the call")
	s.Check(s.asks(s.bob, "git stash pop 1").Allowed, "the entry from before the call")
	s.git(s.ann, "stash", "clear")

	s.Later(time.Minute)
	s.change(s.ann)
	s.git(s.ann, "stash", "-q")
	later.ends()
	s.Check(s.asks(s.bob, "git stash pop").Allowed, "the entry of a call of which no hook saw the beginning")
}

// TestStashThatACommandMakesItself: an entry that a command makes before is what it pops then, if there is
// something to stash.
func TestStashThatACommandMakesItself(t *testing.T) {
	s := newStashes(t, "stick")
	s.change(s.ann)
	anns := s.begins(s.ann, "git stash")
	s.git(s.ann, "stash", "-q")
	anns.ends()

	const command = "git stash; git rebase main; git stash pop"
	res := s.asks(s.bob, command)
	s.Check(!res.Allowed && strings.Contains(string(res.Reason), "there is nothing here to stash before"), "with nothing to stash: %+v", res)
	s.change(s.bob)
	s.Check(s.asks(s.bob, command).Allowed, "with something to stash")
	s.Check(!s.asks(s.bob, command+"; git stash drop").Allowed, "the entry below its own")
}

// TestStashIsKept: the commit of an entry stays, whoever drops it without a hook.
func TestStashIsKept(t *testing.T) {
	s := newStashes(t, "warn")
	s.change(s.ann)
	anns := s.begins(s.ann, "git stash")
	s.git(s.ann, "stash", "-q")
	anns.ends()
	tip := s.Git("rev-parse", "refs/stash")
	s.Git("stash", "clear")

	kept := s.Git("for-each-ref", "--format=%(objectname)", "refs/talkingstick/kept")
	s.Check(strings.Contains(kept, tip), "kept are %s, of %s", kept, tip)
	s.Git("stash", "store", tip)
	s.Check(s.bob.Executes("git stash pop", nil).Allowed, "the room only warns")
	said := s.bob.LearnsAfterTool()
	s.Check(len(said) == 1 && strings.Contains(said[0], "of "+string(s.ann.ID)+"; the old commit is kept as"), "%q", said)
}
