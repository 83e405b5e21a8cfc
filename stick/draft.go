package stick

import (
	"encoding/json"
	"strings"
)

// Draft is what a holder has saved of its handoff while it still works. It is no handoff: it ends nothing,
// and the room's last handoff stays. The next holder gets it if the turn ends without one.
type Draft struct {
	Turn    int64    `json:"turn_id"`
	Agent   AgentID  `json:"from_agent_id"`
	SavedAt Time     `json:"saved_at"`
	Text    string   `json:"text,omitempty"`
	Handoff *Handoff `json:"handoff,omitempty"` // as much of it as the holder gave
}

// Check refuses a draft that says nothing, that holds no text, or that has more than [MaxHandoff] bytes. It
// fails with [CodeInvalidHandoff]. Unlike a handoff, a draft may lack its status and its next action.
func (d Draft) Check() error {
	// Only the checks of optional fields count: a draft may lack what a handoff must have.
	texts := []string{d.Text}
	if h := d.Handoff; h != nil {
		for _, f := range HandoffFields {
			texts = append(texts, f.texts(*h)...)
			if f.check != nil && !f.Required {
				if err := f.check(*h); err != nil {
					return err
				}
			}
		}
	}

	if strings.TrimSpace(strings.Join(texts, "")) == "" {
		return badHandoff("draft", "the draft is empty").
			Hintf("say how far you are, and what comes next: %s", Cmd("tt handoff save --status … --next-action …"))
	}

	for _, t := range texts {
		if bad := notText(t); bad != "" {
			return badHandoff("draft", "the draft holds %s", bad)
		}

		if isLeftBlank(t) {
			return badHandoff("draft", "the draft has the blank of a printed command: %s", strings.TrimSpace(t)).
				Hintf("say how far you are, and what comes next")
		}
	}

	if d.Size() > MaxHandoff {
		return badHandoff("draft", "the draft has %d bytes; at most %d fit", d.Size(), MaxHandoff).
			Hintf("put the long part into a file of the workspace and point at it with an artifact")
	}

	return nil
}

// Size returns how many bytes the author gave, as JSON.
func (d Draft) Size() int {
	b, err := json.Marshal(d.authorsPart())
	if err != nil { // a draft is texts, so that doesn't happen
		return MaxHandoff + 1
	}

	return len(b)
}

// EarlierDraft is a draft of a turn before another one that was given no handoff either.
type EarlierDraft struct {
	Draft
	Size int  `json:"size"`          // of the whole, in bytes
	Cut  bool `json:"cut,omitempty"` // only the beginning of its text is here, because there are many
}

// How much of the drafts of earlier turns a grant brings: all of the newest that fit, and of the others the
// beginning.
const (
	maxEarlierDrafts = 20
	maxDraftStart    = 1 << 10
)

// EarlierDrafts returns what a grant brings of drafts, the newest first. Together they are bounded, however
// many turns ended without a handoff.
func EarlierDrafts(drafts []Draft) (all []EarlierDraft) {
	room := MaxHandoff
	for _, d := range drafts[:min(len(drafts), maxEarlierDrafts)] {
		e := EarlierDraft{Draft: d, Size: d.Size()}

		// What doesn't fit any more is cut to its beginning.
		if room -= e.Size; room < 0 {
			e.Draft, e.Cut = d.cutToStart(), true
		}

		all = append(all, e)
	}

	return all
}

// cutToStart returns the draft with the beginning of its texts as one text.
func (d Draft) cutToStart() Draft {
	var texts []string
	if d.Handoff != nil {
		for _, f := range HandoffFields {
			for _, text := range f.Show(*d.Handoff) {
				if text != "" {
					texts = append(texts, f.Label+": "+text)
				}
			}
		}
	}

	text := strings.Join(append(texts, d.Text), "\n")
	if len(text) > maxDraftStart {
		text = strings.ToValidUTF8(text[:maxDraftStart], "") + "…"
	}

	d.Handoff, d.Text = nil, text
	return d
}

// authorsPart is the part of a draft that its author gave.
func (d Draft) authorsPart() Draft {
	if d.Handoff != nil {
		h := *d.Handoff
		h.Workspace = nil
		d.Handoff = &h
	}

	return Draft{Text: d.Text, Handoff: d.Handoff}
}

// SameAs reports whether the author of d gave the same as the author of o in the same turn, apart from blanks
// around texts.
func (d Draft) SameAs(o Draft) bool {
	if d.Turn != o.Turn || strings.TrimSpace(d.Text) != strings.TrimSpace(o.Text) ||
		(d.Handoff == nil) != (o.Handoff == nil) {
		return false
	}

	return d.Handoff == nil || d.Handoff.SameAs(*o.Handoff)
}

// SaveDraft returns the draft as it is stored for the current turn, and the event that says so. If last, the
// draft that the turn has already, says the same, nothing changes and there is no event. It fails with
// [CodeTurnMismatch] and [CodeStaleLease], and like [Draft.Check].
func (r Room) SaveDraft(by AgentID, f Fence, d Draft, last *Draft, now Time) (Draft, []Event, error) {
	if err := d.Check(); err != nil {
		return d, nil, err
	}

	if err := r.checkFence(by, f, now); err != nil {
		return d, nil, err
	}

	// It belongs to the turn that saves it, whatever the caller gave.
	d.Turn, d.Agent, d.SavedAt = r.Turn.ID, by, now
	if last != nil && d.SameAs(*last) {
		return *last, nil, nil
	}

	return d, []Event{r.newEvent(EventDraftSaved, by, "").withPayload(DraftSavedPayload{Again: last != nil})}, nil
}

// AskDraft asks the holder of the stick for a draft, because its harness is about to summarize its
// conversation. There is no event if a isn't the holder.
func (r Room) AskDraft(a AgentID) []Event {
	if r.Closed || r.Turn.State != Owned || r.Turn.Owner != a {
		return nil
	}

	return []Event{r.newEvent(EventDraftAsked, "", a)}
}
