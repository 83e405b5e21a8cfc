package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// TestACompactionAsksForADraft: an agent holds the stick while its person has the conversation summarized.
// The agent is then asked for a draft of its handoff, once.
func TestACompactionAsksForADraft(t *testing.T) {
	onlyInPairs(t, realharness.Claude, realharness.Codex)

	t.Parallel()
	for _, h := range []*realharness.Harness{realharness.Claude, realharness.Codex} {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")

			a, session := s.prepare(h, modelapi.Steps(
				modelapi.Do(modelapi.Shell(s.tt+" try")),
				modelapi.Say("done"),
				modelapi.Say("I wait for you."),      // a hook has asked it to release
				modelapi.Say("A summary of it all."), // the request to summarize
				modelapi.Do(modelapi.Shell("true")),
				modelapi.Do(modelapi.Shell(s.tt+" handoff save 'half of it' --next-action 'the other half'")),
				modelapi.Say("done"),
				modelapi.Say("I wait for you."), // a hook has asked it to release, unless the test has ended
			))

			tui := a.StartTUI(t, s.options(h))
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("%s showed\n%s", h.Name, tui.Text())
					for i, r := range session.Requests() {
						t.Logf("request %d:\n%s", i, r.Text())
					}
				}
			})

			asks := func(n int) {
				t.Helper()
				soon(t, fmt.Sprintf("%s asks its model %d times", h.Name, n), func() bool {
					return len(session.Requests()) >= n
				})
			}

			shows := func(text string) {
				t.Helper()
				says := regexp.MustCompile(text)
				soon(t, h.Name+" shows "+text, func() bool { return says.MatchString(tui.Text()) })
			}

			tui.Type("Please-take-the-stick.")
			asks(3)
			shows(`ed ?for ?<?\d`) // "Worked for 1s"; until then one refuses the command, and the other runs it later
			tui.Type("/compact")
			asks(4)
			shows("ompacted")
			soon(t, "the wish for a draft is in the log", func() bool {
				return strings.Contains(s.run("log"), "was asked for a draft")
			})
			tui.Type("Please-go-on.")
			asks(7)
			requests := session.Requests()
			const wish = "save a draft of your handoff now"
			if strings.Contains(requests[3].Text(), wish) ||
				!strings.Contains(requests[6].Text(), wish) ||
				strings.Count(requests[6].Text(), wish) != 1 {
				t.Error("it wasn't asked once, after the summary")
			}
			keeps := strings.Contains(requests[3].Text(), "what is unfinished, and what comes next")
			if keeps != (h == realharness.Claude) {
				t.Errorf("the instructions for the summary have ours: %v", keeps)
			}
			if out := s.run("log"); !strings.Contains(out, "saved a draft of its handoff") {
				t.Error(out)
			}
		})
	}
}
