package tasks

import (
	"slices"
	"strings"

	"talkingstick/stick"
)

// Run is one start of a worker's command. An attempt at a task has any number of them, one after another.
type Run struct {
	Task      string // its key
	Attempt   int
	Number    int // counts from 1 within the attempt
	Command   string
	Process   stick.Process // the one that starts the command, and then attends to it until it has ended
	By        stick.AgentID // who wanted it
	StartedAt stick.Time    // when Process began; zero while it only has the claim
	EndedAt   stick.Time
	Exit      int           // the exit status, or -1 if nobody recorded it
	Signal    string        // the signal that ended it, such as SIGTERM
	StopAt    stick.Time    // when somebody asked it to end
	StoppedBy stick.AgentID // who did
	Output    string        // the sum of the end of its output
	Restarts  int           // how many times the command may still start again by itself when the task comes back
	Retries   int           // how many times it may still start again by itself when it has failed
	RetryAt   stick.Time    // it has failed, and starts again then; zero if it doesn't
	Limited   bool          // it ran for longer than the project allows, so tt ended it
	TaskAt    stick.Time    // since when the task had been in its state as the run began
	Queued    bool          // as many commands ran as the project allows, so it waits until one has ended
}

// RunState says how a run is.
type RunState string

// The states of a run.
const (
	RunClaimed RunState = "claimed" // a process is about to start it
	RunDropped RunState = "dropped" // that process died before: it never started
	RunRunning RunState = "running"
	RunLost    RunState = "lost" // its process died without recording the end
	RunEnded   RunState = "ended"
)

// State returns the state of a run, from the verdict on its process.
func (r Run) State(v stick.Verdict) RunState {
	switch {
	case !r.EndedAt.IsZero():
		return RunEnded
	case r.StartedAt.IsZero() && (v == stick.Gone || r.Process.IsZero()):
		return RunDropped
	case r.StartedAt.IsZero():
		return RunClaimed
	case v == stick.Gone:
		return RunLost
	}
	return RunRunning
}

// Live reports whether the run runs, or is about to.
func (s RunState) Live() bool { return s == RunClaimed || s == RunRunning }

// maxRunCommand is how long the command of a run may be, in bytes.
const maxRunCommand = 64 << 10

// RunStart asks to start a worker's command.
type RunStart struct {
	By      stick.AgentID
	Command string   // empty for the command of the last run
	First   bool     // only if the attempt has no run: somebody who asks twice gets the run that there is
	Restart *Restart // how many times it may start again by itself; nil for what the last run has left
	Follows *int     // only if this is the number of the attempt's last run that was started, 0 for none; nil for any
	Running int      // how many commands run on this host, or are about to
	Most    int      // how many may; 0 for any number
	Queue   bool     // if as many run as may, let it wait
}

