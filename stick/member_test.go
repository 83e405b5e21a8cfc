package stick

import (
	"testing"
)

func TestJoin(t *testing.T) {
	t.Run("in order", func(t *testing.T) {
		f := room(t).member("a", "b")
		for i, a := range []AgentID{"a", "b"} {
			m, ok := f.Member(a)
			equal(t, "joined", ok && m.State == Joined, true)
			equal(t, "ordinal", m.Ordinal, i+1)
			equal(t, "join seq", m.JoinSeq, int64(i+1))
			equal(t, "last seen", m.LastSeenAt, f.now)
		}
	})
	t.Run("a member already", func(t *testing.T) {
		f := room(t).member("a")
		_, events, joined, err := f.Join("a", false, f.now)
		equal(t, "joined", joined, false)
		equal(t, "events", len(events), 0)
		equal(t, "error", CodeOf(err), "")
	})
	t.Run("again at the old place", func(t *testing.T) {
		f := room(t).member("a", "b")
		f.must(f.leave(Leaving{By: "a"}))
		f.member("a")
		m, _ := f.Member("a")
		equal(t, "ordinal", m.Ordinal, 1)
		equal(t, "join seq", m.JoinSeq, int64(4))
		equal(t, "members", len(f.Members), 2)
	})
	t.Run("a kicked member", func(t *testing.T) {
		f := room(t).member("a", "b")
		f.must(f.kick(Kicking{By: "a", Who: "b", Force: true}))
		r, _, joined, err := f.Join("b", false, f.now)
		refused(t, err, CodeKicked, map[string]any{"room_state": Idle})
		equal(t, "joined", joined, false)
		equal(t, "unchanged", sameRoom(r, f.Room), true)
		f.member("b")
		equal(t, "on purpose", f.isJoined("b"), true)
	})
	t.Run("a closed room", func(t *testing.T) {
		f := room(t).member("a")
		f.must(f.close(Closing{By: "human:x", Person: true}))
		_, _, _, err := f.Join("b", false, f.now)
		refused(t, err, CodeRoomClosed, map[string]any{"room_state": StateClosed})
		f.member("b")
		equal(t, "closed", f.Closed, false)
		equal(t, "event", f.log[len(f.log)-2].Type, EventReopen)
	})
	t.Run("a closed room by its member", func(t *testing.T) {
		f := room(t).member("a")
		f.must(f.close(Closing{By: "human:x", Person: true}))
		_, _, _, err := f.Join("a", false, f.now)
		refused(t, err, CodeRoomClosed, nil)
		f.member("a")
		equal(t, "closed", f.Closed, false)
	})
	t.Run("leaves the given room as it was", func(t *testing.T) {
		f := room(t).member("a")
		before := f.Room
		r, _, _, _ := f.Join("b", true, f.now)
		r, _, _ = r.Leave(Leaving{By: "a"}, f.s, f.now)
		equal(t, "members", len(before.Members), 1)
		equal(t, "state", before.Members[0].State, Joined)
		equal(t, "members after", len(r.Members), 2)
	})
}

