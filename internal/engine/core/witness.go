package core

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

const (
	// witnessPace is the shortest time between two reads of a witness. What is committed in between, it sees
	// in one.
	witnessPace = 100 * time.Millisecond
	// witnessTick is how often it reads, and says that its host is there, when nothing is committed.
	witnessTick = 25 * time.Second
	// reportLimit is how long a last report of processes that have just ended may take.
	reportLimit = time.Second
)

// runWitness tells other hosts which processes of this host have ended: they can't see it, so to them these
// are unknown. It runs in the process that hears for this host what others commit.
func (k *Kernel) runWitness(ctx context.Context, db *store.DB, heard <-chan struct{}) {
	deaths := k.Config.Procs.Deaths()
	defer deaths.Close()

	tick := time.NewTicker(witnessTick)
	defer tick.Stop()

	var holders []stick.Process

	// The first report says that the host is there.
	for sayAlive := true; ; {
		if now, err := k.reportEnded(ctx, db, sayAlive); err == nil {
			holders = now
			deaths.Watch(holders)
		}

		// Deaths are reported at once, and commits at a pace.
		pace := time.After(witnessPace)
		sayAlive = false
		select {
		case <-deaths.C:
			continue
		case <-heard:
			// Who was rung reads first: this process may be one of them.
			pace = time.After(witnessPace)
		case <-tick.C:
			sayAlive = true
		case <-ctx.Done():
		}

		select {
		case <-pace:
		case <-ctx.Done():
			// What has just ended is reported now: the next witness may come only after a while.
			if slices.ContainsFunc(holders, k.hasEnded) {
				k.ReportEnded(context.WithoutCancel(ctx), db)
			}

			return
		}
	}
}

// ReportEnded tells those who can't see the processes of this host which of them have ended. A database that
// doesn't answer soon isn't told: then the leases of those processes run out.
func (k *Kernel) ReportEnded(ctx context.Context, db *store.DB) {
	soon, cancel := context.WithTimeout(ctx, reportLimit)
	defer cancel()
	_, _ = k.reportEnded(soon, db, false)
}

// reportEnded records which processes of this host have ended since the last report. It returns those that
// live and have a stick, or for whom one is reserved. With sayAlive it writes in any case, and so says that
// the host is there.
func (k *Kernel) reportEnded(ctx context.Context, db *store.DB, sayAlive bool) (holders []stick.Process, err error) {
	space := k.Config.Procs.PIDSpace

	// Reading first costs no lock where nothing is to be written.
	var here map[stick.Process]bool
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		here, err = tx.LocalProcesses(space.Boot, space.PIDNS)
		return err
	})
	if err != nil {
		return nil, err
	}

	var gone []stick.Process
	for p, holds := range here {
		switch {
		case k.hasEnded(p):
			gone = append(gone, p)
		case holds:
			holders = append(holders, p)
		}
	}

	if len(gone) == 0 && !sayAlive {
		return holders, nil
	}

	// The order of a map says nothing, and locks are taken in one order.
	slices.SortFunc(gone, func(p, q stick.Process) int { return cmp.Compare(p.Key(), q.Key()) })
	return holders, db.Update(ctx, func(tx *store.Tx) error {
		for _, p := range gone {
			if err := tx.ReportGone(p); err != nil {
				return err
			}
		}

		return nil
	})
}

func (k *Kernel) hasEnded(p stick.Process) bool { return k.Config.Procs.Verdict(p) == stick.Gone }

// maxHostName is how much of a host's name goes into names of persons, which are at most 64 bytes long.
const maxHostName = 20

// hostName makes a part of names from the name of a host: its first label, in lower case.
func hostName(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, name)

	return cmp.Or(name[:min(len(name), maxHostName)], "host")
}
