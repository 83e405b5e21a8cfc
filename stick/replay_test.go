package stick

import (
	"slices"
	"strings"
	"testing"
)

// story is a log in which nearly everything happens.
func story(t *testing.T) *fixture {
	f := room(t).member("a", "b", "c", "human:x").owns("a")
	f.must(f.acks("b", f.sent("a", Message{To: []AgentID{ToRoom}, Body: "x", RequiresAck: true})))
	f.reads("a", f.sent("b", to("a")))
	f.withdraws("c", f.sent("c", to("a", "b")))
	note, _ := f.AddNote("a", "x", true)
	f.commit(f.Room, f.ResolveNote("b", NoteOf(f.commit(f.Room, note)[0])))
	f.waits("b", "c").releases()
	f.ask("b")
	f.passes("c").owns("c").policy("claim_ttl=30m")
	if _, err := f.take(Take{By: "a", Reason: "r", Operator: true}); err != nil {
		t.Fatal(err)
	}
	f.must(f.leave(Leaving{By: "a", Fence: f.fence(), Abandon: "gone home"}))
	f.ask("b")
	f.must(f.kick(Kicking{By: "c", Who: "b", Force: true}))
	f.ask("c")
	f.must(f.close(Closing{By: "c", Fence: f.fence(), Handoff: &handoff}))
	f.member("a").owns("a")
	f.commit(f.Room.Move("a", "/elsewhere"))
	f.ends("b", "c").commit(f.Restore(Generation{Number: 3, Cause: RestoreCause}, f.s, f.now))
	f.owns("a")
	return f
}

func TestReplay(t *testing.T) {
	replay := func(log []Event) (c Record, err error) {
		for _, e := range log {
			if err = c.Replay(e); err != nil {
				return c, err
			}
		}
		return c, nil
	}
	resum := func(log []Event) {
		sum := ""
		for i := range log {
			log[i].Sum = log[i].Chain(sum)
			sum = log[i].Sum
		}
	}
	t.Run("the whole story", func(t *testing.T) {
		f := story(t)
		c, err := replay(f.log)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "differs", c.Differs(f.Room), "")
		equal(t, "events", c.Events, int64(len(f.log)))
	})
	t.Run("a room above the turns of a lost one", func(t *testing.T) {
		f := room(t)
		f.Turn.ID = 40
		f.member("a", "b").owns("a")
		c, err := replay(f.log)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "differs", c.Differs(f.Room), "")
		equal(t, "turn", c.Turn, 41)
	})
	log := story(t).log
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
	at := func(t EventType, n int) int {
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
		forge  func([]Event) []Event
		reason string
	}{
		{"a turn skipped", func(l []Event) []Event { l[at(EventClaim, 0)].Turn++; return l }, "rise by one"},
		{"an act of another turn", func(l []Event) []Event { l[at(EventRelease, 0)].Turn++; return l }, "is current"},
		{"a release by another", func(l []Event) []Event { l[at(EventRelease, 0)].From = "c"; return l }, "doesn't own"},
		{"a release with another lease", func(l []Event) []Event {
			i := at(EventRelease, 0)
			l[i] = Amend(l[i], func(p *ReleasePayload) { p.Lease = "x" })
			return l
		}, "doesn't own"},
		{"a pass without a handoff", func(l []Event) []Event { l[at(EventPass, 0)].Handoff = nil; return l }, "lacks its handoff"},
		{"a claim of what is owned", func(l []Event) []Event {
			i := at(EventClaim, 0) + 1
			e := l[i-1]
			e.Turn++
			return slices.Insert(l, i, e)
		}, "is owned by a"},
		{"a claim of what is reserved for another", func(l []Event) []Event { l[at(EventClaim, 1)].From = "c"; return l }, "reserved for b"},
		{"an open claim of what is reserved", func(l []Event) []Event {
			i := at(EventClaim, 1)
			l[i] = Amend(l[i], func(p *ClaimPayload) { p.Claim = OpenClaim })
			return l
		}, "isn't free"},
		{"another's turn abandoned", func(l []Event) []Event { l[at(EventLeave, 0)].From = "b"; return l }, "doesn't own"},
		{"a restore that lowers the turn", func(l []Event) []Event { l[at(EventRestored, 0)].Turn = 1; return l }, "never fall"},
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
	for name, change := range map[string]func(*Room){
		"turn_id is 2":                func(r *Room) { r.Turn.ID = 2 },
		"state is idle":               func(r *Room) { r.Turn.State = Idle },
		"closed is true":              func(r *Room) { r.Closed = true },
		"owner is b":                  func(r *Room) { r.Turn.Owner = "b" },
		"lease is ":                   func(r *Room) { r.Turn.Lease = "x" },
		"reserved_for is b":           func(r *Room) { r.Turn.ReservedFor = "b" },
		"handoff_event_seq is 9":      func(r *Room) { r.Turn.HandoffSeq = 9 },
		"handoff_pending is true":     func(r *Room) { r.Turn.HandoffPending = true },
		"policy claim_ttl is 20m":     func(r *Room) { r.Policy.ClaimTTL = claim },
		"the number of members is 1":  func(r *Room) { r.Members = r.Members[:1] },
		"member b is {left 2 2 0}":    func(r *Room) { r.editMember("b", func(m *Member) { m.State = Left }) },
		"member b is {joined 7 2 0}":  func(r *Room) { r.editMember("b", func(m *Member) { m.Ordinal = 7 }) },
		"member b is {joined 2 2 99}": func(r *Room) { r.editMember("b", func(m *Member) { m.HeldSeq = 99 }) },
	} {
		t.Run(name, func(t *testing.T) {
			f := room(t).member("a", "b").policy("claim_ttl=30m").owns("a")
			r := f.Room
			change(&r)
			if d := f.rec.Differs(r); !strings.HasPrefix(d, name) {
				t.Errorf("%q", d)
			}
		})
	}
}