func TestLeave(t *testing.T) {
	t.Run("a bystander", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		f.must(f.leave(Leaving{By: "b"}))
		equal(t, "owner", f.Turn.Owner, "a")
		equal(t, "its wait", f.ask("b").Status, HasLeft)
	})
	t.Run("the owner with a handoff", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").waits("a", "b")
		events := f.must(f.leave(Leaving{By: "a", Fence: f.fence(), Handoff: &handoff}))
		equal(t, "first", events[0].Type, EventRelease)
		equal(t, "then", events[1].Type, EventLeave)
		equal(t, "events", len(events), 2)
		equal(t, "named", f.Turn.ReservedFor, "b")
	})
	t.Run("the owner abandons", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").waits("a", "b")
		events := f.must(f.leave(Leaving{By: "a", Fence: f.fence(), Abandon: " session ended "}))
		equal(t, "first", events[0].Type, EventLeave)
		equal(t, "reason", events[0].Reason, "session ended")
		equal(t, "ends a turn", events[0].TurnEndedOf(), "a")
		equal(t, "then", events[1].Type, EventRerouted)
		equal(t, "named", events[1].To, "b")
	})
	t.Run("the owner abandons and nobody waits", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		events := f.must(f.leave(Leaving{By: "a", Fence: f.fence(), Abandon: "r"}))
		equal(t, "events", len(events), 1)
		equal(t, "state", f.Turn.State, Idle)
	})
	t.Run("the recipient", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").waits("c").passes("b")
		events := f.must(f.leave(Leaving{By: "b"}))
		equal(t, "then", events[1].Type, EventRerouted)
		equal(t, "named", f.Turn.ReservedFor, "c")
	})
	t.Run("refusals", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		_, err := f.leave(Leaving{By: "a", Fence: f.fence()})
		refused(t, err, CodeInvalidHandoff, map[string]any{"field": "status"})
		_, err = f.leave(Leaving{By: "a", Fence: f.fence(), Abandon: " "})
		refused(t, err, CodeInvalidHandoff, nil)
		_, err = f.leave(Leaving{By: "a", Fence: Fence{1, "forged"}, Abandon: "r"})
		refused(t, err, CodeStaleLease, map[string]any{"current_owner": "a"})
		_, err = f.leave(Leaving{By: "a", Fence: Fence{9, "lease-1"}, Handoff: &handoff})
		refused(t, err, CodeTurnMismatch, map[string]any{"current_turn_id": 1})
		_, err = f.leave(Leaving{By: "a", Fence: f.fence(), Handoff: &Handoff{Status: "s"}})
		refused(t, err, CodeInvalidHandoff, map[string]any{"field": "next_action"})
		_, err = f.leave(Leaving{By: "b", Handoff: &handoff})
		refused(t, err, CodeNotYourTurn, map[string]any{"current_owner": "a"})
		says(t, err, "only the holder of the stick can leave a handoff; a has just taken the stick", "to leave without a handoff: tt leave")
		_, err = f.leave(Leaving{By: "x"})
		refused(t, err, CodeUnknownMember, nil)
	})
}

func TestKick(t *testing.T) {
	t.Run("one that is gone", func(t *testing.T) {
		f := room(t).member("a", "b").gone("b")
		e := f.must(f.kick(Kicking{By: "a", Who: "b", Relayed: true, Reason: " dead "}))[0]
		equal(t, "verdict", said[KickPayload](e).Verdict, Gone)
		equal(t, "forced", said[KickPayload](e).Forced, false)
		equal(t, "relayed by", said[KickPayload](e).RelayedBy, "")
		equal(t, "reason", e.Reason, "dead")
		equal(t, "its wait", f.ask("b").Status, WasKicked)
	})
	t.Run("an owner", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("b").waits("c").gone("b")
		events := f.must(f.kick(Kicking{By: "a", Who: "b"}))
		equal(t, "ends a turn", said[KickPayload](events[0]).Ends, true)
		equal(t, "named", events[1].To, "c")
	})
	t.Run("a recipient", func(t *testing.T) {
		f := room(t).member("a", "b", "c").owns("a").waits("c").passes("b")
		f.must(f.kick(Kicking{By: "a", Who: "b", Force: true}))
		equal(t, "reserved for", f.Turn.ReservedFor, "c")
	})
	t.Run("by force on a person's word", func(t *testing.T) {
		f := room(t).member("a", "b").alive("b")
		facts := said[KickPayload](f.must(f.kick(Kicking{By: "a", Who: "b", Force: true, Relayed: true}))[0])
		equal(t, "forced", facts.Forced, true)
		equal(t, "relayed by", facts.RelayedBy, "a")
	})
	t.Run("refusals", func(t *testing.T) {
		f := room(t).member("a", "b", "c").alive("b")
		_, err := f.kick(Kicking{By: "a", Who: "b"})
		refused(t, err, CodeMemberPresent, map[string]any{"agent_id": "b", "verdict": Alive})
		_, err = f.kick(Kicking{By: "a", Who: "c"})
		refused(t, err, CodeMemberPresent, map[string]any{"verdict": Unknown})
		_, err = f.kick(Kicking{By: "a", Who: "x", Force: true})
		refused(t, err, CodeUnknownMember, nil)
		f.must(f.leave(Leaving{By: "c"}))
		_, err = f.kick(Kicking{By: "a", Who: "c", Force: true})
		refused(t, err, CodeUnknownMember, nil)
	})
}

