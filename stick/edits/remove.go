package edits

import (
	"talkingstick/stick"
)

// Removing is the question whether an agent may remove, or move away, what a room can't do without.
type Removing struct {
	By         string // the command, as a person names it
	Full       string // the room's root, or what makes its repository; absolute
	Path       string // the same relative to the room
	Repository bool   // it is what makes the repository
	Person     bool
}

// MayRemove judges a removal. It is denied to every agent, also to the holder, and also where the room only
// warns: a turn is the right to change files, and without the root or the repository nothing says any more
// what they were.
func MayRemove(r stick.Room, q Removing) Judgement {
	if q.Person || !Enforces(r) {
		return Judgement{}
	}

	what := stick.Words("the root of the room")
	if q.Repository {
		what = "without which there is no repository"
	}

	why := stick.Wordsf("%s would remove %s, %s", q.By, stick.Name(q.Full).Cut(256), what)
	return Judgement{Denied: errEditDenied(r, why, []string{q.Path}).
		Hintf("remove only what you made yourself; if all of it has to go, ask a person")}
}
