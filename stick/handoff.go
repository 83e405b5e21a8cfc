package stick

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Handoff is what one holder of the stick leaves to the next.
//
// [HandoffFields] has a row for each field that a caller gives.
type Handoff struct {
	Status        string     `json:"status"`      // what was done and learned, what is unfinished
	NextAction    string     `json:"next_action"` // what the next holder should do
	Artifacts     []Artifact `json:"artifacts,omitempty"`
	OpenQuestions []string   `json:"open_questions,omitempty"`
	DoNot         []string   `json:"do_not,omitempty"` // what is off limits for the next holder

	// Workspace is added by the program, which ignores what a caller gives.
	Workspace *Workspace `json:"workspace"`
}

// HandoffField is a row of the table of a handoff's fields. The check, the flags, the text for people and
// the template are made from it. Tests compare the MCP schema and the skill with it.
type HandoffField struct {
	Name     string // in JSON
	Flag     string // of the commands that take a handoff
	Usage    string // of the flag
	Label    string // what stands before each of its values when it is shown
	Meaning  string // for the author of a handoff
	Required bool
	Repeated bool // it may have several values, or none

	// Set stores the values of the flag in a handoff.
	Set func(h *Handoff, given []string) error

	// Show returns the text that people read, one for each value.
	Show func(h Handoff) []string

	texts func(h Handoff) []string // all its texts, as they were given
	check func(h Handoff) error    // nil if every text is allowed
}

// HandoffFields is the table, in the order in which a handoff is shown.
var HandoffFields = []HandoffField{
	textField("status", func(h *Handoff) *string { return &h.Status }, HandoffField{
		Flag: "status", Label: "status", Usage: "what you did, what you learned, what is unfinished",
		Meaning: "what you did, what you learned, what is unfinished",
	}),
	textField("next_action", func(h *Handoff) *string { return &h.NextAction }, HandoffField{
		Flag: "next-action", Label: "next", Usage: "what the next holder should do",
		Meaning: "what the next holder should do",
	}),
	{
		Name: "artifacts", Flag: "artifact", Label: "file", Repeated: true,
		Usage: "a file to read, as path[:from-to][:role][:note] with a role of " + strings.Join(Roles,
			", ") + "; repeatable",
		Meaning: "files to load: path, lines, role (" + strings.Join(Roles, ", ") + "), note",
		Set: func(h *Handoff, given []string) error {
			for _, s := range given {
				a, err := ParseArtifact(s)
				if err != nil {
					return err
				}
				h.Artifacts = append(h.Artifacts, a)
			}

			return nil
		},
		Show: func(h Handoff) (lines []string) {
			for _, a := range h.Artifacts {
				lines = append(lines, a.String())
			}
			return lines
		},
		texts: func(h Handoff) (texts []string) {
			for _, a := range h.Artifacts {
				texts = append(texts, a.Path, a.Note)
			}
			return texts
		},
		check: func(h Handoff) error {
			for _, a := range h.Artifacts {
				if err := a.checkArtifact(); err != nil {
					return err
				}
			}
			return nil
		},
	},
	listField("open_questions", func(h *Handoff) *[]string { return &h.OpenQuestions }, HandoffField{
		Flag: "question", Label: "question", Usage: "an open question; repeatable",
		Meaning: "what you couldn't decide",
	}),
	listField("do_not", func(h *Handoff) *[]string { return &h.DoNot }, HandoffField{
		Flag: "do-not", Label: "do not", Usage: "what the next holder should leave alone; repeatable",
		Meaning: "what the next holder should leave alone",
	}),
}

// textField completes the row of a required field with one text.
func textField(name string, at func(*Handoff) *string, f HandoffField) HandoffField {
	f.Name, f.Required = name, true
	f.Set = func(h *Handoff, given []string) error {
		*at(h) = given[0]
		return nil
	}

	f.texts = func(h Handoff) []string { return []string{*at(&h)} }
	f.Show = f.texts
	f.check = func(h Handoff) error {
		if strings.TrimSpace(*at(&h)) != "" {
			return nil
		}
		return badHandoff(name, "the handoff has no %s", name).
			Hintf("say in status what you did and what is unfinished, and in next_action what the next holder should do")
	}

	return f
}

// listField completes the row of a field that may hold several texts.
func listField(name string, at func(*Handoff) *[]string, f HandoffField) HandoffField {
	f.Name, f.Repeated = name, true
	f.Set = func(h *Handoff, given []string) error {
		*at(h) = given
		return nil
	}

	f.texts = func(h Handoff) []string { return *at(&h) }
	f.Show = f.texts
	return f
}

// Artifact points at a file that the next holder should load.
type Artifact struct {
	Path  string `json:"path"`            // as the caller gave it
	Lines *Lines `json:"lines,omitempty"` // inclusive
	Role  string `json:"role"`
	Note  string `json:"note,omitempty"`

	// RoomPath is Path relative to the room's root. The program adds it.
	RoomPath string `json:"room_path,omitempty"`
}

// Lines is an inclusive range of lines, counted from 1.
type Lines [2]int

// UnmarshalJSON reads [from, to], or [line] for a single one. It fails with [CodeInvalidHandoff] for any
// other list: encoding/json would fill it with zeros, or drop its end.
func (l *Lines) UnmarshalJSON(b []byte) error {
	var at []int
	err := json.Unmarshal(b, &at)
	switch {
	case err == nil && len(at) == 1:
		*l = Lines{at[0], at[0]}
	case err == nil && len(at) == 2:
		*l = Lines(at)
	default:
		// encoding/json would take such a list without a word.
		return badHandoff("artifacts", "the lines of an artifact are [from, to], and not %s", Clip(string(b), 40))
	}
	return nil
}

