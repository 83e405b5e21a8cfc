package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// TestHarnessesAreToldAndHeld: an agent holds the stick in a real harness. A message for it is shown with the
// result of its next tool call, once. When it wants to stop, it is held back, once, and told that it still
// has the stick. Later the same session is resumed, and is the same member.
func TestHarnessesAreToldAndHeld(t *testing.T) {
	harnesses := played(t,
		[]*realharness.Harness{realharness.Claude, realharness.Copilot, realharness.Qwen, realharness.Pi},
		realharness.Copilot)

	t.Parallel()
	for _, c := range []struct {
		h      *realharness.Harness
		resume func(session string) []string
	}{
		{h: realharness.Claude, resume: func(id string) []string { return []string{"--resume", id} }},
		{h: realharness.Copilot, resume: func(id string) []string { return []string{"--resume=" + id} }},
		{h: realharness.Qwen, resume: func(id string) []string { return []string{"--resume", id} }},
		{h: realharness.Pi, resume: func(id string) []string { return []string{"--session", id} }},
	} {
		if !slices.Contains(harnesses, c.h) {
			continue
		}

		t.Run(c.h.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")
			talk := newDialogue(t)
			a, _ := s.prepare(c.h, talk.script)
			o := s.options(c.h)
			talk.begin(a, o)
			talk.do(modelapi.Shell(s.tt + " try"))
			s.run("msg", "send", s.agents(c.h.Name)[0], "the build is red")
			if said := talk.do(modelapi.Shell("true")); strings.Count(said, "\n  the build is red") != 1 {
				t.Errorf("after its tool call it is told\n%s", said)
			}
			if said := talk.do(modelapi.Shell("true")); strings.Contains(said, "the build is red") {
				t.Errorf("it is told again\n%s", said)
			}

			talk.say(modelapi.Reply{Text: "I stop."})
			if said := talk.hear(); !strings.Contains(said, "hold the talking stick (turn 1)") {
				t.Errorf("when it wants to stop it is told\n%s", said)
			}

			talk.say(modelapi.Reply{Text: "done"})
			first := talk.run.Wait()
			s.finished(first)

			b, again := s.again(a, "again",
				modelapi.Steps(modelapi.Do(modelapi.Shell(s.tt+" whoami")), modelapi.Say("done")))
			o.Args = c.resume(first.SessionID)
			s.finished(b.Run(t, "Please go on.", o))
			members := s.agents(c.h.Name)
			if got := results(again); len(members) != 1 || !strings.Contains(fmt.Sprint(got), s.nameOf(members[0])) {
				t.Errorf("after it was resumed the members are %v, and it is %q", members, got)
			}
		})
	}
}
