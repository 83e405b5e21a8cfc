package core

import (
	"errors"
	"time"

	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Probes is what an operation has probed so far. Probing happens between transactions: a rule that misses a
// verdict ends its transaction, everything about the room is probed at once, and the operation runs again.
type Probes struct {
	*stick.Probed
	Procs *proc.Table
	db    *store.DB
	trace *Trace

	ids          []string         // of the operation's events; the same in every run
	Rounds       int              // how many times the operation has probed
	Wanted       stick.Room       // the room to probe for
	extra        []stick.Evidence // of processes to probe that belong to no room
	changedRooms []stick.RoomID   // the rooms to whose logs the transaction adds
}

func (k *Kernel) newProbes(db *store.DB, by Caller) *Probes {
	p := &Probes{Probed: NewProbed(), Procs: k.Config.Procs, db: db, trace: k.Config.Trace}

	// It calls, so it lives.
	if !by.Process.IsZero() {
		p.Processes[by.Process] = stick.Alive
	}
	return p
}

// NewProbed returns a [stick.Probed] without any verdict.
func NewProbed() *stick.Probed {
	return &stick.Probed{
		Processes: map[stick.Process]stick.Verdict{},
		Listeners: map[stick.ListenerID]stick.Verdict{},
	}
}

// eventID returns the id of the operation's i-th event. It is chosen once: an operation that runs again makes
// the same events, even after a commit whose outcome is unknown.
func (p *Probes) eventID(i int) string {
	for len(p.ids) <= i {
		p.ids = append(p.ids, p.db.NewID())
	}
	return p.ids[i]
}

// Run calls attempt, and probes and calls it again as long as it returns [ErrProbe].
func (p *Probes) Run(attempt func() error) error {
	for run := 2; ; run++ {
		err := attempt()
		if !errors.Is(err, ErrProbe) {
			return err
		}

		p.probeWanted()
		p.trace.RanAgain(run, err)
	}
}

// Enough returns [ErrProbe] when a rule on r missed a verdict that can still be probed. A transaction checks
// this before it uses anything else that the rule returned.
func (p *Probes) RequireComplete(r stick.Room) error {
	if p.Incomplete() && p.Rounds < MaxProbes {
		p.Wanted = r
		return ErrProbe
	}
	return nil
}

// Verdict returns what is known of a process that belongs to no room, or [ErrProbe] when it has to be probed
// first.
func (p *Probes) Verdict(ev stick.Evidence) (stick.Verdict, error) {
	// After the last round, what wasn't probed is unknown.
	v, ok := p.Processes[ev.Process]
	if !ok && p.Rounds < MaxProbes {
		p.extra = append(p.extra, ev)
		return stick.Unknown, ErrProbe
	}

	return v, nil
}

// probeListener probes the lock of a wait. Where several hosts share the database, a lock that isn't here may
// be in another data directory, even on the same machine; then only the end of its process proves that a wait
// has ended.
func (p *Probes) probeListener(l stick.Listener) stick.Verdict {
	v := p.db.Bell.Listening(string(l.ID))
	if v == stick.Gone && p.db.ManyHosts() && p.Procs.Verdict(l.Process) != stick.Gone {
		return stick.Unknown
	}
	return v
}

// probeProcess probes a process. Its host's word is final, and where the process can be seen, it agrees.
func (p *Probes) probeProcess(ev stick.Evidence) stick.Verdict {
	if ev.Gone {
		return stick.Gone
	}
	return p.Procs.Verdict(ev.Process)
}

// probeWanted probes each process and listener of the wanted room that wasn't probed before. A verdict isn't
// asked for twice: gone is final, and an operation is so short that alive still holds at its end.
func (p *Probes) probeWanted() {
	p.Rounds++
	began := time.Now()

	// A new value forgets which verdicts were missed.
	seen := NewProbed()
	processes := p.extra

	for _, m := range p.Wanted.Members {
		processes = append(processes, m.Processes...)
	}

	for _, ev := range processes {
		if _, ok := p.Processes[ev.Process]; !ok {
			p.Processes[ev.Process] = p.probeProcess(ev)
		}
	}

	for _, l := range p.Wanted.Listeners {
		if _, ok := p.Listeners[l.ID]; !ok {
			p.Listeners[l.ID] = p.probeListener(l)
		}
	}

	seen.Processes, seen.Listeners = p.Processes, p.Listeners
	p.Probed, p.extra = seen, nil
	p.trace.recordProbes(p.Rounds, seen, time.Since(began))
}
