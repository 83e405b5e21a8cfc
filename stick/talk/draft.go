package talk

import (
	"strings"

	"talkingstick/stick"
)

// EarlierDraft is a draft of a turn before another one that was given no handoff either.
type EarlierDraft struct {
	stick.Draft
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
func EarlierDrafts(drafts []stick.Draft) (all []EarlierDraft) {
	room := stick.MaxHandoff
	for _, d := range drafts[:min(len(drafts), maxEarlierDrafts)] {
		e := EarlierDraft{Draft: d, Size: d.Size()}

		// What doesn't fit any more is cut to its beginning.
		if room -= e.Size; room < 0 {
			e.Draft, e.Cut = cutToStart(d), true
		}

		all = append(all, e)
	}

	return all
}

// cutToStart returns the draft with the beginning of its texts as one text.
func cutToStart(d stick.Draft) stick.Draft {
	var texts []string
	if d.Handoff != nil {
		for _, f := range stick.HandoffFields {
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

// SaveDraft returns the draft as it is stored for the current turn, and the event that says so. If last, the
// draft that the turn has already, says the same, nothing changes and there is no event. It fails with
// [stick.CodeTurnMismatch] and [stick.CodeStaleLease], and like [stick.Draft.Check].
func SaveDraft(
	r stick.Room, by stick.AgentID, f stick.Fence, d stick.Draft, last *stick.Draft, now stick.Time,
) (stick.Draft, []stick.Event, error) {
	if err := d.Check(); err != nil {
		return d, nil, err
	}

	if err := r.CheckFence(by, f, now); err != nil {
		return d, nil, err
	}

	// It belongs to the turn that saves it, whatever the caller gave.
	d.Turn, d.Agent, d.SavedAt = r.Turn.ID, by, now
	if last != nil && d.SameAs(*last) {
		return *last, nil, nil
	}

	return d, []stick.Event{r.NewEvent(stick.EventDraftSaved, by, "").
		WithPayload(stick.DraftSavedPayload{Again: last != nil})}, nil
}

// AskDraft asks the holder of the stick for a draft, because its harness is about to summarize its
// conversation. There is no event if a isn't the holder.
func AskDraft(r stick.Room, a stick.AgentID) []stick.Event {
	if r.Closed || r.Turn.State != stick.Owned || r.Turn.Owner != a {
		return nil
	}

	return []stick.Event{r.NewEvent(stick.EventDraftAsked, "", a)}
}
