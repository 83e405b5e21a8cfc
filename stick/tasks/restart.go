package tasks

import (
	"strconv"
	"strings"
	"time"

	"talkingstick/stick"
)

// Restart says how many times a command may start again by itself.
type Restart struct {
	OnReturn  int // when the task has come back from its review or from a merge
	OnFailure int // when the command has failed while the task was with its worker
}

// MaxRestarts limits how many times a command may start again by itself.
const MaxRestarts = 100

// DefaultRestarts is how many times it may if nobody says.
const DefaultRestarts = 3

// The reasons for which a command starts again.
const (
	OnReturn  = "on-return"
	OnFailure = "on-failure"
)

// ParseRestart reads when and how many times a command starts again by itself: "no", or "on-return" and
// "on-failure", separated by a comma, each perhaps with a number of times such as "on-return:3". It fails with
// [stick.CodeUsage].
func ParseRestart(text string) (r Restart, err error) {
	if text == "no" {
		return r, nil
	}

	for rule := range strings.SplitSeq(text, ",") {
		name, times, ok := parseRestartRule(rule)
		switch {
		case ok && name == OnReturn:
			r.OnReturn = times
		case ok && name == OnFailure:
			r.OnFailure = times
		default:
			return Restart{}, stick.Errorf(stick.CodeUsage,
				"--restart must be no, or on-return and on-failure, separated by a comma, each perhaps with :<times> "+
					"from 1 to %d, not %q", MaxRestarts, stick.Clip(text, 40)).
				With("field", "restart")
		}
	}

	return r, nil
}

// parseRestartRule reads one of the reasons, and how many times.
func parseRestartRule(rule string) (name string, times int, ok bool) {
	i := strings.IndexAny(rule, ":=")
	if i < 0 {
		return rule, DefaultRestarts, true
	}

	times, err := strconv.Atoi(rule[i+1:])
	return rule[:i], times, err == nil && 1 <= times && times <= MaxRestarts
}

// Pauses before a command that has failed starts again: the first, and the longest.
const (
	FirstPause   = 10 * time.Second
	LongestPause = 10 * time.Minute
)

// hasFailed reports whether a run that has ended did so by a signal, with an exit status, or at its limit, and
// nobody had asked it to end.
func (r Run) hasFailed() bool {
	if r.EndedAt.IsZero() || !r.StopAt.IsZero() {
		return false
	}
	return r.Exit != 0 || r.Limited
}

// RetryTime returns when a run that has just ended starts again because it has failed, zero if it doesn't. Each
// further failure in a row doubles the pause. runs are the runs of all attempts, of which it is the last.
func (r Run) RetryTime(t stick.Task, runs []Run) stick.Time {
	if r.Retries < 1 || !r.hasFailed() || !isWithWorker(t) {
		return 0
	}

	pause := FirstPause
	for i := len(runs) - 2; i >= 0 && runs[i].Attempt == r.Attempt && runs[i].hasFailed(); i-- {
		pause = min(2*pause, LongestPause)
	}
	return r.EndedAt.Add(pause)
}

// isWithWorker reports whether somebody has to be working on the task now.
func isWithWorker(t stick.Task) bool { return t.Busy() || t.State == stick.TaskAssigned && !t.Later }

// StartAgain says whether a command starts again by itself.
type StartAgain struct {
	Now  string     // [OnReturn] or [OnFailure] if it is to start now, else ""
	Ever bool       // it may, now or later
	At   stick.Time // when it does after a failure; zero if that isn't what it waits for
}

// UseUp takes from a run what a start for this reason uses up.
func (s StartAgain) UseUp(r *Run) {
	switch s.Now {
	case OnReturn:
		r.Restarts--
	case OnFailure:
		r.Retries--
	}
}

// StartsAgain says whether a run that has ended, or whose process has died, is to start again by itself at a time.
// runs are the runs of all attempts.
func (r Run) StartsAgain(t stick.Task, runs []Run, state RunState, at stick.Time) StartAgain {
	back, ever := r.RestartsOn(t, runs)
	if back {
		return StartAgain{Now: OnReturn, Ever: true}
	}

	last := runs[len(runs)-1]
	if last.Attempt != r.Attempt || last.Number != r.Number || t.Attempt != r.Attempt {
		return StartAgain{Ever: ever}
	}
	if last.Retries < 1 || !last.StopAt.IsZero() || !isWithWorker(t) {
		return StartAgain{Ever: ever}
	}

	// Nobody has seen how a lost run ended. Its process is gone, so it is late already.
	switch {
	case state == RunLost, !last.RetryAt.IsZero() && last.RetryAt <= at:
		return StartAgain{Now: OnFailure, Ever: true, At: last.RetryAt}
	case !last.RetryAt.IsZero():
		return StartAgain{Ever: true, At: last.RetryAt}
	}
	return StartAgain{Ever: ever}
}

// Returned reports whether the task has come back to its worker: changes are requested, or it couldn't be
// merged.
func Returned(t stick.Task) bool { return t.State == stick.TaskWorking && t.Cause != "" }

// RestartsOn reports whether a run that has ended is to start again now, because the task has come back since
// it began. ever is false if that can't happen any more. runs are the runs of all attempts.
func (r Run) RestartsOn(t stick.Task, runs []Run) (now, ever bool) {
	last := runs[len(runs)-1]
	if last.Attempt != r.Attempt || last.Number != r.Number || last.Restarts < 1 || !last.StopAt.IsZero() ||
		t.Attempt != r.Attempt || t.Over() {
		return false, false
	}
	return Returned(t) && t.StateAt != r.TaskAt, true
}
