package stick

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestReceipt(t *testing.T) {
	ask := Message{To: []AgentID{"b"}, Body: "x", RequiresAck: true}
	t.Run("read, then acked", func(t *testing.T) {
		f := room(t).member("a", "b")
		id := f.sent("a", ask)
		equal(t, "sent", f.state(id, "b"), Unread)
		e := f.after(time.Second).reads("b", id)
		equal(t, "state", f.state(id, "b"), Read)
		equal(t, "the sender isn't woken", len(e[0].Addressees()), 0)
		e, err := f.after(time.Second).acks("b", id)
		equal(t, "error", CodeOf(err), "")
		equal(t, "state", f.state(id, "b"), Acked)
		equal(t, "the sender is woken", e[0].Addressees()[0].Agent, "a")
		c := f.receipts[ReceiptKey{id, "b"}]
		equal(t, "read at", c.ReadAt, start.Add(time.Second))
		equal(t, "acked at", c.AckedAt, start.Add(2*time.Second))
	})
	t.Run("reading never acknowledges", func(t *testing.T) {
		f := room(t).member("a", "b")
		id := f.sent("a", ask)
		f.reads("b", id)
		equal(t, "open", f.receipts[ReceiptKey{id, "b"}].Open(), true)
	})
	t.Run("ack on unread sets both", func(t *testing.T) {
		f := room(t).member("a", "b")
		id := f.sent("a", ask)
		f.must(f.acks("b", id))
		c := f.receipts[ReceiptKey{id, "b"}]
		equal(t, "read", c.ReadAt, f.now)
		equal(t, "acked", c.AckedAt, f.now)
		equal(t, "events", f.log[len(f.log)-2].Type, EventMessageSent)
	})
	t.Run("ack twice keeps the first time", func(t *testing.T) {
		f := room(t).member("a", "b")
		id := f.sent("a", ask)
		f.must(f.acks("b", id))
		first := f.receipts[ReceiptKey{id, "b"}]
		again := f.after(time.Minute).must(f.acks("b", id))
		equal(t, "events", len(again), 0)
		equal(t, "receipt", f.receipts[ReceiptKey{id, "b"}], first)
	})
	t.Run("read after ack changes nothing", func(t *testing.T) {
		f := room(t).member("a", "b")
		id := f.sent("a", ask)
		f.must(f.acks("b", id))
		equal(t, "events", len(f.after(time.Minute).reads("b", id)), 0)
	})
	t.Run("what asks only to be read is closed by reading", func(t *testing.T) {
		f := room(t).member("a", "b")
		id := f.sent("a", to("b"))
		equal(t, "open", f.receipts[ReceiptKey{id, "b"}].Open(), true)
		f.reads("b", id)
		equal(t, "open", f.receipts[ReceiptKey{id, "b"}].Open(), false)
	})
	t.Run("withdrawn", func(t *testing.T) {
		f := room(t).member("a", "b", "c")
		id := f.sent("a", Message{To: []AgentID{"b", "c"}, Body: "x", RequiresAck: true})
		f.must(f.acks("b", id))
		e := f.withdraws("a", id)
		equal(t, "who accepted keeps it", f.state(id, "b"), Acked)
		equal(t, "the other one is told", e[0].Addressees()[0].Agent, "c")
		equal(t, "state", f.state(id, "c"), Withdrawn)
		equal(t, "open", f.receipts[ReceiptKey{id, "c"}].Open(), false)
		_, err := f.acks("c", id)
		refused(t, err, CodeAckForbidden, map[string]any{"message_id": id})
		equal(t, "reading it changes nothing", len(f.reads("c", id)), 0)
		equal(t, "twice", len(f.withdraws("a", id)), 0)
	})
	t.Run("undeliverable while the recipient is away", func(t *testing.T) {
		f := room(t).member("a", "b", "c")
		id := f.sent("a", Message{To: []AgentID{"b", "c"}, Body: "x", RequiresAck: true})
		f.must(f.leave(Leaving{By: "b"}))
		f.gone("c")
		equal(t, "left", f.state(id, "b"), Undeliverable)
		equal(t, "gone", f.state(id, "c"), Undeliverable)
		f.member("b")
		equal(t, "back", f.state(id, "b"), Unread)
		f.must(f.acks("b", id))
		f.must(f.leave(Leaving{By: "b"}))
		equal(t, "who accepted and left", f.state(id, "b"), Acked)
	})
	t.Run("what an agent does on a person's word is told to people", func(t *testing.T) {
		f := room(t).member("a", "b", "human:x", "human:y").owns("b")
		if _, err := f.take(Take{By: "a", Reason: "asked to", Operator: true, Relayed: true}); err != nil {
			t.Fatal(err)
		}
		taken := f.log[len(f.log)-1].Seq
		equal(t, "x", f.receipts[ReceiptKey{taken, "human:x"}].Owes, OwesReading)
		equal(t, "y", f.receipts[ReceiptKey{taken, "human:y"}].Owes, OwesReading)
		f.reads("human:x", taken)
		equal(t, "seen", f.state(taken, "human:x"), Read)
		kick := f.must(f.kick(Kicking{By: "a", Who: "human:y", Force: true, Relayed: true}))[0].Seq
		equal(t, "the one who is removed owes nothing", f.receipts[ReceiptKey{kick, "human:y"}].Owes, OwesNothing)
		equal(t, "x", f.receipts[ReceiptKey{kick, "human:x"}].Owes, OwesReading)
	})
	t.Run("never goes back", rapid.MakeCheck(func(t *rapid.T) {
		order := map[ReceiptState]int{Unread: 0, Read: 1, Acked: 2, Withdrawn: 3}
		c := Receipt{Event: 1, Agent: "b", Owes: rapid.SampledFrom([]Owes{OwesReading, OwesAck}).Draw(t, "owes")}
		for now := Time(1); now < 8; now++ {
			before := c
			switch rapid.IntRange(0, 2).Draw(t, "act") {
			case 0:
				c = c.Read(now)
			case 1:
				c, _ = c.Ack(now)
			default:
				c = c.Withdraw()
			}
			if order[c.State()] < order[before.State()] || before.State() == Acked && c != before {
				t.Fatalf("%+v became %+v", before, c)
			}
			if !before.ReadAt.IsZero() && c.ReadAt != before.ReadAt || !before.Open() && c.Open() {
				t.Fatalf("%+v became %+v", before, c)
			}
		}
	}))
}

