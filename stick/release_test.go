package stick_test

import (
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestTurnRelease(t *testing.T) {
	t.Run("names the waiting member that has gone longest without the stick", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("b", "c")
		e := f.Must(f.TryRelease("a", f.Fence(), sticktest.Handoff))[0]
		sticktest.Equal(t, "named", e.To, "b")
		sticktest.Equal(t, "state", f.Turn.State, stick.Reserved)
		sticktest.Equal(t, "claim_expires_at", f.ClaimExpiresAt(), f.Now.Add(sticktest.Grace))
		sticktest.Equal(t, "expires in the event",
			sticktest.Said[stick.ReleasePayload](e).Expires, f.Now.Add(sticktest.Grace))
		sticktest.Equal(t, "handoff seq", f.Turn.HandoffSeq, e.Seq)

		f.Asks("b")
		f.Waits("a").Releases()
		sticktest.Equal(t, "named after b", f.Turn.ReservedFor, "c")
		f.Asks("c")
		f.Waits("b").Releases()
		sticktest.Equal(t, "named after c", f.Turn.ReservedFor, "a")
	})

	t.Run("in the order of joining", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").WithPolicy("order=sequence").Owns("b").
			Waits("a", "c").Releases()
		sticktest.Equal(t, "named after b", f.Turn.ReservedFor, "c")
		f.Asks("c")
		f.Waits("b").Releases()
		sticktest.Equal(t, "named after c", f.Turn.ReservedFor, "a")
	})

	t.Run("nobody waits", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		e := f.Must(f.TryRelease("a", f.Fence(), sticktest.Handoff))[0]
		sticktest.Equal(t, "state", f.Turn.State, stick.Idle)
		sticktest.Equal(t, "named", e.To, "")
		sticktest.Equal(t, "why nobody", sticktest.Said[stick.ReleasePayload](e).Nobody, stick.NobodyWaits)
		sticktest.Equal(t, "the handoff waits", f.Turn.HandoffPending, true)
	})

	t.Run("the releaser comes last", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("a", "b").Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "b")
		g := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("a").Releases()
		sticktest.Equal(t, "named when alone", g.Turn.ReservedFor, "a")
	})

	t.Run("passes by the gone, the parked and those whose wait ended", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d", "e").Owns("a").
			Waits("b", "d", "e").Gone("b").Parks("c").Ends("d").Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "e")
	})

	t.Run("unknown isn't gone", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").
			Process("b", stick.ProvesSession, stick.Unknown).Owns("a").Waits("b").Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "b")
	})

	t.Run("a wait that returned a moment ago", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		f.Room = f.Returned("b", sticktest.Start, f.Now)
		f.After(sticktest.Grace - 1*time.Millisecond).Releases()
		sticktest.Equal(t, "named within the grace", f.Turn.ReservedFor, "b")

		g := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		g.Room = g.Returned("b", sticktest.Start, g.Now)
		g.After(sticktest.Grace).Releases()
		sticktest.Equal(t, "named after the grace", g.Turn.ReservedFor, "")

		h := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("c")
		h.Room = h.Returned("b", sticktest.Start, h.Now)
		h.Releases()
		sticktest.Equal(t, "named while another still waits", h.Turn.ReservedFor, "c")
	})

	t.Run("a wait that returned and then got the stick", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		f.Room = f.Returned("a", sticktest.Start, f.Now)
		f.Owns("a").Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "")
	})

	t.Run("joining again counts as joining", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a")
		f.Must(f.TryLeave(stick.Leaving{By: "b"}))
		f.WithMembers("b").Waits("b", "c").Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "c")
	})

	t.Run("refusals", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		_, err := f.TryRelease("a", f.Fence(), stick.Handoff{NextAction: "go on"})
		sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": "status"})
		_, err = f.TryRelease("b", f.Fence(), sticktest.Handoff)
		sticktest.Refused(t, err, stick.CodeStaleLease, map[string]any{"current_owner": "a"})
	})
}

