//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"talkingstick/internal/proc"
)

// measureRoster measures finding other agents on a machine with many processes: the scan alone, and the first
// session that starts in a room.
func (b *bench) measureRoster() error {
	table, err := proc.Host()
	if err != nil {
		return err
	}

	s := series{}
	var notes []string
	for _, n := range []int{200, 2000} {
		end, err := startProcesses(n)
		if err != nil {
			return err
		}

		name := fmt.Sprintf(" at %d", n)
		notes = append(notes, fmt.Sprintf("roster rows with %d processes: there were %d",
			n, countProcesses()))

		// The first round warms up.
		for i := range b.sampleCount(100, 20) {
			if err := b.scanOnce(s, table, name, i == 0); err != nil {
				end()
				return err
			}
		}

		end()
	}

	// Only the first row carries the samples.
	samples := s
	for _, r := range []struct {
		name, what string
		goal       float64
	}{
		{"scan at 2000", "scan of 2,000 processes", 30},
		{"session start at 200", "`tt session start` of a new agent, whole process, 200 processes", 20},
		{"session start at 2000", "the same with 2,000 processes", 45},
	} {
		b.addRow(row{
			What:     r.what,
			Goal:     fmt.Sprintf("≤ %.0f ms p50", r.goal),
			Measured: s.formatTimes(r.name),
			Met:      s.p50(r.name) <= r.goal,
			Notes: append(notes, fmt.Sprintf("`tt roster`, whole process: %s with 200 processes, %s with 2,000",
				s.formatTimes("roster at 200"), s.formatTimes("roster at 2000"))),
			Figures: s.figures(),
			Samples: samples,
		})
		samples = nil
	}

	return nil
}

// scanOnce scans, lists the roster and starts a session, once each. With warm, the times don't count.
func (b *bench) scanOnce(s series, table *proc.Table, name string, warm bool) error {
	p := b.newPlace("")

	if err := p.runAs("bench:viewer", "join"); err != nil {
		return err
	}

	began := time.Now()
	if _, err := table.Scan(func(string) bool { return false }, func(string) bool { return false }); err != nil {
		return err
	}
	scan := time.Since(began)

	// The roster lists the agent that has joined, hence the exit status.
	roster, err := timeCommand(p.commandAs("bench:one", "roster"), 1)
	if err != nil {
		return err
	}

	// A session starts with a scan of its own.
	start, err := timeCommand(p.commandAs("bench:one", "session", "start"), 0)
	if err != nil || warm {
		return err
	}

	s.addSample("scan"+name, scan)
	s.addSample("roster"+name, roster)
	s.addSample("session start"+name, start)
	return nil
}

// startProcesses starts processes until the machine has n. Call end to end them.
func startProcesses(n int) (end func(), err error) {
	more := n - countProcesses()
	if more <= 0 {
		return func() {}, nil
	}

	// One shell starts them all: a process each would take minutes.
	const script = `i=0; while [ $i -lt "$1" ]; do sleep 100000 & i=$((i+1)); done; echo ready; wait`
	c := exec.Command("/bin/sh", "-c", script, "sh", strconv.Itoa(more))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Dir, c.Stderr = "/", os.Stderr

	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}

	end = func() {
		// The shell and all that it has started are one process group.
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	}

	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		end()
		return nil, fmt.Errorf("%d processes can't be started: %w", more, err)
	}

	return end, nil
}

// countProcesses returns how many processes there are.
func countProcesses() int {
	paths, _ := filepath.Glob("/proc/[0-9]*")
	return len(paths)
}
