package task

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	rules "talkingstick/stick/tasks"
)

// Check is the doctor's check of tasks. It finds what commands that died have left half done, and worktrees
// that outlived their tasks.
func (ts *Tasks) Check(ctx context.Context) core.Finding {
	db, err := ts.core.Open(ctx, false)
	if err != nil {
		return core.Finding{Status: core.FindingOK, Detail: "no tasks yet"}
	}

	var found []core.Problem
	tasks := 0
	err = db.View(ctx, func(tx *store.Tx) error {
		rooms, err := tx.Rooms(nil, "")
		if err != nil {
			return err
		}

		// The transaction may run again.
		found, tasks = nil, 0
		for _, r := range rooms {
			n, in, err := ts.unfinishedIn(tx, r)
			if err != nil {
				return err
			}

			found, tasks = append(found, in...), tasks+n
		}

		return nil
	})

	switch {
	case err != nil:
		return core.Fault(err)
	case len(found) > 0:
		return core.FindingOf(core.FindingWarning, found)
	}

	return core.Finding{Status: core.FindingOK, Detail: stick.Count(tasks, "task") + ", nothing half done"}
}

// unfinishedIn checks one room. It returns how many tasks the room has, and what is half done there.
func (ts *Tasks) unfinishedIn(tx *store.Tx, r stick.Room) (n int, found []core.Problem, err error) {
	tasks, err := tx.Tasks(r.ID)
	if err != nil {
		return 0, nil, err
	}

	open, err := tx.Intents(r.ID, "")
	if err != nil || len(tasks)+len(open) == 0 {
		return 0, nil, err
	}

	// Only other hosts have a checkout of this room.
	if r.Path == "" {
		return len(tasks), nil, nil
	}

	p, err := workspace.Resolve(r.Path, ts.core.Config.Workspace)
	if err != nil {
		// The workspace is gone with everything in it.
		return len(tasks), nil, nil
	}

	// The commands that are offered have to work from where the doctor runs.
	at := ts.pathFlag(r, p.Root)

	// Each problem names its room, because the doctor looks at all.
	note := func(what, fix stick.Words) {
		found = append(found, core.Problem{Detail: what + stick.Wordsf(" (in the room of %s)", r.Path), Fix: fix})
	}

	// No git is needed: the locks and the directories say enough.
	rp := ts.repos.RepoAt(p.Root)
	here := tx.CheckoutOf(r)
	busy, gates := map[string]bool{}, map[string]bool{}

	for _, i := range open {
		busy[i.Task] = true
		elsewhere := i.In.IsOther(here)
		if d, lands := repository.LandingOf(i); lands && d.Tree != "" && !elsewhere {
			// Whoever finishes this landing removes it.
			gates[d.Tree] = true
		}

		// A pause isn't half done, and a command that still runs finishes by itself.
		if i.Kind == repository.IntentPause || isAtWork(rp, tx, i, elsewhere) {
			continue
		}

		i.Task = taskName(i, tasks)
		note(interruptedWhile(tx, i, elsewhere), finishingCommand(i, tasks)+at)
	}

	if err := ts.noteCutOff(tx, r, at, note); err != nil {
		return 0, nil, err
	}

	// Worktrees of gates that no open landing is going to remove.
	for _, tree := range leftGates(rp, tasks) {
		if !gates[tree] {
			note(stick.Wordsf("tt couldn't remove the worktree of a gate that has ended: %s", tree),
				git.RemovalCommand(tree))
		}
	}

	// Worktrees of merged tasks on which nobody is working.
	for _, t := range tasks {
		if t.State != stick.TaskCompleted || busy[stick.TaskKey(t.ID)] {
			continue
		}
		if _, err := os.Stat(rp.PlannedPath(t)); err == nil {
			note(stick.Wordsf("the worktree of the merged task %s is still there: %s", t.ID, rp.PlannedPath(t)),
				stick.Cmd("tt task merge <task_id>", t.ID).Words()+at)
		}
	}

	return len(tasks), found, nil
}

// pathFlag returns the flag by which a command finds a room, "" where it needs none.
func (ts *Tasks) pathFlag(r stick.Room, root string) stick.Words {
	if here, err := ts.core.Place(core.Where{}); err == nil && here.Root == root {
		return ""
	}
	return stick.Wordsf(" --path %s", stick.Cmd("<path>", r.Path))
}

// noteCutOff notes that commands died with everything else. at is where the doctor's offers have to work.
func (ts *Tasks) noteCutOff(tx *store.Tx, r stick.Room, at stick.Words, note func(what, fix stick.Words)) error {
	cut, err := ts.cutOffIn(tx, r)
	if err == nil && len(cut) > 0 {
		note(sayCutOff(cut), stick.Cmd("tt task run --all").Words()+at)
	}
	return err
}

