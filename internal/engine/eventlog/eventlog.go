// Package eventlog holds the operations that read the log of a room: its events, once or as they come, who held
// the stick when, and that a room looks different to people.
//
// They write nothing but how far a named stream has got.
//
// See docs/decisions/messages-and-cursors.md.
package eventlog

import "talkingstick/internal/engine/core"

// Log performs the operations on the logs of rooms. Several goroutines may use it.
type Log struct{ core *core.Kernel }

// New returns the operations on logs. It touches no file.
func New(k *core.Kernel) *Log { return &Log{core: k} }
