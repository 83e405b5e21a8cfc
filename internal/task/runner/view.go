package runner

import (
	"time"

	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// RunView is a run of a task's command as it is shown.
type RunView struct {
	Attempt   int            `json:"attempt"`
	Run       int            `json:"run"` // counts from 1 in each attempt
	State     tasks.RunState `json:"state"`
	Command   string         `json:"command"`
	PID       int            `json:"pid"` // of the process that attends to the command; 0 while that is about to start
	By        stick.AgentID  `json:"started_by,omitempty"`
	StartedAt stick.Time     `json:"started_at"`
	EndedAt   stick.Time     `json:"ended_at"`
	Exit      *int           `json:"exit"`             // null while it runs, and if its end wasn't recorded
	Signal    string         `json:"signal,omitempty"` // that ended it
	StoppedBy stick.AgentID  `json:"stopped_by,omitempty"`
	Output    string         `json:"output,omitempty"` // the sum of the end of its output

	// how many times it may still start again by itself when the task comes back
	Restarts int        `json:"restarts,omitempty"`
	Retries  int        `json:"retries,omitempty"` // how many times it may still do so when it has failed
	RetryAt  stick.Time `json:"retry_at,omitzero"` // when it does
	Limited  bool       `json:"limited,omitempty"` // it ran for longer than the project allows
	Waits    bool       `json:"waits,omitempty"`   // it has ended, and its process waits until it is to start again
	Queued   bool       `json:"queued,omitempty"`  // it waits until fewer commands run
}

// ViewRun returns the view of a run.
func (rs *Runs) ViewRun(r tasks.Run) RunView {
	verdict := rs.core.Config.Procs.Verdict(r.Process)
	v := RunView{
		Attempt: r.Attempt, Run: r.Number, State: r.State(verdict), Command: r.Command, By: r.By,
		StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Signal: r.Signal, StoppedBy: r.StoppedBy, Output: r.Output, Restarts: r.Restarts, Queued: r.Queued,
		Retries: r.Retries, Limited: r.Limited,
	}

	// Before the start, the process has only claimed the run.
	if !r.StartedAt.IsZero() || r.Queued {
		v.PID = r.Process.PID
	}
	if v.State == tasks.RunEnded {
		if r.Exit >= 0 {
			v.Exit = &r.Exit
		}

		v.Waits = r.Restarts+r.Retries > 0 && verdict != stick.Gone
		if v.Waits {
			v.RetryAt = r.RetryAt
		}
	}

	return v
}

// ViewRuns returns the views of runs.
func (rs *Runs) ViewRuns(runs []tasks.Run) []RunView {
	out := []RunView{}
	for _, r := range runs {
		out = append(out, rs.ViewRun(r))
	}
	return out
}

// StateText says how the run is or how it ended, for a sentence.
func (v RunView) StateText() stick.Words {
	switch {
	case v.State == tasks.RunClaimed && v.Queued:
		return "waits until fewer commands run"
	case v.State == tasks.RunClaimed:
		return "is about to start"
	case v.State == tasks.RunDropped:
		return "was never started"
	case v.State == tasks.RunRunning:
		return "runs"
	case v.State == tasks.RunLost:
		return "is lost: the process that attended to it has died, and what it started may still run"
	}

	how := stick.Words("has ended")
	if v.Limited {
		how = "was ended by [worker] time_limit"
	}
	if v.StoppedBy != "" {
		how = stick.Wordsf("was stopped by %s", v.StoppedBy)
	}

	switch {
	case v.Signal != "":
		how += stick.Wordsf(", by %s", v.Signal)
	case v.Exit != nil && *v.Exit != 0 || v.Exit != nil && v.StoppedBy == "":
		how += stick.Wordsf(" with exit status %d", *v.Exit)
	}

	if took := v.EndedAt.Sub(v.StartedAt); !v.StartedAt.IsZero() && took >= time.Second {
		how += " after " + stick.Age(took)
	}
	return how
}
