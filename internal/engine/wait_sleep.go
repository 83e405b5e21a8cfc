package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// wakeCause says what ended a sleep. A trace shows it.
type wakeCause string

const (
	byStart    wakeCause = "start" // it hasn't slept before
	byBell     wakeCause = "bell"
	byDeath    wakeCause = "death" // of a watched process
	byDeadline wakeCause = "deadline"
	byNet      wakeCause = "net" // the slow timer that makes up for a lost ring

	byLimit     wakeCause = "limit"       // the caller's own
	byInterrupt wakeCause = "interrupted" // the context ended, or the process that the wait serves did
)

// waitSleep is how a wait passes its time: without writing, polling or forking.
type waitSleep struct {
	watch     *store.Watch
	follow    *store.Watch // of all that happens in the room; nil without
	net       *bell.Net
	netAt     time.Time     // when it reads next; zero until the next sleep
	netMost   time.Duration // the longest that it lasts; 0: its own
	limit     <-chan time.Time
	served    *proc.Watch
	deaths    *proc.Deaths // a process that can't be watched has deadlines, which make up for it
	suspended bool         // the machine was suspended meanwhile
	alone     bool         // nothing else goes on in this process
	failed    bool         // the last read did
	released  bool         // it has given memory back
}

// suspendedAfter is how far the wall clock must run ahead of the monotonic one before a sleep counts as a
// suspended machine.
const suspendedAfter = 30 * time.Second

func newSleep(procs *proc.Table, watch *store.Watch, serves stick.Process, maxWaitMS *int64) *waitSleep {
	s := &waitSleep{watch: watch, net: bell.NewNet(rand.Float64), deaths: procs.Deaths()}

	if maxWaitMS != nil {
		s.limit = time.After(time.Duration(*maxWaitMS) * time.Millisecond)
	}
	if !serves.IsZero() {
		// If this fails, the wait ends when standard output is closed.
		s.served, _ = procs.Watch(serves)
	}

	return s
}

func (s *waitSleep) close() {
	s.deaths.Close()
	if s.served != nil {
		s.served.Close()
	}
}

// noteRead says how reading the room ended. Where the server didn't answer, a deadline may have passed that
// nobody commits anything at, so the slow timer, from its shortest time, reads again even where somebody
// hears all rings.
func (s *waitSleep) noteRead(failed bool) {
	if failed {
		s.watch.Missed()
	}
	if failed && !s.failed {
		s.restartNet()
	}

	s.failed = failed
}

// restartNet has the slow net begin anew: more is likely to happen soon. A ring that doesn't concern the wait
// leaves it alone; otherwise, each event in a room would have every wait read it six times.
func (s *waitSleep) restartNet() {
	s.net.Reset()
	s.netAt = time.Time{}
}

// startNet returns how long the slow net lasts from now.
func (s *waitSleep) startNet(now time.Time) time.Duration {
	if s.netAt.IsZero() {
		lasts := s.net.Next()
		if s.netMost != 0 {
			lasts = min(lasts, s.netMost)
		}
		s.netAt = now.Add(lasts)
	}
	return s.netAt.Sub(now)
}

// releaseMemory gives back memory once the wait has slept for a while. In a busy room it is soon awake again, and
// getting the pages back costs a tenth of a hand-over.
func (s *waitSleep) releaseMemory() {
	if !s.released {
		s.released = true
		proc.ReleaseMemory()
	}
}

// sleepUntil sleeps until the room should be read again. next is a deadline that was computed at now, zero
// for none.
func (s *waitSleep) sleepUntil(ctx context.Context, next, now stick.Time, watched []stick.Process) wakeCause {
	s.deaths.Watch(watched)
	start := time.Now()
	net := time.NewTimer(s.startNet(start))
	defer net.Stop()

	var deadline <-chan time.Time
	if !next.IsZero() {
		t := time.NewTimer(max(next.Sub(now), 0))
		defer t.Stop()
		deadline = t.C
	}

	var served <-chan struct{}
	if s.served != nil {
		served = s.served.C
	}

	var all <-chan struct{}
	if s.follow != nil {
		all = s.follow.C
	}

	s.watch.ReleaseForSleep()
	if s.alone {
		defer proc.PauseCollection()()
	}

	var why wakeCause
	for why == "" {
		select {
		case <-s.watch.C:
			why = byBell
		case <-all:
			why = byBell
		case <-s.deaths.C:
			why = byDeath
		case <-deadline:
			why = byDeadline
		case <-net.C:
			s.netAt = time.Time{}
			s.releaseMemory()
			if more := s.watch.SleepOn(s.net); more > 0 {
				net.Reset(more)
				s.netAt = time.Now().Add(more)
				continue
			}
			why = byNet
		case <-s.limit:
			why = byLimit
		case <-served:
			why = byInterrupt
		case <-ctx.Done():
			why = byInterrupt
		}
	}

	// Rounded times have no monotonic clock, which stops while the machine is suspended.
	end := time.Now()
	s.suspended = wasSuspended(end.Round(0).Sub(start.Round(0)), end.Sub(start))
	return why
}

// wasSuspended reports whether the machine was suspended. wall and monotonic are the same time by two clocks;
// only the wall clock goes on in a suspended machine.
func wasSuspended(wall, monotonic time.Duration) bool { return wall-monotonic > suspendedAfter }