// cutOffIn lists the tasks of this checkout that are with their workers, and whose commands died with the processes
// that attended to them.
func (ts *Tasks) cutOffIn(tx *store.Tx, r stick.Room) (names []string, err error) {
	last, err := tx.RunsWithWorkers(r.ID)
	if err != nil {
		return nil, err
	}

	for _, run := range last {
		if run.State(ts.core.Config.Procs.Verdict(run.Process)) != rules.RunLost {
			continue
		}

		t, err := repository.TaskOf(tx, r.ID, run.Task)
		if err != nil {
			return nil, err
		}
		if !t.Elsewhere(tx.CheckoutOf(r)) {
			names = append(names, t.ID)
		}
	}

	return names, nil
}

// sayCutOff says of which tasks the commands were cut off.
func sayCutOff(names []string) stick.Words {
	if len(names) == 1 {
		return "the command of " + stick.Names(names, 1) + " was cut off"
	}
	return stick.Wordsf("%d commands of tasks were cut off: %s", len(names), stick.Names(names, 5))
}

// isAtWork reports whether the command of an intent still works on it. The locks here say nothing about one
// in another checkout, but its lease does.
func isAtWork(rp *repository.Repo, tx *store.Tx, i store.Intent, elsewhere bool) bool {
	if elsewhere {
		return repository.LeaseLeft(i, tx.Now()) > 0
	}
	return rp.LockRunner("task", i.Task) != nil
}

// interruptedWhile says what a command was doing when it was interrupted. The intent has the task's name as
// people wrote it.
func interruptedWhile(tx *store.Tx, i store.Intent, elsewhere bool) stick.Words {
	if elsewhere {
		return stick.Wordsf("task %s: a command in %s was interrupted while %s",
			i.Task, repository.NameCheckout(tx, i.In), IntentText(i.Kind))
	}
	return stick.Wordsf("task %s: a command was interrupted while %s", i.Task, IntentText(i.Kind))
}

// leftGates lists the worktrees of gates in the directories that hold the worktrees of tasks.
func leftGates(rp *repository.Repo, tasks []stick.Task) (trees []string) {
	seen := map[string]bool{}
	for _, t := range tasks {
		dir := filepath.Dir(rp.PlannedPath(t))
		if seen[dir] || rp.RequireInside(filepath.Join(dir, queue.GatePrefix)) != nil {
			continue
		}

		seen[dir] = true

		// The directory may be gone, together with its last worktree.
		entries, _ := os.ReadDir(dir)

		for _, e := range entries {
			if strings.HasPrefix(e.Name(), queue.GatePrefix) {
				trees = append(trees, filepath.Join(dir, e.Name()))
			}
		}
	}

	return trees
}

// taskName returns the name of an intent's task as people wrote it. The intent itself has it in lower case.
func taskName(i store.Intent, tasks []stick.Task) string {
	for _, t := range tasks {
		if stick.TaskKey(t.ID) == i.Task {
			return t.ID
		}
	}

	if d, err := repository.ReadIntent[repository.SpawnIntent](i); err == nil {
		// Earlier programs kept only the branch.
		for _, name := range []string{d.Task.ID, strings.TrimPrefix(d.Task.Branch, config.DefaultPrefix)} {
			if stick.TaskKey(name) == i.Task {
				// It was interrupted before there was a task.
				return name
			}
		}
	}

	return i.Task
}

// IntentText says what a command does that has an intent of a kind, for a sentence.
func IntentText(kind string) stick.Words {
	switch kind {
	case repository.IntentLand:
		return "merging"
	case repository.IntentCleanup:
		return "removing its branch and worktree"
	case repository.IntentSpawn, repository.IntentRetry:
		return "creating its branch and worktree"
	case repository.IntentSetup:
		return "setting its worktree up"
	case repository.IntentDone:
		return "preparing for review"
	case repository.IntentRollback:
		return "reverting"
	}

	return stick.Wordsf("running %s", kind)
}

// finishingCommand returns the command that finishes what an intent began. The intent has the task's name as
// people wrote it.
func finishingCommand(i store.Intent, tasks []stick.Task) stick.Words {
	switch i.Kind {
	case repository.IntentSpawn:
		// There is the task already: it was for later.
		if slices.ContainsFunc(tasks, func(t stick.Task) bool { return t.ID == i.Task }) {
			return stick.Cmd("tt task start --task <task_id>", i.Task).Words()
		}
		return stick.Cmd("tt task new <task_id>", i.Task).Words()
	case repository.IntentSetup:
		return stick.Cmd("tt task start --task <task_id>", i.Task).Words()
	case repository.IntentRetry:
		for _, t := range tasks {
			// The worktree of this attempt is made again.
			if t.ID == i.Task && t.Attempt == i.Attempt {
				return stick.Cmd("tt task start --task <task_id>", i.Task).Words()
			}
		}

		return stick.Cmd("tt task retry <task_id>", i.Task).Words()
	case repository.IntentDone:
		return stick.Cmd("tt task done --task <task_id>", i.Task).Words()
	case repository.IntentRollback:
		return stick.Cmd("tt task rollback --reason … <task_id>", i.Task).Words()
	}

	return stick.Cmd("tt task merge <task_id>", i.Task).Words()
}
