package stick_test

import (
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// ofTask is an event about a task.
func ofTask(task string, e stick.Event) stick.Event {
	e.Task = task
	return e
}

// overlapped is the event of an overlap of this kind.
func overlapped(p stick.IncursionPayload, kind string) stick.Event {
	p.Message = &stick.Message{
		To: []stick.AgentID{"b"}, Category: stick.Incursion,
		Contract: stick.Contract{Overlap: kind, Resolution: "split it"},
	}
	return stick.Event{Type: stick.EventIncursion, From: "a", To: "b"}.WithPayload(p)
}

func TestEventSay(t *testing.T) {
	h := &stick.Handoff{Status: "half done", NextAction: "do the\nother half"}
	for _, c := range []struct {
		e    stick.Event
		want stick.Words
	}{
		{stick.Event{Type: stick.EventJoin, From: "a"}, "a joined"},
		{stick.Event{Type: stick.EventLeave, From: "a"}, "a left"},
		{
			stick.Event{Type: stick.EventLeave, From: "a", Reason: "done"}.WithPayload(stick.LeavePayload{Ends: true}),
			`a left and abandoned its turn: "done"`,
		},
		{
			stick.Event{Type: stick.EventKick, From: "a", To: "b"}.WithPayload(stick.KickPayload{Verdict: stick.Gone}),
			"a removed b, which was gone",
		},
		{
			stick.Event{Type: stick.EventKick, From: "a", To: "b", Reason: "stuck"}.WithPayload(stick.KickPayload{Ends: true, RelayedBy: "a"}),
			`a removed b; its turn ended; a says that a person asked for it: "stuck"`,
		},
		{stick.Event{Type: stick.EventClaim, From: "a", Turn: 3}, "a took the stick (turn 3)"},
		{
			stick.Event{Type: stick.EventRelease, From: "a", Handoff: h},
			`a released the stick; a wrote: "do the other half"`,
		},
		{
			stick.Event{Type: stick.EventRelease, From: "a", To: "b", Handoff: h},
			`a released the stick, next is b; a wrote: "do the other half"`,
		},
		{
			stick.Event{Type: stick.EventPass, From: "a", To: "b", Handoff: h},
			`a passed the stick to b; a wrote: "do the other half"`,
		},
		{stick.Event{Type: stick.EventRerouted, To: "c"}, "next is c"},
		{
			stick.Event{Type: stick.EventRerouted, To: "c"}.WithPayload(stick.ReroutedPayload{Prior: "b"}),
			"b didn't take the stick; next is c",
		},
		{
			stick.Event{Type: stick.EventRerouted}.WithPayload(stick.ReroutedPayload{Prior: "b", Verdict: stick.Gone}),
			"b is gone; the stick is free",
		},
		{
			stick.Event{Type: stick.EventTakeover, From: "a", Turn: 4, Reason: "it hangs"}.WithPayload(stick.TakeoverPayload{
				Prior: "b", Cause: stick.OwnerTimeout,
			}),
			`a took over the stick from b (owner timeout, turn 4): "it hangs"`,
		},
		{
			stick.Event{Type: stick.EventTakeover, From: "a", Turn: 4}.WithPayload(stick.TakeoverPayload{
				Cause: stick.OperatorRequested, RelayedBy: "a",
			}),
			"a took over the stick from nobody (operator requested, turn 4); a says that a person asked for it",
		},
		{stick.Event{Type: stick.EventClose, From: "human:x", Reason: "done"}, `human:x closed the room: "done"`},
		{stick.Event{Type: stick.EventReopen, From: "a"}, "a opened the room again"},
		{
			stick.Event{Type: stick.EventRestored}.WithPayload(stick.RestoredPayload{
				World: "reboot", Ends: true, Prior: "a",
			}),
			"the machine restarted; a's turn ended",
		},
		{
			stick.Event{Type: stick.EventRestored}.WithPayload(stick.RestoredPayload{World: "restore"}),
			"the database was restored",
		},
		{
			stick.Event{Type: stick.EventRestored}.WithPayload(stick.RestoredPayload{World: "loss"}),
			"the database lost its last changes",
		},
		{
			stick.Event{Type: stick.EventRestored}.WithPayload(stick.RestoredPayload{
				World: "loss", LostFrom: 7, LostTo: 7,
			}),
			"the database lost event 7",
		},
		{
			stick.Event{Type: stick.EventRestored}.WithPayload(stick.RestoredPayload{World: "restore", Prior: "a"}),
			"the database was restored",
		},
		{
			stick.Event{Type: stick.EventPolicyChanged, From: "a"}.WithPayload(stick.PolicyChangedPayload{
				Policy: map[string]stick.Change{
					"order": {From: "fair", To: "sequence"}, "claim_ttl": {From: "20m", To: "30m"},
				},
			}),
			"a changed claim_ttl from 20m to 30m, order from fair to sequence",
		},
		{
			stick.Event{Type: stick.EventPolicyChanged, From: "a"}.WithPayload(stick.PolicyChangedPayload{
				Order: []stick.AgentID{"b", "a"},
			}),
			"a changed the order to b, a",
		},
		{
			stick.Event{
				Type: stick.EventOwnerIdle, To: "a", CreatedAt: sticktest.Start.Add(50 * time.Minute),
			}.WithPayload(stick.OwnerIdlePayload{IdleSince: sticktest.Start}),
			"a holds the stick and has done nothing for 50 min",
		},
		{stick.Event{Type: stick.EventDraftSaved, From: "a"}, "a saved a draft of its handoff"},
		{
			stick.Event{Type: stick.EventTaskPullRequest, From: "a", Task: "x"}.WithPayload(stick.TaskPayload[stick.TaskPullRequestFacts]{
				Task: &stick.TaskPullRequestFacts{
					PullRequest: stick.PullRequest{Number: 7, URL: "https://x/7", State: stick.PullOpen},
				},
			}),
			"a offered pull request #7 of x: https://x/7",
		},
		{
			stick.Event{Type: stick.EventDraftAsked, To: "a"},
			"a was asked for a draft of its handoff, because its conversation gets summarized",
		},
		{
			stick.Event{Type: stick.EventLeave, From: "a"}.WithPayload(stick.LeavePayload{Owed: []int64{7}}),
			"a left; message 7 won't be answered",
		},
		{
			stick.Event{Type: stick.EventKick, From: "a", To: "b"}.WithPayload(stick.KickPayload{Owed: []int64{7, 9}}),
			"a removed b; message 7 and others won't be answered",
		},
		{
			sticktest.NewMessage("a", stick.Message{
				To: []stick.AgentID{"b"}, Category: stick.Info, Body: "the build\nis green",
			}),
			`a told b: "the build is green"`,
		},
		{
			sticktest.NewMessage("a", stick.Message{
				To: []stick.AgentID{stick.ToRoom}, Category: stick.Info, Subject: "lunch", Body: "at noon",
			}),
			`a told everybody: "lunch"`,
		},
		{
			sticktest.NewMessage("a", stick.Message{
				To: []stick.AgentID{"b", "c", "d", "e", "f"}, Category: stick.Info, Body: "hi",
			}),
			`a told b, c, d and 2 more: "hi"`,
		},
		{
			sticktest.NewMessage("a", stick.Message{
				To: []stick.AgentID{stick.ToSystem}, Category: stick.Info, Body: "hi",
			}),
			`a told the log: "hi"`,
		},
		{
			sticktest.NewMessage("a", stick.Message{
				To: []stick.AgentID{"b"}, Category: stick.Handover, Subject: "parser",
			}),
			`Passed to b by a: "parser"`,
		},
		{
			sticktest.NewMessage("a", stick.Message{
				To: []stick.AgentID{"b"}, Category: stick.Blocked,
				Contract: stick.Contract{Blocker: "no key"},
			}),
			`Needs input from b, says a: "no key"`,
		},
		{
			sticktest.NewMessage("a", stick.Message{To: []stick.AgentID{"b"}, Category: stick.Resume, Subject: "s"}),
			`a resumed work and told b: "s"`,
		},
		{
			sticktest.NewMessage("a", stick.Message{
				To: []stick.AgentID{"b"}, Category: stick.Incursion, Subject: "src/",
			}),
			`a overlaps with b: "src/"`,
		},
		{
			sticktest.NewMessage("a", stick.Message{To: []stick.AgentID{"b"}, Category: "LATER", Subject: "s"}),
			`a told b: "s"`,
		},
		{
			ofTask("ui-7",
				sticktest.NewMessage("a", stick.Message{To: []stick.AgentID{"b"}, Category: stick.Info, Body: "hi"})),
			`a told b about ui-7: "hi"`,
		},
		{
			ofTask("ui-7",
				overlapped(
					stick.IncursionPayload{Pattern: "src", Held: "src/a", Witness: "src/a/x", Verdict: stick.Alive},
					"partial",
				)),
			"a reserved src for ui-7, which overlaps in part with src/a, reserved by b (alive); agree who changes src/a/x; then one of you narrows its scope (tt unreserve, tt reserve)",
		},
		{
			overlapped(
				stick.IncursionPayload{
					Pattern: "src", Held: "src/a", Witness: "src/a/x", Verdict: stick.Unknown, Refused: true,
				},
				"partial",
			),
			"a wants src, which overlaps in part with src/a, reserved by b (unknown); agree who changes src/a/x; then one of you narrows its scope (tt unreserve, tt reserve)",
		},
		{
			overlapped(stick.IncursionPayload{Pattern: "src", Held: "src", Verdict: stick.Gone}, "exact"),
			"a wants src, exactly what b (gone) has reserved; b keeps the scope; agree who goes first, and tt unreserve when it is free",
		},
		{
			stick.Event{Type: stick.EventIncursion, From: "a", To: "b"}.WithPayload(stick.IncursionPayload{
				Pattern: "src", Held: "src/a",
			}),
			"a reserved src, which overlaps in part with src/a, reserved by b",
		},
		{
			ofTask("ui-7",
				stick.Event{Type: stick.EventUnreserved, From: "a"}.WithPayload(stick.UnreservedPayload{Pattern: "src"})),
			"a released src for ui-7",
		},
		{stick.Event{Type: stick.EventMessageSent, From: "a"}, "a sent a message"},
		{
			stick.Event{Type: stick.EventMessageRead, From: "b", To: "a"}.WithPayload(stick.MessageReadPayload{MessageID: 7}),
			"Seen by b: message 7",
		},
		{
			stick.Event{Type: stick.EventMessageAcked, From: "b", To: "a"}.WithPayload(stick.MessageAckedPayload{MessageID: 7}),
			"Accepted by b: message 7",
		},
		{
			stick.Event{Type: stick.EventMessageWithdrawn, From: "a"}.WithPayload(stick.MessageWithdrawnPayload{MessageID: 7}),
			"a withdrew message 7",
		},
		{
			stick.Event{Type: stick.EventNoteAdded, From: "a"}.WithPayload(stick.NoteAddedPayload{Note: "mind\nthe gap"}),
			`a left a note: "mind the gap"`,
		},
		{
			stick.Event{Type: stick.EventNoteResolved, From: "a"}.WithPayload(stick.NoteResolvedPayload{NoteID: 7}),
			"a resolved note 7",
		},
		{stick.Event{Type: "later\x1b[31m", From: "a"}, `"later\x1b[31m" by a`},
	} {
		t.Run(string(c.want), func(t *testing.T) { sticktest.Equal(t, "line", c.e.Say(), c.want) })
	}

	idle := stick.Event{
		Type: stick.EventOwnerIdle, To: "a", Turn: 3, CreatedAt: sticktest.Start.Add(50 * time.Minute),
	}.WithPayload(stick.OwnerIdlePayload{IdleSince: sticktest.Start})
	sticktest.Equal(t, "to the owner", idle.Tell(), "you hold turn 3 and have done nothing for 50 min, so others may soon take it over; "+
		`to keep it: tt heartbeat; to give it up: tt release --status "…" --next-action "…"`)
	claimed := stick.Event{Type: stick.EventClaim, From: "a", Turn: 3}
	sticktest.Equal(t, "to somebody of whom it isn't", claimed.Tell(), claimed.Say())

	unknown := stick.Event{Type: "later", From: "a"}
	sticktest.Equal(t, "of an unknown type", unknown.Tell(), unknown.Say())
	for _, info := range stick.EventTypes {
		e := stick.Event{
			Type: info.Type, From: "a\x1b]0;x\a", To: "b\n", Reason: "r\x1b[2J\r\nx",
			Handoff: &stick.Handoff{NextAction: strings.Repeat("y\n", 500)},
		}
		line := e.Say()
		sticktest.Equal(t, string(info.Type)+" is a line", stick.Line(string(line)), string(line))
		if len([]rune(line)) > 400 {
			t.Errorf("%s says %d characters", info.Type, len(line))
		}
	}
}

func TestHolder(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b")
	sticktest.Equal(t, "idle", f.Holder(f.Now), "nobody holds the stick")
	f.Owns("a").After(5 * time.Minute)
	sticktest.Equal(t, "owned", f.Holder(f.Now), "a has held the stick for 5 min")

	f.Passes("b").After(3 * time.Second)
	sticktest.Equal(t, "reserved", f.Holder(f.Now), "the stick is reserved for b, who was named 3 s ago")
	f.Owns("b")
	sticktest.Equal(t, "owned after a handoff, whose words aren't ours", f.Holder(f.Now), "b has just taken the stick")

	f.Must(f.TryClose(stick.Closing{By: "b", Fence: f.Fence(), Handoff: &sticktest.Handoff}))
	sticktest.Equal(t, "closed", f.Holder(f.Now), "the room is closed")
}
