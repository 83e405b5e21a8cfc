//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"talkingstick/internal/pty"
)

// What is watched: rooms, and agents in each.
const (
	watchedRooms  = 8
	watchedAgents = 5
)

// updateEnd ends everything that the screen writes at a time.
const updateEnd = "\x1b[?2026l"

// watchScreen is tt watch on a terminal.
type watchScreen struct {
	cmd   *exec.Cmd
	out   *pty.Terminal
	shown bytes.Buffer
	got   chan []byte
}

// measureWatch measures tt watch with eight rooms and forty agents: how soon the first picture is there, how
// long a key takes until the screen shows what it did, how soon an event of somebody else is shown, and what
// it costs while nothing happens.
func (b *bench) measureWatch() error {
	p := b.newPlace("")
	top, err := p.fillWatchedRooms()
	if err != nil {
		return err
	}

	s := series{}
	for range b.sampleCount(20, 5) {
		w, took, err := p.startWatch()
		if err != nil {
			return err
		}
		s.addSample("first picture", took)
		w.stopWatch()
	}

	w, _, err := p.startWatch()
	if err != nil {
		return err
	}
	defer w.stopWatch()

	if err := w.measureKeys(s, b.sampleCount(200, 40)); err != nil {
		return err
	}
	if err := w.measureEvents(s, top, b.sampleCount(30, 8)); err != nil {
		return err
	}

	b.addRow(row{
		What: fmt.Sprintf("`tt watch`, %d rooms and %d agents: key pressed → screen redrawn",
			watchedRooms, watchedRooms*watchedAgents),
		Goal: "≤ 16 ms p50",
		Measured: fmt.Sprintf(
			"%s; an event of somebody else is shown %s after its command has ended; "+
				"the first picture is there after %s",
			s.formatTimes("key"), s.formatTimes("event"), s.formatTimes("first picture")),
		Met:     s.p50("key") <= 16,
		Figures: s.figures(),
		Samples: s,
	})

	b.measureIdleWatch(w.cmd.Process.Pid)
	return nil
}

// fillWatchedRooms makes the rooms with their agents. top is the room that has changed last, which comes
// first on the screen.
func (p place) fillWatchedRooms() (top place, err error) {
	for range watchedRooms {
		r := p.b.newPlace(p.data)
		for i := range watchedAgents {
			if err := r.runAs(fmt.Sprintf("bench:%d", i), "join"); err != nil {
				return top, err
			}
		}

		if err := r.runAs("bench:0", "wait"); err != nil {
			return top, err
		}
		top = r
	}

	return top, nil
}

// measureKeys measures how long a key takes until the screen shows what it did.
func (w *watchScreen) measureKeys(s series, n int) error {
	for i := range n {
		// Ten steps down, then ten up: each key moves the selection.
		key := "j"
		if i%20 >= 10 {
			key = "k"
		}

		began := time.Now()
		if _, err := w.out.WriteString(key); err != nil {
			return err
		}
		if err := w.awaitText(updateEnd); err != nil {
			return err
		}
		s.addSample("key", time.Since(began))
	}

	return nil
}

// measureEvents measures how soon a message to a room is shown.
func (w *watchScreen) measureEvents(s series, room place, n int) error {
	for i := range n {
		// No other update has this text.
		said := fmt.Sprintf("message-%d-of-the-bench", i)
		if err := room.runAs("bench:1", "msg", "send", "room", said); err != nil {
			return err
		}

		began := time.Now()
		if err := w.awaitText(said); err != nil {
			return err
		}
		s.addSample("event", time.Since(began))
	}

	return nil
}

// measureIdleWatch measures what tt watch costs while nothing happens.
func (b *bench) measureIdleWatch(pid int) {
	window := b.sleepUntilSettled(time.Now())
	before := cpuTime(pid)
	time.Sleep(window)
	used := cpuTime(pid) - before
	share := 100 * used.Seconds() / window.Seconds()

	b.addRow(row{
		What: "CPU of an idle `tt watch`, settled",
		Goal: "< 0.1 % of a core",
		Measured: fmt.Sprintf("%.3f %% of a core (%.1f ms in %.0f s), %.1f MB",
			share, float64(used.Microseconds())/1000, window.Seconds(), memoryOf(pid, "VmRSS")),
		Met:       share < 0.1,
		Unsettled: b.quick,
		Figures:   map[string]float64{"percent of a core": share, "seconds": window.Seconds()},
	})
}

// startWatch starts tt watch on a terminal. It returns how long it took until the rooms were there.
func (p place) startWatch() (*watchScreen, time.Duration, error) {
	out, err := pty.Open(200, 50)
	if err != nil {
		return nil, 0, err
	}

	w := &watchScreen{cmd: p.command(p.b.tt, "watch"), out: out, got: make(chan []byte, 1000)}
	w.cmd.Env = append(w.cmd.Env, "TERM=xterm")

	began := time.Now()
	if err := out.Start(w.cmd); err != nil {
		return nil, 0, err
	}

	// The reader ends when the terminal is closed.
	go func() {
		defer close(w.got)
		for {
			b := make([]byte, 64<<10)
			n, err := out.Read(b)
			if err != nil {
				return
			}
			w.got <- b[:n]
		}
	}()

	// The first picture is complete when it counts the rooms.
	err = w.awaitText(fmt.Sprintf("%d rooms", watchedRooms))
	return w, time.Since(began), err
}

// awaitText waits until the program has written a text, and an update has ended with it or behind it.
func (w *watchScreen) awaitText(text string) error {
	timeout := time.After(giveUpAfter)
	for {
		all := w.shown.String()
		if i := strings.Index(all, text); i >= 0 {
			if j := strings.Index(all[i:], updateEnd); j >= 0 {
				w.shown.Next(i + j + len(updateEnd))
				return nil
			}
		}

		select {
		case b, ok := <-w.got:
			if !ok {
				return errors.New("tt watch has ended")
			}
			w.shown.Write(b)
		case <-timeout:
			return fmt.Errorf("tt watch doesn't show %q within %s", text, giveUpAfter)
		}
	}
}

// stopWatch ends the program.
func (w *watchScreen) stopWatch() {
	w.cmd.Process.Kill()

	// The error only says that it was killed.
	_ = w.cmd.Wait()
	w.out.Close()
}
