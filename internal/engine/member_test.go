package engine_test

import (
	"slices"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestMembersComeAndGo: members join, leave with the stick or without it, and come back.
func TestMembersComeAndGo(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.Leave().Refused(stick.CodeNoRoom)
	ann.GetRoomState(engine.GetRoomStateParams{}).Refused(stick.CodeNoRoom)

	ann.Join().That("made and joined", func(r engine.JoinPathResult) bool {
		return r.Created && r.Joined && r.Template["status"] != ""
	})
	ann.Join().That("as before", func(r engine.JoinPathResult) bool { return !r.Created && !r.Joined })
	bob.Leave().Refused(stick.CodeUnknownMember)
	ann.Try().Granted(1)
	ann.Leave().Refused(stick.CodeInvalidHandoff)
	ann.Send(ann, "x").Refused(stick.CodeUsage)

	bob.Join().OK()
	bob.SendAs(engine.SendMessageParams{To: []stick.AgentID{ann.ID}, Body: "b", Category: string(stick.Blocked)}).OK()
	ann.LeaveRoom(engine.LeaveRoomParams{Handoff: new(scene.Handoff("one", "two"))}).That("that the stick is free", func(r engine.LeaveRoomResult) bool {
		return !r.Abandoned && r.RoomState == stick.StateIdle && !r.Already
	})
	ann.Leave().That("again", func(r engine.LeaveRoomResult) bool { return r.Already })
	v := bob.State()
	s.Check(len(v.Members) == 1 && v.HiddenMembers == 1, "%+v", v)
	all := bob.GetRoomState(engine.GetRoomStateParams{All: true}).OK()
	s.Check(len(all.Members) == 2 && all.Members[0].Status == "left", "%+v", all)
	bob.Try().Granted(2).Handoff("one")
	ann.Try().Brings("b")
	bob.LeaveRoom(engine.LeaveRoomParams{Fence: engine.Fence{Turn: 1, Lease: "x"}, Abandon: "why"}).Refused(stick.CodeTurnMismatch)

	bob.Abandon("no time").That("abandoned", func(r engine.LeaveRoomResult) bool { return r.Abandoned })
	ann.Try().Granted(3).Recovers("one", 1)
}

// TestGetState_MemberProcess: whoever looks at a room can find out where an agent runs, as long as it
// does.
func TestGetState_MemberProcess(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	bob.Try().Granted(1)
	process := func() stick.Process { return ann.State().Members[1].Process }
	is := process()
	s.Check(!is.IsZero() && is == bob.By.Process, "it runs as %+v", is)
	bob.Dies()
	s.Check(process().IsZero(), "it is gone, and runs as %+v", process())
}

// TestEvict_GoneMember: any member may kick one that is gone, and others only with force. A kicked member
// comes back only by an explicit join.
func TestEvict_GoneMember(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c"), s.Person("carl")
	s.Joins(ann, bob)
	bob.Try().Granted(1)
	ann.Kick(bob).Refused(stick.CodeMemberPresent)
	ann.Kick(cyd).Refused(stick.CodeUnknownMember)
	cyd.Kick(bob).Refused(stick.CodeUnknownMember)

	m := bob.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{ann.ID}, Body: "b", Category: string(stick.Blocked), RequiresAck: new(true),
	}).ID()
	back := ann.SendAs(engine.SendMessageParams{To: []stick.AgentID{bob.ID}, Body: "b", RequiresAck: new(true)}).ID()
	bob.Dies()
	ann.Kick(bob).That("that its turn ends", func(r engine.KickMemberResult) bool {
		return r.EndedTurn && r.Verdict == stick.Gone
	})
	ann.Kick(bob).That("again", func(r engine.KickMemberResult) bool { return r.Already })
	ann.Try().Granted(2)
	ann.Accepts(m).OK()
	shown := ann.GetMessage(engine.GetMessageParams{MessageID: back}).OK()
	s.Check(shown.Receipts[0].State == stick.Undeliverable, "%+v", shown.Receipts)
	bob = bob.Returns()
	bob.Send(ann, "hello").Refused(stick.CodeKicked)
	bob.Release("s", "n").Refused(stick.CodeKicked)

	bob.Try().Is(stick.WasKicked)
	bob.Join().That("that it is back", func(r engine.JoinPathResult) bool { return r.Joined })
	carl.KickAnyway(bob).OK()

	s.Logged(
		stick.EventJoin, stick.EventJoin, stick.EventClaim, stick.EventMessageSent, stick.EventMessageSent, stick.EventKick, stick.EventClaim,
		stick.EventMessageAcked, stick.EventJoin, stick.EventKick,
	)
}

