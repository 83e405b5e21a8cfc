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
		if bad := NotText(t); bad != "" {
			return badHandoff("draft", "the draft holds %s", bad)
		}

		if IsLeftBlank(t) {
			return badHandoff("draft", "the draft still has a placeholder: %s", strings.TrimSpace(t)).
				Hintf("say how far you are, and what comes next")
		}
	}

	if d.Size() > MaxHandoff {
		return badHandoff("draft", "the draft is %d bytes long; the limit is %d", d.Size(), MaxHandoff).
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
