//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/store"
)

// measureStart measures what a command costs as a whole process.
func (b *bench) measureStart() error {
	p := b.newPlace("")

	for _, agent := range []string{"bench:one", "bench:two"} {
		if err := p.runAs(agent, "join"); err != nil {
			return err
		}
	}
	if err := p.runAs("bench:one", "wait"); err != nil {
		return err
	}

	variants := []struct {
		name string
		args []string
	}{
		{"empty Go", []string{b.empty}},
		{"Go + one read", []string{b.read, filepath.Join(p.data, store.FileName)}},
		{"tt version", []string{b.tt, "version"}},
		{"tt whoami", []string{b.tt, "whoami", "--json"}},
		{"tt state", []string{b.tt, "state", "--json"}},
	}

	// The variants run in turn, so that other load on the machine affects them alike.
	s := series{}
	for i := range b.sampleCount(200, 40) + 10 {
		for _, v := range variants {
			took, err := timeCommand(p.command(v.args[0], v.args[1:]...), 0)
			if err != nil {
				return err
			}
			if i >= 10 {
				s.addSample(v.name, took)
			}
		}
	}

	floors := fmt.Sprintf("empty Go %s, Go + one read %s, `tt version` (no database) %s",
		s.formatTimes("empty Go"), s.formatTimes("Go + one read"), s.formatTimes("tt version"))

	for _, r := range []struct {
		name, floor string
		goal        float64
		samples     series
	}{
		{"tt whoami", "empty Go", 6, s},
		{"tt state", "Go + one read", 8, nil}, // the row above has the samples of all variants
	} {
		b.addRow(row{
			What: "`" + r.name + " --json`, whole process",
			Goal: fmt.Sprintf("≤ %.0f ms", r.goal),
			Measured: fmt.Sprintf("%s, %.2f × %s",
				s.formatTimes(r.name), s.p50(r.name)/s.p50(r.floor), r.floor),
			Met:     s.p50(r.name) <= r.goal,
			Notes:   []string{"floors of the start rows: " + floors},
			Figures: s.figures(),
			Samples: r.samples,
		})
	}

	return nil
}

// minBlocked is how long a process is left alone before it is woken or ended, so that it is asleep by then.
const minBlocked = 20 * time.Millisecond

// measureWake measures how soon a release has woken the next holder.
func (b *bench) measureWake() error {
	p := b.newPlace("")
	e := p.openEngine()
	defer e.Close()
	holder, other := "bench:one", "bench:two"

	if err := p.runAs(holder, "wait", "--turn"); err != nil {
		return err
	}

	s := series{}
	warm := 10
	for i := range b.sampleCount(300, 60) + warm {
		waiter := p.commandAs(other, "wait", "--turn")
		blocked := func() error { return p.awaitListeners(e, 1) }
		began, released, woken, err := p.handOver(holder, waiter, blocked)
		if err != nil {
			return err
		}
		if i >= warm {
			s.addSample("release exits to wait has exited", woken.Sub(released))
			s.addSample("release starts to wait has exited", woken.Sub(began))
		}

		// The woken agent holds the stick now.
		holder, other = other, holder
	}

	if err := b.measureExits(s); err != nil {
		return err
	}

	name := "release exits to wait has exited"
	p50, p99 := s.p50(name), s.p99(name)
	b.addRow(row{
		What:     "release exits → other process's `tt wait` has exited",
		Goal:     "≤ 3 ms p50, ≤ 10 ms p99",
		Measured: s.formatTimes(name),
		Met:      p50 <= 3 && p99 <= 10,
		Figures:  s.figures(),
		Samples:  s,
		Notes: []string{
			"from the start of `tt release` until the woken `tt wait` has exited: " +
				s.formatTimes("release starts to wait has exited"),
			"exit of a process that had an inotify watch until just before: " + s.formatTimes("exit after a watch") +
				"; of one without: " + s.formatTimes("exit"),
		},
	})

	return nil
}

