package guard_test

import (
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/guard"
	"talkingstick/internal/git"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// pushes asks as git's hook does before a push of these commits, each of which has the one before it as its
// parent.
func pushes(a *scene.Actor, commits ...string) scene.Editing {
	a.Helper()
	p := guard.CheckPushParams{HookParams: a.Hook(), Remote: "origin", Refs: []string{"refs/heads/main"}}
	for i, id := range commits {
		p.Commits = append(p.Commits, git.NewCommit{ID: id, Short: id, Parents: commits[max(i-1, 0):i], Subject: "change " + id})
	}
	return scene.Editing{Answer: a.CheckPush(p)}
}

// TestPushes: a push that carries along commits of a live agent is refused, with the commits, the agent, and
// the step that works. What was made with the stick passes with it, and what tt has landed is nobody's.
func TestPushes(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	pat.Sets("enforce=stick").OK()
	ann.Try().Is(stick.YourTurn)
	ann.Makes([]string{"a1", "a2"})
	bob.Makes([]string{"b1", "a2"}) // the first who makes a commit stays its maker
	bob.Makes(nil)
	pat.Makes([]string{"p1"})

	pushes(ann, "a1", "x", "a2").Allowed()
	x := pushes(ann, "x", "a1", "b1", "a2").Denied().Res
	s.Check(strings.Contains(string(x.Reason), "a commit of "+string(bob.ID)+": b1"), "%s", x.Reason)
	s.Check(strings.HasPrefix(string(x.Hint), "push only your own: git push origin a1:main; or ask: tt msg send "), "%s", x.Hint)
	x = pushes(ann, "b1", "a1").Denied().Res
	s.Check(strings.HasPrefix(string(x.Hint), "ask: "), "%s", x.Hint)
	x = pushes(bob, "b1", "a1", "a2").Denied().Res
	s.Check(strings.Contains(string(x.Reason), "2 commits of "+string(ann.ID)+": a1, a2"), "%s", x.Reason)
	pushes(pat, "a1", "b1").Allowed()
	pushes(ann).Allowed()

	pat.Sets("enforce=warn").OK()
	x = pushes(bob, "a1").Allowed().Res
	s.Check(strings.Contains(string(x.Told), "the push carries along a commit of "), "%+v", x)
	pat.Sets("enforce=off").OK()
	s.Check(pushes(bob, "a1").Allowed().Res.Told == "", "it enforces nothing")
	bob.Makes([]string{"b2"})
	pat.Sets("enforce=scopes").OK()
	pushes(ann, "b2").Allowed()

	ann.Release("done", "go on").OK()
	pushes(bob, "b1", "a1").Allowed()
	bob.Try().Is(stick.YourTurn)
	pushes(bob, "b1", "a1").Allowed()
	pushes(ann, "b1").Denied()
	ann.Makes(nil, "b1")
	pushes(ann, "b1").Allowed()
	bob.Makes([]string{"b3"})
	pushes(ann, "b3").Denied()
	bob.Dies()
	pushes(ann, "b3").Allowed()
}

// TestCommitsAreForgotten: a month later nobody has to be asked.
func TestCommitsAreForgotten(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	pat.Sets("enforce=stick").OK()
	bob.Makes([]string{"b1"})
	s.Later(29 * 24 * time.Hour)
	ann.Makes([]string{"a1"})
	pushes(ann, "b1").Denied()
	s.Later(2 * 24 * time.Hour)
	ann.Makes([]string{"a2"})
	pushes(ann, "b1").Allowed()
}