func TestTurnPass(t *testing.T) {
	t.Run("to an active member", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("b")
		e := f.Must(f.TryPass("c"))[0]
		sticktest.Equal(t, "reserved for", f.Turn.ReservedFor, "c")
		sticktest.Equal(t, "by", f.Turn.ReservedBy, stick.ByPass)
		sticktest.Equal(t, "until", f.ClaimExpiresAt(), f.Now.Add(sticktest.Claim))
		sticktest.Equal(t, "reachable", *sticktest.Said[stick.PassPayload](e).Reachable, false)
	})

	t.Run("to one who listens", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Parks("b")
		sticktest.Equal(t, "reachable", *sticktest.Said[stick.PassPayload](f.Must(f.TryPass("b"))[0]).Reachable, true)
	})

	t.Run("next", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("c").Passes(stick.Next)
		sticktest.Equal(t, "the one a release would name", f.Turn.ReservedFor, "c")
		g := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("a").Passes(stick.Next)
		sticktest.Equal(t, "the next active member", g.Turn.ReservedFor, "b")
	})

	t.Run("order of joining goes on from the recipient", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d").WithPolicy("order=sequence").
			Owns("a").Passes("c").Owns("c").Waits("a", "b", "d").Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "d")
	})

	t.Run("refusals", func(t *testing.T) {
		for _, c := range []struct {
			name string
			to   stick.AgentID
			make func(*sticktest.Fixture)
		}{
			{"a stranger", "x", func(f *sticktest.Fixture) {}},
			{"gone", "b", func(f *sticktest.Fixture) { f.Gone("b") }},
			{"inactive", "b", func(f *sticktest.Fixture) { f.After(f.Policy.PresenceTTL) }},
			{"left", "b", func(f *sticktest.Fixture) { f.Must(f.TryLeave(stick.Leaving{By: "b"})) }},
			{
				"kicked",
				"b",
				func(f *sticktest.Fixture) { f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Force: true})) },
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
				c.make(f)
				_, err := f.TryPass(c.to)
				sticktest.Refused(t, err, stick.CodeUnknownMember, map[string]any{"to_agent_id": c.to})
				sticktest.Equal(t, "owner", f.Turn.Owner, "a")
			})
		}

		t.Run("next of nobody", func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
			_, err := f.TryPass(stick.Next)
			sticktest.Refused(t, err, stick.CodeUnknownMember, map[string]any{"to_agent_id": nil})
		})

		t.Run("to oneself", func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
			_, err := f.TryPass("a")
			sticktest.Refused(t, err, stick.CodeUsage, map[string]any{"to_agent_id": "a"})
		})

		t.Run("without a handoff", func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
			r, _, err := f.Pass("a", f.Fence(), "b", stick.Handoff{Status: "s"}, f.Probed, f.Now)
			sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": "next_action"})
			sticktest.Equal(t, "owner", r.Turn.Owner, "a")
		})
	})
}

func TestSettle(t *testing.T) {
	named := func(t *testing.T) *sticktest.Fixture {
		return sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("a", "b", "c").Releases()
	}

	t.Run("a reservation moves on after its grace", func(t *testing.T) {
		f := named(t).After(sticktest.Grace - time.Millisecond)
		sticktest.Equal(t, "events before", len(f.Settles("c")), 0)
		e := f.After(time.Millisecond).Settles("c")
		sticktest.Equal(t, "events", len(e), 1)
		sticktest.Equal(t, "named", e[0].To, "c")
		sticktest.Equal(t, "prior", sticktest.Said[stick.ReroutedPayload](e[0]).Prior, "b")

		m, _ := f.Member("b")
		sticktest.Equal(t, "b is passed over", m.PassedOver, true)
	})

	t.Run("the releaser is named last, then the room is open", func(t *testing.T) {
		f := named(t)
		for _, want := range []stick.AgentID{"c", "a", ""} {
			f.After(sticktest.Grace).Settles("x")
			sticktest.Equal(t, "named", f.Turn.ReservedFor, want)
		}

		sticktest.Equal(t, "state", f.Turn.State, stick.Idle)
		sticktest.Equal(t, "nobody waits",
			sticktest.Said[stick.ReroutedPayload](f.Log[len(f.Log)-1]).Nobody, stick.NobodyWaits)
	})

	t.Run("the named one may claim late", func(t *testing.T) {
		f := named(t).After(time.Hour)
		ans := f.Asks("b")
		sticktest.Equal(t, "answer", ans.Claim, stick.InSequence)
		sticktest.Equal(t, "owner", f.Turn.Owner, "b")
	})

	t.Run("one passed over is back after any call", func(t *testing.T) {
		f := named(t).After(sticktest.Grace)
		f.Settles("c")
		f.Room = f.Touch("b", f.Now)
		f.Ends("a").Gone("c").Settles("x")
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "b")
	})

	t.Run("one passed over is back after a look of its wait", func(t *testing.T) {
		f := named(t).After(sticktest.Grace)
		f.Settles("c")
		ans := f.Asks("b")
		sticktest.Equal(t, "changed", ans.Changed, true)
		m, _ := f.Member("b")
		sticktest.Equal(t, "passed over", m.PassedOver, false)
	})

	t.Run("a recipient that is gone", func(t *testing.T) {
		for _, by := range []stick.ReservedBy{stick.ByRelease, stick.ByPass} {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("b").Owns("a").Waits("b", "c")
			if by == stick.ByPass {
				f.Passes("b")
			} else {
				f.Releases()
			}

			f.Gone("b")
			sticktest.Equal(t, "shown", f.State(f.Probed, f.Now), stick.StateRecipientGone)
			e := f.Settles("c")
			sticktest.Equal(t, string(by)+": named", e[0].To, "c")
			sticktest.Equal(t, "verdict", sticktest.Said[stick.ReroutedPayload](e[0]).Verdict, stick.Gone)
		}
	})

	t.Run("a pass doesn't move on by time", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("c").Passes("b").
			After(sticktest.Claim + time.Hour)
		sticktest.Equal(t, "events", len(f.Settles("c")), 0)
		sticktest.Equal(t, "reserved for", f.Turn.ReservedFor, "b")
	})

	t.Run("take leaves the reservation of the dead", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("b").Owns("a").Waits("b", "c").
			Releases().Gone("b").After(time.Minute)
		why, err := f.Takes("a")
		sticktest.Equal(t, "why", why, stick.TookOver)
		if err != nil {
			t.Error(err)
		}
		sticktest.Equal(t, "cause",
			sticktest.Said[stick.TakeoverPayload](f.Log[len(f.Log)-1]).Cause, stick.RecipientGone)
	})

	t.Run("notes the first sign of a dead owner", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a").Owns("a").Gone("a")
		f.Settles("b")
		seen := f.Now
		f.After(time.Minute).Settles("b")
		sticktest.Equal(t, "opened at", f.Turn.OpenedAt, seen)

		f.Settles("a")
		sticktest.Equal(t, "owner", f.Turn.Owner, "a")
	})
}

