package watch

import (
	"context"
	"strconv"
	"strings"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// paneSwitcher returns what shows the pane of tmux in which a process runs, nil where this terminal is none
// of tmux's.
func paneSwitcher(a *app.Run) func(context.Context, stick.Process) error {
	if a.Getenv("TMUX") == "" {
		return nil
	}

	return func(ctx context.Context, p stick.Process) error {
		procs, err := a.Procs()
		if err != nil {
			return err
		}

		// The pid may belong to another process by now.
		if procs.Verdict(p) != stick.Alive {
			return stick.Errorf(stick.CodeNotFound, "process %d has ended, or can't be seen from here", p.PID)
		}

		panes, err := app.RunProgram(ctx, "tmux", "list-panes", "-a", "-F",
			"#{pane_pid} #{pane_id} #{session_id}:#{window_id}")
		if err != nil {
			return stick.Errorf(stick.CodeNotFound, "tmux can't list its panes: %w", err)
		}

		// The agent runs below the shell of its pane.
		pane, window := paneOf(string(panes), chainOf(procs, p.PID))
		if pane == "" {
			return stick.Errorf(stick.CodeNotFound, "process %d runs in no pane of this tmux", p.PID).
				Hintf("look for it in another terminal")
		}

		_, err = app.RunProgram(ctx, "tmux", "switch-client", "-t", window, ";",
			"select-window", "-t", window, ";", "select-pane", "-t", pane)
		return err
	}
}

// chainOf lists a process and those above it, by their pids.
func chainOf(procs *proc.Table, pid int) (chain []int) {
	above, _ := procs.Ancestry(pid)
	chain = []int{pid}
	for _, p := range above {
		chain = append(chain, p.ID.PID)
	}
	return chain
}

// paneOf finds the pane whose own process is the nearest in a chain, and its window. Both are empty if there
// is none.
func paneOf(panes string, chain []int) (pane, window string) {
	nearest := len(chain)
	for l := range strings.Lines(panes) {
		f := strings.Fields(l)
		if len(f) != 3 {
			continue
		}

		pid, err := strconv.Atoi(f[0])

		// The nearest pane wins: a tmux may run inside of another one.
		for i, c := range chain[:nearest] {
			if err == nil && c == pid {
				nearest, pane, window = i, f[1], f[2]
				break
			}
		}
	}

	return pane, window
}
