package talk_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/talk"
)

func TestSend(t *testing.T) {
	t.Run("to a member", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		id := f.Sent("b", sticktest.To("a"))
		e := f.Event(id)
		sticktest.Equal(t, "type", e.Type, stick.EventMessageSent)
		sticktest.Equal(t, "to", e.To, "a")
		sticktest.Equal(t, "turn", e.Turn, 1)
		sticktest.Equal(t, "body", e.Message().Body, "hello")
		sticktest.Equal(t, "state", f.ReceiptState(id, "a"), stick.Unread)
		sticktest.Equal(t, "the stick stays", f.Turn.Owner, "a")
	})

	t.Run("to several", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d")
		e := f.Event(f.Sent("a", sticktest.To("b", "c", "b")))
		sticktest.Equal(t, "to nobody in particular", e.To, "")
		sticktest.Equal(t, "recipients", fmt.Sprint(e.Message().To), "[b c]")
		sticktest.Equal(t, "not to others",
			slices.ContainsFunc(e.For, func(x stick.Addressee) bool { return x.Agent == "d" }), false)
	})

	t.Run("to the room", func(t *testing.T) {
		for _, name := range []stick.AgentID{stick.ToRoom, stick.ToBroadcast} {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "d", "e").Gone("d")
			f.Must(f.TryLeave(stick.Leaving{By: "e"}))
			e := f.Event(f.Sent("a", sticktest.To(name)))
			sticktest.Equal(t, "to", fmt.Sprint(e.Message().To), "[room]")
			sticktest.Equal(t, "left out", fmt.Sprint(e.Message().LeftOut), "[d]")
			sticktest.Equal(t, "recipients", fmt.Sprint(e.For), "[{b 1} {c 1}]")
		}
	})

	t.Run("to the log", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		e := f.Event(f.Sent("a", sticktest.To(stick.ToSystem)))
		sticktest.Equal(t, "recipients", len(e.For), 0)
	})

	t.Run("who is gone is left out", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Gone("b")
		e := f.Event(f.Sent("a", sticktest.To("b", "c")))
		sticktest.Equal(t, "to", e.To, "c")
		sticktest.Equal(t, "left out", fmt.Sprint(e.Message().LeftOut), "[b]")
		_, err := f.TrySend("a", sticktest.To("b"))
		sticktest.Refused(t, err, stick.CodeNoRecipient, map[string]any{"left_out": "[b]"})
	})

	t.Run("nobody else is there", func(t *testing.T) {
		_, err := sticktest.NewRoom(t).WithMembers("a").TrySend("a", sticktest.To(stick.ToRoom))
		sticktest.Refused(t, err, stick.CodeNoRecipient, nil)
	})

	t.Run("a reply goes to the author, too", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c")
		for _, c := range []struct {
			to   stick.AgentID
			want string
		}{{"c", "[{c 1} {b 1}]"}, {"b", "[{b 1}]"}} {
			m := sticktest.To(c.to)
			m.Category = stick.Info
			_, events, err := talk.Send(f.Room, talk.Sending{By: "a", Author: "b", Message: m}, f.Probed, f.Now)
			sticktest.Equal(t, "code", stick.CodeOf(err), "")
			sticktest.Equal(t, "recipients", fmt.Sprint(events[0].For), c.want)
		}
	})

	t.Run("counts since the last grant", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		f.Sent("a", sticktest.To("b"))
		f.Sent("b", sticktest.To("a"))
		sticktest.Equal(t, "messages", f.Turn.Messages, 2)

		f.Releases()
		f.Sent("b", sticktest.To("a"))
		sticktest.Equal(t, "after the release", f.Turn.Messages, 3)
		f.Owns("b")
		sticktest.Equal(t, "after a grant", f.Turn.Messages, 0)
	})

	full := func(category stick.Category) stick.Contract {
		var c stick.Contract
		for _, f := range stick.ContractFields {
			if f.Category == category {
				*f.Value(&c) = "exact"
			}
		}

		if category == stick.Blocked {
			c.Urgency = "normal"
		}
		return c
	}

	many := make([]stick.AgentID, stick.MaxRecipients+1)
	for i := range many {
		many[i] = stick.AgentID(fmt.Sprintf("x:%d", i))
	}

	for _, c := range []struct {
		name  string
		m     stick.Message
		code  stick.Code
		facts map[string]any
	}{
		{"nobody", stick.Message{Body: "x"}, stick.CodeUsage, map[string]any{"field": "to"}},
		{"oneself", sticktest.To("a"), stick.CodeUsage, map[string]any{"field": "to"}},
		{"a stranger", sticktest.To("z"), stick.CodeUnknownMember, map[string]any{"to_agent_id": "z"}},
		{"one that left", sticktest.To("left"), stick.CodeUnknownMember, nil},
		{"the room and a member", sticktest.To("room", "b"), stick.CodeUsage, map[string]any{"field": "to"}},
		{"1,001 recipients", sticktest.To(many...), stick.CodeUsage, map[string]any{"field": "to"}},
		{
			"an empty body",
			stick.Message{To: []stick.AgentID{"b"}, Body: " \n\t"},
			stick.CodeUsage,
			map[string]any{"field": "body"},
		},
		{
			"4097 bytes",
			stick.Message{To: []stick.AgentID{"b"}, Body: strings.Repeat("é", 2048) + "x"},
			stick.CodeMessageTooLarge,
			map[string]any{"field": "body", "size": 4097, "max": 4096},
		},
		{
			"bytes that are no text",
			stick.Message{To: []stick.AgentID{"b"}, Body: "\xff"},
			stick.CodeUsage,
			map[string]any{"field": "body"},
		},
		{
			"NUL",
			stick.Message{To: []stick.AgentID{"b"}, Body: "a\x00b"},
			stick.CodeUsage,
			map[string]any{"field": "body"},
		},
		{
			"NUL in the subject",
			stick.Message{To: []stick.AgentID{"b"}, Body: "x", Subject: "\x00"},
			stick.CodeUsage,
			map[string]any{"field": "subject"},
		},
		{
			"a long subject",
			stick.Message{To: []stick.AgentID{"b"}, Body: "x", Subject: strings.Repeat("s", stick.MaxSubject+1)},
			stick.CodeMessageTooLarge,
			map[string]any{"field": "subject"},
		},
		{
			"a long thread",
			stick.Message{To: []stick.AgentID{"b"}, Body: "x", Thread: strings.Repeat("s", stick.MaxLabel+1)},
			stick.CodeMessageTooLarge,
			map[string]any{"field": "thread"},
		},
		{
			"another category's field",
			stick.Message{To: []stick.AgentID{"b"}, Body: "x", Contract: stick.Contract{Blocker: "y"}},
			stick.CodeUsage,
			map[string]any{"field": "blocker"},
		},
		{
			"a field that is no text",
			stick.Message{To: []stick.AgentID{"b"}, Category: stick.Blocked, Contract: stick.Contract{Blocker: "\xff"}},
			stick.CodeUsage,
			map[string]any{"field": "blocker"},
		},
		{
			"a long contract",
			stick.Message{
				To: []stick.AgentID{"b"}, Category: stick.Blocked,
				Contract: stick.Contract{Blocker: strings.Repeat("s", stick.MaxContract+1)},
			},
			stick.CodeMessageTooLarge,
			map[string]any{"field": "contract"},
		},
		{
			"another hint",
			stick.Message{To: []stick.AgentID{"b"}, Body: "x", Hint: "now"},
			stick.CodeUsage,
			map[string]any{"field": "delivery_hint"},
		},
		{
			"an urgency of no kind",
			stick.Message{To: []stick.AgentID{"b"}, Category: stick.Blocked, Contract: stick.Contract{Urgency: "asap"}},
			stick.CodeUsage,
			map[string]any{"field": "urgency"},
		},
		{
			"an overlap of no kind",
			stick.Message{
				To: []stick.AgentID{"b"}, Category: stick.Incursion,
				Contract: stick.Contract{Overlap: "some"},
			},
			stick.CodeUsage,
			map[string]any{"field": "overlap"},
		},
	} {
		t.Run("refuses "+c.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "left")
			f.Must(f.TryLeave(stick.Leaving{By: "left"}))
			_, err := f.TrySend("a", c.m)
			sticktest.Refused(t, err, c.code, c.facts)
		})
	}

	t.Run("refuses a closed room", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("human:x", "b")
		f.Must(f.TryClose(stick.Closing{By: "human:x", Person: true}))
		_, err := f.TrySend("b", sticktest.To("human:x"))
		sticktest.Refused(t, err, stick.CodeRoomClosed, nil)
	})

	t.Run("accepts 4096 bytes", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		body := strings.Repeat("é", 2048)
		sticktest.Equal(t, "body",
			f.Event(f.Sent("a", stick.Message{To: []stick.AgentID{"b"}, Body: body})).Message().Body, body)
	})

	t.Run("accepts a contract without a body", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b")
		f.Sent("a", stick.Message{
			To: []stick.AgentID{"b"}, Category: stick.Blocked, Contract: stick.Contract{Blocker: "no key"},
		})
	})

	for _, c := range stick.Categories {
		t.Run("contract of "+string(c.Category), func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b").WithPolicy("require_contracts=true")
			m := stick.Message{To: []stick.AgentID{"b"}, Category: c.Category, Body: "x"}
			if missing := m.Missing(c.Category); len(missing) > 0 {
				_, err := f.TrySend("a", m)
				sticktest.Refused(t, err, stick.CodeContractIncomplete, map[string]any{"missing": fmt.Sprint(missing)})
			}

			m.Contract = full(c.Category)
			sticktest.Equal(t, "missing", len(m.Missing(c.Category)), 0)
			e := f.Event(f.Sent("a", m))
			sticktest.Equal(t, "what it says", len(e.Message().Says()), len(m.Says()))
			sticktest.Equal(t, "asks for an acknowledgement",
				c.Category.Asks(), c.Category == stick.Handover || c.Category == stick.Blocked)
		})
	}
}

