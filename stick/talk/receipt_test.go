package talk_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/talk"
)

func TestReceipt(t *testing.T) {
	ask := stick.Message{To: []stick.AgentID{"b"}, Body: "x", RequiresAck: true}
	t.Run("read, then acked", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		id := f.Sent("a", ask)
		sticktest.Equal(t, "sent", f.ReceiptState(id, "b"), stick.Unread)
		e := f.After(time.Second).Reads("b", id)
		sticktest.Equal(t, "state", f.ReceiptState(id, "b"), stick.Read)
		sticktest.Equal(t, "the sender isn't woken", len(e[0].Addressees()), 0)

		e, err := f.After(time.Second).Acks("b", id)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
		sticktest.Equal(t, "state", f.ReceiptState(id, "b"), stick.Acked)
		sticktest.Equal(t, "the sender is woken", e[0].Addressees()[0].Agent, "a")

		c := f.Receipts[stick.ReceiptKey{Event: id, Agent: "b"}]
		sticktest.Equal(t, "read at", c.ReadAt, sticktest.Start.Add(time.Second))
		sticktest.Equal(t, "acked at", c.AckedAt, sticktest.Start.Add(2*time.Second))
	})

	t.Run("reading never acknowledges", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		id := f.Sent("a", ask)
		f.Reads("b", id)
		sticktest.Equal(t, "open", f.Receipts[stick.ReceiptKey{Event: id, Agent: "b"}].Open(), true)
	})

	t.Run("ack on unread sets both", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		id := f.Sent("a", ask)
		f.Must(f.Acks("b", id))
		c := f.Receipts[stick.ReceiptKey{Event: id, Agent: "b"}]
		sticktest.Equal(t, "read", c.ReadAt, f.Now)
		sticktest.Equal(t, "acked", c.AckedAt, f.Now)
		sticktest.Equal(t, "events", f.Log[len(f.Log)-2].Type, stick.EventMessageSent)
	})

	t.Run("ack twice keeps the first time", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		id := f.Sent("a", ask)
		f.Must(f.Acks("b", id))
		first := f.Receipts[stick.ReceiptKey{Event: id, Agent: "b"}]
		again := f.After(time.Minute).Must(f.Acks("b", id))
		sticktest.Equal(t, "events", len(again), 0)
		sticktest.Equal(t, "receipt", f.Receipts[stick.ReceiptKey{Event: id, Agent: "b"}], first)
	})

	t.Run("read after ack changes nothing", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		id := f.Sent("a", ask)
		f.Must(f.Acks("b", id))
		sticktest.Equal(t, "events", len(f.After(time.Minute).Reads("b", id)), 0)
	})

	t.Run("what asks only to be read is closed by reading", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		id := f.Sent("a", sticktest.To("b"))
		sticktest.Equal(t, "open", f.Receipts[stick.ReceiptKey{Event: id, Agent: "b"}].Open(), true)
		f.Reads("b", id)
		sticktest.Equal(t, "open", f.Receipts[stick.ReceiptKey{Event: id, Agent: "b"}].Open(), false)
	})

	t.Run("withdrawn", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c")
		id := f.Sent("a", stick.Message{To: []stick.AgentID{"b", "c"}, Body: "x", RequiresAck: true})
		f.Must(f.Acks("b", id))
		e := f.Withdraws("a", id)
		sticktest.Equal(t, "who accepted keeps it", f.ReceiptState(id, "b"), stick.Acked)
		sticktest.Equal(t, "the other one is told", e[0].Addressees()[0].Agent, "c")
		sticktest.Equal(t, "state", f.ReceiptState(id, "c"), stick.Withdrawn)
		sticktest.Equal(t, "open", f.Receipts[stick.ReceiptKey{Event: id, Agent: "c"}].Open(), false)

		_, err := f.Acks("c", id)
		sticktest.Refused(t, err, stick.CodeAckForbidden, map[string]any{"message_id": id})
		sticktest.Equal(t, "reading it changes nothing", len(f.Reads("c", id)), 0)
		sticktest.Equal(t, "twice", len(f.Withdraws("a", id)), 0)
	})

	t.Run("undeliverable while the recipient is away", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c")
		id := f.Sent("a", stick.Message{To: []stick.AgentID{"b", "c"}, Body: "x", RequiresAck: true})
		f.Must(f.TryLeave(stick.Leaving{By: "b"}))
		f.Gone("c")
		sticktest.Equal(t, "left", f.ReceiptState(id, "b"), stick.Undeliverable)
		sticktest.Equal(t, "gone", f.ReceiptState(id, "c"), stick.Undeliverable)

		f.WithMembers("b")
		sticktest.Equal(t, "back", f.ReceiptState(id, "b"), stick.Unread)
		f.Must(f.Acks("b", id))
		f.Must(f.TryLeave(stick.Leaving{By: "b"}))
		sticktest.Equal(t, "who accepted and left", f.ReceiptState(id, "b"), stick.Acked)
	})

	t.Run("what an agent does on a person's word is told to people", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "human:x", "human:y").Owns("b")
		if _, err := f.TryTake(stick.Take{By: "a", Reason: "asked to", Operator: true, Relayed: true}); err != nil {
			t.Fatal(err)
		}
		taken := f.Log[len(f.Log)-1].Seq
		sticktest.Equal(t, "x", f.Receipts[stick.ReceiptKey{Event: taken, Agent: "human:x"}].Owes, stick.OwesReading)
		sticktest.Equal(t, "y", f.Receipts[stick.ReceiptKey{Event: taken, Agent: "human:y"}].Owes, stick.OwesReading)

		f.Reads("human:x", taken)
		sticktest.Equal(t, "seen", f.ReceiptState(taken, "human:x"), stick.Read)
		kick := f.Must(f.TryKick(stick.Kicking{By: "a", Who: "human:y", Force: true, Relayed: true}))[0].Seq
		sticktest.Equal(t, "the one who is removed owes nothing",
			f.Receipts[stick.ReceiptKey{Event: kick, Agent: "human:y"}].Owes, stick.OwesNothing)
		sticktest.Equal(t, "x", f.Receipts[stick.ReceiptKey{Event: kick, Agent: "human:x"}].Owes, stick.OwesReading)
	})

	t.Run("never goes back", rapid.MakeCheck(func(t *rapid.T) {
		order := map[stick.ReceiptState]int{stick.Unread: 0, stick.Read: 1, stick.Acked: 2, stick.Withdrawn: 3}
		c := stick.Receipt{
			Event: 1, Agent: "b",
			Owes: rapid.SampledFrom([]stick.Owes{stick.OwesReading, stick.OwesAck}).Draw(t, "owes"),
		}
		for now := stick.Time(1); now < 8; now++ {
			before := c
			switch rapid.IntRange(0, 2).Draw(t, "act") {
			case 0:
				c = c.Read(now)
			case 1:
				c, _ = c.Ack(now)
			default:
				c = c.Withdraw()
			}

			if order[c.State()] < order[before.State()] || before.State() == stick.Acked && c != before {
				t.Fatalf("%+v became %+v", before, c)
			}
			if !before.ReadAt.IsZero() && c.ReadAt != before.ReadAt || !before.Open() && c.Open() {
				t.Fatalf("%+v became %+v", before, c)
			}
		}
	}))
}

