package stick_test

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestJoin(t *testing.T) {
	t.Run("in order", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		for i, a := range []stick.AgentID{"a", "b"} {
			m, ok := f.Member(a)
			sticktest.Equal(t, "joined", ok && m.State == stick.Joined, true)
			sticktest.Equal(t, "ordinal", m.Ordinal, i+1)
			sticktest.Equal(t, "join seq", m.JoinSeq, int64(i+1))
			sticktest.Equal(t, "last seen", m.LastSeenAt, f.Now)
		}
	})

	t.Run("a member already", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		_, events, joined, err := f.Join("a", "", false, f.Now)
		sticktest.Equal(t, "joined", joined, false)
		sticktest.Equal(t, "events", len(events), 0)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
	})

	t.Run("again at the old place", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		f.Must(f.TryLeave(stick.Leaving{By: "a"}))
		f.WithMembers("a")
		m, _ := f.Member("a")
		sticktest.Equal(t, "ordinal", m.Ordinal, 1)
		sticktest.Equal(t, "join seq", m.JoinSeq, int64(4))
		sticktest.Equal(t, "members", len(f.Members), 2)
	})

	t.Run("a kicked member", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Force: true}))
		r, _, joined, err := f.Join("b", "", false, f.Now)
		sticktest.Refused(t, err, stick.CodeKicked, map[string]any{"room_state": stick.Idle})
		sticktest.Equal(t, "joined", joined, false)
		sticktest.Equal(t, "unchanged", sticktest.IsSameRoom(r, f.Room), true)

		f.WithMembers("b")
		sticktest.Equal(t, "on purpose", f.IsJoined("b"), true)
	})

	t.Run("a closed room", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		f.Must(f.TryClose(stick.Closing{By: "human:x", Person: true}))
		_, _, _, err := f.Join("b", "", false, f.Now)
		sticktest.Refused(t, err, stick.CodeRoomClosed, map[string]any{"room_state": stick.StateClosed})

		f.WithMembers("b")
		sticktest.Equal(t, "closed", f.Closed, false)
		sticktest.Equal(t, "event", f.Log[len(f.Log)-2].Type, stick.EventReopen)
	})

	t.Run("a closed room by its member", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		f.Must(f.TryClose(stick.Closing{By: "human:x", Person: true}))
		_, _, _, err := f.Join("a", "", false, f.Now)
		sticktest.Refused(t, err, stick.CodeRoomClosed, nil)
		f.WithMembers("a")
		sticktest.Equal(t, "closed", f.Closed, false)
	})

	t.Run("leaves the given room as it was", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		before := f.Room
		r, _, _, _ := f.Join("b", "", true, f.Now)
		r, _, _ = r.Leave(stick.Leaving{By: "a"}, f.Probed, f.Now)
		sticktest.Equal(t, "members", len(before.Members), 1)
		sticktest.Equal(t, "state", before.Members[0].State, stick.Joined)
		sticktest.Equal(t, "members after", len(r.Members), 2)
	})
}

