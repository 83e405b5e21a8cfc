package harness

import (
	"slices"

	"talkingstick/internal/proc"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// findParents finds the harnesses in whose tool calls the caller's was started. Of one that proves its
// session the process is enough. Of a carrier, and out of a sandbox with its own pid namespace, only the
// environment names the session. What a worker's command runs is its own agent, whoever started that command.
// Nor is an agent in a carrier known to be in the tool call in which the carrier was started.
func (r *resolver) findParents() {
	// Of a program nobody knows that it does.
	carries := r.near.proof == stick.ProvesCarrier && !r.near.row.isProgramRow()
	if r.near.row.Name == workerRow.Name || carries {
		return
	}

	for _, p := range r.above {
		m, ok := recogniseProcess(p)
		switch {
		case !ok:
		case m.row.Name == workerRow.Name:
			return
		case m.sandbox || m.proof != stick.ProvesSession:
			r.addParentIn(m.row)
		default:
			r.caller.Above = append(r.caller.Above, p.ID)
			r.say("It runs below process %d (%s) of %s.", p.ID.PID, p.Comm, m.row.Title)
		}
	}

	// Ancestors that can't be seen may be harnesses, too.
	if !r.in.Complete {
		for _, row := range Rows {
			r.addParentIn(row)
		}
	}
}

// addParentIn adds the session of a harness that the environment names. The caller's own harness has put its
// own session there.
func (r *resolver) addParentIn(row Row) {
	if name, id := r.firstSet(row.SessionEnv); name != "" && row.Name != r.near.row.Name {
		r.caller.AboveIn = append(r.caller.AboveIn, Caller{Harness: row.Name, SessionID: id}.Seed())
		r.say("It runs below the session of %s that %s names.", row.Title, name)
	}
}

// findTask finds the task in whose command the caller runs. The mark counts if that command is an ancestor,
// or if no ancestor tells: a program that was started in such a command and has outlived it may keep the
// variable for ever.
func (r *resolver) findTask() {
	mark, ok := edits.ParseTaskMark(r.in.Getenv(TaskEnv))
	started := func(p proc.Info) bool { m, ok := recogniseProcess(p); return ok && m.row.Name == workerRow.Name }
	if ok && (!r.in.Complete || r.caller.Detached || slices.ContainsFunc(r.in.Chain, started)) {
		r.caller.Task = mark
		r.say("It runs in the command of task %s, says %s.", mark.Task, TaskEnv)
	}
}
