package store

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
	looks = 20 // processes of a host that wait and read at a time
	keeps = 3  // those that keep their connection. With those of the witness, two for listening and reporting, a host has five at rest.

	// looksSoon is how long no place changes hands before a process reads without one: those that have them
	// may be stopped.
	looksSoon = 10 * time.Second
	// waitsForLocks is how long a process that waits tries to get a lock, again and again: of many that begin
	// at once, one after the other locks the room.
	waitsForLocks = time.Minute
	// heardFor is how long the witness's word holds that it hears everything. It renews it each stillThere.
	heardFor = stillThere + 15*time.Second
)

// hostFile is a file by which the processes of this host that use the same database agree on their
// connections.
func (p *postgresDB) hostFile(name string) string { return filepath.Join(p.hostDir(), name) }

func (p *postgresDB) hostDir() string { return filepath.Join(p.opt.Dir, "postgres", p.address.id()) }

// place is the lock of a place.
func (p *postgresDB) place(kind string, number int) string {
	return p.hostFile(fmt.Sprintf("%s-%d.lock", kind, number))
}

// takeLook takes a place among those that read at a time, for the life of the connection that its caller
// makes. Only a process that waits needs one.
func (p *postgresDB) takeLook(ctx context.Context) {
	if !p.waiting.Load() || p.look != nil || p.keep != nil {
		return
	}
	if plainfile.MkdirAll(p.hostDir()) != nil {
		return // the bells can't be kept there either
	}
	for p.look == nil {
		first := rand.IntN(looks)
		for i := range looks {
			if l, free, err := bell.TryLock(p.place("look", (first+i)%looks)); err != nil || free {
				p.look = l
				return
			}
		}
		if ctx.Err() != nil || p.looksStand() {
			return
		}
		soon, cancel := context.WithTimeout(ctx, looksSoon)
		p.look, _ = bell.Lock(soon, p.place("look", first))
		cancel()
	}
}

// looksStand reports whether no process has got a place for a while. Whoever gets one writes into its file.
func (p *postgresDB) looksStand() bool {
	for i := range looks {
		if info, err := os.Stat(p.place("look", i)); err == nil && time.Since(info.ModTime()) < looksSoon {
			return false
		}
	}
	return true
}

// leaveLook gives the place back.
func (p *postgresDB) leaveLook() {
	if p.look != nil {
		p.look.Unlock()
		p.look = nil
	}
}

func (p *postgresDB) setWaiting(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting.Store(on)
	if on {
		return
	}
	p.leaveKeep()
	if !p.busy {
		p.closeSoon()
	}
}

func (p *postgresDB) leaveKeep() {
	if p.keep != nil {
		p.keep.Unlock()
		p.keep = nil
	}
}

// sleeps closes the connection, unless the process is among the few that keep theirs.
func (p *postgresDB) sleeps() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy || p.conn == nil || p.keep != nil {
		return
	}
	if plainfile.MkdirAll(p.hostDir()) == nil {
		for i := range keeps {
			if l, free, err := bell.TryLock(p.place("keep", i)); err == nil && free {
				p.keep = l
				p.leaveLook()
				return
			}
		}
	}
	p.drop()
}

// hearing says that this process, the witness, hears everything now; with false, that it doesn't.
func (p *postgresDB) hearing(yes bool) {
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
		_ = os.Chtimes(file, now, now) // if it fails, waits read by their slow timers
	}
}

func (p *postgresDB) hears() (yes, guards bool) {
	p.mu.Lock()
	guards = p.keep != nil
	p.mu.Unlock()
	info, err := os.Stat(p.hostFile("heard"))
	if err != nil {
		return false, guards
	}
	age := time.Since(info.ModTime())
	return age > -heardFor && age < heardFor, guards
}
