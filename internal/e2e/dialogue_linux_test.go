package e2e

import (
	"context"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// dialogue is a script that the test makes while the harness runs, reply by reply.
type dialogue struct {
	t       *testing.T
	run     *realharness.Process
	asked   chan *modelapi.Request
	replies chan modelapi.Reply
}

func newDialogue(t *testing.T) *dialogue {
	return &dialogue{t: t, asked: make(chan *modelapi.Request), replies: make(chan modelapi.Reply)}
}

// script passes each request of the harness to the test, and the test's reply to the harness.
func (d *dialogue) script(ctx context.Context, r *modelapi.Request) (modelapi.Reply, error) {
	select {
	case d.asked <- r:
	case <-ctx.Done():
		return modelapi.Reply{}, ctx.Err()
	}

	select {
	case reply := <-d.replies:
		return reply, nil
	case <-ctx.Done():
		return modelapi.Reply{}, ctx.Err()
	}
}

// begin starts the harness, and reads its first request.
func (d *dialogue) begin(a *realharness.Agent, o realharness.Options) {
	d.t.Helper()
	d.run = a.Start(d.t, "Please.", o)
	d.hear()
}

// say replies to the last request.
func (d *dialogue) say(r modelapi.Reply) {
	d.t.Helper()
	select {
	case d.replies <- r:
	case <-d.run.Done():
		d.t.Fatalf("the harness ended before it was answered: %s", d.run.Wait())
	}
}

// hear waits for the next request. It returns what is new to the model since its last call: the tool's
// result, and what hooks add to it.
func (d *dialogue) hear() string {
	d.t.Helper()
	select {
	case r := <-d.asked:
		var said []string
		for _, m := range r.Messages {
			if said = append(said, m.Text); m.Role == modelapi.Calling {
				said = nil
			}
		}
		return strings.Join(said, "\n")

	case <-d.run.Done():
		d.t.Fatalf("the harness ended: %s", d.run.Wait())
		return ""
	}
}

// start has the harness call a tool, and doesn't wait for its end.
func (d *dialogue) start(c modelapi.Call) {
	d.t.Helper()
	d.say(modelapi.Reply{Calls: []modelapi.Call{c}})
}

// do has the harness call a tool, and returns what the model gets then.
func (d *dialogue) do(c modelapi.Call) string {
	d.t.Helper()
	d.start(c)
	return d.hear()
}

// end has the model say that it is done, and waits for the harness's end.
func (d *dialogue) end() {
	d.t.Helper()
	d.say(modelapi.Reply{Text: "done"})
	if r := d.run.Wait(); r.Exit != 0 || !strings.Contains(r.Text, "done") {
		d.t.Errorf("%s", r)
	}
}
