package stick_test

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/talk"
)

// story is a log in which nearly everything happens.
func story(t *testing.T) *sticktest.Fixture {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "human:x").Owns("a")
	f.Must(f.Acks("b", f.Sent("a", stick.Message{To: []stick.AgentID{stick.ToRoom}, Body: "x", RequiresAck: true})))
	f.Reads("a", f.Sent("b", sticktest.To("a")))
	f.Withdraws("c", f.Sent("c", sticktest.To("a", "b")))
	note, _ := talk.AddNote(f.Room, "a", "x", true)
	f.Commit(f.Room, talk.ResolveNote(f.Room, "b", talk.NoteOf(f.Commit(f.Room, note)[0])))
	f.Waits("b", "c").Releases()
	f.Asks("b")
	f.Passes("c").Owns("c").WithPolicy("claim_ttl=30m")
	if _, err := f.TryTake(stick.Take{By: "a", Reason: "r", Operator: true}); err != nil {
		t.Fatal(err)
	}

	f.Must(f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence(), Abandon: "gone home"}))
	f.Asks("b")
	f.Must(f.TryKick(stick.Kicking{By: "c", Who: "b", Force: true}))
	f.Asks("c")
	f.Must(f.TryClose(stick.Closing{By: "c", Fence: f.Fence(), Handoff: &sticktest.Handoff}))
	f.WithMembers("a").Owns("a")
	f.Commit(f.Room.Move("a", "/elsewhere"))
	f.Ends("b", "c").Commit(f.Restore(stick.Generation{Number: 3, Cause: stick.RestoreCause}, f.Probed, f.Now))
	f.Owns("a")
	return f
}

func TestReplay(t *testing.T) {
	replay := func(log []stick.Event) (c stick.Record, err error) {
		for _, e := range log {
			if err = c.Replay(e); err != nil {
				return c, err
			}
		}
		return c, nil
	}

	resum := func(log []stick.Event) {
		sum := ""
		for i := range log {
			log[i].Sum = log[i].Chain(sum)
			sum = log[i].Sum
		}
	}

	t.Run("the whole story", func(t *testing.T) {
		f := story(t)
		c, err := replay(f.Log)
		if err != nil {
			t.Fatal(err)
		}
		sticktest.Equal(t, "differs", c.Differs(f.Room), "")
		sticktest.Equal(t, "events", c.Events, int64(len(f.Log)))
	})

	t.Run("a room above the turns of a lost one", func(t *testing.T) {
		f := sticktest.NewRoom(t)
		f.Turn.ID = 40
		f.WithMembers("a", "b").Owns("a")
		c, err := replay(f.Log)
		if err != nil {
			t.Fatal(err)
		}
		sticktest.Equal(t, "differs", c.Differs(f.Room), "")
		sticktest.Equal(t, "turn", c.Turn, 41)
	})

	log := story(t).Log
	t.Run("any event lost", func(t *testing.T) {
		for i := range len(log) - 1 {
			if _, err := replay(slices.Delete(slices.Clone(log), i, i+1)); err == nil {
				t.Errorf("the loss of event %d doesn't show", i)
			}
		}
	})

	t.Run("any event changed", func(t *testing.T) {
		for i := range log {
			changed := slices.Clone(log)
			changed[i].Reason += "."
			if _, err := replay(changed); err == nil {
				t.Errorf("the change of event %d doesn't show", i)
			}
		}
	})

	t.Run("any two swapped", func(t *testing.T) {
		for i := range len(log) - 1 {
			swapped := slices.Clone(log)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			if _, err := replay(swapped); err == nil {
				t.Errorf("the swap at event %d doesn't show", i)
			}
		}
	})

	// Whoever computes the sums anew still can't tell a story that breaks a law.
	at := func(t stick.EventType, n int) int {
		for i, e := range log {
			if e.Type == t {
				if n == 0 {
					return i
				}
				n--
			}
		}

		return -1
	}

	for _, c := range []struct {
		name   string
		forge  func([]stick.Event) []stick.Event
		reason string
	}{
		{
			"a turn skipped",
			func(l []stick.Event) []stick.Event { l[at(stick.EventClaim, 0)].Turn++; return l },
			"rise by one",
		},
		{
			"an act of another turn",
			func(l []stick.Event) []stick.Event { l[at(stick.EventRelease, 0)].Turn++; return l },
			"is current",
		},
		{
			"a release by another",
			func(l []stick.Event) []stick.Event { l[at(stick.EventRelease, 0)].From = "c"; return l },
			"doesn't own",
		},
		{"a release with another lease", func(l []stick.Event) []stick.Event {
			i := at(stick.EventRelease, 0)
			l[i] = stick.Amend(l[i], func(p *stick.ReleasePayload) { p.Lease = "x" })
			return l
		}, "doesn't own"},
		{
			"a pass without a handoff",
			func(l []stick.Event) []stick.Event { l[at(stick.EventPass, 0)].Handoff = nil; return l },
			"lacks its handoff",
		},
		{"a claim of what is owned", func(l []stick.Event) []stick.Event {
			i := at(stick.EventClaim, 0) + 1
			e := l[i-1]
			e.Turn++
			return slices.Insert(l, i, e)
		}, "is owned by a"},
		{
			"a claim of what is reserved for another",
			func(l []stick.Event) []stick.Event { l[at(stick.EventClaim, 1)].From = "c"; return l },
			"reserved for b",
		},
		{"an open claim of what is reserved", func(l []stick.Event) []stick.Event {
			i := at(stick.EventClaim, 1)
			l[i] = stick.Amend(l[i], func(p *stick.ClaimPayload) { p.Claim = stick.OpenClaim })
			return l
		}, "isn't free"},
		{
			"another's turn abandoned",
			func(l []stick.Event) []stick.Event { l[at(stick.EventLeave, 0)].From = "b"; return l },
			"doesn't own",
		},
		{
			"a restore that lowers the turn",
			func(l []stick.Event) []stick.Event { l[at(stick.EventRestored, 0)].Turn = 1; return l },
			"never fall",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			forged := c.forge(slices.Clone(log))
			resum(forged)
			_, err := replay(forged)
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("error %v, want one with %q", err, c.reason)
			}
		})
	}
}

