package stick

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Handoff is what one holder of the stick leaves to the next.
type Handoff struct {
	Status        string     `json:"status"`      // what was done and learned, what is unfinished
	NextAction    string     `json:"next_action"` // what the next holder should do
	Artifacts     []Artifact `json:"artifacts,omitempty"`
	OpenQuestions []string   `json:"open_questions,omitempty"`
	DoNot         []string   `json:"do_not,omitempty"` // what is off limits for the next holder

	// Workspace is added by the program; what a caller gives is dropped.
	Workspace *Workspace `json:"workspace"`
}

// Artifact points at a file that the next holder should load.
type Artifact struct {
	Path  string `json:"path"`            // as it was given
	Lines *Lines `json:"lines,omitempty"` // inclusive
	Role  string `json:"role"`
	Note  string `json:"note,omitempty"`

	// RoomPath is Path relative to the room; the program adds it.
	RoomPath string `json:"room_path,omitempty"`
}

// Lines is an inclusive range of lines, counted from 1.
type Lines [2]int

// Roles are what an artifact may be for.
var Roles = []string{"examine", "review", "edit", "context", "output"}

// MaxHandoff is the largest handoff in bytes of JSON.
const MaxHandoff = 64 << 10

// Check refuses a handoff that a next holder couldn't work with: an empty status or next action,
// invalid text, an unknown role, a bad range of lines, or more than [MaxHandoff] bytes. It fails
// with [CodeInvalidHandoff], and the field is named.
func (h Handoff) Check() error {
	for _, f := range []struct{ name, text string }{{"status", h.Status}, {"next_action", h.NextAction}} {
		if strings.TrimSpace(f.text) == "" {
			return badHandoff(f.name, "handoff.%s must be non-empty", f.name).
				Hintf("say in status what you did and what is unfinished, and in next_action what the next holder should do")
		}
	}
	texts := slices.Concat([]string{h.Status, h.NextAction}, h.OpenQuestions, h.DoNot)
	for _, a := range h.Artifacts {
		texts = append(texts, a.Path, a.Note)
		if strings.TrimSpace(a.Path) == "" {
			return badHandoff("artifacts", "an artifact needs a path")
		}
		if !slices.Contains(Roles, a.Role) {
			return badHandoff("artifacts", "the role of artifact %q is one of %s, not %q",
				clip(a.Path, 60), strings.Join(Roles, ", "), clip(a.Role, 30))
		}
		if l := a.Lines; l != nil && (l[0] < 1 || l[1] < l[0]) {
			return badHandoff("artifacts", "the lines of artifact %q run from %d to %d", clip(a.Path, 60), l[0], l[1])
		}
	}
	for _, t := range texts {
		if !utf8.ValidString(t) || strings.ContainsRune(t, 0) {
			return badHandoff("handoff", "the handoff holds bytes that aren't UTF-8 text")
		}
	}
	h.Workspace = nil
	b, err := json.Marshal(h)
	if err != nil {
		return badHandoff("handoff", "the handoff can't be written as JSON")
	}
	if len(b) > MaxHandoff {
		return badHandoff("handoff", "the handoff has %d bytes; at most %d fit", len(b), MaxHandoff).
			Hintf("put the long part into a file of the workspace and point at it with an artifact")
	}
	return nil
}

func badHandoff(field, format string, args ...any) *Error {
	return Errorf(CodeInvalidHandoff, format, args...).With("field", field)
}
