package runner

import (
	"os"
	"os/exec"
	"time"

	"talkingstick/internal/proc"
	"talkingstick/internal/task/command"
	"talkingstick/stick"
)

// processEnder ends the processes of a run.
type processEnder struct {
	procs *proc.Table
	find  func() []proc.Info // what still runs, without the command itself

	// Of whoever has started the command, else nil.
	command      *exec.Cmd
	commandEnded <-chan struct{} // closed when the command has ended
}

// killTime is how long it may take until killed processes are gone.
const killTime = 5 * time.Second

// endAll asks the processes to end, and kills those that still run after grace. It returns those that it
// can't end.
func (e processEnder) endAll(grace time.Duration) []proc.Info {
	if e.haveEnded() {
		return nil
	}

	// First everybody is asked, the whole group of the command at once.
	if e.isCommandAlive() {
		command.AskGroupToEnd(e.command)
	}

	for _, p := range e.find() {
		command.AskToEnd(e.procs, p.ID)
	}

	if e.awaitEnd(grace, nil) {
		return nil
	}

	// They may start others meanwhile.
	for limit := time.Now().Add(killTime); time.Now().Before(limit); {
		e.killAll()
		if e.awaitEnd(100*time.Millisecond, nil) {
			return nil
		}
	}

	return e.find()
}

// killAll kills all.
func (e processEnder) killAll() {
	if e.isCommandAlive() {
		// It may have ended meanwhile.
		_ = command.SignalGroup(e.command, os.Kill)
	}

	for _, p := range e.find() {
		// It may have ended meanwhile.
		_ = e.procs.Send(p.ID, os.Kill)
	}
}

// isCommandAlive reports whether the command runs. Once it has ended, the number of its process group may be
// somebody else's; of those that were in it, find knows.
func (e processEnder) isCommandAlive() bool {
	if e.command == nil {
		return false
	}

	select {
	case <-e.commandEnded:
		return false
	default:
		return true
	}
}

// haveEnded reports whether nothing runs any more.
func (e processEnder) haveEnded() bool {
	select {
	case <-e.commandEnded:
	default:
		if e.commandEnded != nil {
			return false
		}
	}

	return len(e.find()) == 0
}

// awaitEnd waits until nothing runs any more, and reports whether that is so. It gives up after most, or when
// stop is closed.
func (e processEnder) awaitEnd(most time.Duration, stop <-chan struct{}) bool {
	deaths := e.procs.Deaths()
	defer deaths.Close()

	limit := time.NewTimer(most)
	defer limit.Stop()

	leader := e.commandEnded

	for !e.haveEnded() {
		// New processes may have come since the last turn.
		deaths.Watch(processIDs(e.find()))
		select {
		case <-leader:
			leader = nil
		case <-deaths.C:
		case <-time.After(time.Second): // what can't be watched has ended
		case <-limit.C:
			return false
		case <-stop:
			return false
		}
	}

	return true
}

// processIDs returns the identities of processes.
func processIDs(all []proc.Info) (out []stick.Process) {
	for _, p := range all {
		out = append(out, p.ID)
	}
	return out
}

// nameProcesses names processes in a sentence: at most five of them.
func nameProcesses(all []proc.Info) stick.Words {
	const most = 5
	var parts []stick.Words
	for _, p := range all[:min(len(all), most)] {
		parts = append(parts, stick.Wordsf("%d (%s)", p.ID.PID, p.Comm))
	}

	if n := len(all) - most; n > 0 {
		parts = append(parts, stick.Wordsf("and %d more", n))
	}
	return stick.JoinWords(parts, ", ")
}
