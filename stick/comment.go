package stick

import (
	"strings"
)

// Comment is what a reviewer says about lines of a task's diff. It is a draft, which only its author sees,
// until the author decides on the task.
type Comment struct {
	ID         int          `json:"comment_id"` // counts from 1 in its task
	Author     AgentID      `json:"author,omitempty"`
	Base       string       `json:"base"`          // the commit before the change
	Head       string       `json:"head"`          // the commit that the author saw
	Path       string       `json:"path"`          // of the file, in the commit whose lines it is about
	Old        bool         `json:"old,omitempty"` // the lines are those before the change
	Lines      Lines        `json:"lines"`         // the first and the last line that it is about
	Around     []SourceLine `json:"around"`        // the lines, and three on each side
	Body       string       `json:"body"`
	CreatedAt  Time         `json:"created_at"`
	Sent       int64        `json:"event_seq,omitempty"` // the decision that sent it, 0 for a draft
	ResolvedAt Time         `json:"resolved_at,omitzero"`
	ResolvedBy AgentID      `json:"resolved_by,omitempty"`
}

// SourceLine is a line of a file with its number.
type SourceLine struct {
	Number int    `json:"line"`           // its number, from 1
	Sign   string `json:"sign,omitempty"` // + or - if the task changes it
	Text   string `json:"text"`           // what it says, cut if it is long
}

// Draft reports whether a comment wasn't sent.
func (c Comment) Draft() bool { return c.Sent == 0 }

// Open reports whether a comment was sent and waits to be dealt with.
func (c Comment) Open() bool { return !c.Draft() && c.ResolvedAt.IsZero() }

// For reports whether an agent may see a comment.
func (c Comment) For(a AgentID) bool { return !c.Draft() || c.Author == a }

// At names the lines of a comment as its reader would: src/parse.go:12.
func (c Comment) At() string { return c.Path + ":" + c.Lines.String() }

// Arg is At as an argument of a command: one that begins with a dash would be a flag.
func (c Comment) Arg() string {
	if strings.HasPrefix(c.Path, "-") {
		return "./" + c.At()
	}
	return c.At()
}

// From returns the commit whose lines the comment is about.
func (c Comment) From() string {
	if c.Old {
		return c.Base
	}
	return c.Head
}

// SizeInBytes is how much a comment adds to a decision, in bytes.
func (c Comment) SizeInBytes() int {
	n := len(c.Body) + len(c.Path)
	for _, l := range c.Around {
		n += len(l.Text)
	}

	return n
}
