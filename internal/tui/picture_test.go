package tui

import (
	"encoding/json"
	"strings"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// clock is when the pictures of these tests were taken.
var clock = stick.At(time.Date(2026, 3, 2, 10, 30, 0, 0, time.UTC))

func before(d time.Duration) stick.Time { return clock.Add(-d) }

// seen is a member that does something.
func seen(a stick.AgentID, does presence.AgentState, since time.Duration, tool, file string) engine.RoomMember {
	return engine.RoomMember{
		AgentID: a, Status: "active", State: stick.Joined, Verdict: stick.Alive,
		Activity: &presence.Activity{State: does, Since: before(since), LastSign: before(0), Tool: tool, File: file},
	}
}

// event is an event of a type that needs no payload to be said.
func event(seq int64, t stick.EventType, from, to stick.AgentID, ago time.Duration) stick.Event {
	return stick.Event{
		Seq: seq, Type: t, From: from, To: to, Turn: 7, CreatedAt: before(ago),
		Payload: json.RawMessage("{}"),
	}
}

// shop is a room in which four agents work: one has the stick, one waits for it, one waits for its person,
// and one is idle.
func shop() *monitor.Room {
	owner := stick.AgentID("codex:9b22")
	r := &monitor.Room{
		State: engine.GetRoomStateResult{
			PathRoom: engine.PathRoom{
				RoomID: "shop000000", Path: "/home/ann/src/shop", State: stick.StateOwned, TurnID: 7,
				Owner: &owner, GrantedAt: before(12 * time.Minute),
				NextActionOfTurn: "add the discount to the cart",
				Members: []engine.RoomMember{
					seen("claude:a3f1", presence.AgentWaits, 4*time.Minute, "", ""),
					seen("codex:9b22", presence.AgentWorks, 12*time.Minute, "Edit", "src/cart.go"),
					seen("gemini:77aa", presence.AgentAsks, 90*time.Second, "Bash", ""),
					seen("opencode:51c0", presence.AgentIdle, 3*time.Hour, "", ""),
					{AgentID: "human:ann", Status: "active", State: stick.Joined},
				},
			},
			AgentID: "human:ann", Member: true,
		},
		Tasks: []task.TaskView{
			{
				TaskID: "ui-7", State: stick.TaskInReview, StateAt: before(4 * time.Minute),
				Worker: "claude:0d12", Description: "Retry failed uploads", Attempt: 1,
				Head: "2dd9464f4a0c", Branched: "2dd9464f4a0c", Integration: "integration",
				NextAction: "tt task diff ui-7",
			},
			{
				TaskID: "ui-8", State: stick.TaskWorking, StateAt: before(2 * time.Hour),
				Worker: "codex:77e0", Description: "Show progress", Attempt: 1, Liveness: "STALE",
				Warning:    "its command has ended with exit status 1 after 2 min",
				NextAction: "tt task run ui-8", Integration: "integration",
			},
			{
				TaskID: "ui-9", State: stick.TaskAssigned, StateAt: before(time.Hour), Later: true,
				After:    []string{"ui-8"},
				WaitsFor: []task.TaskWait{{TaskID: "ui-8", State: stick.TaskWorking}},
			},
			{TaskID: "ui-1", State: stick.TaskCompleted, StateAt: before(5 * time.Hour)},
		},
		Events: []stick.Event{
			event(38, stick.EventJoin, "claude:a3f1", "", 20*time.Minute),
			event(39, stick.EventClaim, "codex:9b22", "", 12*time.Minute),
			event(40, stick.EventJoin, "gemini:77aa", "", 6*time.Minute),
			event(41, stick.EventJoin, "opencode:51c0", "", 3*time.Minute),
		},
	}

	r.Needs = []presence.Need{
		presence.NewNeed(presence.NeedAnswer, "gemini:77aa@1", before(90*time.Second), nil,
			"gemini:77aa waits for its person to answer a question").About("gemini:77aa", ""),
		message(40, "claude:0d12", "which retry limit do you want?"),
		presence.NewNeed(presence.NeedReview, "ui-7/1", before(4*time.Minute), nil, "ui-7 waits for a review").About("claude:0d12", "ui-7"),
		presence.NewNeed(presence.NeedTask,
			"ui-8/1", before(2*time.Hour), nil,
			"ui-8 is stuck: its command has ended with exit status 1 after 2 min").About("codex:77e0", "ui-8"),
	}

	return r
}

func message(id int64, from stick.AgentID, text string) presence.Need {
	n := presence.NewNeed(presence.NeedMessage, id, before(2*time.Minute), nil, "%s waits for your answer: %s",
		from, text).About(from, "")
	n.Message = id
	return n
}

// parser is a room whose holder is gone, and quiet is one in which nobody is.
func parser() *monitor.Room {
	owner := stick.AgentID("claude:51ab")
	r := &monitor.Room{State: engine.GetRoomStateResult{AgentID: "human:ann", PathRoom: engine.PathRoom{
		RoomID: "parser0000", Path: "/home/ann/src/parser", State: stick.StateOwnerGone, TurnID: 31,
		Owner: &owner, GrantedAt: before(time.Hour),
		Takeover: &engine.Takeover{Cause: stick.OwnerGone, Since: before(10 * time.Minute)},
		Members: []engine.RoomMember{
			seen("claude:51ab", presence.AgentGone, 10*time.Minute, "", ""),
			seen("codex:e0e0", presence.AgentWaits, 30*time.Minute, "", ""),
		},
	}}}

	r.Needs = []presence.Need{
		presence.NewNeed(presence.NeedTakeover,
			31, before(10*time.Minute), nil,
			"claude:51ab can't go on with the stick (its process has ended); anybody may take over").About(owner, ""),
	}
	return r
}

func quiet() *monitor.Room {
	return &monitor.Room{State: engine.GetRoomStateResult{AgentID: "human:ann", PathRoom: engine.PathRoom{
		RoomID: "quiet00000", Path: "/srv/old", State: stick.StateDormant, TurnID: 3, Members: []engine.RoomMember{},
	}}}
}

func pictured(rooms ...*monitor.Room) *monitor.Picture {
	return &monitor.Picture{At: clock, Me: "human:ann", Rooms: rooms}
}

// onScreen is a model that shows a picture.
func onScreen(p *monitor.Picture, width, height int, color bool) *model {
	m := newModel(Options{Home: "/home/ann", Color: color})
	m.picture, m.now, m.width, m.height = p, clock, width, height
	m.settleSelection()
	return &m
}

func drawn(m *model) string { return strings.Join(drawModel(m).lines, "\n") + "\n" }
