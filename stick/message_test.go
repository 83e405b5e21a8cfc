package stick

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// to is a plain message.
func to(names ...AgentID) Message { return Message{To: names, Body: "hello"} }

func TestSend(t *testing.T) {
	t.Run("to a member", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		id := f.sent("b", to("a"))
		e := f.event(id)
		equal(t, "type", e.Type, EventMessageSent)
		equal(t, "to", e.To, "a")
		equal(t, "turn", e.Turn, 1)
		equal(t, "body", e.Message().Body, "hello")
		equal(t, "state", f.state(id, "a"), Unread)
		equal(t, "the stick stays", f.Turn.Owner, "a")
	})
	t.Run("to several", func(t *testing.T) {
		f := room(t).member("a", "b", "c", "d")
		e := f.event(f.sent("a", to("b", "c", "b")))
		equal(t, "to nobody in particular", e.To, "")
		equal(t, "recipients", fmt.Sprint(e.Message().To), "[b c]")
		equal(t, "not to others", slices.ContainsFunc(e.For, func(x Addressee) bool { return x.Agent == "d" }), false)
	})
	t.Run("to the room", func(t *testing.T) {
		for _, name := range []AgentID{ToRoom, ToBroadcast} {
			f := room(t).member("a", "b", "c", "d", "e").gone("d")
			f.must(f.leave(Leaving{By: "e"}))
			e := f.event(f.sent("a", to(name)))
			equal(t, "to", fmt.Sprint(e.Message().To), "[room]")
			equal(t, "left out", fmt.Sprint(e.Message().LeftOut), "[d]")
			equal(t, "recipients", fmt.Sprint(e.For), "[{b 1} {c 1}]")
		}
	})
	t.Run("to the log", func(t *testing.T) {
		f := room(t).member("a")
		e := f.event(f.sent("a", to(ToSystem)))
		equal(t, "recipients", len(e.For), 0)
	})
	t.Run("who is gone is left out", func(t *testing.T) {
		f := room(t).member("a", "b", "c").gone("b")
		e := f.event(f.sent("a", to("b", "c")))
		equal(t, "to", e.To, "c")
		equal(t, "left out", fmt.Sprint(e.Message().LeftOut), "[b]")
		_, err := f.send("a", to("b"))
		refused(t, err, CodeNoRecipient, map[string]any{"left_out": "[b]"})
	})
	t.Run("nobody else is there", func(t *testing.T) {
		_, err := room(t).member("a").send("a", to(ToRoom))
		refused(t, err, CodeNoRecipient, nil)
	})
	t.Run("a reply goes to the author, too", func(t *testing.T) {
		f := room(t).member("a", "b", "c")
		for _, c := range []struct {
			to   AgentID
			want string
		}{{"c", "[{c 1} {b 1}]"}, {"b", "[{b 1}]"}} {
			m := to(c.to)
			m.Category = Info
			_, events, err := f.Send(Sending{By: "a", Author: "b", Message: m}, f.s, f.now)
			equal(t, "code", CodeOf(err), "")
			equal(t, "recipients", fmt.Sprint(events[0].For), c.want)
		}
	})
	t.Run("counts since the last grant", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		f.sent("a", to("b"))
		f.sent("b", to("a"))
		equal(t, "messages", f.Turn.Messages, 2)
		f.releases()
		f.sent("b", to("a"))
		equal(t, "after the release", f.Turn.Messages, 3)
		f.owns("b")
		equal(t, "after a grant", f.Turn.Messages, 0)
	})
	full := func(category Category) Contract {
		var c Contract
		for _, f := range ContractFields {
			if f.Category == category {
				*f.Value(&c) = "exact"
			}
		}
		if category == Blocked {
			c.Urgency = "normal"
		}
		return c
	}
	many := make([]AgentID, MaxRecipients+1)
	for i := range many {
		many[i] = AgentID(fmt.Sprintf("x:%d", i))
	}
	for _, c := range []struct {
		name  string
		m     Message
		code  Code
		facts map[string]any
	}{
		{"nobody", Message{Body: "x"}, CodeUsage, map[string]any{"field": "to"}},
		{"oneself", to("a"), CodeUsage, map[string]any{"field": "to"}},
		{"a stranger", to("z"), CodeUnknownMember, map[string]any{"to_agent_id": "z"}},
		{"one that left", to("left"), CodeUnknownMember, nil},
		{"the room and a member", to("room", "b"), CodeUsage, map[string]any{"field": "to"}},
		{"1,001 recipients", to(many...), CodeUsage, map[string]any{"field": "to"}},
		{"an empty body", Message{To: []AgentID{"b"}, Body: " \n\t"}, CodeUsage, map[string]any{"field": "body"}},
		{"4097 bytes", Message{To: []AgentID{"b"}, Body: strings.Repeat("é", 2048) + "x"}, CodeMessageTooLarge, map[string]any{"field": "body", "size": 4097, "max": 4096}},
		{"bytes that are no text", Message{To: []AgentID{"b"}, Body: "\xff"}, CodeUsage, map[string]any{"field": "body"}},
		{"NUL", Message{To: []AgentID{"b"}, Body: "a\x00b"}, CodeUsage, map[string]any{"field": "body"}},
		{"NUL in the subject", Message{To: []AgentID{"b"}, Body: "x", Subject: "\x00"}, CodeUsage, map[string]any{"field": "subject"}},
		{"a long subject", Message{To: []AgentID{"b"}, Body: "x", Subject: strings.Repeat("s", MaxSubject+1)}, CodeMessageTooLarge, map[string]any{"field": "subject"}},
		{"a long thread", Message{To: []AgentID{"b"}, Body: "x", Thread: strings.Repeat("s", MaxLabel+1)}, CodeMessageTooLarge, map[string]any{"field": "thread"}},
		{"another category's field", Message{To: []AgentID{"b"}, Body: "x", Contract: Contract{Blocker: "y"}}, CodeUsage, map[string]any{"field": "blocker"}},
		{"a field that is no text", Message{To: []AgentID{"b"}, Category: Blocked, Contract: Contract{Blocker: "\xff"}}, CodeUsage, map[string]any{"field": "blocker"}},
		{"a long contract", Message{To: []AgentID{"b"}, Category: Blocked, Contract: Contract{Blocker: strings.Repeat("s", MaxContract+1)}}, CodeMessageTooLarge, map[string]any{"field": "contract"}},
		{"another hint", Message{To: []AgentID{"b"}, Body: "x", Hint: "now"}, CodeUsage, map[string]any{"field": "delivery_hint"}},
		{"an urgency of no kind", Message{To: []AgentID{"b"}, Category: Blocked, Contract: Contract{Urgency: "asap"}}, CodeUsage, map[string]any{"field": "urgency"}},
		{"an overlap of no kind", Message{To: []AgentID{"b"}, Category: Incursion, Contract: Contract{Overlap: "some"}}, CodeUsage, map[string]any{"field": "overlap"}},
	} {
		t.Run("refuses "+c.name, func(t *testing.T) {
			f := room(t).member("a", "b", "left")
			f.must(f.leave(Leaving{By: "left"}))
			_, err := f.send("a", c.m)
			refused(t, err, c.code, c.facts)
		})
	}
	t.Run("refuses a closed room", func(t *testing.T) {
		f := room(t).member("human:x", "b")
		f.must(f.close(Closing{By: "human:x", Person: true}))
		_, err := f.send("b", to("human:x"))
		refused(t, err, CodeRoomClosed, nil)
	})
	t.Run("accepts 4096 bytes", func(t *testing.T) {
		f := room(t).member("a", "b")
		body := strings.Repeat("é", 2048)
		equal(t, "body", f.event(f.sent("a", Message{To: []AgentID{"b"}, Body: body})).Message().Body, body)
	})
	t.Run("accepts a contract without a body", func(t *testing.T) {
		f := room(t).member("a", "b")
		f.sent("a", Message{To: []AgentID{"b"}, Category: Blocked, Contract: Contract{Blocker: "no key"}})
	})
	for _, c := range Categories {
		t.Run("contract of "+string(c.Category), func(t *testing.T) {
			f := room(t).member("a", "b").policy("require_contracts=true")
			m := Message{To: []AgentID{"b"}, Category: c.Category, Body: "x"}
			if missing := m.Missing(c.Category); len(missing) > 0 {
				_, err := f.send("a", m)
				refused(t, err, CodeContractIncomplete, map[string]any{"missing": fmt.Sprint(missing)})
			}
			m.Contract = full(c.Category)
			equal(t, "missing", len(m.Missing(c.Category)), 0)
			e := f.event(f.sent("a", m))
			equal(t, "what it says", len(e.Message().Says()), len(m.Says()))
			equal(t, "asks for an acknowledgement", c.Category.Asks(), c.Category == Handover || c.Category == Blocked)
		})
	}
}