func TestLeave(t *testing.T) {
	t.Run("a bystander", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		f.Must(f.TryLeave(stick.Leaving{By: "b"}))
		sticktest.Equal(t, "owner", f.Turn.Owner, "a")
		sticktest.Equal(t, "its wait", f.Asks("b").Status, stick.HasLeft)
	})

	t.Run("the owner with a handoff", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("a", "b")
		events := f.Must(f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence(), Handoff: &sticktest.Handoff}))
		sticktest.Equal(t, "first", events[0].Type, stick.EventRelease)
		sticktest.Equal(t, "then", events[1].Type, stick.EventLeave)
		sticktest.Equal(t, "events", len(events), 2)
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "b")
	})

	t.Run("the owner abandons", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("a", "b")
		events := f.Must(f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence(), Abandon: " session ended "}))
		sticktest.Equal(t, "first", events[0].Type, stick.EventLeave)
		sticktest.Equal(t, "reason", events[0].Reason, "session ended")
		sticktest.Equal(t, "ends a turn", events[0].TurnEndedOf(), "a")
		sticktest.Equal(t, "then", events[1].Type, stick.EventRerouted)
		sticktest.Equal(t, "named", events[1].To, "b")
	})

	t.Run("the owner abandons and nobody waits", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		events := f.Must(f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence(), Abandon: "r"}))
		sticktest.Equal(t, "events", len(events), 1)
		sticktest.Equal(t, "state", f.Turn.State, stick.Idle)
	})

	t.Run("the recipient", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("c").Passes("b")
		events := f.Must(f.TryLeave(stick.Leaving{By: "b"}))
		sticktest.Equal(t, "then", events[1].Type, stick.EventRerouted)
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "c")
	})

	t.Run("refusals", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		_, err := f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence()})
		sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": "status"})
		_, err = f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence(), Abandon: " "})
		sticktest.Refused(t, err, stick.CodeInvalidHandoff, nil)

		_, err = f.TryLeave(stick.Leaving{By: "a", Fence: stick.Fence{Turn: 1, Lease: "forged"}, Abandon: "r"})
		sticktest.Refused(t, err, stick.CodeStaleLease, map[string]any{"current_owner": "a"})
		_, err = f.TryLeave(stick.Leaving{
			By: "a", Fence: stick.Fence{Turn: 9, Lease: "lease-1"}, Handoff: &sticktest.Handoff,
		})
		sticktest.Refused(t, err, stick.CodeTurnMismatch, map[string]any{"current_turn_id": 1})

		_, err = f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence(), Handoff: &stick.Handoff{Status: "s"}})
		sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": "next_action"})
		_, err = f.TryLeave(stick.Leaving{By: "b", Handoff: &sticktest.Handoff})
		sticktest.Refused(t, err, stick.CodeNotYourTurn, map[string]any{"current_owner": "a"})

		sticktest.Says(t, err, "only the holder of the stick can leave a handoff; a has just taken the stick",
			"to leave without a handoff: tt leave")
		_, err = f.TryLeave(stick.Leaving{By: "x"})
		sticktest.Refused(t, err, stick.CodeUnknownMember, nil)
	})
}

func TestKick(t *testing.T) {
	t.Run("one that is gone", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Gone("b")
		e := f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Relayed: true, Reason: " dead "}))[0]
		sticktest.Equal(t, "verdict", sticktest.Said[stick.KickPayload](e).Verdict, stick.Gone)
		sticktest.Equal(t, "forced", sticktest.Said[stick.KickPayload](e).Forced, false)
		sticktest.Equal(t, "relayed by", sticktest.Said[stick.KickPayload](e).RelayedBy, "")
		sticktest.Equal(t, "reason", e.Reason, "dead")
		sticktest.Equal(t, "its wait", f.Asks("b").Status, stick.WasKicked)
	})

	t.Run("an owner", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("b").Waits("c").Gone("b")
		events := f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b"}))
		sticktest.Equal(t, "ends a turn", sticktest.Said[stick.KickPayload](events[0]).Ends, true)
		sticktest.Equal(t, "named", events[1].To, "c")
	})

	t.Run("a recipient", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Owns("a").Waits("c").Passes("b")
		f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Force: true}))
		sticktest.Equal(t, "reserved for", f.Turn.ReservedFor, "c")
	})

	t.Run("by force on a person's word", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("b")
		facts := sticktest.Said[stick.KickPayload](
			f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Force: true, Relayed: true}))[0],
		)
		sticktest.Equal(t, "forced", facts.Forced, true)
		sticktest.Equal(t, "relayed by", facts.RelayedBy, "a")
	})

	t.Run("refusals", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("b")
		_, err := f.TryKick(stick.Kicking{By: "a", Who: "b"})
		sticktest.Refused(t, err, stick.CodeMemberPresent, map[string]any{"agent_id": "b", "verdict": stick.Alive})
		_, err = f.TryKick(stick.Kicking{By: "a", Who: "c"})
		sticktest.Refused(t, err, stick.CodeMemberPresent, map[string]any{"verdict": stick.Unknown})

		_, err = f.TryKick(stick.Kicking{By: "a", Who: "x", Force: true})
		sticktest.Refused(t, err, stick.CodeUnknownMember, nil)
		f.Must(f.TryLeave(stick.Leaving{By: "c"}))
		_, err = f.TryKick(stick.Kicking{By: "a", Who: "c", Force: true})
		sticktest.Refused(t, err, stick.CodeUnknownMember, nil)
	})
}