func TestAddNote(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b")
	add := func(body string, aboutTurn bool) stick.Note {
		t.Helper()
		events, err := talk.AddNote(f.Room, "a", body, aboutTurn)
		if err != nil {
			t.Fatal(err)
		}
		return talk.NoteOf(f.Commit(f.Room, events)[0])
	}

	sticktest.Equal(t, "about the room", add("x", false).Turn, 0)
	sticktest.Equal(t, "for the next turn", add("x", true).Turn, 1)
	f.Owns("a")
	n := add("x", true)
	sticktest.Equal(t, "for this turn", n.Turn, 1)

	resolved := f.Commit(f.Room, talk.ResolveNote(f.Room, "b", n))
	sticktest.Equal(t, "resolved", sticktest.Said[stick.NoteResolvedPayload](resolved[0]).NoteID, n.ID)
	n = f.Record.Notes[n.ID]
	sticktest.Equal(t, "by", n.ResolvedBy, "b")
	sticktest.Equal(t, "again", len(talk.ResolveNote(f.Room, "a", n)), 0)

	for name, c := range map[string]struct {
		body string
		code stick.Code
	}{
		"empty":   {" \n", stick.CodeUsage},
		"no text": {"\xff", stick.CodeUsage},
		"NUL":     {"a\x00", stick.CodeUsage},
		"a blank": {"<note>", stick.CodeUsage},
		"large":   {long(talk.MaxNote + 1), stick.CodeMessageTooLarge},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := talk.AddNote(f.Room, "a", c.body, false)
			sticktest.Refused(t, err, c.code, map[string]any{"field": "body"})
		})
	}

	sticktest.Equal(t, "the largest", add(long(talk.MaxNote), false).Body, long(talk.MaxNote))
	f.Must(f.TryClose(stick.Closing{By: "a", Fence: f.Fence(), Handoff: &sticktest.Handoff}))
	_, err := talk.AddNote(f.Room, "a", "x", false)
	sticktest.Refused(t, err, stick.CodeRoomClosed, nil)
}

func long(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}

// A message is acknowledged by somebody else than its sender, whatever name the sender gives.
func TestMayAck_OwnMessage(t *testing.T) {
	codex := stick.Process{PID: 7, Start: 1}
	sender := stick.Actor{
		Names:     []stick.AgentID{"codex:a"},
		Processes: []stick.Evidence{{Process: codex, Proof: stick.ProvesSession}},
	}
	message := stick.Event{Seq: 4, Type: stick.EventMessageSent, From: "codex:a"}.WithPayload(stick.MessageSentPayload{
		Message: &stick.Message{Body: "may I?"},
	})
	sticktest.Refused(
		t,
		talk.MayAck(stick.Actor{Names: []stick.AgentID{"codex:two"}, Processes: sender.Processes}, sender, message),
		stick.CodeAckForbidden, map[string]any{"message_id": int64(4)},
	)
	sticktest.Refused(t, talk.MayAck(stick.Actor{Names: []stick.AgentID{"codex:two", "codex:a"}}, sender, message),
		stick.CodeAckForbidden, map[string]any{"message_id": int64(4)})
	sticktest.Equal(t, "another agent",
		talk.MayAck(stick.Actor{Names: []stick.AgentID{"claude:b"}}, sender, message), nil)
	sticktest.Equal(t, "no message",
		talk.MayAck(sender, sender, stick.Event{Seq: 5, Type: stick.EventIncursion, From: "codex:a"}), nil)
}
