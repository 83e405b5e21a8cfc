package repository

import (
	"time"

	"talkingstick/internal/bell"
	"talkingstick/stick"
)

// Runner is the process that works on a task or a branch: it holds the lock. If no process does, it is the
// one that was interrupted at it.
type Runner struct {
	PID   int         `json:"pid"`   // 0 if it isn't known
	Since stick.Time  `json:"since"` // when it began
	State RunnerState `json:"state"`
	Host  string      `json:"host,omitempty"` // on which it runs, if that isn't this one
}

// RunnerState is what is known of a [Runner].
type RunnerState string

// The states of a runner.
const (
	RunnerAlive   RunnerState = "alive"
	RunnerStopped RunnerState = "stopped" // by a signal; it still holds the lock
	RunnerGone    RunnerState = "gone"
	RunnerUnknown RunnerState = "unknown"
)

// Words names the process and says how it is, for a sentence.
func (r Runner) Words() stick.Words {
	name := stick.Words("another process")
	if r.PID != 0 {
		name = stick.Wordsf("process %d", r.PID)
	}
	if r.Host != "" {
		name += stick.Wordsf(" on %s", r.Host)
	}

	switch r.State {
	case RunnerStopped:
		return name + " (stopped)"
	case RunnerGone:
		return name + " (ended, but a program that it started still runs)"
	}

	return name
}

// LockRunner returns the process that holds a lock, or nil if none does.
func (rp *Repo) LockRunner(kind, name string) *Runner {
	h, held, err := bell.HolderOf(rp.lockPath(kind, name))
	if err != nil || !held {
		return nil
	}
	return rp.runnerOf(h)
}

// runnerOf returns the holder of a lock, with what is known of its process.
func (rp *Repo) runnerOf(h bell.Holder) *Runner {
	r := &Runner{PID: h.PID, State: RunnerUnknown}
	if !h.Since.IsZero() {
		r.Since = stick.At(h.Since)
	}
	if h.PID == 0 {
		return r
	}

	// A signal may have stopped it: then it waits for ever, and holds the lock.
	switch v, stopped := rp.Core.Config.Procs.HolderVerdict(h.PID); {
	case stopped:
		r.State = RunnerStopped
	case v != stick.Unknown:
		r.State = RunnerState(v)
	}

	return r
}

// errBusy returns the error for a lock that another process holds. name is what it works on.
func errBusy(name string, r Runner, now stick.Time) *stick.Error {
	var since stick.Words
	if d := now.Sub(r.Since); !r.Since.IsZero() && d >= time.Second {
		since = ", for " + stick.Age(d)
	}

	e := stick.Errorf(stick.CodeLanding, "another command is working on %s%s: %s", name, since, r.Words()).
		With("task_id", name).With("runner", r)
	if r.PID != 0 {
		e.With("pid", r.PID)
	}
	if r.State == RunnerStopped {
		return e.Hintf("let it continue: %s; if it is killed instead, the next command finishes the work",
			stick.Cmd("kill -CONT <pid>", r.PID))
	}

	return e.Hintf("wait until it ends; to see what it does: %s", stick.Cmd("tt task list"))
}
