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

	ids    []string        // of the operation's events; the same in every run
	Rounds int             // how many times the operation has probed
	Wanted stick.Room      // the room to probe for
	extra  []stick.Process // processes to probe that belong to no room
}

func (k *Kernel) newProbes(db *store.DB, by Caller) *Probes {
	s := &Probes{Probed: NewProbed(), Procs: k.Config.Procs, db: db, trace: k.Config.Trace}
	if !by.Process.IsZero() {
		s.Processes[by.Process] = stick.Alive // it called us
	}
	return s
}

// NewProbed returns a [stick.Probed] without any verdict.
func NewProbed() *stick.Probed {
	return &stick.Probed{Processes: map[stick.Process]stick.Verdict{}, Listeners: map[stick.ListenerID]stick.Verdict{}}
}

// eventID returns the id of the operation's i-th event. It is chosen once: an operation that runs again makes
// the same events, even after a commit whose outcome is unknown.
func (s *Probes) eventID(i int) string {
	for len(s.ids) <= i {
		s.ids = append(s.ids, s.db.NewID())
	}
	return s.ids[i]
}

// Run calls attempt, and probes and calls it again as long as it returns [ErrProbe].
func (s *Probes) Run(attempt func() error) error {
	for run := 2; ; run++ {
		err := attempt()
		if !errors.Is(err, ErrProbe) {
			return err
		}
		s.probe()
		s.trace.ranAgain(run, err)
	}
}

// Enough returns [ErrProbe] when a rule on r missed a verdict that can still be probed. A transaction checks
// this before it uses anything else that the rule returned.
func (s *Probes) Enough(r stick.Room) error {
	if s.Incomplete() && s.Rounds < MaxProbes {
		s.Wanted = r
		return ErrProbe
	}
	return nil
}

// Verdict returns what is known of a process that belongs to no room, or [ErrProbe] when it has to be probed
// first.
func (s *Probes) Verdict(p stick.Process) (stick.Verdict, error) {
	v, ok := s.Processes[p]
	if !ok && s.Rounds < MaxProbes {
		s.extra = append(s.extra, p)
		return stick.Unknown, ErrProbe
	}
	return v, nil
}

// probe probes each process and listener of the wanted room that wasn't probed before. A verdict isn't asked
// for twice: gone is final, and an operation is so short that alive still holds at its end.
func (s *Probes) probe() {
	s.Rounds++
	began := time.Now()
	seen := NewProbed()
	processes := s.extra
	for _, m := range s.Wanted.Members {
		for _, ev := range m.Processes {
			processes = append(processes, ev.Process)
		}
	}
	for _, p := range processes {
		if _, ok := s.Processes[p]; !ok {
			s.Processes[p] = s.Procs.Verdict(p)
		}
	}
	for _, l := range s.Wanted.Listeners {
		if _, ok := s.Listeners[l.ID]; !ok {
			s.Listeners[l.ID] = s.db.Bell.Listening(string(l.ID))
		}
	}
	seen.Processes, seen.Listeners = s.Processes, s.Listeners
	s.Probed, s.extra = seen, nil
	s.trace.probed(s.Rounds, seen, time.Since(began))
}
