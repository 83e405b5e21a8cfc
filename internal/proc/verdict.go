package proc

import (
	"errors"
	"syscall"

	"talkingstick/stick"
)

// errNoProcess is how the operating system says that a pid is nobody's.
const errNoProcess = syscall.ESRCH

// probed is what one look at a pid showed.
type probed struct {
	found bool  // there is such a process, and it could be looked at
	start int64 // when it started
	ended bool  // it has ended and only waits for its parent to notice
	none  bool  // not found, and the kernel confirms that there is none
}

// decide is the rule by which every platform tells whether p lives, seen from world w. What
// isn't proved is unknown.
func decide(p stick.Process, w PIDSpace, oneHost bool, s probed) stick.Verdict {
	here := stick.Process{Boot: w.Boot, PIDNS: w.PIDNS}
	switch {
	case p.IsZero(), p.Boot == "", w.Boot == "":
		return stick.Unknown
	case p.Boot != w.Boot && oneHost:
		return stick.Gone
	case !p.SameWorld(here):
		return stick.Unknown
	case s.none:
		return stick.Gone
	case !s.found:
		return stick.Unknown
	case s.start != p.Start || s.ended:
		return stick.Gone
	}
	return stick.Alive
}

// Verdict tells whether p lives. It is the one place where that is decided. Gone is final: an
// identity never comes back.
func (t *Table) Verdict(p stick.Process) stick.Verdict {
	var s probed
	if p.SameWorld(stick.Process{Boot: t.PIDSpace.Boot, PIDNS: t.PIDSpace.PIDNS}) && p.PID > 0 {
		s = t.probe(p.PID)
	}
	return decide(p, t.PIDSpace, t.OneHost, s)
}

// probe looks at pid. Absence alone proves nothing, because a process can be hidden from us; so
// the kernel is asked too.
func (t *Table) probe(pid int) probed {
	s, err := t.status(pid)
	switch {
	case err == nil:
		return probed{found: true, start: s.start, ended: s.ended()}
	case isNotExist(err):
		signal := t.Signal
		if signal == nil {
			signal = signalZero
		}
		return probed{none: errors.Is(signal(pid), errNoProcess)}
	}
	return probed{}
}