func TestUrgent(t *testing.T) {
	m := stick.Message{Hint: stick.Interrupt}
	sticktest.Equal(t, "at once", m.Urgent(sticktest.Start, sticktest.Start), true)
	sticktest.Equal(t, "within a minute", m.Urgent(sticktest.Start, sticktest.Start.Add(59*time.Second)), true)
	sticktest.Equal(t, "after a minute", m.Urgent(sticktest.Start, sticktest.Start.Add(time.Minute)), false)
	sticktest.Equal(t, "an ordinary one", stick.Message{}.Urgent(sticktest.Start, sticktest.Start), false)

	late := sticktest.Start.Add(time.Hour)
	sticktest.Equal(t, "shown in time", m.Overdue(sticktest.Start, sticktest.Start.Add(time.Second), late), false)
	sticktest.Equal(t, "shown too late", m.Overdue(sticktest.Start, sticktest.Start.Add(2*time.Minute), late), true)
	sticktest.Equal(t, "not shown yet", m.Overdue(sticktest.Start, 0, sticktest.Start.Add(time.Second)), false)
	sticktest.Equal(t, "not shown for long", m.Overdue(sticktest.Start, 0, late), true)
	sticktest.Equal(t, "an ordinary one is never overdue", stick.Message{}.Overdue(sticktest.Start, 0, late), false)
}