// StartRun returns the next run of the task's attempt, without its process. runs are the runs of all
// attempts, the oldest first. If q.First and the attempt has this command already, there is nothing to start,
// and is is its last run. The same goes for q.Follows if somebody has started another run.
//
// It fails with [stick.CodeStaleAttempt] if the attempt is over, with [stick.CodeInvalidTransition] if nobody has begun
// the task, with [stick.CodeUsage] if nobody knows the command, with [stick.CodeAlreadyExists] if q.First and the attempt
// has a different command, with [stick.CodeAlreadyRunning], and with [stick.CodeMaxRunning].
func StartRun(
	t stick.Task, q RunStart, runs []Run, verdict func(stick.Process) stick.Verdict,
) (next Run, is *Run, err error) {
	if t.Over() {
		return next, nil, withTaskFacts(t, stick.Errorf(stick.CodeStaleAttempt, "attempt %d of %s is over: it is %s",
			t.Attempt, t.ID, t.State.Word(t.Cause))).Hintf("%s", t.NextStep())
	}

	if t.Later {
		return next, nil, withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
			"%s hasn't begun, so it has no worktree", t.ID)).
			Hintf("to begin it: %s", stick.Cmd("tt task start --task <task_id>", t.ID))
	}

	// A start that never came about leaves no trace in the attempt.
	var here []Run
	for _, r := range runs {
		if r.Attempt == t.Attempt && r.State(verdict(r.Process)) != RunDropped {
			here = append(here, r)
		}
	}

	// Who asks twice for the first run gets the one that there is.
	if n := len(here); n > 0 && q.First {
		last := here[n-1]
		if slices.ContainsFunc(here, func(r Run) bool { return r.Command == q.Command }) {
			return next, &last, nil
		}

		e := withTaskFacts(t, stick.Errorf(stick.CodeAlreadyExists, "attempt %d of %s already has a command: %s",
			t.Attempt, t.ID, stick.Clip(last.Command, 160)))
		if last.State(verdict(last.Process)).Live() {
			return next, nil, e.Hintf("to start another: %s, then %s", stick.Cmd("tt task stop <task_id>",
				t.ID), stick.Cmd("tt task run <task_id> -- …", t.ID))
		}

		return next, nil, e.Hintf("to start another: %s", stick.Cmd("tt task run <task_id> -- …", t.ID))
	}

	// Somebody else has started a run since the caller's question.
	if n := len(here); q.Follows != nil && n > 0 && here[n-1].Number != *q.Follows {
		return next, &here[n-1], nil
	}

	next = Run{
		Task: stick.TaskKey(t.ID), Attempt: t.Attempt, Number: 1,
		Command: q.Command, By: q.By, TaskAt: t.StateAt,
	}
	if n := len(here); n > 0 {
		last := here[n-1]
		if state := last.State(verdict(last.Process)); state.Live() {
			return next, nil, errRuns(t, last, state)
		}
		next.Number = last.Number + 1
	}

	// Without a command of its own, a run repeats the last one.
	if n := len(runs); n > 0 {
		if next.Command == "" {
			next.Command = runs[n-1].Command
		}
		next.Restarts, next.Retries = runs[n-1].Restarts, runs[n-1].Retries
	}

	if q.Restart != nil {
		next.Restarts, next.Retries = q.Restart.OnReturn, q.Restart.OnFailure
	}

	if err := checkRunCommand(t, next.Command); err != nil {
		return next, nil, err
	}

	// The limit is of this host, and doesn't refuse a run that may wait.
	if full := q.Most > 0 && q.Running >= q.Most; full && !q.Queue {
		return next, nil, errMostRun(t, q)
	} else if full {
		next.Queued = true
	}

	return next, nil, nil
}

// Resumption is a start of a command that tt decides on by itself.
type Resumption struct {
	Command  string `json:"command"`
	Follows  int    `json:"follows"`           // the number of the attempt's last run that was started; 0 for none
	Restarts int    `json:"restarts"`          // how many times it may start again by itself after this one, on a return
	Retries  int    `json:"retries,omitempty"` // and how many times on a failure
}

// Resume returns how the command of a task starts without somebody's asking for this task: because it was
// asked for and never started, or because it may start again, the task has come back or the command has
// failed, and the process that was to see that is gone. With all it starts as well if it was cut off or has ended, while the task is with
// its worker. What somebody has stopped stays stopped. ok is false if there is nothing to start. runs are the
// runs of all attempts. See docs/decisions/worktrees-and-runs.md#runs.
func Resume(
	t stick.Task, runs []Run, verdict func(stick.Process) stick.Verdict, at stick.Time, all bool,
) (r Resumption, ok bool) {
	if len(runs) == 0 || t.Over() || t.Offered() || t.Later {
		return r, false
	}

	last := runs[len(runs)-1]
	v := verdict(last.Process)

	state := last.State(v)
	if last.Attempt != t.Attempt || state.Live() || !last.StopAt.IsZero() || v == stick.Unknown && !last.Process.IsZero() {
		return r, false
	}

	// It may come back by itself, while its process lives to see that.
	again := last.StartsAgain(t, runs, state, at)
	if v == stick.Alive && again.Ever || again.Now == "" && !all && state != RunDropped {
		return r, false // its process waits for that, or nobody has asked
	}

	// A start because the task came back uses up one restart, and one after a failure another.
	r = Resumption{Command: last.Command, Restarts: last.Restarts, Retries: last.Retries}
	switch again.Now {
	case OnReturn:
		r.Restarts--
	case OnFailure:
		r.Retries--
	}

	// Who starts it says which run it follows, so that two don't start it at once.
	for _, x := range runs {
		if x.Attempt == t.Attempt && x.State(verdict(x.Process)) != RunDropped {
			r.Follows = x.Number
		}
	}

	return r, true
}