// handOver starts waiter, the wait of another agent, and lets the holder release the stick once that has been
// blocked for a while. awaitBlocked returns once it is blocked. The times are those at which the release was
// started, the release had exited, and the woken wait had exited.
func (p place) handOver(
	holder string, waiter *exec.Cmd, awaitBlocked func() error,
) (began, released, woken time.Time, err error) {
	// A harness reads the output through a pipe, too. Its reading end stays open.
	out, err := waiter.StdoutPipe()
	if err != nil {
		return began, released, woken, err
	}

	if err := waiter.Start(); err != nil {
		return began, released, woken, err
	}

	// A wait that hasn't blocked yet would find the stick free, and nobody would wake it.
	if err := awaitBlocked(); err != nil {
		return began, released, woken, err
	}

	time.Sleep(minBlocked)
	release := p.commandAs(holder, "release", "--status", "measured", "--next-action", "measure again")
	began = time.Now()
	if err := release.Start(); err != nil {
		return began, released, woken, err
	}

	// This process, the parent of both, takes the times when the kernel reports their ends.
	waiterEnd, releaseEnd := reapProcess(waiter), reapProcess(release)
	if released, err = waitEnd(releaseEnd, "the release"); err != nil {
		return began, released, woken, err
	}
	if woken, err = waitEnd(waiterEnd, "the wait"); err != nil {
		return began, released, woken, err
	}

	if !waiter.ProcessState.Success() || !release.ProcessState.Success() {
		return began, released, woken, fmt.Errorf("the hand-over failed: release %s, wait %s",
			release.ProcessState, waiter.ProcessState)
	}

	// The Wait of reapProcess has closed the pipe already, so an error says nothing.
	out.Close()
	return began, released, woken, nil
}

// measureExits measures how long the kernel takes to end a process that has listened to a bell, and one that
// hasn't. No woken wait can be faster than the difference.
func (b *bench) measureExits(s series) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}

	p := b.newPlace("")
	for range b.sampleCount(100, 20) {
		for name, listens := range map[string]string{"exit": "", "exit after a watch": "yes"} {
			c, in, out, err := p.startPart(program, "leave", listensEnv+"="+listens)
			if err != nil {
				return err
			}
			time.Sleep(minBlocked)

			// It prints a line when only its exit is left, which is what is timed.
			if err := in.Close(); err != nil {
				return err
			}
			if _, err := out.ReadString('\n'); err != nil {
				return err
			}

			began := time.Now()
			end, err := waitEnd(reapProcess(c), "the process")
			if err != nil {
				return err
			}
			s.addSample(name, end.Sub(began))
		}
	}
	return nil
}

// playLeaver is a process that listens to a bell, if it is told to. When its input ends it stops that, prints
// "done", and has nothing more to do than exit.
func playLeaver() error {
	d, err := bell.Open(os.Getenv(roomEnv))
	if err != nil {
		return err
	}

	var w *bell.Watch
	if os.Getenv(listensEnv) != "" {
		if w, err = d.Watch("room"); err != nil {
			return err
		}
	}

	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}

	if w != nil {
		if err := w.Close(); err != nil {
			return err
		}
	}

	fmt.Println("done")
	return nil
}

// measureOwnerDeath measures how soon a waiter notices that the owner's harness was killed.
func (b *bench) measureOwnerDeath() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}

	harness := filepath.Join(b.dir, "claude")
	if err := os.Symlink(program, harness); err != nil {
		return err
	}

	data := filepath.Join(b.dir, "death-data")
	s := series{}
	warm := 3
	for i := range b.sampleCount(100, 20) + warm {
		took, err := b.newPlace(data).timeOwnerDeath(harness)
		if err != nil {
			return err
		}
		if i >= warm {
			s.addSample("killed to wait has exited", took)
		}
	}

	name := "killed to wait has exited"
	r := s.medianRow(name,
		"owner's harness killed → waiter's `tt wait` has exited", "without polling: ≤ 10 ms p50", 10)
	r.Notes = []string{"the design has no goal for the death of an owner; 10 ms is this table's own"}
	b.addRow(r)

	return nil
}

// timeOwnerDeath kills the owner of the place's stick while another agent waits for it, and returns how long
// it took until the wait has exited.
func (p place) timeOwnerDeath(harness string) (time.Duration, error) {
	owner, in, _, err := p.startPart(harness, "owner")
	if err != nil {
		return 0, err
	}

	e := p.openEngine()
	waiter := p.commandAs("bench:waiter", "wait")
	if err := waiter.Start(); err != nil {
		return 0, err
	}
	if err := p.awaitListeners(e, 1); err != nil {
		return 0, err
	}
	time.Sleep(minBlocked)

	// The command that took the stick has ended already; its harness stands for the agent.
	woken, killed := reapProcess(waiter), time.Now()
	if err := owner.Process.Kill(); err != nil {
		return 0, err
	}

	// The error only says that it was killed.
	_ = owner.Wait()
	in.Close()

	at, err := waitEnd(woken, "the wait")
	if err != nil {
		return 0, err
	}
	if !waiter.ProcessState.Success() {
		return 0, fmt.Errorf("the wait: %s", waiter.ProcessState)
	}

	// The wait has ended for the right reason only if the room knows that its owner is gone.
	state, err := p.roomState(e)
	if err != nil {
		return 0, err
	}
	if state != "owner_gone" {
		return 0, fmt.Errorf("the room is %s after its owner was killed", state)
	}

	e.Close()
	return at.Sub(killed), nil
}
