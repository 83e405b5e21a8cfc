package guard

import (
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/glob"
)

// mayWork judges changes by the tasks of the room: of the worktrees and branches of others' tasks, and of
// what lies outside of the worktree that the caller has to stay in. It reads tasks only where they could matter.
func (a *roomQuestion) mayWork(
	tx *store.Tx, probes *core.Probes, me core.Identity, q editQuestion, ask edits.Editing,
) (j edits.Judgement, err error) {
	if me.Person() || !edits.Enforces(a.room) {
		return j, nil
	}

	var strays []edits.Straying
	if t := a.room.Turn; t.State != stick.Owned || t.Owner != me.Agent {
		strays = a.findStrays(ask)
	}

	others := len(a.apart)+len(a.over)+len(q.Branches) > 0
	if len(strays) == 0 && !others {
		return j, nil
	}

	w, err := a.readWorking(tx, probes, me)
	if others && err == nil {
		j, err = a.judgeOtherTasks(tx, w, q.Branches)
	}
	if len(strays) == 0 || j != (edits.Judgement{}) || err != nil {
		return j, err
	}

	tasks, err := a.tasksOf(tx, w, q.at)
	for _, x := range strays {
		if j == (edits.Judgement{}) && len(tasks) > 0 {
			j = edits.MayStray(a.room, x, w, tasks)
		}
	}

	return j, err
}

// judgeOtherTasks judges changes to another agent's task: to its worktree, and to its branch.
func (a *roomQuestion) judgeOtherTasks(
	tx *store.Tx, w edits.Working, branches []string,
) (j edits.Judgement, err error) {
	tasks, err := tx.Tasks(a.room.ID)
	if err != nil {
		return j, err
	}

	here := tx.CheckoutOf(a.room)
	for _, t := range tasks {
		if t.Elsewhere(here) {
			continue
		}

		inside := func(dir string) bool { return t.Worktree == dir || strings.HasPrefix(t.Worktree, dir+"/") }
		apart := slices.ContainsFunc(a.apart, func(x edits.Straying) bool { return x.Tree == t.Worktree })
		if apart || slices.ContainsFunc(a.over, inside) || slices.Contains(branches, "refs/heads/"+t.Branch) {
			if j = edits.MayWorkOn(a.room, t, w); j != (edits.Judgement{}) {
				return j, nil
			}
		}
	}

	return j, nil
}

// findStrays lists what is to be changed, one path for each tree of the repository.
func (a *roomQuestion) findStrays(ask edits.Editing) []edits.Straying {
	main := edits.Straying{Root: a.root}
	if main.Root == "" {
		main.Root = a.room.Path
	}
	if a.tree {
		return slices.Concat(a.apart, []edits.Straying{main})
	}

	for _, p := range slices.Concat(ask.Paths, ask.Dirs) {
		// What lies in .git or below worktrees is no file of the checkout.
		if glob.Matchable(p, ask.Fold) {
			main.Path, _ = workspace.RelBelow(a.room.Path+"/"+p, main.Root)
			return slices.Concat(a.apart, []edits.Straying{main})
		}
	}

	return a.apart
}

// readWorking finds out which tasks the caller works on.
func (a *roomQuestion) readWorking(tx *store.Tx, probes *core.Probes, me core.Identity) (edits.Working, error) {
	w := edits.Working{By: me.Agent, Under: slices.Clone(me.Above.Agents), Mark: me.Caller.Task}
	if parent, under := a.room.Parent(me.Agent, me.Above, probes.Probed); under {
		w.Under = append(w.Under, parent)
	}

	for _, p := range me.Above.Processes {
		s, known, err := tx.SessionOf(p)
		if err != nil {
			return w, err
		}
		if known {
			w.Under = append(w.Under, s.Agent)
		}
	}

	return w, nil
}

// tasksOf lists the open tasks that the caller works on: first the one in whose worktree it is, then the
// newest.
func (a *roomQuestion) tasksOf(tx *store.Tx, w edits.Working, at *workspace.Place) ([]stick.Task, error) {
	tasks, err := tx.OpenTasksOf(a.room.ID, append([]stick.AgentID{w.By}, w.Under...))
	if err == nil && w.Mark.Room == a.room.ID {
		var t stick.Task
		var ok bool
		t, ok, err = tx.Task(a.room.ID, w.Mark.Task)
		isKnown := slices.ContainsFunc(tasks, func(x stick.Task) bool { return x.ID == t.ID })
		if ok && !isKnown {
			tasks = append(tasks, t)
		}
	}

	if at != nil && at.Worktree != "" {
		here := core.NameTree(*at)
		slices.SortStableFunc(tasks, func(x, y stick.Task) int {
			switch here {
			case x.Worktree:
				return -1
			case y.Worktree:
				return 1
			}

			return 0
		})
	}

	return tasks, err
}
