package web

import (
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// Failed is the last thing that the server did for a task, if that has failed and nothing has happened to the
// task since; nil if not.
func (v *view) Failed(r *monitor.Room, id string) *job {
	if id == "" {
		return nil
	}

	j, changed := v.s.jobs.lastAbout(r.ID(), id), stick.Time(0)
	if t := r.Task(id); t != nil {
		changed = t.StateAt
	}
	if j.Failed(changed) {
		return j
	}

	return nil
}

// waitsForMerge is why an approved task waits that nothing keeps.
const waitsForMerge = "it waits until somebody merges it"

// StuckReason says why a task doesn't get on, empty if nothing keeps it.
func (v *view) StuckReason(r *monitor.Room, t task.TaskView) string {
	switch {
	case t.State == stick.TaskWorking && t.Cause != "":
		return "it " + cameBack(t) + backWith(r, t)
	case t.State == stick.TaskConflicted:
		return "it conflicts with " + t.Integration + backWith(r, t)
	case t.Warning != "":
		return string(t.Warning)
	case t.Later && len(t.WaitsFor) > 0:
		names := ""
		for i, w := range t.WaitsFor {
			if i > 0 {
				names += ", "
			}
			names += w.TaskID
		}

		return "it begins when this has landed: " + names
	case t.State == stick.TaskInReview:
		return "it waits for a review"
	case t.State == stick.TaskApproved:
		if j := v.Failed(r, t.TaskID); j != nil {
			return j.Name() + " failed: " + j.Err.Message
		}

		for _, q := range r.Paused {
			if q.Branch == t.Integration {
				return "the gate failed on " + t.Integration + " itself, so nothing is merged into it"
			}
		}

		if t.Merges {
			return "tt merges it by itself"
		}
		if t.Doing == "" {
			return waitsForMerge
		}
	case t.State == stick.TaskFailed && t.Cause != stick.CauseCancelled:
		return "it failed: " + spacedWords(t.Cause)
	}

	return ""
}

// isUnmergeable reports whether a task came back because its merge has failed. A sign of its worker doesn't change
// that.
func isUnmergeable(cause string) bool {
	return cause == stick.CauseGate || cause == stick.CauseConflict
}

// WorkerToTell is the worker of a task that isn't over, if a person can write to it; empty if not.
func (v *view) WorkerToTell(r *monitor.Room, t task.TaskView) stick.AgentID {
	m := r.Member(t.Worker)
	isEnded := t.State == stick.TaskCompleted || t.State == stick.TaskFailed
	if m == nil || m.Verdict == stick.Gone || t.Worker == v.Picture.Me || isEnded {
		return ""
	}

	return t.Worker
}