func TestClose(t *testing.T) {
	t.Run("by the owner", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("b")
		events := f.Must(f.TryClose(stick.Closing{
			By: "a", Fence: f.Fence(), Handoff: &sticktest.Handoff, Reason: " done ",
		}))
		sticktest.Equal(t, "first", events[0].Type, stick.EventRelease)
		sticktest.Equal(t, "names", events[0].To, "")
		sticktest.Equal(t, "why nobody", sticktest.Said[stick.ReleasePayload](events[0]).Nobody, stick.NobodyClosed)
		sticktest.Equal(t, "then", events[1].Type, stick.EventClose)
		sticktest.Equal(t, "reason", events[1].Reason, "done")
		sticktest.Equal(t, "state", f.State(f.Probed, f.Now), stick.StateClosed)
		sticktest.Equal(t, "b's wait", f.Asks("b").Status, stick.RoomClosed)
	})

	t.Run("by a person, while it is reserved", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Passes("b")
		f.Must(f.TryClose(stick.Closing{By: "human:x", Person: true}))
		sticktest.Equal(t, "state", f.Turn.State, stick.Idle)
		sticktest.Equal(t, "handoff", f.Turn.HandoffPending, true)
	})

	t.Run("refusals", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		_, err := f.TryClose(stick.Closing{By: "a", Fence: f.Fence()})
		sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": "status"})
		_, err = f.TryClose(stick.Closing{By: "a", Fence: f.Fence(), Handoff: &stick.Handoff{Status: "s"}})
		sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": "next_action"})

		_, err = f.TryClose(stick.Closing{
			By: "a", Fence: stick.Fence{Turn: 1, Lease: "x"}, Handoff: &sticktest.Handoff,
		})
		sticktest.Refused(t, err, stick.CodeStaleLease, nil)
		_, err = f.TryClose(stick.Closing{
			By: "a", Fence: stick.Fence{Turn: 2, Lease: "lease-1"}, Handoff: &sticktest.Handoff,
		})
		sticktest.Refused(t, err, stick.CodeTurnMismatch, nil)

		_, err = f.TryClose(stick.Closing{By: "b", Handoff: &sticktest.Handoff})
		sticktest.Refused(t, err, stick.CodeNotYourTurn, map[string]any{"current_owner": "a"})
		sticktest.Says(t, err, "an agent can close a room only while it holds the stick; a has just taken the stick", `wait: tt wait; ask: tt msg send a "…"`)
		_, err = f.TryClose(stick.Closing{By: "human:x", Person: true})
		sticktest.Refused(t, err, stick.CodeNotYourTurn, map[string]any{"current_owner": "a"})
		sticktest.Says(t, err, "you can't close the room while a holds the stick",
			`ask: tt msg send a "…"; or take the stick first: tt take --operator-requested --reason "…"`)
		f.Releases()
		_, err = f.TryClose(stick.Closing{By: "a"})
		sticktest.Refused(t, err, stick.CodeNotYourTurn, map[string]any{"room_state": stick.Idle})

		f.Must(f.TryClose(stick.Closing{By: "human:x", Person: true}))
		_, err = f.TryClose(stick.Closing{By: "human:x", Person: true})
		sticktest.Refused(t, err, stick.CodeRoomClosed, map[string]any{"room_state": stick.StateClosed})
	})
}

