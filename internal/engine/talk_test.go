package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// TestMessage_ReadAndAccepted: a message is sent, shown, read and accepted. Each step is recorded once, and
// an event tells its sender of the last.
func TestMessage_ReadAndAccepted(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
	s.Joins(ann, bob, cyd)
	m := ann.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{"codex"}, Body: "please", Category: string(stick.Blocked), RequiresAck: new(true),
	}).
		Reaches(bob, presence.DeliveryNextPrompt).
		That("what it should also say", func(r engine.SendMessageResult) bool {
			return r.Contract != nil && len(r.Contract.Missing) > 0
		})
	id := m.OK().MessageID
	in := bob.Inbox()
	s.Check(in.Unread == 1 && in.Unacked == 1 && len(in.Messages) == 1 && in.Messages[0].Body == "please", "%+v", in)
	bob.Looks().Brings("please")
	bob.Looks().NotYet()
	in = bob.Inbox()
	s.Check(!in.Messages[0].ShownAt.IsZero() && in.Messages[0].State == stick.Unread, "%+v", in)
	bob.Reads(id).That("read", func(r engine.MessagesResult) bool {
		return r.Messages[0].State == stick.Read && !r.Messages[0].Already
	})
	bob.Reads(id).That("again", func(r engine.MessagesResult) bool { return r.Messages[0].Already })
	bob.Accepts(id).That("accepted", func(r engine.MessagesResult) bool { return r.Messages[0].State == stick.Acked })
	bob.Accepts(id).That("again", func(r engine.MessagesResult) bool { return r.Messages[0].Already })
	ann.Looks().Brings(string(stick.EventMessageAcked))
	ann.Accepts(id).Refused(stick.CodeAckForbidden)
	cyd.Reads(id).Refused(stick.CodeReadForbidden)
	cyd.Reads(1).Refused(stick.CodeNotFound)
	cyd.Reads(999).Refused(stick.CodeNotFound)
	cyd.Reads().Refused(stick.CodeUsage)
	s.Agent("codex:x").Accepts(id).Refused(stick.CodeUnknownMember)

	shown := cyd.GetMessage(engine.GetMessageParams{MessageID: id}).OK()
	s.Check(shown.Body == "please" && len(shown.Receipts) == 1 && shown.Receipts[0].State == stick.Acked, "%+v", shown)
	cyd.GetMessage(engine.GetMessageParams{MessageID: 1}).Refused(stick.CodeNotFound)
	ann.Withdraws(id).Refused(stick.CodeWithdrawForbidden)
}

// TestMessage_TakenBack: only the sender withdraws a message, and only while nobody has accepted it.
func TestMessage_TakenBack(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
	s.Joins(ann, bob, cyd)
	id := ann.Tell("wrong").ID()
	bob.Withdraws(id).Refused(stick.CodeWithdrawForbidden)

	bob.Looks().Brings("wrong")
	ann.Withdraws(id).That("from both", func(r engine.WithdrawMessageResult) bool {
		return len(r.Withdrawn) == 2 && !r.Already
	})
	ann.Withdraws(id).That("again", func(r engine.WithdrawMessageResult) bool { return r.Already })
	ann.Withdraws(999).Refused(stick.CodeNotFound)

	bob.Looks().Brings(string(stick.EventMessageWithdrawn))
	cyd.Looks().NotYet() // it never saw the message
	gone := ann.SendAs(engine.SendMessageParams{To: []stick.AgentID{stick.ToSystem}, Body: "for the log"}).ID()
	ann.Withdraws(gone).Refused(stick.CodeWithdrawForbidden)
}

// TestMessage_Limits: some messages are refused, before a room is made for them; others get a warning.
func TestMessage_Limits(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("codex:c"), s.Person("carl")
	to := func(names ...stick.AgentID) engine.SendMessageParams {
		return engine.SendMessageParams{To: names, Body: "x"}
	}
	big := to(stick.ToRoom)
	big.Body = strings.Repeat("x", 5000)
	ann.SendAs(big).Refused(stick.CodeMessageTooLarge)

	odd := to(stick.ToRoom)
	odd.Category = "ODD"
	ann.SendAs(odd).Refused(stick.CodeUsage)
	ann.GetRoomState(engine.GetRoomStateParams{}).Refused(stick.CodeNoRoom) // nothing was made
	ann.SendAs(to()).Refused(stick.CodeUsage)

	s.Joins(ann, bob, cyd, carl)
	ann.SendAs(to("codex")).Refused(stick.CodeAmbiguousRecipient)
	ann.SendAs(to("gemini:x")).Refused(stick.CodeUnknownMember)
	ann.SendAs(to("not a name")).Refused(stick.CodeUsage)

	cyd.Dies()
	ann.SendAs(to(bob.ID, cyd.ID)).That("that cyd is left out", func(r engine.SendMessageResult) bool {
		return len(r.Recipients) == 1 && slices.Equal(r.LeftOut, []stick.AgentID{cyd.ID})
	})
	ann.Send(cyd, "x").Refused(stick.CodeNoRecipient)

	urgent := to(bob.ID)
	urgent.Hint = stick.Interrupt
	ann.SendAs(urgent).That("that it interrupts nobody", func(r engine.SendMessageResult) bool { return r.Note != "" })
	over := to(bob.ID)
	over.Category = string(stick.Handover)
	ann.SendAs(over).That("that it moves no stick", func(r engine.SendMessageResult) bool {
		return r.RequiresAck && strings.Contains(string(r.Note), "tt pass")
	})
	carl.Sets("require_contracts=true").OK()
	ann.SendAs(over).Refused(stick.CodeContractIncomplete)

	over.Done, over.Remaining, over.Next = "this", "that", "go"
	ann.SendAs(over).That("complete", func(r engine.SendMessageResult) bool { return r.Contract == nil })
	ann.SendAs(to("role:primary")).Refused(stick.CodeNoRecipient)
	odd = to(bob.ID)
	odd.ReplyTo = 999
	ann.SendAs(odd).Refused(stick.CodeNotFound)
}

