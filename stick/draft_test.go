package stick

import (
	"strings"
	"testing"
	"time"
)

func TestDraftCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     Draft
		field string // "" when it is fine
	}{
		{"a text alone", Draft{Text: "half of the parser"}, ""},
		{"a next action alone", Draft{Handoff: &Handoff{NextAction: "n"}}, ""},
		{"both", Draft{Text: "t", Handoff: &Handoff{Status: "s", NextAction: "n"}}, ""},
		{"an artifact alone", Draft{Handoff: &Handoff{Artifacts: []Artifact{{Path: "p", Role: "edit"}}}}, ""},
		{"nothing", Draft{}, "draft"},
		{"blanks", Draft{Text: " \n", Handoff: &Handoff{Status: "\t"}}, "draft"},
		{"only what the program adds", Draft{Handoff: &Handoff{Workspace: &Workspace{Head: "h"}}}, "draft"},
		{"NUL", Draft{Text: "a\x00b"}, "draft"},
		{"invalid UTF-8 in a question", Draft{Handoff: &Handoff{OpenQuestions: []string{"\xc3"}}}, "draft"},
		{"the blank of a text", Draft{Text: "…"}, "draft"},
		{"the blank of a status", Draft{Text: "t", Handoff: &Handoff{Status: "...", NextAction: "n"}}, "draft"},
		{"an unknown role", Draft{Text: "t", Handoff: &Handoff{Artifacts: []Artifact{{Path: "p", Role: "enjoy"}}}}, "artifacts"},
		{"too long", Draft{Text: strings.Repeat("x", MaxHandoff/2), Handoff: &Handoff{Status: strings.Repeat("x", MaxHandoff/2)}}, "draft"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.d.Check()
			if c.field == "" {
				equal(t, "code", CodeOf(err), "")
				return
			}
			refused(t, err, CodeInvalidHandoff, map[string]any{"field": c.field})
		})
	}
	fits := Draft{Text: strings.Repeat("x", MaxHandoff-len(`{"turn_id":0,"from_agent_id":"","saved_at":null,"text":""}`))}
	equal(t, "at the limit", CodeOf(fits.Check()), "")
	fits.Text += "x"
	refused(t, fits.Check(), CodeInvalidHandoff, map[string]any{"field": "draft"})
}

func TestSaveDraft(t *testing.T) {
	f := room(t).member("a", "b").owns("a").after(time.Minute)
	save := func(by AgentID, fence Fence, d Draft, last *Draft) (Draft, []Event, error) {
		return f.SaveDraft(by, fence, d, last, f.now)
	}
	d, events, err := save("a", f.fence(), Draft{Text: "half"}, nil)
	equal(t, "code", CodeOf(err), "")
	equal(t, "draft", d, Draft{Turn: 1, Agent: "a", SavedAt: f.now, Text: "half"})
	equal(t, "events", len(events), 1)
	equal(t, "event", events[0].Type, EventDraftSaved)
	equal(t, "the log has no text of it", strings.Contains(string(events[0].Payload), "half"), false)

	f.after(time.Minute)
	same, events, err := save("a", f.fence(), Draft{Text: " half\n"}, &d)
	equal(t, "code", CodeOf(err), "")
	equal(t, "the same again", same, d)
	equal(t, "without an event", len(events), 0)
	_, events, _ = save("a", f.fence(), Draft{Text: "half", Handoff: &Handoff{NextAction: "n"}}, &d)
	equal(t, "another one", events[0].Say(), "a saved another draft of its handoff")

	_, _, err = save("b", f.fence(), Draft{Text: "x"}, nil)
	refused(t, err, CodeStaleLease, map[string]any{"current_owner": AgentID("a")})
	_, _, err = save("a", Fence{f.Turn.ID, "another"}, Draft{Text: "x"}, nil)
	refused(t, err, CodeStaleLease, nil)
	was := f.fence()
	f.releases()
	_, _, err = save("a", was, Draft{Text: "x"}, nil)
	refused(t, err, CodeStaleLease, map[string]any{"current_owner": nil})
	f.owns("b")
	_, _, err = save("a", was, Draft{Text: "x"}, nil)
	refused(t, err, CodeTurnMismatch, map[string]any{"current_owner": AgentID("b")})
	later := Draft{Turn: 2, Text: "half"}
	equal(t, "the draft of an earlier turn is another one", later.SameAs(d), false)
}

func TestAskDraft(t *testing.T) {
	f := room(t).member("a", "b")
	equal(t, "nobody holds the stick", len(f.AskDraft("a")), 0)
	f.owns("a")
	equal(t, "not its holder", len(f.AskDraft("b")), 0)
	events := f.AskDraft("a")
	equal(t, "its holder", len(events), 1)
	equal(t, "is asked", events[0].Addressees()[0].Agent, AgentID("a"))
	equal(t, "while the turn runs", f.Overtaken(events[0], "a"), false)
	equal(t, "tells the command", strings.Contains(string(events[0].Tell()), `tt handoff save --status "…" --next-action "…"`), true)
	f.releases()
	equal(t, "not later", f.Overtaken(events[0], "a"), true)
}