func TestClose(t *testing.T) {
	t.Run("by the owner", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").waits("b")
		events := f.must(f.close(Closing{By: "a", Fence: f.fence(), Handoff: &handoff, Reason: " done "}))
		equal(t, "first", events[0].Type, EventRelease)
		equal(t, "names", events[0].To, "")
		equal(t, "why nobody", said[ReleasePayload](events[0]).Nobody, NobodyClosed)
		equal(t, "then", events[1].Type, EventClose)
		equal(t, "reason", events[1].Reason, "done")
		equal(t, "state", f.State(f.s, f.now), StateClosed)
		equal(t, "b's wait", f.ask("b").Status, RoomClosed)
	})
	t.Run("by a person, while it is reserved", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a").passes("b")
		f.must(f.close(Closing{By: "human:x", Person: true}))
		equal(t, "state", f.Turn.State, Idle)
		equal(t, "handoff", f.Turn.HandoffPending, true)
	})
	t.Run("refusals", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		_, err := f.close(Closing{By: "a", Fence: f.fence()})
		refused(t, err, CodeInvalidHandoff, map[string]any{"field": "status"})
		_, err = f.close(Closing{By: "a", Fence: f.fence(), Handoff: &Handoff{Status: "s"}})
		refused(t, err, CodeInvalidHandoff, map[string]any{"field": "next_action"})
		_, err = f.close(Closing{By: "a", Fence: Fence{1, "x"}, Handoff: &handoff})
		refused(t, err, CodeStaleLease, nil)
		_, err = f.close(Closing{By: "a", Fence: Fence{2, "lease-1"}, Handoff: &handoff})
		refused(t, err, CodeTurnMismatch, nil)
		_, err = f.close(Closing{By: "b", Handoff: &handoff})
		refused(t, err, CodeNotYourTurn, map[string]any{"current_owner": "a"})
		says(t, err, "an agent can only close a room while it holds the stick; a has just taken the stick", `wait: tt wait; ask: tt msg send a "…"`)
		_, err = f.close(Closing{By: "human:x", Person: true})
		refused(t, err, CodeNotYourTurn, map[string]any{"current_owner": "a"})
		says(t, err, "the room can't be closed while a holds the stick",
			`ask: tt msg send a "…"; or take the stick first: tt take --operator-requested --reason "…"`)
		f.releases()
		_, err = f.close(Closing{By: "a"})
		refused(t, err, CodeNotYourTurn, map[string]any{"room_state": Idle})
		f.must(f.close(Closing{By: "human:x", Person: true}))
		_, err = f.close(Closing{By: "human:x", Person: true})
		refused(t, err, CodeRoomClosed, map[string]any{"room_state": StateClosed})
	})
}

