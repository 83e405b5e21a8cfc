package task

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Check is the doctor's check of tasks. It finds what commands that died have left half done, and worktrees that
// outlived their tasks.
func (ts *Tasks) Check(ctx context.Context) core.Finding {
	db, err := ts.core.Open(ctx, false)
	if err != nil {
		return core.Finding{Status: core.FindingOK, Detail: "no tasks yet"}
	}
	var found []string
	fix, tasks := "", 0
	note := func(what, how string) {
		found = append(found, what)
		if fix == "" {
			fix = how
		}
	}
	err = db.View(ctx, func(tx *store.Tx) error {
		rooms, err := tx.Rooms(nil, "")
		if err != nil {
			return err
		}
		found, fix, tasks = nil, "", 0
		for _, r := range rooms {
			n, err := ts.unfinishedIn(tx, r, note)
			if err != nil {
				return err
			}
			tasks += n
		}
		return nil
	})
	switch {
	case err != nil:
		return core.Fault(err)
	case len(found) > 1:
		return core.Finding{Status: core.FindingWarning, Detail: fmt.Sprintf("%s, and %d more", found[0], len(found)-1), Fix: fix}
	case len(found) == 1:
		return core.Finding{Status: core.FindingWarning, Detail: found[0], Fix: fix}
	}
	return core.Finding{Status: core.FindingOK, Detail: fmt.Sprintf("%d tasks, nothing half done", tasks)}
}

// unfinishedIn checks one room, and returns how many tasks it has.
func (ts *Tasks) unfinishedIn(tx *store.Tx, r stick.Room, note func(what, how string)) (int, error) {
	tasks, err := tx.Tasks(r.ID)
	if err != nil {
		return 0, err
	}
	open, err := tx.Intents(r.ID, "")
	if err != nil || len(tasks)+len(open) == 0 {
		return 0, err
	}
	p, err := workspace.Resolve(r.Path, ts.core.Config.Workspace)
	if err != nil {
		return len(tasks), nil // the workspace is gone with everything in it
	}
	rp := &repo{tasks: ts, root: p.Root, common: filepath.Join(p.Root, ".git")}
	rp.setLockPrefix()
	busy, gates := map[string]bool{}, map[string]bool{}
	for _, i := range open {
		busy[i.Task] = true
		if d, err := readIntent[landIntent](i); err == nil && d.Tree != "" {
			gates[d.Tree] = true // whoever finishes this landing removes it
		}
		if i.Kind == intentPause || rp.runner("task", i.Task) != nil {
			continue
		}
		note(fmt.Sprintf("%s of task %s was interrupted in %s", i.Kind, i.Task, stick.Line(r.Path)), finishers[i.Kind]+" "+i.Task)
	}
	for _, tree := range rp.leftGates(tasks) {
		if !gates[tree] {
			note("tt couldn't remove the worktree of a gate that has ended: "+stick.Line(tree), git.RemoveByHand(tree))
		}
	}
	for _, t := range tasks {
		if t.State != stick.TaskCompleted || busy[stick.TaskKey(t.ID)] {
			continue
		}
		if _, err := os.Stat(filepath.Join(p.Root, filepath.FromSlash(t.Worktree))); err == nil {
			note(fmt.Sprintf("the worktree of the merged task %s is still there: %s", t.ID, stick.Line(t.Worktree)), "tt worker merge "+t.ID)
		}
	}
	return len(tasks), nil
}

// leftGates lists the worktrees of gates in the directories that hold the worktrees of tasks.
func (rp *repo) leftGates(tasks []stick.Task) (trees []string) {
	seen := map[string]bool{}
	for _, t := range tasks {
		dir := filepath.Dir(rp.worktree(t))
		if seen[dir] || rp.requireInside(dir) != nil {
			continue
		}
		seen[dir] = true
		entries, _ := os.ReadDir(dir) // it may be gone, together with its last worktree
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), gatePrefix) {
				trees = append(trees, filepath.Join(dir, e.Name()))
			}
		}
	}
	return trees
}

// finishers maps a kind of intent to the command that finishes it.
var finishers = map[string]string{
	intentSpawn: "tt worker spawn", intentRetry: "tt worker retry", intentDone: "in its worktree: tt worker done --task", intentLand: "tt worker merge",
	intentRollback: "tt worker rollback --reason … ", intentCleanup: "tt worker merge",
}
