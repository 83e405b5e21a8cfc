package talk_test

import (
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/talk"
)

func TestDraftCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     stick.Draft
		field string // "" when it is fine
	}{
		{"a text alone", stick.Draft{Text: "half of the parser"}, ""},
		{"a next action alone", stick.Draft{Handoff: &stick.Handoff{NextAction: "n"}}, ""},
		{"both", stick.Draft{Text: "t", Handoff: &stick.Handoff{Status: "s", NextAction: "n"}}, ""},
		{
			"an artifact alone",
			stick.Draft{Handoff: &stick.Handoff{Artifacts: []stick.Artifact{{Path: "p", Role: "edit"}}}},
			"",
		},
		{"nothing", stick.Draft{}, "draft"},
		{"blanks", stick.Draft{Text: " \n", Handoff: &stick.Handoff{Status: "\t"}}, "draft"},
		{
			"only what the program adds",
			stick.Draft{Handoff: &stick.Handoff{Workspace: &stick.Workspace{Head: "h"}}},
			"draft",
		},
		{"NUL", stick.Draft{Text: "a\x00b"}, "draft"},
		{"invalid UTF-8 in a question", stick.Draft{Handoff: &stick.Handoff{OpenQuestions: []string{"\xc3"}}}, "draft"},
		{"the blank of a text", stick.Draft{Text: "…"}, "draft"},
		{
			"the blank of a status",
			stick.Draft{Text: "t", Handoff: &stick.Handoff{Status: "...", NextAction: "n"}},
			"draft",
		},
		{
			"an unknown role",
			stick.Draft{Text: "t", Handoff: &stick.Handoff{Artifacts: []stick.Artifact{{Path: "p", Role: "enjoy"}}}},
			"artifacts",
		},
		{
			"too long",
			stick.Draft{
				Text:    strings.Repeat("x", stick.MaxHandoff/2),
				Handoff: &stick.Handoff{Status: strings.Repeat("x", stick.MaxHandoff/2)},
			},
			"draft",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.d.Check()
			if c.field == "" {
				sticktest.Equal(t, "code", stick.CodeOf(err), "")
				return
			}
			sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": c.field})
		})
	}

	fits := stick.Draft{
		Text: strings.Repeat("x", stick.MaxHandoff-len(`{"turn_id":0,"from_agent_id":"","saved_at":null,"text":""}`)),
	}
	sticktest.Equal(t, "at the limit", stick.CodeOf(fits.Check()), "")
	fits.Text += "x"
	sticktest.Refused(t, fits.Check(), stick.CodeInvalidHandoff, map[string]any{"field": "draft"})
}

func TestSaveDraft(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").After(time.Minute)
	save := func(by stick.AgentID, fence stick.Fence, d stick.Draft, last *stick.Draft) (stick.Draft, []stick.Event, error) {
		return talk.SaveDraft(f.Room, by, fence, d, last, f.Now)
	}
	d, events, err := save("a", f.Fence(), stick.Draft{Text: "half"}, nil)
	sticktest.Equal(t, "code", stick.CodeOf(err), "")
	sticktest.Equal(t, "draft", d, stick.Draft{Turn: 1, Agent: "a", SavedAt: f.Now, Text: "half"})
	sticktest.Equal(t, "events", len(events), 1)
	sticktest.Equal(t, "event", events[0].Type, stick.EventDraftSaved)
	sticktest.Equal(t, "the log has no text of it", strings.Contains(string(events[0].Payload), "half"), false)

	f.After(time.Minute)
	same, events, err := save("a", f.Fence(), stick.Draft{Text: " half\n"}, &d)
	sticktest.Equal(t, "code", stick.CodeOf(err), "")
	sticktest.Equal(t, "the same again", same, d)
	sticktest.Equal(t, "without an event", len(events), 0)

	_, events, _ = save("a", f.Fence(), stick.Draft{Text: "half", Handoff: &stick.Handoff{NextAction: "n"}}, &d)
	sticktest.Equal(t, "another one", events[0].Say(), "a saved another draft of its handoff")

	_, _, err = save("b", f.Fence(), stick.Draft{Text: "x"}, nil)
	sticktest.Refused(t, err, stick.CodeStaleLease, map[string]any{"current_owner": stick.AgentID("a")})
	_, _, err = save("a", stick.Fence{Turn: f.Turn.ID, Lease: "another"}, stick.Draft{Text: "x"}, nil)
	sticktest.Refused(t, err, stick.CodeStaleLease, nil)

	was := f.Fence()
	f.Releases()
	_, _, err = save("a", was, stick.Draft{Text: "x"}, nil)
	sticktest.Refused(t, err, stick.CodeStaleLease, map[string]any{"current_owner": nil})

	f.Owns("b")
	_, _, err = save("a", was, stick.Draft{Text: "x"}, nil)
	sticktest.Refused(t, err, stick.CodeTurnMismatch, map[string]any{"current_owner": stick.AgentID("b")})
	later := stick.Draft{Turn: 2, Text: "half"}
	sticktest.Equal(t, "the draft of an earlier turn is another one", later.SameAs(d), false)
}

func TestAskDraft(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b")
	sticktest.Equal(t, "nobody holds the stick", len(talk.AskDraft(f.Room, "a")), 0)
	f.Owns("a")
	sticktest.Equal(t, "not its holder", len(talk.AskDraft(f.Room, "b")), 0)

	events := talk.AskDraft(f.Room, "a")
	sticktest.Equal(t, "its holder", len(events), 1)
	sticktest.Equal(t, "is asked", events[0].Addressees()[0].Agent, stick.AgentID("a"))
	sticktest.Equal(t, "while the turn runs", talk.Overtaken(f.Room, events[0], "a"), false)
	sticktest.Equal(t, "tells the command",
		strings.Contains(string(events[0].Tell()), `tt handoff save --status "…" --next-action "…"`), true)

	f.Releases()
	sticktest.Equal(t, "not later", talk.Overtaken(f.Room, events[0], "a"), true)
}
