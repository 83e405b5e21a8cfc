package sticktest

import (
	"talkingstick/stick"
)

// Pauses lets a person pause the room; resumes lets one end the pause. Both must succeed.
func (f *Fixture) Pauses(reason string) []stick.Event {
	f.T.Helper()
	r, events, err := f.Pause("human:ann", true, reason, f.Now)
	return f.Must(f.TryCommit(r, events, err))
}

// Resumes lets a person end a pause, which must succeed.
func (f *Fixture) Resumes() []stick.Event {
	f.T.Helper()
	r, events, err := f.Resume("human:ann", true, f.Probed, f.Now)
	return f.Must(f.TryCommit(r, events, err))
}