// TestWhyTheStickCantBePassed: the refusal says which of the five reasons it is, because each has another
// remedy.
func TestWhyTheStickCantBePassed(t *testing.T) {
	for _, c := range []struct {
		why    string
		before func(*sticktest.Fixture)
	}{
		{"isn't a member of this room", func(*sticktest.Fixture) {}},
		{
			"has left the room",
			func(f *sticktest.Fixture) { f.WithMembers("b"); f.Must(f.TryLeave(stick.Leaving{By: "b"})) },
		},
		{"was removed from the room", func(f *sticktest.Fixture) {
			f.WithMembers("b")
			f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Force: true}))
		}},
		{": its process has ended", func(f *sticktest.Fixture) { f.WithMembers("b").Gone("b") }},
		{
			"it hasn't been seen for 4 h and isn't listening",
			func(f *sticktest.Fixture) { f.WithMembers("b").After(4 * time.Hour) },
		},
	} {
		f := sticktest.NewRoom(t).WithMembers("a").Alive("a").Owns("a")
		c.before(f)
		_, err := f.TryPass("b")
		sticktest.Refused(t, err, stick.CodeUnknownMember, map[string]any{"to_agent_id": "b"})
		if !strings.HasSuffix(stick.AsError(err).Message, c.why) {
			t.Errorf("the refusal is %q, want it to end with %q", stick.AsError(err).Message, c.why)
		}
	}
}

// TestNamedRecipient_ExpiryInEvent: whoever is named learns from the event itself how long the stick
// waits for it, whether a release, a pass or a lost reservation named it. An event that names nobody has no
// such time.
func TestNamedRecipient_ExpiryInEvent(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("b", "c")
	released := f.Must(f.TryRelease("a", f.Fence(), sticktest.Handoff))[0]
	sticktest.Equal(t, "the time of the release's recipient",
		sticktest.Said[stick.ReleasePayload](released).Expires, f.Now.Add(sticktest.Grace))
	f.After(sticktest.Grace)
	rerouted := f.Settles("c")[0]
	sticktest.Equal(t, "the next one", rerouted.To, "c")
	sticktest.Equal(t, "the time of the next one",
		sticktest.Said[stick.ReroutedPayload](rerouted).Expires, f.Now.Add(sticktest.Grace))

	f.Owns("c")
	passed := f.Must(f.TryPass("a"))[0]
	sticktest.Equal(t, "the time of the pass's recipient",
		sticktest.Said[stick.PassPayload](passed).Expires, f.Now.Add(sticktest.Claim))
	f.Owns("a").Ends("b", "c")
	released = f.Must(f.TryRelease("a", f.Fence(), sticktest.Handoff))[0]
	sticktest.Equal(t, "the recipient when nobody waits", released.To, "")
	sticktest.Equal(t, "the time when nobody waits", sticktest.Said[stick.ReleasePayload](released).Expires, 0)
}