func TestReorder(t *testing.T) {
	order := func(f *fixture) (s string) {
		for _, m := range f.Members {
			s += string(m.Agent)
		}
		return s
	}
	reorder := func(f *fixture, names ...AgentID) ([]Event, error) {
		r, events, err := f.Reorder("a", names)
		return f.done(r, events, err)
	}
	t.Run("those named come first", func(t *testing.T) {
		f := room(t).member("a", "b", "c", "d")
		e := f.must(reorder(f, "d", "b"))[0]
		equal(t, "order", order(f), "dbac")
		equal(t, "in the event", len(said[PolicyChangedPayload](e).Order), 4)
	})
	t.Run("as it is", func(t *testing.T) {
		f := room(t).member("a", "b")
		equal(t, "events", len(f.must(reorder(f, "a"))), 0)
	})
	t.Run("the sequence goes on from the same member", func(t *testing.T) {
		f := room(t).member("a", "b", "c", "d").policy("order=sequence").owns("b").waits("a", "c", "d")
		f.must(reorder(f, "d", "c"))
		equal(t, "order", order(f), "dcab")
		f.releases()
		equal(t, "named", f.Turn.ReservedFor, "d")
		g := room(t).member("a", "b", "c").policy("order=sequence").owns("b").releases()
		g.must(reorder(g, "b", "c"))
		equal(t, "index in an idle room", g.Turn.SequenceIndex, 1)
	})
	t.Run("refusals", func(t *testing.T) {
		f := room(t).member("a", "b")
		_, err := reorder(f, "x")
		refused(t, err, CodeUnknownMember, map[string]any{"agent_id": "x"})
		_, err = reorder(f, "a", "a")
		refused(t, err, CodeUsage, nil)
	})
}

func TestNamed(t *testing.T) {
	long := func(f *fixture) { f.after(f.Policy.PresenceTTL) }
	for _, c := range []struct {
		name string
		make func(*fixture)
		asks AgentID
		want AgentID // empty if the name is refused
	}{
		{"in full", func(f *fixture) { f.gone("pi:1") }, "pi:1", "pi:1"},
		{"the only one", func(f *fixture) { f.must(f.leave(Leaving{By: "pi:1"})); f.gone("pi:2") }, "pi", "pi:2"},
		{"nobody", func(f *fixture) {}, "codex", "codex"},
		{"both take part", func(f *fixture) {}, "pi", ""},
		{"one is gone", func(f *fixture) { f.gone("pi:1") }, "pi", "pi:2"},
		{"both are gone", func(f *fixture) { f.gone("pi:1"); f.gone("pi:2") }, "pi", ""},
		{"one is silent", func(f *fixture) { long(f); f.alive("pi:1") }, "pi", "pi:1"},
		{"both are silent", long, "pi", ""},
		{"one is gone, one is silent", func(f *fixture) { long(f); f.gone("pi:1") }, "pi", "pi:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := room(t).member("pi:1", "pi:2", "pilot:3")
			c.make(f)
			a, err := f.Named(c.asks, f.s, f.now)
			equal(t, "member", a, c.want)
			if c.want == "" {
				refused(t, err, CodeAmbiguousRecipient, map[string]any{"candidates": []AgentID{"pi:1", "pi:2"}})
			} else {
				equal(t, "error", CodeOf(err), "")
			}
		})
	}
	t.Run("three, of which one is gone", func(t *testing.T) {
		f := room(t).member("pi:1", "pi:2", "pi:3").gone("pi:2")
		_, err := f.Named("pi", f.s, f.now)
		refused(t, err, CodeAmbiguousRecipient, map[string]any{"candidates": []AgentID{"pi:1", "pi:3"}})
	})
}

func TestActive(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*fixture)
		want bool
	}{
		{"seen lately", func(f *fixture) { f.after(f.Policy.PresenceTTL - ms) }, true},
		{"seen long ago", func(f *fixture) { f.after(f.Policy.PresenceTTL) }, false},
		{"alive", func(f *fixture) { f.alive("a").after(f.Policy.PresenceTTL) }, true},
		{"its carrier is alive", func(f *fixture) { f.process("a", ProvesCarrier, Alive).after(f.Policy.PresenceTTL) }, false},
		{"listens", func(f *fixture) { f.parks("a").after(f.Policy.PresenceTTL) }, true},
		{"listened", func(f *fixture) { f.parks("a").ends("a").after(f.Policy.PresenceTTL) }, false},
		{"gone", func(f *fixture) { f.gone("a") }, false},
		{"gone and listens", func(f *fixture) { f.gone("a").waits("a") }, false},
		{"left", func(f *fixture) { f.must(f.leave(Leaving{By: "a"})) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := room(t).member("a")
			c.make(f)
			equal(t, "active", f.Active("a", f.now, f.s), c.want)
		})
	}
}

