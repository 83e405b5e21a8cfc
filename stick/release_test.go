package stick

import (
	"strings"
	"testing"
	"time"
)

func TestTurnRelease(t *testing.T) {
	t.Run("names the waiting member that has gone longest without the stick", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").waits("b", "c")
		e := f.must(f.release("a", f.fence(), handoff))[0]
		equal(t, "named", e.To, "b")
		equal(t, "state", f.Turn.State, Reserved)
		equal(t, "claim_expires_at", f.ClaimExpiresAt(), f.now.Add(grace))
		equal(t, "expires in the event", said[ReleasePayload](e).Expires, f.now.Add(grace))
		equal(t, "handoff seq", f.Turn.HandoffSeq, e.Seq)
		f.ask("b")
		f.waits("a").releases()
		equal(t, "named after b", f.Turn.ReservedFor, "c")
		f.ask("c")
		f.waits("b").releases()
		equal(t, "named after c", f.Turn.ReservedFor, "a")
	})
	t.Run("in the order of joining", func(t *testing.T) {
		f := room(t).member("a", "b", "c").policy("order=sequence").owns("b").waits("a", "c").releases()
		equal(t, "named after b", f.Turn.ReservedFor, "c")
		f.ask("c")
		f.waits("b").releases()
		equal(t, "named after c", f.Turn.ReservedFor, "a")
	})
	t.Run("nobody waits", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		e := f.must(f.release("a", f.fence(), handoff))[0]
		equal(t, "state", f.Turn.State, Idle)
		equal(t, "named", e.To, "")
		equal(t, "why nobody", said[ReleasePayload](e).Nobody, NobodyWaits)
		equal(t, "the handoff waits", f.Turn.HandoffPending, true)
	})
	t.Run("the releaser comes last", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").waits("a", "b").releases()
		equal(t, "named", f.Turn.ReservedFor, "b")
		g := room(t).member("a", "b").owns("a").waits("a").releases()
		equal(t, "named when alone", g.Turn.ReservedFor, "a")
	})
	t.Run("passes by the gone, the parked and those whose wait ended", func(t *testing.T) {
		f := room(t).member("a", "b", "c", "d", "e").owns("a").waits("b", "d", "e").gone("b").parks("c").ends("d").releases()
		equal(t, "named", f.Turn.ReservedFor, "e")
	})
	t.Run("unknown isn't gone", func(t *testing.T) {
		f := room(t).member("a", "b").process("b", ProvesSession, Unknown).owns("a").waits("b").releases()
		equal(t, "named", f.Turn.ReservedFor, "b")
	})
	t.Run("a wait that returned a moment ago", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		f.Room = f.Returned("b", start, f.now)
		f.after(grace - 1*time.Millisecond).releases()
		equal(t, "named within the grace", f.Turn.ReservedFor, "b")
		g := room(t).member("a", "b").owns("a")
		g.Room = g.Returned("b", start, g.now)
		g.after(grace).releases()
		equal(t, "named after the grace", g.Turn.ReservedFor, "")
		h := room(t).member("a", "b", "c").owns("a").waits("c")
		h.Room = h.Returned("b", start, h.now)
		h.releases()
		equal(t, "named while another still waits", h.Turn.ReservedFor, "c")
	})
	t.Run("a wait that returned and then got the stick", func(t *testing.T) {
		f := room(t).member("a")
		f.Room = f.Returned("a", start, f.now)
		f.owns("a").releases()
		equal(t, "named", f.Turn.ReservedFor, "")
	})
	t.Run("joining again counts as joining", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a")
		f.must(f.leave(Leaving{By: "b"}))
		f.member("b").waits("b", "c").releases()
		equal(t, "named", f.Turn.ReservedFor, "c")
	})
	t.Run("refusals", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		_, err := f.release("a", f.fence(), Handoff{NextAction: "go on"})
		refused(t, err, CodeInvalidHandoff, map[string]any{"field": "status"})
		_, err = f.release("b", f.fence(), handoff)
		refused(t, err, CodeStaleLease, map[string]any{"current_owner": "a"})
	})
}