func TestReorder(t *testing.T) {
	order := func(f *sticktest.Fixture) (s string) {
		for _, m := range f.Members {
			s += string(m.Agent)
		}
		return s
	}

	reorder := func(f *sticktest.Fixture, names ...stick.AgentID) ([]stick.Event, error) {
		r, events, err := f.Reorder("a", names)
		return f.TryCommit(r, events, err)
	}

	t.Run("those named come first", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d")
		e := f.Must(reorder(f, "d", "b"))[0]
		sticktest.Equal(t, "order", order(f), "dbac")
		sticktest.Equal(t, "in the event", len(sticktest.Said[stick.PolicyChangedPayload](e).Order), 4)
	})

	t.Run("as it is", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		sticktest.Equal(t, "events", len(f.Must(reorder(f, "a"))), 0)
	})

	t.Run("the sequence goes on from the same member", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d").WithPolicy("order=sequence").
			Owns("b").Waits("a", "c", "d")
		f.Must(reorder(f, "d", "c"))
		sticktest.Equal(t, "order", order(f), "dcab")
		f.Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "d")

		g := sticktest.NewRoom(t).WithMembers("a", "b", "c").WithPolicy("order=sequence").Owns("b").Releases()
		g.Must(reorder(g, "b", "c"))
		sticktest.Equal(t, "index in an idle room", g.Turn.SequenceIndex, 1)
	})

	t.Run("refusals", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		_, err := reorder(f, "x")
		sticktest.Refused(t, err, stick.CodeUnknownMember, map[string]any{"agent_id": "x"})
		_, err = reorder(f, "a", "a")
		sticktest.Refused(t, err, stick.CodeUsage, nil)
	})
}

func TestNamed(t *testing.T) {
	long := func(f *sticktest.Fixture) { f.After(f.Policy.PresenceTTL) }
	for _, c := range []struct {
		name string
		make func(*sticktest.Fixture)
		asks stick.AgentID
		want stick.AgentID // empty if the name is refused
	}{
		{"in full", func(f *sticktest.Fixture) { f.Gone("pi:1") }, "pi:1", "pi:1"},
		{
			"the only one",
			func(f *sticktest.Fixture) { f.Must(f.TryLeave(stick.Leaving{By: "pi:1"})); f.Gone("pi:2") },
			"pi",
			"pi:2",
		},
		{"nobody", func(f *sticktest.Fixture) {}, "codex", "codex"},
		{"both take part", func(f *sticktest.Fixture) {}, "pi", ""},
		{"one is gone", func(f *sticktest.Fixture) { f.Gone("pi:1") }, "pi", "pi:2"},
		{"both are gone", func(f *sticktest.Fixture) { f.Gone("pi:1"); f.Gone("pi:2") }, "pi", ""},
		{"one is silent", func(f *sticktest.Fixture) { long(f); f.Alive("pi:1") }, "pi", "pi:1"},
		{"both are silent", long, "pi", ""},
		{"one is gone, one is silent", func(f *sticktest.Fixture) { long(f); f.Gone("pi:1") }, "pi", "pi:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("pi:1", "pi:2", "pilot:3")
			c.make(f)
			a, err := f.Named(c.asks, f.Probed, f.Now)
			sticktest.Equal(t, "member", a, c.want)

			if c.want == "" {
				sticktest.Refused(t, err, stick.CodeAmbiguousRecipient, map[string]any{
					"candidates": []stick.AgentID{"pi:1", "pi:2"},
				})
			} else {
				sticktest.Equal(t, "error", stick.CodeOf(err), "")
			}
		})
	}

	t.Run("three, of which one is gone", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("pi:1", "pi:2", "pi:3").Gone("pi:2")
		_, err := f.Named("pi", f.Probed, f.Now)
		sticktest.Refused(t, err, stick.CodeAmbiguousRecipient, map[string]any{
			"candidates": []stick.AgentID{"pi:1", "pi:3"},
		})
	})
}

