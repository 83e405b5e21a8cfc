// Package upkeep holds the operations on the data directory as a whole: the doctor, the move of a database to a
// server, and the removal of everything.
//
// See docs/decisions/damage-and-repair.md.
package upkeep

import "talkingstick/internal/engine/core"

// Config is what upkeep needs.
type Config struct {
	Kernel    *core.Kernel
	Checks    []core.Check  // the doctor runs them after its own
	RescueDir func() string // the directory in which all copies of uncommitted work lie
}

// Upkeep performs the operations on the data directory. Several goroutines may use it.
type Upkeep struct {
	core      *core.Kernel
	checks    []core.Check
	rescueDir func() string
}

// New returns the operations of upkeep. It touches no file.
func New(cfg Config) *Upkeep {
	return &Upkeep{core: cfg.Kernel, checks: cfg.Checks, rescueDir: cfg.RescueDir}
}
