package stick

import (
	"fmt"
	"strings"

	"talkingstick/stick/glob"
)

// taskOf names the task of an event, for the middle of a sentence.
func taskOf(e Event) string {
	if e.Task == "" { // damaged
		return "a task"
	}
	return clip(e.Task, MaxTaskID)
}

// at names a commit at the end of a sentence.
func at(commit string) string {
	if commit == "" {
		return ""
	}
	return ", commit " + short(commit)
}

// said tells of a message from somebody in the words that all screens for people use.
func (m Message) said(from string) string {
	to := m.recipients()
	switch m.Category {
	case Handover:
		return fmt.Sprintf("Passed to %s by %s", to, from)
	case Blocked:
		return fmt.Sprintf("Needs input from %s, says %s", to, from)
	case Resume:
		return fmt.Sprintf("%s resumed work and told %s", from, to)
	case Incursion:
		return fmt.Sprintf("%s overlaps with %s", from, to)
	}
	return fmt.Sprintf("%s told %s", from, to)
}

// recipients names whom the message went to.
func (m Message) recipients() string {
	switch {
	case len(m.To) == 0:
		return "nobody"
	case m.everybody():
		return "everybody"
	case m.nobody():
		return "the log"
	}
	const most = 3
	names := make([]string, min(len(m.To), most))
	for i := range names {
		names[i] = who(m.To[i])
	}
	if more := len(m.To) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// Gist returns what a message is about, after a colon and in at most n characters. It is empty if the
// message says nothing.
func (m Message) Gist(n int) string {
	text := m.Subject
	if Line(text) == "" {
		text = m.Body
	}
	if says := m.Says(); Line(text) == "" && len(says) > 0 {
		text = *says[0].field(&m.Contract)
	}
	if text = clip(text, n); text != "" {
		return ": " + text
	}
	return ""
}

// owed says which messages won't be answered, because the member that owed the answers takes part no longer.
func owed(messages []int64) string {
	switch len(messages) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; message %d won't be answered", messages[0])
	}
	return fmt.Sprintf("; message %d and others won't be answered", messages[0])
}

func paths(p glob.Pattern) string {
	if p == "" {
		return "paths"
	}
	return Path(string(p))
}

func edited(paths []string) string {
	switch len(paths) {
	case 0:
		return "files"
	case 1:
		return clip(Path(paths[0]), 160)
	}
	return clip(Path(paths[0]), 160) + " and others"
}

// editedOf counts files and names the first of them; without any it was the whole tree.
func editedOf(paths []string, count int) string {
	switch {
	case len(paths) == 0:
		return "the working tree"
	case count < 2:
		return edited(paths)
	}
	return fmt.Sprintf("%d files, first %s", count, clip(Path(paths[0]), 160))
}

// about names the task that a message is about.
func about(e Event) string {
	if e.Task == "" {
		return ""
	}
	return " about " + clip(e.Task, MaxLabel)
}

func task(e Event) string {
	if e.Task == "" {
		return ""
	}
	return " for " + clip(e.Task, MaxLabel)
}

func who(a AgentID) string {
	if a == "" {
		return "tt"
	}
	return clip(string(a), maxAgentBytes)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + clip(reason, 160)
}

func next(e Event) string {
	if e.Handoff == nil {
		return ""
	}
	return ": " + clip(e.Handoff.NextAction, 160)
}

// relayed says that an agent says that a person wanted it: nobody has heard the person.
func relayed(by AgentID) string {
	if by == "" {
		return ""
	}
	return "; " + who(by) + " says that a person asked for it"
}
