package dialect

import "talkingstick/stick"

// Numbers count what a database has committed.
type Numbers struct {
	Commit int64 // the last transaction that changed something
	Event  int64 // the last number that was drawn for an event
}

// Loss is what a database has lost of what it had committed.
type Loss struct {
	Changes int64 // transactions
	Events  stick.Lost
}

// Words says what is lost, as a part of a sentence.
func (l Loss) Words() stick.Words {
	what := "its last " + stick.Count(l.Changes, "change")
	switch {
	case l.Changes == 1:
		what = "its last change"
	case l.Changes == 0:
		return l.Events.Words()
	}
	if l.Events.To > 0 {
		what += ", with " + l.Events.Words()
	}

	return what
}

// Warning says to everybody what is lost, and what follows.
func (l Loss) Warning() stick.Words {
	return stick.Wordsf("the database has lost %s, because its files were damaged, removed or replaced. All turns and reservations end, and handoffs stay", l.Words())
}