func TestActive(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*sticktest.Fixture)
		want bool
	}{
		{"seen lately", func(f *sticktest.Fixture) { f.After(f.Policy.PresenceTTL - sticktest.Moment) }, true},
		{"seen long ago", func(f *sticktest.Fixture) { f.After(f.Policy.PresenceTTL) }, false},
		{"alive", func(f *sticktest.Fixture) { f.Alive("a").After(f.Policy.PresenceTTL) }, true},
		{"its carrier is alive", func(f *sticktest.Fixture) {
			f.Process("a", stick.ProvesCarrier, stick.Alive).After(f.Policy.PresenceTTL)
		}, false},
		{"listens", func(f *sticktest.Fixture) { f.Parks("a").After(f.Policy.PresenceTTL) }, true},
		{"listened", func(f *sticktest.Fixture) { f.Parks("a").Ends("a").After(f.Policy.PresenceTTL) }, false},
		{"gone", func(f *sticktest.Fixture) { f.Gone("a") }, false},
		{"gone and listens", func(f *sticktest.Fixture) { f.Gone("a").Waits("a") }, false},
		{"left", func(f *sticktest.Fixture) { f.Must(f.TryLeave(stick.Leaving{By: "a"})) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a")
			c.make(f)
			sticktest.Equal(t, "active", f.Active("a", f.Now, f.Probed), c.want)
		})
	}
}

func TestVerdict(t *testing.T) {
	ev := func(proofs ...stick.Proof) (m stick.Member) {
		for i, p := range proofs {
			m.Processes = append(m.Processes, stick.Evidence{Process: stick.Process{PID: i + 1}, Proof: p})
		}
		return m
	}

	for _, c := range []struct {
		name string
		m    stick.Member
		of   []stick.Verdict
		want stick.Verdict
	}{
		{"nothing recorded", ev(), nil, stick.Unknown},
		{"session alive", ev(stick.ProvesSession), []stick.Verdict{stick.Alive}, stick.Alive},
		{"session gone", ev(stick.ProvesSession), []stick.Verdict{stick.Gone}, stick.Gone},
		{"session unknown", ev(stick.ProvesSession), []stick.Verdict{stick.Unknown}, stick.Unknown},
		{"carrier alive", ev(stick.ProvesCarrier), []stick.Verdict{stick.Alive}, stick.Unknown},
		{"carrier gone", ev(stick.ProvesCarrier), []stick.Verdict{stick.Gone}, stick.Gone},
		{"turn alive", ev(stick.ProvesTurn), []stick.Verdict{stick.Alive}, stick.Alive},
		{"turn gone", ev(stick.ProvesTurn), []stick.Verdict{stick.Gone}, stick.Unknown},
		{"all gone", ev(stick.ProvesSession, stick.ProvesCarrier), []stick.Verdict{stick.Gone, stick.Gone}, stick.Gone},
		{
			"one gone, one unknown",
			ev(stick.ProvesSession, stick.ProvesSession),
			[]stick.Verdict{stick.Gone, stick.Unknown},
			stick.Unknown,
		},
		{
			"one gone, one alive",
			ev(stick.ProvesSession, stick.ProvesSession),
			[]stick.Verdict{stick.Gone, stick.Alive},
			stick.Alive,
		},
		{
			"session gone, carrier alive",
			ev(stick.ProvesSession, stick.ProvesCarrier),
			[]stick.Verdict{stick.Gone, stick.Alive},
			stick.Unknown,
		},
		{
			"session gone, turn gone",
			ev(stick.ProvesSession, stick.ProvesTurn),
			[]stick.Verdict{stick.Gone, stick.Gone},
			stick.Unknown,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &stick.Probed{Processes: map[stick.Process]stick.Verdict{}}
			for i, v := range c.of {
				s.Processes[stick.Process{PID: i + 1}] = v
			}
			sticktest.Equal(t, "verdict", c.m.Verdict(s), c.want)
			sticktest.Equal(t, "missed", s.Incomplete(), false)
		})
	}

	t.Run("not probed", func(t *testing.T) {
		s := &stick.Probed{}
		sticktest.Equal(t, "verdict", ev(stick.ProvesSession).Verdict(s), stick.Unknown)
		sticktest.Equal(t, "missed", s.Incomplete(), true)
	})
}