func TestRecordDiffers(t *testing.T) {
	for name, change := range map[string]func(*stick.Room){
		"turn_id is 2":               func(r *stick.Room) { r.Turn.ID = 2 },
		"state is idle":              func(r *stick.Room) { r.Turn.State = stick.Idle },
		"closed is true":             func(r *stick.Room) { r.Closed = true },
		"owner is b":                 func(r *stick.Room) { r.Turn.Owner = "b" },
		"lease is ":                  func(r *stick.Room) { r.Turn.Lease = "x" },
		"reserved_for is b":          func(r *stick.Room) { r.Turn.ReservedFor = "b" },
		"handoff_event_seq is 9":     func(r *stick.Room) { r.Turn.HandoffSeq = 9 },
		"handoff_pending is true":    func(r *stick.Room) { r.Turn.HandoffPending = true },
		"policy claim_ttl is 20m":    func(r *stick.Room) { r.Policy.ClaimTTL = sticktest.Claim },
		"the number of members is 1": func(r *stick.Room) { r.Members = r.Members[:1] },
		"member b is {left 2 2 0 }": func(r *stick.Room) {
			r.EditMember("b", func(m *stick.Member) { m.State = stick.Left })
		},
		"member b is {joined 7 2 0 }": func(r *stick.Room) {
			r.EditMember("b", func(m *stick.Member) { m.Ordinal = 7 })
		},
		"member b is {joined 2 2 99 }": func(r *stick.Room) {
			r.EditMember("b", func(m *stick.Member) { m.HeldSeq = 99 })
		},
		"member b is {joined 2 2 0 claude-otter}": func(r *stick.Room) {
			r.EditMember("b", func(m *stick.Member) { m.Name = "claude-otter" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b").WithPolicy("claim_ttl=30m").Owns("a")
			r := f.Room
			change(&r)
			if d := f.Record.Differs(r); !strings.HasPrefix(d, name) {
				t.Errorf("%q", d)
			}
		})
	}
}
