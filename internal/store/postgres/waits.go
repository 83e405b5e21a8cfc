package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/plainfile"
)

// A server has room for some hundred connections, and a host may have a thousand waits. So a process that
// waits has a connection only while it reads, and of a host only so many read at a time. A few keep theirs
// while they sleep, so that in a room of the usual size a hand-over costs no connecting.
//
// The places are locks in a folder of the data directory, and come free when a process ends, in whatever way.
const (
	readPlaces = 20 // processes of a host that wait and read at a time
	// Those that keep their connection. With those of the witness, two for listening and reporting, a host
	// has five at rest.
	keepPlaces = 3

	// placeWait is how long no place changes hands before a process reads without one: those that have them
	// may be stopped.
	placeWait = 10 * time.Second
	// waitsForLocks is how long a process that waits tries to get a lock, again and again: of many that Begin
	// at once, one after the other locks the room.
	waitsForLocks = time.Minute
	// heardFor is how long the witness's word holds that it hears everything. It renews it each echoInterval.
	heardFor = echoInterval + 15*time.Second
)

// hostFile is a file by which the processes of this host that use the same database agree on their
// connections.
func (p *DB) hostFile(name string) string { return filepath.Join(p.hostDir(), name) }

func (p *DB) hostDir() string {
	return filepath.Join(p.opt.Dir, "postgres", p.address.databaseID())
}

// placeLock is the file of the lock of a place.
func (p *DB) placeLock(kind string, number int) string {
	return p.hostFile(fmt.Sprintf("%s-%d.lock", kind, number))
}

// takeReadPlace takes a place among those that read at a time, for the life of the connection that its caller
// makes. Only a process that waits needs one.
func (p *DB) takeReadPlace(ctx context.Context) {
	if !p.waiting.Load() || p.readPlace != nil || p.keepPlace != nil {
		return
	}
	if plainfile.MkdirAll(p.hostDir()) != nil {
		return // the bells can't be kept there either
	}

	for p.readPlace == nil {
		// A random beginning keeps many processes from trying the same place one after the other.
		first := rand.IntN(readPlaces)
		for i := range readPlaces {
			if l, free, err := bell.TryLock(p.placeLock("look", (first+i)%readPlaces)); err != nil || free {
				p.readPlace = l
				return
			}
		}

		if ctx.Err() != nil || p.areReadPlacesStuck() {
			return
		}

		// All places are taken. Waiting for one of them wakes as soon as it comes free.
		soon, cancel := context.WithTimeout(ctx, placeWait)
		p.readPlace, _ = bell.Lock(soon, p.placeLock("look", first))
		cancel()
	}
}

// areReadPlacesStuck reports whether no process has got a place for a while. Whoever gets one writes into its
// file.
func (p *DB) areReadPlacesStuck() bool {
	for i := range readPlaces {
		if info, err := os.Stat(p.placeLock("look", i)); err == nil && time.Since(info.ModTime()) < placeWait {
			return false
		}
	}

	return true
}

// leaveReadPlace gives the place back.
func (p *DB) leaveReadPlace() {
	if p.readPlace != nil {
		p.readPlace.Unlock()
		p.readPlace = nil
	}
}

// SetWaiting implements [dialect.DB].
func (p *DB) SetWaiting(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.waiting.Store(on)
	if on {
		return
	}

	// Only a process that waits needs a place.
	p.leaveKeepPlace()
	if !p.busy {
		p.closeSoon()
	}
}

func (p *DB) leaveKeepPlace() {
	if p.keepPlace != nil {
		p.keepPlace.Unlock()
		p.keepPlace = nil
	}
}

// ReleaseForSleep closes the connection, unless the process is among the few that keep theirs.
func (p *DB) ReleaseForSleep() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.busy || p.conn == nil || p.keepPlace != nil {
		return
	}

	// Where no place can be taken, nobody keeps a connection.
	if plainfile.MkdirAll(p.hostDir()) == nil {
		for i := range keepPlaces {
			if l, free, err := bell.TryLock(p.placeLock("keep", i)); err == nil && free {
				p.keepPlace = l
				p.leaveReadPlace()
				return
			}
		}
	}

	p.dropConn()
}

// markHearing says that this process, the witness, hears everything now; with false, that it doesn't.
func (p *DB) markHearing(yes bool) {
	file := p.hostFile("heard")
	if !yes {
		os.Remove(file)
		return
	}

	if plainfile.MkdirAll(p.hostDir()) != nil {
		return
	}

	if f, err := plainfile.Open(file, os.O_WRONLY|os.O_CREATE); err == nil {
		f.Close()
		now := time.Now()

		// If it fails, waits read by their slow timers.
		_ = os.Chtimes(file, now, now)
	}
}

// HearsCommits implements [dialect.DB].
func (p *DB) HearsCommits() (yes, guards bool) {
	p.mu.Lock()
	guards = p.keepPlace != nil
	p.mu.Unlock()
	info, err := os.Stat(p.hostFile("heard"))
	if err != nil {
		return false, guards
	}

	// A clock that was set back leaves a time ahead of it, which says as little as one long ago.
	age := time.Since(info.ModTime())
	return age > -heardFor && age < heardFor, guards
}