// TestCloseRoom_Closed: a closed room has no turns until somebody joins it explicitly, or a person writes in it.
func TestCloseRoom_Closed(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob)
	bob.CloseRoom(engine.CloseRoomParams{}).Refused(stick.CodeNotYourTurn)

	ann.Try().Granted(1)
	ann.CloseRoom(engine.CloseRoomParams{}).Refused(stick.CodeInvalidHandoff)
	carl.CloseRoom(engine.CloseRoomParams{}).Refused(stick.CodeNotYourTurn)
	ann.CloseRoom(engine.CloseRoomParams{Handoff: new(scene.Handoff("one", "two")), Reason: "done"}).OK()
	ann.CloseRoom(engine.CloseRoomParams{}).That("again", func(r engine.CloseRoomResult) bool { return r.Already })
	bob.Sees(stick.StateClosed)
	bob.Try().Is(stick.RoomClosed)
	bob.Tell("hello").Refused(stick.CodeRoomClosed)
	bob.Reserve("x").Refused(stick.CodeRoomClosed)
	bob.Take("me").Refused(stick.CodeRoomClosed)
	bob.Release("s", "n").Refused(stick.CodeNotYourTurn)
	ann.Heartbeat(engine.HeartbeatParams{}).Refused(stick.CodeStaleLease)

	carl.Tell("go on").That("open again", func(r engine.SendMessageResult) bool { return r.Reopened })
	bob.Try().Granted(2).Handoff("one")
	bob.Release("s", "n").OK()
	carl.CloseRoom(engine.CloseRoomParams{Reason: "over"}).OK()
	ann.Join().OK()
	ann.Sees(stick.StateIdle)
}

// TestPolicy_Story: members read and change the policy, and only a person relaxes it.
func TestPolicy_Story(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	ann.Join().OK()
	ann.Sets().That("the default, unchanged", func(r engine.SetRoomPolicyResult) bool {
		return !r.Changed && r.Policy == stick.DefaultPolicy()
	})
	bob.Sets("owner_lease_ttl=1h").Refused(stick.CodeUnknownMember)

	ann.Sets("owner_lease_ttl=1h", "order=sequence").That("changed", func(r engine.SetRoomPolicyResult) bool {
		return r.Changed && r.Policy.OwnerLeaseTTL == time.Hour && r.Policy.Order == stick.Sequence
	})
	ann.Sets("order=sequence").That("the same", func(r engine.SetRoomPolicyResult) bool { return !r.Changed })
	ann.Sets("nonsense=1").Refused(stick.CodeUsage)

	ann.Sets("enforce=stick").OK()
	ann.Sets("enforce=off").Refused(stick.CodePersonOnly)
	carl.Sets("enforce=off").OK()
}

// TestJoiningWithAPolicy: who joins may set the policy at the same time. If it may not, there is no room, and
// it has joined none.
func TestJoiningWithAPolicy(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	with := func(policy string) engine.JoinPathParams { return engine.JoinPathParams{Policy: []string{policy}} }
	ann.JoinPath(with("enforce=off")).Refused(stick.CodePersonOnly)
	ann.JoinPath(with("enforce=never")).Refused(stick.CodeUsage)
	ann.GetRoomState(engine.GetRoomStateParams{}).Refused(stick.CodeNoRoom)

	ann.JoinPath(with("enforce=stick")).That("a new room with it", func(r engine.JoinPathResult) bool {
		return r.Created && r.Policy.Enforce == stick.EnforceStick
	})
	bob.JoinPath(with("enforce=warn")).Refused(stick.CodePersonOnly)

	s.Check(len(ann.State().Members) == 1, "bob has joined")
	carl.JoinPath(with("enforce=warn")).That("relaxed by a person", func(r engine.JoinPathResult) bool {
		return r.Joined && r.Policy.Enforce == stick.EnforceWarn
	})
	ann.JoinPath(with("enforce=warn")).That("nothing new", func(r engine.JoinPathResult) bool {
		return !r.Joined && r.Policy.Enforce == stick.EnforceWarn
	})
}