func TestVerdict(t *testing.T) {
	ev := func(proofs ...Proof) (m Member) {
		for i, p := range proofs {
			m.Processes = append(m.Processes, Evidence{Process: Process{PID: i + 1}, Proof: p})
		}
		return m
	}
	for _, c := range []struct {
		name string
		m    Member
		of   []Verdict
		want Verdict
	}{
		{"nothing recorded", ev(), nil, Unknown},
		{"session alive", ev(ProvesSession), []Verdict{Alive}, Alive},
		{"session gone", ev(ProvesSession), []Verdict{Gone}, Gone},
		{"session unknown", ev(ProvesSession), []Verdict{Unknown}, Unknown},
		{"carrier alive", ev(ProvesCarrier), []Verdict{Alive}, Unknown},
		{"carrier gone", ev(ProvesCarrier), []Verdict{Gone}, Gone},
		{"turn alive", ev(ProvesTurn), []Verdict{Alive}, Alive},
		{"turn gone", ev(ProvesTurn), []Verdict{Gone}, Unknown},
		{"all gone", ev(ProvesSession, ProvesCarrier), []Verdict{Gone, Gone}, Gone},
		{"one gone, one unknown", ev(ProvesSession, ProvesSession), []Verdict{Gone, Unknown}, Unknown},
		{"one gone, one alive", ev(ProvesSession, ProvesSession), []Verdict{Gone, Alive}, Alive},
		{"session gone, carrier alive", ev(ProvesSession, ProvesCarrier), []Verdict{Gone, Alive}, Unknown},
		{"session gone, turn gone", ev(ProvesSession, ProvesTurn), []Verdict{Gone, Gone}, Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Probed{Processes: map[Process]Verdict{}}
			for i, v := range c.of {
				s.Processes[Process{PID: i + 1}] = v
			}
			equal(t, "verdict", c.m.Verdict(s), c.want)
			equal(t, "missed", s.Incomplete(), false)
		})
	}
	t.Run("not probed", func(t *testing.T) {
		s := &Probed{}
		equal(t, "verdict", ev(ProvesSession).Verdict(s), Unknown)
		equal(t, "missed", s.Incomplete(), true)
	})
}

// TestNamedEver: the log can be asked for members that have left, and not for agents that were never here.
// TestNamesOfPersons: where hosts share the database, a person's short name has no host.
func TestNamesOfPersons(t *testing.T) {
	f := room(t).member("human:ann@laptop", "human:bob@laptop", "human:bob@desk", "human:annie@desk")
	for name, want := range map[AgentID]AgentID{"human:ann": "human:ann@laptop", "human:bob@desk": "human:bob@desk", "human:carl": "human:carl"} {
		if got, err := f.Named(name, f.s, f.now); got != want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	_, err := f.Named("human:bob", f.s, f.now)
	refused(t, err, CodeAmbiguousRecipient, map[string]any{"candidates": []AgentID{"human:bob@laptop", "human:bob@desk"}})
}

func TestNamedEver(t *testing.T) {
	f := room(t).member("claude:a", "codex:b", "pi:1", "pi:2")
	for _, a := range []AgentID{"codex:b", "pi:1", "pi:2"} {
		f.editMember(a, func(m *Member) { m.State = Left })
	}
	for name, want := range map[AgentID]AgentID{"claude": "claude:a", "codex": "codex:b", "codex:b": "codex:b", "pi:2": "pi:2"} {
		if got, err := f.NamedEver(name, f.s, f.now); got != want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	_, err := f.NamedEver("pi", f.s, f.now)
	refused(t, err, CodeAmbiguousRecipient, map[string]any{"candidates": []AgentID{"pi:1", "pi:2"}})
	_, err = f.NamedEver("cluade", f.s, f.now)
	refused(t, err, CodeUnknownMember, map[string]any{"agent_id": AgentID("cluade")})
	equal(t, "the hint", AsError(err).Hint.String(), "did you mean claude? tt state --all lists the members")
	_, err = room(t).NamedEver("claude", f.s, f.now)
	refused(t, err, CodeUnknownMember, nil)
}
