package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// TestHarnessBelowTheHolder: in a room that enforces the stick, a harness runs Codex in its tool call. While
// another agent holds the stick, the edit of the Codex inside is denied. While the harness outside holds it,
// the one inside is told at once that it works under that turn, edits by the same hook, and returns; the turn
// stays its parent's, which ends it.
func TestHarnessBelowTheHolder(t *testing.T) {
	outers := played(t, []*realharness.Harness{realharness.Claude, realharness.Codex}, realharness.Claude)
	realharness.Require(t, realharness.Codex)

	t.Parallel()
	for _, outer := range outers {
		t.Run("codex below "+outer.Name, func(t *testing.T) {
			t.Parallel()
			worksBelow(t, outer)
		})
	}
}

func worksBelow(t *testing.T, outer *realharness.Harness) {
	s := newStage(t)
	s.as(reviewer, "wait", "--turn")
	s.as(reviewer, "policy", "set", "enforce=stick")
	file := filepath.Join(s.place.Repo, "notes.txt")
	talk := newDialogue(t)
	a, _ := s.prepare(outer, talk.script)
	edit := modelapi.Do(modelapi.Write(file, "from below\n"))
	inner := a
	if outer != realharness.Codex {
		inner, _ = s.prepare(realharness.Codex, modelapi.Say("done"))
	}
	early, denied := s.again(inner, "early", modelapi.Steps(edit, modelapi.Say("done")))
	below, session := s.again(inner, "below",
		modelapi.Steps(modelapi.Do(modelapi.Shell(s.tt+" wait --turn")), edit, modelapi.Say("done")))
	o := s.options(outer)
	o.Sandbox = "" // Codex's would keep the Codex inside from its model
	talk.begin(a, o)

	talk.do(s.inside(early))
	if said := strings.Join(results(denied), "\n"); !strings.Contains(said, "notes.txt isn't yours to change now: "+reviewer+" has ") {
		t.Errorf("while %s holds the stick, the one inside is told\n%s", reviewer, said)
	}
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("it wrote nevertheless (%v)", err)
	}

	talk.start(modelapi.Shell(s.tt + " wait --turn"))
	s.listening(outer.Name)
	s.as(reviewer, "release", "--status", "it is reviewed", "--next-action", "change it")
	if said := talk.hear(); !strings.Contains(said, "your turn, turn 2") {
		t.Fatalf("it waited for its turn, and is told\n%s", said)
	}

	parent := *s.state().Owner
	if said := talk.do(s.inside(below)); !strings.Contains(said, "done") {
		t.Errorf("the one inside returned with\n%s", said)
	}
	if said := strings.Join(results(session), "\n"); !strings.Contains(said, "you work under turn 2 of "+s.nameOf(parent)+": it started you, and holds the stick") {
		t.Errorf("the one inside is told\n%s", said)
	}
	if b, err := os.ReadFile(file); string(b) != "from below\n" {
		t.Errorf("the file holds %q (%v)", b, err)
	}
	if st := s.state(); st.Owner == nil || *st.Owner != parent || st.TurnID != 2 {
		t.Errorf("afterwards the room is %+v", st)
	}

	talk.do(modelapi.Shell(s.tt + ` release --status "it is changed" --next-action "read it"`))
	if st := s.state(); st.Owner != nil || st.TurnID != 2 {
		t.Errorf("at the end the room is %+v", st)
	}
	talk.end()
}

// TestFirstOfTwoLearnsItsRole: Claude Code works alone in a repository. Then Codex begins there: it is a
// helper, and the next hook of Claude Code tells it that it leads.
func TestFirstOfTwoLearnsItsRole(t *testing.T) {
	onlyInPairs(t, realharness.Claude, realharness.Codex)

	t.Parallel()
	s := newStage(t)
	one, two := newDialogue(t), newDialogue(t)
	a, _ := s.prepare(realharness.Claude, one.script)
	b, _ := s.prepare(realharness.Codex, two.script)
	one.run = a.Start(t, "Please.", s.options(realharness.Claude))
	if said := one.hear(); strings.Contains(said, "the primary") {
		t.Errorf("alone and in no room, it was told\n%s", said)
	}

	one.do(modelapi.Shell(s.tt + " join"))
	elder := s.nameOf(s.agents("claude")[0])
	two.run = b.Start(t, "Please.", s.options(realharness.Codex))
	if said := two.hear(); !strings.Contains(said, "You are a helper: "+elder+" leads.") {
		t.Errorf("the second was told\n%s", said)
	}
	if said := one.do(modelapi.Shell("true")); !strings.Contains(said, "you are the primary here, because you came before codex-") {
		t.Errorf("the first was told\n%s", said)
	}
	if said := one.do(modelapi.Shell("true")); strings.Contains(said, "the primary") {
		t.Errorf("the first was told again\n%s", said)
	}

	two.end()
	one.end()
}

// TestClearedClaude: Claude Code holds the stick and is cleared at its prompt. The session after that is
// another agent, and its briefing says which turn was given up, and which files are uncommitted.
func TestClearedClaude(t *testing.T) {
	onlyInPairs(t, realharness.Claude)

	t.Parallel()
	s := newStage(t)
	file := filepath.Join(s.place.Repo, "half.txt")
	a, session := s.prepare(realharness.Claude, modelapi.Steps(
		modelapi.Do(modelapi.Shell(s.tt+" wait --turn; "+s.tt+" heartbeat")),
		modelapi.Do(modelapi.Write(file, "half\n")),
		modelapi.Say("done"), // a hook asks for a handoff, once
		modelapi.Say("done"),
		modelapi.Say("done"), // after it was cleared
	))

	tui := a.StartTUI(t, s.options(realharness.Claude))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it showed\n%s", tui.Text())
		}
	})

	tui.Type("Please-begin.")
	soon(t, "it has begun", func() bool { return len(session.Requests()) >= 4 })
	first := s.nameOf(s.agents("claude")[0])

	soon(t, "it waits for its person", func() bool { // what is typed before that, it keeps for later
		shown := tui.Text()
		return strings.LastIndex(shown, "for shortcuts") > strings.LastIndex(shown, "to interrupt")
	})

	tui.Type("/clear")
	soon(t, "the next session begins", func() bool { // until then it may drop what is typed
		return s.state().Owner == nil && strings.Contains(strings.Join(s.sessionEvents(), ","), "session_started")
	})
	tui.Type("Please-go-on.")
	soon(t, "the next session asks its model", func() bool { return len(session.Requests()) >= 5 })

	said := session.Requests()[4].Text()
	for _, want := range []string{
		first + ", the session before yours, gave up turn 1 without a handoff",
		"The tree has 1 uncommitted file: half.txt.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("after it was cleared it wasn't told %q, but\n%s", want, said)
		}
	}

	if strings.Contains(said, "you are "+first+" ") {
		t.Errorf("the next session is the same agent\n%s", said)
	}
	tui.End()
}
