package core

import (
	"errors"
	"time"

	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Probes is what an operation has probed so far. Probing happens between transactions: a rule
// that misses something ends its transaction, everything about the room is probed at once, and
// the operation runs again.
type Probes struct {
	*stick.Probed
	Procs *proc.Table
	db    *store.DB
	trace *Trace

	ids    []string // of the events that the operation makes, the same however often it runs
	Rounds int
	Wanted stick.Room      // the room about which something was missed
	extra  []stick.Process // processes that were missed outside of a room
}

func (k *Kernel) newProbes(db *store.DB, by Caller) *Probes {
	s := &Probes{Probed: NewProbed(), Procs: k.Config.Procs, db: db, trace: k.Config.Trace}
	if !by.Process.IsZero() {
		s.Processes[by.Process] = stick.Alive // it called us
	}
	return s
}

func NewProbed() *stick.Probed {
	return &stick.Probed{Processes: map[stick.Process]stick.Verdict{}, Listeners: map[stick.ListenerID]stick.Verdict{}}
}

// eventID is the id of the i-th event of the operation. It is chosen once, so that an operation
// that runs again, also after a commit whose outcome is unknown, makes the same events.
func (s *Probes) eventID(i int) string {
	for len(s.ids) <= i {
		s.ids = append(s.ids, s.db.NewID())
	}
	return s.ids[i]
}

// Run calls attempt until it needs no more probes.
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

// Enough is errProbe when a rule on r asked for something that can still be probed. A
// transaction returns it before anything else that the rule came to.
func (s *Probes) Enough(r stick.Room) error {
	if s.Incomplete() && s.Rounds < MaxProbes {
		s.Wanted = r
		return ErrProbe
	}
	return nil
}

// Verdict is what is known of a process that belongs to no room; the error is errProbe when it
// wasn't probed yet.
func (s *Probes) Verdict(p stick.Process) (stick.Verdict, error) {
	v, ok := s.Processes[p]
	if !ok && s.Rounds < MaxProbes {
		s.extra = append(s.extra, p)
		return stick.Unknown, ErrProbe
	}
	return v, nil
}

// probe looks at every process and listener of the wanted room that wasn't looked at yet. Gone is
// final, and so short an operation need not ask about the living twice.
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
