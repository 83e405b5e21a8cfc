package proc

import "runtime/debug"

// PauseCollection is for a process that does one thing, before it sleeps: until its caller calls wake,
// garbage isn't collected. Go does so every two minutes even in a process that makes none, and a thousand
// sleeping processes that look at all their memory keep a processor busy.
func PauseCollection() (wake func()) {
	percent := debug.SetGCPercent(-1)
	return func() { debug.SetGCPercent(percent) }
}
