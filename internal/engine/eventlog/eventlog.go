// Package eventlog holds the operations that read the log of a room: its events, those that are there or each
// as it comes; who held the stick when; and when people would see the room look different.
//
// All that they write is how far the reader of a named stream has come.
//
// See docs/decisions/messages-and-cursors.md.
package eventlog

import "talkingstick/internal/engine/core"

// Log performs the operations on the logs of rooms. Several goroutines may use it.
type Log struct{ core *core.Kernel }

// New returns the operations on logs. It touches no file.
func New(k *core.Kernel) *Log { return &Log{core: k} }
