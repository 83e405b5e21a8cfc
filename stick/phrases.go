package stick

import (
	"talkingstick/stick/glob"
)

// What the sentences of events are made of. In each, what somebody wrote stands last, in quotation marks: see
// [Words].

// How much of a text a sentence shows, in characters.
const (
	maxShownName   = 160
	maxShownReason = 160
)

// taskOf names the task of an event, for the middle of a sentence.
func taskOf(e Event) Words {
	if e.Task == "" { // damaged
		return "a task"
	}
	return CutName(e.Task, MaxTaskID)
}

// CutName is a [Name] of at most most characters.
func CutName(name string, most int) Words { return Wordsf("%s", Name(name).Cut(most)) }

// atCommit names a commit at the end of a sentence.
func atCommit(commit string) Words {
	if commit == "" {
		return ""
	}
	return ", commit " + CutName(ShortCommit(commit), maxShownName)
}

// describeFrom tells of a message from somebody in the words that all screens for people use.
func (m Message) describeFrom(from Words) Words {
	to := m.recipientWords()
	switch m.Category {
	case Handover:
		return Wordsf("Passed to %s by %s", to, from)
	case Blocked:
		return Wordsf("Needs input from %s, says %s", to, from)
	case Resume:
		return Wordsf("%s resumed work and told %s", from, to)
	case Incursion:
		return Wordsf("%s overlaps with %s", from, to)
	}
	return Wordsf("%s told %s", from, to)
}

// recipientWords names whom the message went to.
func (m Message) recipientWords() Words {
	switch {
	case len(m.To) == 0:
		return "nobody"
	case m.IsToEverybody():
		return "everybody"
	case m.IsToNobody():
		return "the log"
	}
	const most = 3
	names := make([]Words, min(len(m.To), most))
	for i := range names {
		names[i] = AgentName(m.To[i])
	}

	if more := len(m.To) - most; more > 0 {
		return Wordsf("%s and %d more", JoinWords(names, ", "), more)
	}

	return JoinWords(names, ", ")
}

// Gist returns what a message is about, for the end of a sentence that names its author, and in at most n
// characters. It is empty if the message says nothing.
func (m Message) Gist(n int) Words {
	text := m.Subject
	if Line(text) == "" {
		text = m.Body
	}

	// A contract without a text says what it is about by its first field.
	if says := m.Says(); Line(text) == "" && len(says) > 0 {
		text = *says[0].Field(&m.Contract)
	}
	if Line(text) == "" {
		return ""
	}

	return ": " + Quote(text, n)
}

// owedNote says which messages won't be answered, because the member that owed the answers takes part no
// longer.
func owedNote(messages []int64) Words {
	switch len(messages) {
	case 0:
		return ""
	case 1:
		return Wordsf("; message %d won't be answered", messages[0])
	}
	return Wordsf("; message %d and others won't be answered", messages[0])
}

// PatternWords is a pattern as it stands in a sentence.
func PatternWords(p glob.Pattern) Words {
	if p == "" {
		return "paths"
	}
	return CutName(string(p), glob.MaxBytes)
}

func editedPaths(paths []string) Words {
	switch len(paths) {
	case 0:
		return "files"
	case 1:
		return CutName(paths[0], maxShownName)
	}
	return CutName(paths[0], maxShownName) + " and others"
}

// EditedOf counts files and names the first of them; without any it was the whole tree.
func EditedOf(paths []string, count int) Words {
	switch {
	case len(paths) == 0:
		return "the working tree"
	case count < 2:
		return editedPaths(paths)
	}
	return Wordsf("%d files, first %s", count, CutName(paths[0], maxShownName))
}

// aboutTask names the task that a message is about.
func aboutTask(e Event) Words {
	if e.Task == "" {
		return ""
	}
	return " about " + CutName(e.Task, MaxLabel)
}

func forTask(e Event) Words {
	if e.Task == "" {
		return ""
	}
	return " for " + CutName(e.Task, MaxLabel)
}

// AgentName is the name of an agent as it stands in a sentence.
func AgentName(a AgentID) Words {
	if a == "" {
		return "tt"
	}
	return CutName(string(a), MaxAgentBytes)
}

// reasonSuffix is the reason of whoever a sentence is about, for its end.
func reasonSuffix(reason string) Words {
	if Line(reason) == "" {
		return ""
	}
	return ": " + Quote(reason, maxShownReason)
}

// nextActionOf is what the author of a handoff leaves to the next holder, for the end of a sentence.
func nextActionOf(e Event) Words {
	if e.Handoff == nil {
		return ""
	}
	return "; " + Wrote(e.From, e.Handoff.NextAction, maxShownReason)
}

// relayedNote says that an agent says that a person wanted it: nobody has heard the person.
func relayedNote(by AgentID) Words {
	if by == "" {
		return ""
	}
	return "; " + AgentName(by) + " says that a person asked for it"
}