func TestParseCategory(t *testing.T) {
	for s, want := range map[string]stick.Category{
		"": stick.Info, "info": stick.Info, "HANDOFF": stick.Handover, "Blocked": stick.Blocked,
	} {
		got, err := talk.ParseCategory(s)
		sticktest.Equal(t, s, got, want)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
	}

	_, err := talk.ParseCategory("urgent")
	sticktest.Refused(t, err, stick.CodeUsage, map[string]any{"field": "category"})
}

func TestMessageJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 40, 80)
		m := stick.Message{
			To: []stick.AgentID{"b"}, Category: stick.Blocked, Subject: text.Draw(t, "subject"),
			Body: text.Draw(t, "body"), Thread: text.Draw(t, "thread"),
			RequiresAck: rapid.Bool().Draw(t, "ack"), ReplyTo: rapid.Int64Min(0).Draw(t, "reply to"),
			Contract: stick.Contract{
				Blocker: text.Draw(t, "blocker"), Request: text.Draw(t, "request"),
				Urgency: text.Draw(t, "urgency"),
			},
		}

		e := sticktest.NewMessage("a", m).CalledBy(stick.Caller{Terminal: "pts/1"})
		got := e.Message()
		a, _ := json.Marshal(m)
		b, _ := json.Marshal(got)
		if string(a) != string(b) || sticktest.Said[stick.MessageSentPayload](e).Terminal != "pts/1" {
			t.Fatalf("what was sent is %s, and what is read is %s", a, b)
		}
	})
}

// TestReplyToOneself: the author of a message gets the replies to it, but nobody gets a message of its own.
func TestReplyToOneself(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "c")
	for author, want := range map[stick.AgentID]int{"": 1, "a": 1, "b": 1, "c": 2} {
		m := stick.Message{To: []stick.AgentID{"b"}, Category: stick.Info, Body: "x"}
		_, events, err := talk.Send(f.Room, talk.Sending{By: "a", Author: author, Message: m}, f.Probed, f.Now)
		if err != nil {
			t.Fatal(err)
		}
		sticktest.Equal(t, "the number of recipients of a reply to "+string(author), len(events[0].For), want)
	}
}