func TestTurnPass(t *testing.T) {
	t.Run("to an active member", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").waits("b")
		e := f.must(f.pass("c"))[0]
		equal(t, "reserved for", f.Turn.ReservedFor, "c")
		equal(t, "by", f.Turn.ReservedBy, ByPass)
		equal(t, "until", f.ClaimExpiresAt(), f.now.Add(claim))
		equal(t, "reachable", *said[PassPayload](e).Reachable, false)
	})
	t.Run("to one who listens", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").parks("b")
		equal(t, "reachable", *said[PassPayload](f.must(f.pass("b"))[0]).Reachable, true)
	})
	t.Run("next", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").waits("c").passes(Next)
		equal(t, "the one a release would name", f.Turn.ReservedFor, "c")
		g := room(t).member("a", "b", "c").owns("a").waits("a").passes(Next)
		equal(t, "the next active member", g.Turn.ReservedFor, "b")
	})
	t.Run("order of joining goes on from the recipient", func(t *testing.T) {
		f := room(t).member("a", "b", "c", "d").policy("order=sequence").owns("a").passes("c").owns("c").waits("a", "b", "d").releases()
		equal(t, "named", f.Turn.ReservedFor, "d")
	})
	t.Run("refusals", func(t *testing.T) {
		for _, c := range []struct {
			name string
			to   AgentID
			make func(*fixture)
		}{
			{"a stranger", "x", func(f *fixture) {}},
			{"gone", "b", func(f *fixture) { f.gone("b") }},
			{"inactive", "b", func(f *fixture) { f.after(f.Policy.PresenceTTL) }},
			{"left", "b", func(f *fixture) { f.must(f.leave(Leaving{By: "b"})) }},
			{"kicked", "b", func(f *fixture) { f.must(f.kick(Kicking{By: "a", Who: "b", Force: true})) }},
		} {
			t.Run(c.name, func(t *testing.T) {
				f := room(t).member("a", "b").owns("a")
				c.make(f)
				_, err := f.pass(c.to)
				refused(t, err, CodeUnknownMember, map[string]any{"to_agent_id": c.to})
				equal(t, "owner", f.Turn.Owner, "a")
			})
		}
		t.Run("next of nobody", func(t *testing.T) {
			f := room(t).member("a").owns("a")
			_, err := f.pass(Next)
			refused(t, err, CodeUnknownMember, map[string]any{"to_agent_id": nil})
		})
		t.Run("to oneself", func(t *testing.T) {
			f := room(t).member("a").owns("a")
			_, err := f.pass("a")
			refused(t, err, CodeUsage, map[string]any{"to_agent_id": "a"})
		})
		t.Run("without a handoff", func(t *testing.T) {
			f := room(t).member("a", "b").owns("a")
			r, _, err := f.Pass("a", f.fence(), "b", Handoff{Status: "s"}, f.s, f.now)
			refused(t, err, CodeInvalidHandoff, map[string]any{"field": "next_action"})
			equal(t, "owner", r.Turn.Owner, "a")
		})
	})
}