// Roles are what an artifact can be for.
var Roles = []string{"examine", "review", "edit", "context", "output"}

// MaxHandoff is the largest handoff in bytes of JSON.
const MaxHandoff = 64 << 10

// Check refuses a handoff that the next holder couldn't work with: an empty status or next action,
// invalid text, an unknown role, a bad range of lines, or more than [MaxHandoff] bytes. The refusal has
// [CodeInvalidHandoff] and names the field. Refused, too, is the blank of a printed command that nobody filled.
func (h Handoff) Check() error {
	for _, f := range HandoffFields {
		if f.check == nil {
			continue
		}

		if err := f.check(h); err != nil {
			return err
		}
	}

	for _, f := range HandoffFields {
		// What isn't text couldn't be read back as it was written.
		for _, t := range f.texts(h) {
			if bad := NotText(t); bad != "" {
				return badHandoff("handoff", "the handoff holds %s", bad)
			}

			// The next holder would get it instead of what it needs.
			if IsLeftBlank(t) {
				return badHandoff(f.Name, "handoff.%s is still a placeholder: %s", f.Name,
					strings.TrimSpace(t)).
					Hintf("write %s in its place", f.Meaning)
			}
		}
	}

	h.Workspace = nil

	// What the program adds doesn't count against the author.
	b, err := json.Marshal(h)
	if err != nil {
		return badHandoff("handoff", "the handoff can't be written as JSON")
	}

	if len(b) > MaxHandoff {
		return badHandoff("handoff", "the handoff is %d bytes long; the limit is %d", len(b), MaxHandoff).
			Hintf("put the long part into a file of the workspace and point at it with an artifact")
	}

	return nil
}

// SameAs reports whether the author of h gave the same as the author of o, apart from blanks around texts.
// What the program adds doesn't count.
func (h Handoff) SameAs(o Handoff) bool { return h.givenJSON() == o.givenJSON() }

// givenJSON returns what the author of a handoff gave as JSON, with the blanks around texts removed. It works on
// decoded JSON, so that no field can be missed.
func (h Handoff) givenJSON() string {
	h.Workspace = nil

	// Paths in the room are the program's, too; the caller's list stays as it is.
	h.Artifacts = slices.Clone(h.Artifacts)
	for i := range h.Artifacts {
		h.Artifacts[i].RoomPath = ""
	}

	b, err := json.Marshal(h)
	if err != nil {
		return err.Error() // a handoff is made of texts and numbers only
	}

	var fields any
	if err := json.Unmarshal(b, &fields); err != nil {
		return err.Error()
	}

	b, _ = json.Marshal(trimTexts(fields)) // it was JSON before
	return string(b)
}

// trimTexts removes the blanks around each text of a decoded JSON value.
func trimTexts(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		for i := range v {
			v[i] = trimTexts(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = trimTexts(v[k])
		}
	}
	return v
}

// ParseArtifact reads path[:from-to][:role][:note]. Without a role, the artifact is one to examine. It
// fails with [CodeInvalidHandoff].
func ParseArtifact(s string) (Artifact, error) {
	a := Artifact{Role: "examine"}
	path, rest, _ := strings.Cut(s, ":")
	a.Path = path

	if part, after, _ := strings.Cut(rest, ":"); isLineRange(part) {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}

		var l Lines
		var err1, err2 error
		l[0], err1 = strconv.Atoi(from)

		l[1], err2 = strconv.Atoi(to)
		if err := errors.Join(err1, err2); err != nil {
			return a, badHandoff("artifacts", "artifact %q: write its lines like 10-20", Clip(s, 80))
		}

		a.Lines, rest = &l, after
	}

	if role, note, _ := strings.Cut(rest, ":"); role != "" {
		a.Role, a.Note = role, note
	}

	return a, nil
}

// isLineRange reports whether a part of an artifact is a range of lines: it is made of digits and dashes alone.
func isLineRange(part string) bool {
	return part != "" && strings.IndexFunc(part, func(r rune) bool { return (r < '0' || r > '9') && r != '-' }) < 0
}

// String returns the artifact in one line.
func (a Artifact) String() string {
	s := Line(a.Path)
	if a.Lines != nil {
		s += fmt.Sprintf(":%d-%d", a.Lines[0], a.Lines[1])
	}

	s += " (" + a.Role + ")"
	if a.Note != "" {
		s += " " + Line(a.Note)
	}

	return s
}

func (a Artifact) checkArtifact() error {
	switch l := a.Lines; {
	case strings.TrimSpace(a.Path) == "":
		return badHandoff("artifacts", "an artifact needs a path")
	case !slices.Contains(Roles, a.Role):
		return badHandoff("artifacts", "the role of artifact %q must be one of %s, not %q",
			Clip(a.Path, 60), Words(strings.Join(Roles, ", ")), Clip(a.Role, 30))
	case l != nil && (l[0] < 1 || l[1] < l[0]):
		return badHandoff("artifacts", "the lines of artifact %q run from %d to %d", Clip(a.Path, 60), l[0], l[1])
	}
	return nil
}

func badHandoff(field, format string, args ...any) *Error {
	return Errorf(CodeInvalidHandoff, format, args...).With("field", field)
}
