package proc

import (
	"errors"
	"syscall"

	"talkingstick/stick"
)

// errNoProcess is the operating system's error for an unused pid.
const errNoProcess = syscall.ESRCH

// probed is what one probe of a pid has shown.
type probed struct {
	found bool  // the process exists and could be read
	start int64 // when it started
	ended bool  // it has ended, but its parent hasn't noticed yet
	none  bool  // the kernel confirms that there is none
}

// decideVerdict is the rule of every platform for the verdict on p, seen from w. What isn't proved is
// unknown.
func decideVerdict(p stick.Process, w PIDSpace, oneHost bool, s probed) stick.Verdict {
	here := stick.Process{Boot: w.Boot, PIDNS: w.PIDNS}
	switch {
	case p.IsZero(), p.Boot == "", w.Boot == "":
		return stick.Unknown
	case p.Boot != w.Boot && oneHost:
		// Its boot is over.
		return stick.Gone
	case !p.Comparable(here):
		return stick.Unknown
	case s.none:
		return stick.Gone
	case !s.found:
		return stick.Unknown
	case s.start != p.Start || s.ended:
		// Another process has the pid now, or this one waits for its parent to notice.
		return stick.Gone
	}
	return stick.Alive
}

// Verdict says whether p lives. Nothing else decides that. Gone is final: an identity never comes back.
func (t *Table) Verdict(p stick.Process) stick.Verdict {
	var s probed
	if p.Comparable(stick.Process{Boot: t.PIDSpace.Boot, PIDNS: t.PIDSpace.PIDNS}) && p.PID > 0 {
		s = t.probePID(p.PID)
	}

	return decideVerdict(p, t.PIDSpace, t.OneHost, s)
}

// probePID reads pid. A missing entry alone proves nothing, because a process can be hidden from us. So it
// asks the kernel, too.
func (t *Table) probePID(pid int) probed {
	s, err := t.statusOfPID(pid)
	switch {
	case err == nil:
		return probed{found: true, start: s.start, ended: s.hasEnded()}
	case isNotExist(err):
		signal := t.Signal
		if signal == nil {
			signal = signalZero
		}

		return probed{none: errors.Is(signal(pid), errNoProcess)}
	}
	return probed{}
}

// HolderVerdict returns the verdict on the process that had a pid here when it was recorded, and whether a
// signal has stopped it. The pid can't have been used again if the process still holds what it was recorded
// for.
func (t *Table) HolderVerdict(pid int) (v stick.Verdict, stopped bool) {
	s := t.probePID(pid)
	p := t.identityOf(status{pid: pid, start: s.start})
	if v = decideVerdict(p, t.PIDSpace, t.OneHost, s); v != stick.Alive {
		return v, false
	}

	now, err := t.statusOfPID(pid)
	return v, err == nil && (now.state == 'T' || now.state == 't')
}