func TestSettle(t *testing.T) {
	named := func(t *testing.T) *fixture {
		return room(t).member("a", "b", "c").owns("a").waits("a", "b", "c").releases()
	}
	t.Run("a reservation moves on after its grace", func(t *testing.T) {
		f := named(t).after(grace - time.Millisecond)
		equal(t, "events before", len(f.settle("c")), 0)
		e := f.after(time.Millisecond).settle("c")
		equal(t, "events", len(e), 1)
		equal(t, "named", e[0].To, "c")
		equal(t, "prior", said[ReroutedPayload](e[0]).Prior, "b")
		m, _ := f.Member("b")
		equal(t, "b is passed over", m.PassedOver, true)
	})
	t.Run("the releaser is named last, then the room is open", func(t *testing.T) {
		f := named(t)
		for _, want := range []AgentID{"c", "a", ""} {
			f.after(grace).settle("x")
			equal(t, "named", f.Turn.ReservedFor, want)
		}
		equal(t, "state", f.Turn.State, Idle)
		equal(t, "nobody waits", said[ReroutedPayload](f.log[len(f.log)-1]).Nobody, NobodyWaits)
	})
	t.Run("the named one may claim late", func(t *testing.T) {
		f := named(t).after(time.Hour)
		ans := f.ask("b")
		equal(t, "answer", ans.Claim, InSequence)
		equal(t, "owner", f.Turn.Owner, "b")
	})
	t.Run("one passed over is back after any call", func(t *testing.T) {
		f := named(t).after(grace)
		f.settle("c")
		f.Room = f.Touch("b", f.now)
		f.ends("a").gone("c").settle("x")
		equal(t, "named", f.Turn.ReservedFor, "b")
	})
	t.Run("one passed over is back after a look of its wait", func(t *testing.T) {
		f := named(t).after(grace)
		f.settle("c")
		ans := f.ask("b")
		equal(t, "changed", ans.Changed, true)
		m, _ := f.Member("b")
		equal(t, "passed over", m.PassedOver, false)
	})
	t.Run("a recipient that is gone", func(t *testing.T) {
		for _, by := range []ReservedBy{ByRelease, ByPass} {
			f := room(t).member("a", "b", "c").alive("b").owns("a").waits("b", "c")
			if by == ByPass {
				f.passes("b")
			} else {
				f.releases()
			}
			f.gone("b")
			equal(t, "shown", f.State(f.s, f.now), StateRecipientGone)
			e := f.settle("c")
			equal(t, string(by)+": named", e[0].To, "c")
			equal(t, "verdict", said[ReroutedPayload](e[0]).Verdict, Gone)
		}
	})
	t.Run("a pass doesn't move on by time", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").waits("c").passes("b").after(claim + time.Hour)
		equal(t, "events", len(f.settle("c")), 0)
		equal(t, "reserved for", f.Turn.ReservedFor, "b")
	})
	t.Run("take leaves the reservation of the dead", func(t *testing.T) {
		f := room(t).member("a", "b", "c").alive("b").owns("a").waits("b", "c").releases().gone("b").after(time.Minute)
		why, err := f.takes("a")
		equal(t, "why", why, TookOver)
		if err != nil {
			t.Error(err)
		}
		equal(t, "cause", said[TakeoverPayload](f.log[len(f.log)-1]).Cause, RecipientGone)
	})
	t.Run("notes the first sign of a dead owner", func(t *testing.T) {
		f := room(t).member("a", "b").alive("a").owns("a").gone("a")
		f.settle("b")
		seen := f.now
		f.after(time.Minute).settle("b")
		equal(t, "opened at", f.Turn.OpenedAt, seen)
		f.settle("a")
		equal(t, "owner", f.Turn.Owner, "a")
	})
}

// TestWhyTheStickCantBePassed: the refusal says which of the five reasons it is, because each has another
// remedy.
func TestWhyTheStickCantBePassed(t *testing.T) {
	for _, c := range []struct {
		why    string
		before func(*fixture)
	}{
		{"isn't a member of this room", func(*fixture) {}},
		{"has left the room", func(f *fixture) { f.member("b"); f.must(f.leave(Leaving{By: "b"})) }},
		{"was removed from the room", func(f *fixture) { f.member("b"); f.must(f.kick(Kicking{By: "a", Who: "b", Force: true})) }},
		{": its process has ended", func(f *fixture) { f.member("b").gone("b") }},
		{"it hasn't been seen for 4 h and isn't listening", func(f *fixture) { f.member("b").after(4 * time.Hour) }},
	} {
		f := room(t).member("a").alive("a").owns("a")
		c.before(f)
		_, err := f.pass("b")
		refused(t, err, CodeUnknownMember, map[string]any{"to_agent_id": "b"})
		if !strings.HasSuffix(AsError(err).Message, c.why) {
			t.Errorf("the refusal is %q, want it to end with %q", AsError(err).Message, c.why)
		}
	}
}

// TestTheEventSaysUntilWhenTheStickWaits: whoever is named learns from the event itself how long the stick
// waits for it, whether a release, a pass or a lost reservation named it. An event that names nobody has no
// such time.
func TestTheEventSaysUntilWhenTheStickWaits(t *testing.T) {
	f := room(t).member("a", "b", "c").owns("a").waits("b", "c")
	released := f.must(f.release("a", f.fence(), handoff))[0]
	equal(t, "the time of the release's recipient", said[ReleasePayload](released).Expires, f.now.Add(grace))
	f.after(grace)
	rerouted := f.settle("c")[0]
	equal(t, "the next one", rerouted.To, "c")
	equal(t, "the time of the next one", said[ReroutedPayload](rerouted).Expires, f.now.Add(grace))
	f.owns("c")
	passed := f.must(f.pass("a"))[0]
	equal(t, "the time of the pass's recipient", said[PassPayload](passed).Expires, f.now.Add(claim))
	f.owns("a").ends("b", "c")
	released = f.must(f.release("a", f.fence(), handoff))[0]
	equal(t, "the recipient when nobody waits", released.To, "")
	equal(t, "the time when nobody waits", said[ReleasePayload](released).Expires, 0)
}