func TestUrgent(t *testing.T) {
	m := Message{Hint: Interrupt}
	equal(t, "at once", m.Urgent(start, start), true)
	equal(t, "within a minute", m.Urgent(start, start.Add(59*time.Second)), true)
	equal(t, "after a minute", m.Urgent(start, start.Add(time.Minute)), false)
	equal(t, "an ordinary one", Message{}.Urgent(start, start), false)
	late := start.Add(time.Hour)
	equal(t, "shown in time", m.Overdue(start, start.Add(time.Second), late), false)
	equal(t, "shown too late", m.Overdue(start, start.Add(2*time.Minute), late), true)
	equal(t, "not shown yet", m.Overdue(start, 0, start.Add(time.Second)), false)
	equal(t, "not shown for long", m.Overdue(start, 0, late), true)
	equal(t, "an ordinary one is never overdue", Message{}.Overdue(start, 0, late), false)
}

func TestParseCategory(t *testing.T) {
	for s, want := range map[string]Category{"": Info, "info": Info, "HANDOFF": Handover, "Blocked": Blocked} {
		got, err := ParseCategory(s)
		equal(t, s, got, want)
		equal(t, "error", CodeOf(err), "")
	}
	_, err := ParseCategory("urgent")
	refused(t, err, CodeUsage, map[string]any{"field": "category"})
}

func TestMessageJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 40, 80)
		m := Message{
			To: []AgentID{"b"}, Category: Blocked, Subject: text.Draw(t, "subject"), Body: text.Draw(t, "body"), Thread: text.Draw(t, "thread"),
			RequiresAck: rapid.Bool().Draw(t, "ack"), ReplyTo: rapid.Int64Min(0).Draw(t, "reply to"),
			Contract: Contract{Blocker: text.Draw(t, "blocker"), Request: text.Draw(t, "request"), Urgency: text.Draw(t, "urgency")},
		}
		e := message("a", m).CalledBy(Caller{Terminal: "pts/1"})
		got := e.Message()
		a, _ := json.Marshal(m)
		b, _ := json.Marshal(got)
		if string(a) != string(b) || said[MessageSentPayload](e).Terminal != "pts/1" {
			t.Fatalf("what was sent is %s, and what is read is %s", a, b)
		}
	})
}

// TestReplyToOneself: the author of a message gets the replies to it, but nobody gets a message of its own.
func TestReplyToOneself(t *testing.T) {
	f := room(t).member("a", "b", "c")
	for author, want := range map[AgentID]int{"": 1, "a": 1, "b": 1, "c": 2} {
		m := Message{To: []AgentID{"b"}, Category: Info, Body: "x"}
		_, events, err := f.Send(Sending{By: "a", Author: author, Message: m}, f.s, f.now)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "the number of recipients of a reply to "+string(author), len(events[0].For), want)
	}
}