// TestOrder_Story: with order=sequence the stick follows the order of the members.
func TestOrder_Story(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c"), s.Person("carl")
	s.Joins(ann, bob, cyd)
	ann.Sets("order=sequence").OK()
	carl.ReorderMembers(engine.ReorderMembersParams{Order: []stick.AgentID{"gemini", ann.ID}}).That("gemini, claude, codex", func(r engine.ReorderMembersResult) bool {
		return r.Changed && slices.Equal(r.Order, []stick.AgentID{cyd.ID, ann.ID, bob.ID})
	})
	ann.ReorderMembers(engine.ReorderMembersParams{Order: []stick.AgentID{"stranger"}}).Refused(stick.CodeUnknownMember)
	s.Agent("claude:x").ReorderMembers(engine.ReorderMembersParams{Order: []stick.AgentID{ann.ID}}).
		Refused(stick.CodeUnknownMember)

	cyd.Try().Granted(1)
	bobs, anns := bob.Waits(), ann.Waits()
	cyd.Release("s", "n").NextIs(ann)
	anns.Ends().Granted(2)
	ann.Release("s", "n").NextIs(bob)
	bobs.Ends().Granted(3)
}

// TestRoomsOfPlaces: every directory below a room finds it. A nested room needs an explicit request.
func TestRoomsOfPlaces(t *testing.T) {
	s := scene.New(t)
	below := s.Dir("work/sub/deep")
	ann := s.Agent("claude:a")
	deep := s.AgentIn("codex:b", below)
	ann.ListRooms(engine.ListRoomsParams{}).That("none", func(r engine.ListRoomsResult) bool {
		return len(r.Rooms) == 0
	})
	ann.Join().OK()
	deep.Join().That("the room above", func(r engine.JoinPathResult) bool { return r.Path == s.Work && !r.Created })
	deep.JoinPath(engine.JoinPathParams{RoomID: s.Room().ID, ForceNew: true}).Refused(stick.CodeUsage)

	deep.JoinPath(engine.JoinPathParams{ForceNew: true}).That("a nested room", func(r engine.JoinPathResult) bool {
		return r.Path == below && r.Created && r.Warning != ""
	})
	deep.JoinPath(engine.JoinPathParams{ForceNew: true}).That("the same", func(r engine.JoinPathResult) bool {
		return !r.Created && r.Warning != ""
	})

	relations := func(p engine.ListRoomsParams) (out []string) {
		for _, r := range deep.ListRooms(p).OK().Rooms {
			out = append(out, r.Relation)
		}
		return out
	}

	other := s.Dir("other")
	ann.JoinPath(engine.JoinPathParams{Path: other}).OK()
	s.Check(slices.Equal(relations(engine.ListRoomsParams{}), []string{"above", "here"}), "%v",
		relations(engine.ListRoomsParams{}))
	s.Check(slices.Contains(relations(engine.ListRoomsParams{All: true}), "elsewhere"), "%v",
		relations(engine.ListRoomsParams{All: true}))
	s.Check(slices.Equal(relations(engine.ListRoomsParams{Path: s.Work}), []string{"here", "below"}), "%v",
		relations(engine.ListRoomsParams{Path: s.Work}))
	deep.ListRooms(engine.ListRoomsParams{All: true, Limit: 1}).That("how many are hidden",
		func(r engine.ListRoomsResult) bool { return r.Hidden == 2 })
	ann.GetRoomState(engine.GetRoomStateParams{Where: core.Where{RoomID: "none"}}).Refused(stick.CodeNoRoom)

	ann.GetRoomState(engine.GetRoomStateParams{Where: s.ByID()}).OK()
	ann.JoinPath(engine.JoinPathParams{Path: "/nowhere/at/all"}).Refused(stick.CodeInvalidPath)
}