// TestMessage_Thread: replies keep thread and task, and an inbox is filtered by each.
func TestMessage_Thread(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	first := ann.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{bob.ID}, Body: "one", TaskID: "t-1", Subject: "the task",
	}).ID()
	reply := bob.SendAs(engine.SendMessageParams{To: []stick.AgentID{ann.ID}, Body: "two", ReplyTo: first})
	reply.That("the thread of the task", func(r engine.SendMessageResult) bool { return r.Thread == "bead:t-1" })
	plain := ann.Send(bob, "three").ID()
	bob.SendAs(engine.SendMessageParams{To: []stick.AgentID{ann.ID}, Body: "four", ReplyTo: plain}).
		That("a thread of its own", func(r engine.SendMessageResult) bool {
			return strings.HasPrefix(r.Thread, "message:")
		})

	count := func(a *scene.Actor, p engine.GetInboxParams) int { return len(a.GetInbox(p).OK().Messages) }
	for _, c := range []struct {
		p    engine.GetInboxParams
		want int
	}{
		{engine.GetInboxParams{}, 2},
		{engine.GetInboxParams{State: "all"}, 2},
		{engine.GetInboxParams{State: "unread"}, 2},
		{engine.GetInboxParams{State: "read"}, 0},
		{engine.GetInboxParams{State: "acked"}, 0},
		{engine.GetInboxParams{TaskID: "t-1"}, 1},
		{engine.GetInboxParams{Thread: "bead:t-1"}, 1},
		{engine.GetInboxParams{From: "claude"}, 2},
		{engine.GetInboxParams{Limit: 1}, 1},
		{engine.GetInboxParams{After: plain}, 0},
	} {
		if got := count(bob, c.p); got != c.want {
			t.Errorf("%+v: %d messages, want %d", c.p, got, c.want)
		}
	}

	bob.GetInbox(engine.GetInboxParams{State: "odd"}).Refused(stick.CodeUsage)
	bob.GetInbox(engine.GetInboxParams{Limit: -1}).Refused(stick.CodeUsage)
	bob.SendAs(engine.SendMessageParams{To: []stick.AgentID{ann.ID}, Body: "five", RequiresAck: new(true)}).OK()
	owes := bob.GetInbox(engine.GetInboxParams{Sent: true}).OK()
	s.Check(len(owes.Messages) == 3 && owes.Messages[2].Body == "five", "bob's open messages: %+v", owes.Messages)
	bob.SendAs(engine.SendMessageParams{To: []stick.AgentID{ann.ID}, Body: "now", Hint: stick.Interrupt}).OK()
	s.Later(time.Hour)
	owed := ann.GetInbox(engine.GetInboxParams{}).OK()
	s.Check(slices.ContainsFunc(owed.Messages, func(m engine.InboxMessage) bool { return m.Overdue }), "%+v",
		owed.Messages)
}

// TestNotes: notes about the room, or about a turn, wait for those who come later.
func TestNotes(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann)
	bob.Note("x").Refused(stick.CodeUnknownMember)
	ann.Note(" ").Refused(stick.CodeUsage)
	ann.Note(strings.Repeat("x", 70_000)).Refused(stick.CodeMessageTooLarge)

	room := ann.Note("mind the step").OK()
	turn := ann.AddNote(engine.AddNoteParams{Body: "for the next", AboutTurn: true}).OK()
	s.Check(turn.Turn == 1, "%+v", turn)
	got := bob.Try().Granted(1)
	s.Check(got.Res.Notes == 2, "%+v", got.Res.Grant)
	bob.Release("s", "n").OK()
	list := func(p engine.ListNotesParams) int { return len(ann.ListNotes(p).OK().Notes) }
	s.Check(list(engine.ListNotesParams{}) == 1 && list(engine.ListNotesParams{All: true}) == 2, "%d",
		list(engine.ListNotesParams{}))
	bob.ResolveNote(engine.ResolveNoteParams{NoteID: room.ID}).That("resolved",
		func(r engine.ResolveNoteResult) bool { return !r.Already })
	ann.ResolveNote(engine.ResolveNoteParams{NoteID: room.ID}).That("before",
		func(r engine.ResolveNoteResult) bool { return r.Already && r.ResolvedBy == bob.ID })
	ann.ResolveNote(engine.ResolveNoteParams{NoteID: 999}).Refused(stick.CodeNotFound)
	ann.ListNotes(engine.ListNotesParams{Limit: -1}).Refused(stick.CodeUsage)
	s.Check(list(engine.ListNotesParams{}) == 0, "a note is left")
}

// TestMessage_Delivery: how a message reaches agents that wait, work or are idle, and a person.
func TestMessage_Delivery(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob, carl)
	ann.Send(carl, "hello").Reaches(carl, presence.DeliveryNeedsPerson)
	parked := bob.Parks()
	ann.Send(bob, "waiting?").Reaches(bob, presence.DeliveryListening)
	parked.Ends().Brings("waiting?")
	bob.Works()
	ann.Send(bob, "working?").Reaches(bob, presence.DeliveryNextTool)
	shown, _ := bob.Works()
	s.Check(slices.Equal(shown, []string{"working?"}), "shown %q", shown)
	bob.Idle()
	ann.Send(bob, "idle?").Reaches(bob, presence.DeliveryNextPrompt)
	bob.WaitForWake().Ends().Brings("idle?")
	shown, _ = bob.Works()
	s.Check(len(shown) == 0, "shown again: %q", shown)
}
