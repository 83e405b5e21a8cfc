package e2e

import (
	"fmt"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// TestAWaitInTheBackgroundWakes: a harness begins a turn when a command in the background ends. So an agent
// that leaves tt wait there and stops is idle at its prompt, and yet listens: a message ends the wait, and
// the agent reads it by itself.
func TestAWaitInTheBackgroundWakes(t *testing.T) {
	onlyInPairs(t, realharness.Copilot, realharness.Qwen)

	t.Parallel()
	for _, h := range []*realharness.Harness{realharness.Copilot, realharness.Qwen} {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")
			s.as(reviewer, "wait", "--turn") // so that it isn't granted the turn

			a, session := s.prepare(h, modelapi.Steps(
				modelapi.Do(modelapi.Background(s.tt+" wait")),
				modelapi.Say("done"),
				modelapi.Say("done"), // woken
			))

			tui := a.StartTUI(t, s.options(h))
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("%s showed\n%s", h.Name, tui.Text())
				}
			})

			asks := func(n int) {
				t.Helper()
				soon(t, fmt.Sprintf("%s asks its model %d times", h.Name, n), func() bool {
					return len(session.Requests()) >= n
				})
			}

			tui.Type("Please-wait-for-messages.")
			asks(2)
			s.idle(h.Name, stick.Work)
			s.send(h.Name, "the build is red", presence.DeliveryListening)
			asks(3)
			if said := session.Requests()[2].Text(); !strings.Contains(said, "the build is red") {
				t.Errorf("it was woken with\n%s", said)
			}
			if members := s.agents(h.Name); len(members) != 1 {
				t.Errorf("it is %d members: %v", len(members), members)
			}
			tui.End()
		})
	}
}
