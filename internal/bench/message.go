//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"time"

	"talkingstick/stick"
)

// measureMessages measures how soon another process gets a message: one that follows its messages, and a wait
// that ends with it.
func (b *bench) measureMessages() error {
	s := series{}
	for _, measure := range []func(series) error{b.measureFollower, b.measureParkedWait} {
		if err := measure(s); err != nil {
			return err
		}
	}

	for _, r := range []struct{ name, what, begun string }{
		{
			"send exits to line was read", "`tt msg send` exits → the receiver's `tt msg recv --follow` has printed it",
			"from the start of `tt msg send` until the receiver's `tt msg recv --follow` has printed the message: " +
				s.formatTimes("send starts to line was read"),
		},
		{
			"send exits to wait has exited", "`tt msg send` exits → the receiver's `tt wait --park` has exited",
			fmt.Sprintf("from the start of `tt msg send` until the woken `tt wait --park` has printed it: %s; "+
				"until it has exited: %s",
				s.formatTimes("send starts to wait has spoken"), s.formatTimes("send starts to wait has exited")),
		},
	} {
		b.addRow(row{
			What:     r.what,
			Goal:     "≤ 3 ms p50",
			Measured: s.formatTimes(r.name),
			Met:      s.p50(r.name) <= 3,
			Notes:    []string{r.begun},
			Figures:  s.figures(),
			Samples:  map[string][]float64{r.name: s[r.name]},
		})
	}

	return nil
}

// sendMessage runs one tt msg send, and returns when it was started and when the kernel reported its end.
func (p place) sendMessage(from, to, body string) (began, end time.Time, err error) {
	c := p.commandAs(from, "msg", "send", to, body)
	began = time.Now()

	if err := c.Start(); err != nil {
		return began, began, err
	}
	end, err = waitEnd(reapProcess(c), "tt msg send")
	if err == nil && !c.ProcessState.Success() {
		err = fmt.Errorf("tt msg send: %s", c.ProcessState)
	}
	return began, end, err
}

// startTimed starts a process. The time at which each of its lines was read arrives on the channel. It uses a
// pipe of its own, so that waiting for the process doesn't close it too early.
func startTimed(c *exec.Cmd, read chan<- time.Time) error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()

	c.Stdout = in
	if err := c.Start(); err != nil {
		out.Close()
		return err
	}

	// The reader ends with the process.
	go func() {
		defer out.Close()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			select {
			case read <- time.Now():
			default: // nobody reads so many
			}
		}
	}()

	return nil
}

// measureFollower measures the time until a line is read from a process that follows its messages.
func (b *bench) measureFollower(s series) error {
	p := b.newPlace("")
	from, to := "bench:one", "bench:two"
	for _, agent := range []string{from, to} {
		if err := p.runAs(agent, "join"); err != nil {
			return err
		}
	}

	follower := p.commandAs(to, "msg", "recv", "--follow")
	lines := make(chan time.Time, 1)
	if err := startTimed(follower, lines); err != nil {
		return err
	}

	w := &idleWaits{cmds: []*exec.Cmd{follower}}
	defer w.killProcesses()

	// The follower doesn't say when it is ready.
	time.Sleep(time.Second)

	// The first messages warm up.
	warm := 10
	for i := range b.sampleCount(300, 60) + warm {
		// The receiver sleeps again before the next message comes.
		time.Sleep(minBlocked)
		began, sent, err := p.sendMessage(from, to, fmt.Sprintf("the %dth message that is measured", i))
		if err != nil {
			return err
		}
		at, err := waitEnd(lines, "a message to tt msg recv --follow")
		if err != nil {
			return err
		}

		if i >= warm {
			s.addSample("send exits to line was read", at.Sub(sent))
			s.addSample("send starts to line was read", at.Sub(began))
		}
	}

	return nil
}

// measureParkedWait measures the time until a wait for events has exited with the message.
func (b *bench) measureParkedWait(s series) error {
	p := b.newPlace("")
	e := p.openEngine()
	defer e.Close()

	from, to := "bench:one", "bench:two"
	for _, agent := range []string{from, to} {
		if err := p.runAs(agent, "join"); err != nil {
			return err
		}
	}

	warm := 10
	for i := range b.sampleCount(300, 60) + warm {
		waiter := p.commandAs(to, "wait", "--park")
		first := make(chan time.Time, 1)
		if err := startTimed(waiter, first); err != nil {
			return err
		}

		// The message comes only after the wait has blocked.
		if err := p.awaitPurpose(e, stick.Listen, 1); err != nil {
			return err
		}

		time.Sleep(minBlocked)
		woken := reapProcess(waiter)
		began, sent, err := p.sendMessage(from, to, fmt.Sprintf("the %dth message that is measured", i))
		if err != nil {
			return err
		}

		spoke, err := waitEnd(first, "the wait's answer")
		if err != nil {
			return err
		}

		exited, err := waitEnd(woken, "the wait")
		if err != nil {
			return err
		}

		if !waiter.ProcessState.Success() {
			return fmt.Errorf("the wait: %s", waiter.ProcessState)
		}

		if i >= warm {
			s.addSample("send exits to wait has exited", exited.Sub(sent))
			s.addSample("send starts to wait has spoken", spoke.Sub(began))
			s.addSample("send starts to wait has exited", exited.Sub(began))
		}
	}

	return nil
}
