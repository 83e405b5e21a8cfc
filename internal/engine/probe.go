package engine

import (
	"errors"

	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// sights is what an operation has probed so far. Probing happens between transactions: a rule
// that misses something ends its transaction, everything about the room is probed at once, and
// the operation runs again.
type sights struct {
	*stick.Sight
	procs *proc.Table
	db    *store.DB

	ids    []string // of the events that the operation makes, the same however often it runs
	probes int
	wanted stick.Room      // the room about which something was missed
	extra  []stick.Process // processes that were missed outside of a room
}

func (e *Engine) sights(db *store.DB, by Caller) *sights {
	s := &sights{Sight: newSight(), procs: e.cfg.Procs, db: db}
	if !by.Process.IsZero() {
		s.Processes[by.Process] = stick.Alive // it called us
	}
	return s
}

func newSight() *stick.Sight {
	return &stick.Sight{Processes: map[stick.Process]stick.Verdict{}, Listeners: map[stick.ListenerID]stick.Verdict{}}
}

// eventID is the id of the i-th event of the operation. It is chosen once, so that an operation
// that runs again, also after a commit whose outcome is unknown, makes the same events.
func (s *sights) eventID(i int) string {
	for len(s.ids) <= i {
		s.ids = append(s.ids, s.db.NewID())
	}
	return s.ids[i]
}

// run calls attempt until it needs no more probes.
func (s *sights) run(attempt func() error) error {
	for {
		err := attempt()
		if !errors.Is(err, errProbe) {
			return err
		}
		s.probe()
	}
}

// enough is errProbe when a rule on r asked for something that can still be probed. A
// transaction returns it before anything else that the rule came to.
func (s *sights) enough(r stick.Room) error {
	if s.Missed() && s.probes < maxProbes {
		s.wanted = r
		return errProbe
	}
	return nil
}

// verdict is what is known of a process that belongs to no room; the error is errProbe when it
// wasn't probed yet.
func (s *sights) verdict(p stick.Process) (stick.Verdict, error) {
	v, ok := s.Processes[p]
	if !ok && s.probes < maxProbes {
		s.extra = append(s.extra, p)
		return stick.Unknown, errProbe
	}
	return v, nil
}

// probe looks at every process and listener of the wanted room that wasn't looked at yet. Gone is
// final, and so short an operation need not ask about the living twice.
func (s *sights) probe() {
	s.probes++
	seen := newSight()
	processes := s.extra
	for _, m := range s.wanted.Members {
		for _, ev := range m.Processes {
			processes = append(processes, ev.Process)
		}
	}
	for _, p := range processes {
		if _, ok := s.Processes[p]; !ok {
			s.Processes[p] = s.procs.Verdict(p)
		}
	}
	for _, l := range s.wanted.Listeners {
		if _, ok := s.Listeners[l.ID]; !ok {
			s.Listeners[l.ID] = s.db.Bell.Listening(string(l.ID))
		}
	}
	seen.Processes, seen.Listeners = s.Processes, s.Listeners
	s.Sight, s.extra = seen, nil
}
