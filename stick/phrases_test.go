package stick

import (
	"strings"
	"testing"
	"time"
)

// ofTask is an event about a task.
func ofTask(task string, e Event) Event {
	e.Task = task
	return e
}

// overlapped is the event of an overlap of this kind.
func overlapped(p IncursionPayload, kind string) Event {
	p.Message = &Message{To: []AgentID{"b"}, Category: Incursion, Contract: Contract{Overlap: kind, Resolution: "split it"}}
	return Event{Type: EventIncursion, From: "a", To: "b"}.withPayload(p)
}

func TestEventSay(t *testing.T) {
	h := &Handoff{Status: "half done", NextAction: "do the\nother half"}
	for _, c := range []struct {
		e    Event
		want Words
	}{
		{Event{Type: EventJoin, From: "a"}, "a joined"},
		{Event{Type: EventLeave, From: "a"}, "a left"},
		{Event{Type: EventLeave, From: "a", Reason: "done"}.withPayload(LeavePayload{Ends: true}), `a left and abandoned its turn: "done"`},
		{Event{Type: EventKick, From: "a", To: "b"}.withPayload(KickPayload{Verdict: Gone}), "a removed b, which was gone"},
		{Event{Type: EventKick, From: "a", To: "b", Reason: "stuck"}.withPayload(KickPayload{Ends: true, RelayedBy: "a"}), `a removed b; its turn ended; a says that a person asked for it: "stuck"`},
		{Event{Type: EventClaim, From: "a", Turn: 3}, "a took the stick (turn 3)"},
		{Event{Type: EventRelease, From: "a", Handoff: h}, `a released the stick; a wrote: "do the other half"`},
		{Event{Type: EventRelease, From: "a", To: "b", Handoff: h}, `a released the stick, next is b; a wrote: "do the other half"`},
		{Event{Type: EventPass, From: "a", To: "b", Handoff: h}, `a passed the stick to b; a wrote: "do the other half"`},
		{Event{Type: EventRerouted, To: "c"}, "next is c"},
		{Event{Type: EventRerouted, To: "c"}.withPayload(ReroutedPayload{Prior: "b"}), "b didn't take the stick; next is c"},
		{Event{Type: EventRerouted}.withPayload(ReroutedPayload{Prior: "b", Verdict: Gone}), "b is gone; the stick is free"},
		{Event{Type: EventTakeover, From: "a", Turn: 4, Reason: "it hangs"}.withPayload(TakeoverPayload{Prior: "b", Cause: OwnerTimeout}), `a took over the stick from b (owner timeout, turn 4): "it hangs"`},
		{Event{Type: EventTakeover, From: "a", Turn: 4}.withPayload(TakeoverPayload{Cause: OperatorRequested, RelayedBy: "a"}), "a took over the stick from nobody (operator requested, turn 4); a says that a person asked for it"},
		{Event{Type: EventClose, From: "human:x", Reason: "done"}, `human:x closed the room: "done"`},
		{Event{Type: EventReopen, From: "a"}, "a opened the room again"},
		{Event{Type: EventRestored}.withPayload(RestoredPayload{World: "reboot", Ends: true, Prior: "a"}), "the machine restarted; a's turn ended"},
		{Event{Type: EventRestored}.withPayload(RestoredPayload{World: "restore"}), "the database was restored"},
		{Event{Type: EventRestored}.withPayload(RestoredPayload{World: "loss"}), "the database lost its last changes"},
		{Event{Type: EventRestored}.withPayload(RestoredPayload{World: "loss", LostFrom: 7, LostTo: 7}), "the database lost event 7"},
		{Event{Type: EventRestored}.withPayload(RestoredPayload{World: "restore", Prior: "a"}), "the database was restored"},
		{Event{Type: EventPolicyChanged, From: "a"}.withPayload(PolicyChangedPayload{Policy: map[string]Change{"order": {"fair", "sequence"}, "claim_ttl": {"20m", "30m"}}}), "a changed claim_ttl from 20m to 30m, order from fair to sequence"},
		{Event{Type: EventPolicyChanged, From: "a"}.withPayload(PolicyChangedPayload{Order: []AgentID{"b", "a"}}), "a changed the order to b, a"},
		{Event{Type: EventOwnerIdle, To: "a", CreatedAt: start.Add(50 * time.Minute)}.withPayload(OwnerIdlePayload{IdleSince: start}), "a holds the stick and has done nothing for 50 min"},
		{Event{Type: EventDraftSaved, From: "a"}, "a saved a draft of its handoff"},
		{Event{Type: EventTaskPullRequest, From: "a", Task: "x"}.withPayload(TaskPayload[TaskPullRequestFacts]{Task: &TaskPullRequestFacts{PullRequest: PullRequest{Number: 7, URL: "https://x/7", State: PullOpen}}}), "a offered pull request #7 of x: https://x/7"},
		{Event{Type: EventDraftAsked, To: "a"}, "a was asked for a draft of its handoff, because its conversation gets summarized"},
		{Event{Type: EventLeave, From: "a"}.withPayload(LeavePayload{Owed: []int64{7}}), "a left; message 7 won't be answered"},
		{Event{Type: EventKick, From: "a", To: "b"}.withPayload(KickPayload{Owed: []int64{7, 9}}), "a removed b; message 7 and others won't be answered"},
		{message("a", Message{To: []AgentID{"b"}, Category: Info, Body: "the build\nis green"}), `a told b: "the build is green"`},
		{message("a", Message{To: []AgentID{ToRoom}, Category: Info, Subject: "lunch", Body: "at noon"}), `a told everybody: "lunch"`},
		{message("a", Message{To: []AgentID{"b", "c", "d", "e", "f"}, Category: Info, Body: "hi"}), `a told b, c, d and 2 more: "hi"`},
		{message("a", Message{To: []AgentID{ToSystem}, Category: Info, Body: "hi"}), `a told the log: "hi"`},
		{message("a", Message{To: []AgentID{"b"}, Category: Handover, Subject: "parser"}), `Passed to b by a: "parser"`},
		{message("a", Message{To: []AgentID{"b"}, Category: Blocked, Contract: Contract{Blocker: "no key"}}), `Needs input from b, says a: "no key"`},
		{message("a", Message{To: []AgentID{"b"}, Category: Resume, Subject: "s"}), `a resumed work and told b: "s"`},
		{message("a", Message{To: []AgentID{"b"}, Category: Incursion, Subject: "src/"}), `a overlaps with b: "src/"`},
		{message("a", Message{To: []AgentID{"b"}, Category: "LATER", Subject: "s"}), `a told b: "s"`},
		{ofTask("ui-7", message("a", Message{To: []AgentID{"b"}, Category: Info, Body: "hi"})), `a told b about ui-7: "hi"`},
		{ofTask("ui-7", overlapped(IncursionPayload{Pattern: "src", Held: "src/a", Witness: "src/a/x", Verdict: Alive}, "partial")), "a reserved src for ui-7, which overlaps in part with src/a, reserved by b (alive); agree who changes src/a/x; then one of you narrows its scope (tt unreserve, tt reserve)"},
		{overlapped(IncursionPayload{Pattern: "src", Held: "src/a", Witness: "src/a/x", Verdict: Unknown, Refused: true}, "partial"), "a wants src, which overlaps in part with src/a, reserved by b (unknown); agree who changes src/a/x; then one of you narrows its scope (tt unreserve, tt reserve)"},
		{overlapped(IncursionPayload{Pattern: "src", Held: "src", Verdict: Gone}, "exact"), "a wants src, exactly what b (gone) has reserved; b keeps the scope; agree who goes first, and tt unreserve when it is free"},
		{Event{Type: EventIncursion, From: "a", To: "b"}.withPayload(IncursionPayload{Pattern: "src", Held: "src/a"}), "a reserved src, which overlaps in part with src/a, reserved by b"},
		{ofTask("ui-7", Event{Type: EventUnreserved, From: "a"}.withPayload(UnreservedPayload{Pattern: "src"})), "a released src for ui-7"},
		{Event{Type: EventMessageSent, From: "a"}, "a sent a message"},
		{Event{Type: EventMessageRead, From: "b", To: "a"}.withPayload(MessageReadPayload{MessageID: 7}), "Seen by b: message 7"},
		{Event{Type: EventMessageAcked, From: "b", To: "a"}.withPayload(MessageAckedPayload{MessageID: 7}), "Accepted by b: message 7"},
		{Event{Type: EventMessageWithdrawn, From: "a"}.withPayload(MessageWithdrawnPayload{MessageID: 7}), "a withdrew message 7"},
		{Event{Type: EventNoteAdded, From: "a"}.withPayload(NoteAddedPayload{Note: "mind\nthe gap"}), `a left a note: "mind the gap"`},
		{Event{Type: EventNoteResolved, From: "a"}.withPayload(NoteResolvedPayload{NoteID: 7}), "a resolved note 7"},
		{Event{Type: "later\x1b[31m", From: "a"}, `"later\x1b[31m" by a`},
	} {
		t.Run(string(c.want), func(t *testing.T) { equal(t, "line", c.e.Say(), c.want) })
	}
	idle := Event{Type: EventOwnerIdle, To: "a", Turn: 3, CreatedAt: start.Add(50 * time.Minute)}.withPayload(OwnerIdlePayload{IdleSince: start})
	equal(t, "to the owner", idle.Tell(), "you hold turn 3 and have done nothing for 50 min, so others may soon take it over; "+
		`to keep it: tt heartbeat; to give it up: tt release --status "…" --next-action "…"`)
	claimed := Event{Type: EventClaim, From: "a", Turn: 3}
	equal(t, "to somebody of whom it isn't", claimed.Tell(), claimed.Say())
	unknown := Event{Type: "later", From: "a"}
	equal(t, "of an unknown type", unknown.Tell(), unknown.Say())
	for _, info := range EventTypes {
		e := Event{Type: info.Type, From: "a\x1b]0;x\a", To: "b\n", Reason: "r\x1b[2J\r\nx", Handoff: &Handoff{NextAction: strings.Repeat("y\n", 500)}}
		line := e.Say()
		equal(t, string(info.Type)+" is a line", Line(string(line)), string(line))
		if len([]rune(line)) > 400 {
			t.Errorf("%s says %d characters", info.Type, len(line))
		}
	}
}

func message(from AgentID, m Message) Event {
	return Event{Type: EventMessageSent, From: from}.withPayload(MessageSentPayload{Message: &m})
}

func TestHolder(t *testing.T) {
	f := room(t).member("a", "b")
	equal(t, "idle", f.Holder(f.now), "nobody holds the stick")
	f.owns("a").after(5 * time.Minute)
	equal(t, "owned", f.Holder(f.now), "a has held the stick for 5 min")
	f.passes("b").after(3 * time.Second)
	equal(t, "reserved", f.Holder(f.now), "the stick is reserved for b, who was named 3 s ago")
	f.owns("b")
	equal(t, "owned after a handoff, whose words aren't ours", f.Holder(f.now), "b has just taken the stick")
	f.must(f.close(Closing{By: "b", Fence: f.fence(), Handoff: &handoff}))
	equal(t, "closed", f.Holder(f.now), "the room is closed")
}