// TestNamed_WhatPeopleSay: agents are found by the names that people know them by, and by the start of a name or
// of an id that tt has made.
func TestNamed_WhatPeopleSay(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("claude:3f9a12bc", "claude:3f1177aa", "codex:3f9a0000", "clara")
	for a, name := range map[stick.AgentID]string{
		"claude:3f9a12bc": "claude-otter", "claude:3f1177aa": "claude-otter-2", "codex:3f9a0000": "codex-heron",
	} {
		f.EditMember(a, func(m *stick.Member) { m.Name = name })
	}

	for said, want := range map[stick.AgentID]stick.AgentID{
		"claude-otter": "claude:3f9a12bc", "claude-otter-2": "claude:3f1177aa", "codex-h": "codex:3f9a0000",
		"codex": "codex:3f9a0000", "claude:3f9": "claude:3f9a12bc", "clara": "clara", "clar": "clar", "otter": "otter",
	} {
		if got, err := f.Named(said, f.Probed, f.Now); got != want || err != nil {
			t.Errorf("%s: %s, %v", said, got, err)
		}
	}

	for _, said := range []stick.AgentID{"claude", "claude-", "claude-ot", "claude:3f"} {
		_, err := f.Named(said, f.Probed, f.Now)
		sticktest.Refused(t, err, stick.CodeAmbiguousRecipient, map[string]any{
			"candidates": []stick.AgentID{"claude:3f9a12bc", "claude:3f1177aa"},
		})
	}
}

// TestNamesOfPersons: where hosts share the database, a person's short name has no host.
func TestNamesOfPersons(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("human:ann@laptop", "human:bob@laptop", "human:bob@desk", "human:annie@desk")
	for name, want := range map[stick.AgentID]stick.AgentID{
		"human:ann": "human:ann@laptop", "human:bob@desk": "human:bob@desk", "human:carl": "human:carl",
	} {
		if got, err := f.Named(name, f.Probed, f.Now); got != want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}

	_, err := f.Named("human:bob", f.Probed, f.Now)
	sticktest.Refused(t, err, stick.CodeAmbiguousRecipient, map[string]any{
		"candidates": []stick.AgentID{"human:bob@laptop", "human:bob@desk"},
	})
}

// TestNamedEver: the log can be asked for members that have left, and not for agents that were never here.
func TestNamedEver(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("claude:a", "codex:b", "pi:1", "pi:2")
	for _, a := range []stick.AgentID{"codex:b", "pi:1", "pi:2"} {
		f.EditMember(a, func(m *stick.Member) { m.State = stick.Left })
	}

	for name, want := range map[stick.AgentID]stick.AgentID{
		"claude": "claude:a", "codex": "codex:b", "codex:b": "codex:b", "pi:2": "pi:2",
	} {
		if got, err := f.NamedEver(name, f.Probed, f.Now); got != want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}

	_, err := f.NamedEver("pi", f.Probed, f.Now)
	sticktest.Refused(t, err, stick.CodeAmbiguousRecipient, map[string]any{
		"candidates": []stick.AgentID{"pi:1", "pi:2"},
	})
	_, err = f.NamedEver("cluade", f.Probed, f.Now)
	sticktest.Refused(t, err, stick.CodeUnknownMember, map[string]any{"agent_id": stick.AgentID("cluade")})
	sticktest.Equal(t, "the hint",
		stick.AsError(err).Hint.String(), "did you mean claude? tt state --all lists the members")

	_, err = sticktest.NewRoom(t).NamedEver("claude", f.Probed, f.Now)
	sticktest.Refused(t, err, stick.CodeUnknownMember, nil)
}

// TestHasWork: a room in which members only came and went, and that was closed or moved, has nothing to lose.
func TestHasWork(t *testing.T) {
	coming := []stick.Event{{Type: stick.EventJoin}, {Type: stick.EventPolicyChanged}, {Type: stick.EventLeave}}
	if stick.HasWork(nil) || stick.HasWork(coming) {
		t.Error("coming and going is taken for work")
	}

	for _, what := range []stick.EventType{
		stick.EventClaim, stick.EventMessageSent, stick.EventReserved, stick.EventTaskAssigned, stick.EventNoteAdded,
		stick.EventWorkTaken, stick.EventIncursion,
	} {
		if !stick.HasWork(append(coming, stick.Event{Type: what})) {
			t.Errorf("a log with %s is taken for one without work", what)
		}
	}
}