// errRuns refuses a second run beside a live one.
func errRuns(t stick.Task, r Run, state RunState) error {
	how := stick.Words("is about to start")
	switch {
	case state == RunRunning:
		how = stick.Wordsf("is running (process %d)", r.Process.PID)
	case r.Queued:
		how = "waits until fewer commands run"
	}
	return withTaskFacts(t, stick.Errorf(stick.CodeAlreadyRunning,
		"run %d of %s %s: %s", r.Number, t.ID, how, stick.Clip(r.Command, 160))).
		With("run", r.Number).With("pid", r.Process.PID).
		Hintf("to see what it prints: %s; to end it: %s",
			stick.Cmd("tt task logs <task_id>", t.ID), stick.Cmd("tt task stop <task_id>", t.ID))
}

// errMostRun refuses a run over the project's limit.
func errMostRun(t stick.Task, q RunStart) error {
	are := stick.Words("task commands are running")
	if q.Running == 1 {
		are = "task command is running"
	}

	return withTaskFacts(t, stick.Errorf(stick.CodeMaxRunning,
		"%d %s here, and [worker] max_running in .talking-stick.toml allows %d",
		q.Running, are, q.Most)).
		With("running", q.Running).With("max_running", q.Most).
		Hintf("wait until one ends; to see them: %s", stick.Cmd("tt task list"))
}

// checkRunCommand refuses what can't be the command of a run. It fails with [stick.CodeUsage].
func checkRunCommand(t stick.Task, command string) error {
	var why stick.Words
	switch bad := stick.NotText(command); {
	case strings.TrimSpace(command) == "":
		why = stick.Wordsf("%s has no earlier command to start again", t.ID)
	case bad != "":
		why = "the command holds " + bad
	case len(command) > maxRunCommand:
		why = stick.Wordsf("the command is %d bytes long; the limit is %d", len(command), maxRunCommand)
	default:
		return nil
	}
	return withTaskFacts(t, stick.Errorf(stick.CodeUsage, "%s", why)).With("field", "command").
		Hintf("name the command: %s", stick.Cmd("tt task run <task_id> -- …", t.ID))
}

// Again returns the hint how to start the command of a task again, if it has one that doesn't run, and empty
// otherwise. It says so when the command starts by itself.
func Again(t stick.Task, runs []Run, verdict func(stick.Process) stick.Verdict) stick.Hint {
	if len(runs) == 0 || t.Over() || t.Offered() {
		return nil
	}

	last := runs[len(runs)-1]
	state := last.State(verdict(last.Process))
	if state.Live() {
		return nil
	}

	if state == RunLost { // a part of it may run
		return stick.Hintf("to start its worker again: %s, then %s", stick.Cmd("tt task stop <task_id>",
			t.ID), stick.Cmd("tt task run <task_id>", t.ID))
	}

	_, ever := last.RestartsOn(t, runs)
	waits := ever && Returned(t) || !last.RetryAt.IsZero()
	if waits && verdict(last.Process) != stick.Gone {
		return Starts(t.ID)
	}

	return stick.Hintf("to start its worker again: %s", stick.Cmd("tt task run <task_id>", t.ID))
}

// Starts returns the hint for a task whose command starts again by itself.
func Starts(id string) stick.Hint {
	return stick.Hintf("wait: its command will start again by itself; to see what it prints: %s",
		stick.Cmd("tt task logs <task_id>", id))
}
