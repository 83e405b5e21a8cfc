//go:build linux

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/engine"
)

// crowdSize returns how many processes should wait: a thousand, or fewer if memory is short. why says so.
func (b *bench) crowdSize() (n int, why string) {
	// So many MB are for a process and for the kernel's memory of it.
	const each = 5
	n = b.sampleCount(1000, 250)

	kb, _, _ := strings.Cut(readField("/proc/meminfo", "MemAvailable"), " ")
	free, err := strconv.Atoi(kb)
	if err == nil && free/1000 < n*each {
		return 250, fmt.Sprintf("only 250 processes wait instead of %d, because only %d MB of memory were free",
			n, free/1000)
	}

	return n, ""
}

// measureCrowd measures how soon many waiting processes have read a message to all of them, and what they
// cost while idle. Each of them is a member of its own, so that the message has a row for each.
func (b *bench) measureCrowd() error {
	n, why := b.crowdSize()
	notes := []string{"waiting processes above the user's limit of inotify instances are woken by FIFOs"}
	if why != "" {
		notes = append(notes, why)
	}

	p := b.newPlace("")
	if err := p.runAs("bench:owner", "join"); err != nil {
		return err
	}

	e := p.openEngine()
	defer e.Close()

	w := &idleWaits{place: p}
	defer w.killProcesses()

	read := make(chan time.Time, 2*n)
	if err := w.startFollowers(e, n, read); err != nil {
		return err
	}
	if err := w.awaitFollowers(n, read); err != nil {
		return err
	}

	s := series{}
	for range b.sampleCount(10, 5) {
		// The followers sleep again before the next message comes.
		time.Sleep(200 * time.Millisecond)

		last, own, all, err := w.sendToAll(n, read, giveUpAfter)
		if err != nil {
			return err
		}
		if !all {
			return fmt.Errorf("a message didn't reach all %d processes within %s", n, giveUpAfter)
		}

		s.addSample("all have read", last)
		s.addSample("tt msg send", own)
	}

	sends := fmt.Sprintf("`tt msg send` to a room of %d members, while they wake: %s",
		n+1, s.formatTimes("tt msg send"))
	what := fmt.Sprintf("%d waiting processes, one message to all of them, until the last has printed it", n)
	r := s.medianRow("all have read", what, "≤ 1 s", 1000)
	r.Notes = append(notes, sends)
	b.addRow(r)

	b.measureIdleCrowd(w)
	return nil
}

// sendToAll sends one message to the room, and returns how long it took until the last of n followers has
// read it, and how long the sender took itself. all is false if some hadn't read it when the patience was
// over.
func (w *idleWaits) sendToAll(
	n int, read <-chan time.Time, patience time.Duration,
) (last, own time.Duration, all bool, err error) {
	// Lines of an earlier message may have come late.
	for len(read) > 0 {
		<-read
	}

	limit := time.After(patience)
	began, sent, err := w.place.sendMessage("bench:owner", "room", "the build is green again")
	if err != nil {
		return 0, 0, false, err
	}

	for range n {
		select {
		case at := <-read:
			last = max(last, at.Sub(began))
		case <-limit:
			return last, 0, false, nil
		}
	}

	return last, sent.Sub(began), true, nil
}

// awaitFollowers waits until all n followers read a message. They don't say when they are ready, so it sends
// one again and again.
func (w *idleWaits) awaitFollowers(n int, read <-chan time.Time) error {
	deadline := time.Now().Add(2 * time.Minute)
	for {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes weren't ready in two minutes", n)
		}

		time.Sleep(500 * time.Millisecond)
		_, _, ready, err := w.sendToAll(n, read, 3*time.Second)
		if err != nil || ready {
			return err
		}
	}
}

// startFollowers starts n processes that follow their messages. The times at which their lines are read
// arrive on read.
func (w *idleWaits) startFollowers(e *engine.Engine, n int, read chan<- time.Time) error {
	agents := make([]string, n)

	// All join before the first waits, because every join wakes the waiting.
	for i := range agents {
		agents[i] = "bench:w" + strconv.Itoa(i)
		_, err := e.JoinPath(context.Background(), engine.JoinPathParams{Caller: callerNamed(agents[i])})
		if err != nil {
			return err
		}
	}

	// The reader of a process's lines ends with the process.
	for _, agent := range agents {
		c := w.place.commandAs(agent, "msg", "recv", "--follow")
		if err := startTimed(c, read); err != nil {
			return err
		}
		w.cmds, w.pids = append(w.cmds, c), append(w.pids, c.Process.Pid)
	}

	return nil
}

// measureIdleCrowd measures what the waiting processes cost while idle.
func (b *bench) measureIdleCrowd(w *idleWaits) {
	n := len(w.pids)

	window := b.sleepUntilSettled(time.Now())

	before := cpuTimes(w.pids)
	time.Sleep(window)
	used := cpuTimes(w.pids) - before
	share := 100 * used.Seconds() / window.Seconds()

	rss := 0.0
	for _, pid := range w.pids {
		rss += memoryOf(pid, "RssAnon")
	}

	b.addRow(row{
		What:      fmt.Sprintf("CPU of %d idle waiting processes", n),
		Goal:      "< 1 % of a core",
		Measured:  fmt.Sprintf("%.2f %% of a core; %.1f MB of private memory each", share, rss/float64(n)),
		Met:       share < 1,
		Unsettled: b.quick,
		Figures:   map[string]float64{"percent of a core": share, "RssAnon MB each": rss / float64(n)},
	})
}