func TestNote(t *testing.T) {
	f := room(t).member("a", "b")
	add := func(body string, aboutTurn bool) Note {
		t.Helper()
		events, err := f.AddNote("a", body, aboutTurn)
		if err != nil {
			t.Fatal(err)
		}
		return NoteOf(f.commit(f.Room, events)[0])
	}
	equal(t, "about the room", add("x", false).Turn, 0)
	equal(t, "for the next turn", add("x", true).Turn, 1)
	f.owns("a")
	n := add("x", true)
	equal(t, "for this turn", n.Turn, 1)
	resolved := f.commit(f.Room, f.ResolveNote("b", n))
	equal(t, "resolved", said[NoteResolvedPayload](resolved[0]).NoteID, n.ID)
	n = f.rec.Notes[n.ID]
	equal(t, "by", n.ResolvedBy, "b")
	equal(t, "again", len(f.ResolveNote("a", n)), 0)
	for name, c := range map[string]struct {
		body string
		code Code
	}{
		"empty":   {" \n", CodeUsage},
		"no text": {"\xff", CodeUsage},
		"NUL":     {"a\x00", CodeUsage},
		"a blank": {"<note>", CodeUsage},
		"large":   {long(MaxNote + 1), CodeMessageTooLarge},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := f.AddNote("a", c.body, false)
			refused(t, err, c.code, map[string]any{"field": "body"})
		})
	}
	equal(t, "the largest", add(long(MaxNote), false).Body, long(MaxNote))
	f.must(f.close(Closing{By: "a", Fence: f.fence(), Handoff: &handoff}))
	_, err := f.AddNote("a", "x", false)
	refused(t, err, CodeRoomClosed, nil)
}

func long(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}

// A message is acknowledged by somebody else than its sender, whatever name the sender gives.
func TestNobodyAcknowledgesTheirOwnMessage(t *testing.T) {
	codex := Process{PID: 7, Start: 1}
	sender := Actor{Names: []AgentID{"codex:a"}, Processes: []Evidence{{Process: codex, Proof: ProvesSession}}}
	message := Event{Seq: 4, Type: EventMessageSent, From: "codex:a"}.withPayload(MessageSentPayload{Message: &Message{Body: "may I?"}})
	refused(t, MayAck(Actor{Names: []AgentID{"codex:two"}, Processes: sender.Processes}, sender, message), CodeAckForbidden, map[string]any{"message_id": int64(4)})
	refused(t, MayAck(Actor{Names: []AgentID{"codex:two", "codex:a"}}, sender, message), CodeAckForbidden, map[string]any{"message_id": int64(4)})
	equal(t, "another agent", MayAck(Actor{Names: []AgentID{"claude:b"}}, sender, message), nil)
	equal(t, "no message", MayAck(sender, sender, Event{Seq: 5, Type: EventIncursion, From: "codex:a"}), nil)
}
