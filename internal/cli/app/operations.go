package app

import (
	"context"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/proc"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// Operations are what commands perform: those on rooms, logs, sessions, edits, tasks and the data directory.
type Operations struct {
	*engine.Engine
	*eventlog.Log
	*guard.Guard
	*restore.Restorer
	*roster.Roster
	*scopes.Scopes
	*upkeep.Upkeep
	*task.Tasks
}

// Starters start the processes that outlive an operation. Nil ones start none, as in a hook.
type Starters struct {
	Run      func(context.Context, task.RunTaskParams) (pid int, err error) // [task.Config.StartRun]
	Guardian func(engine.KeepLeaseParams) (pid int, err error)              // [engine.Config.StartGuardian]
	Lander   func(task.LanderOrder) error                                   // [task.Config.StartLander]
}

// NewOperations connects the operations on rooms and those on tasks to one kernel, and each to what it needs
// from the other.
func NewOperations(cfg core.Config, starters Starters) Operations {
	kernel := core.New(cfg)

	// Tasks ask rooms, which are made after them, so the functions look it up when they run.
	var rooms *engine.Engine
	tasks := task.New(task.Config{
		Kernel: kernel, StartRun: starters.Run, StartLander: starters.Lander,
		MayMove: func(ctx context.Context, by core.Caller, checkout string) error {
			res, err := rooms.Guard.MayEdit(ctx, guard.MayEditParams{
				Caller: by, Where: core.Where{Path: checkout}, Tree: true,
			})
			if err != nil {
				return err
			}
			return res.Refusal()
		},
		Rescue: func(
			ctx context.Context, room stick.RoomID, by stick.AgentID, top string, paths []string, command string,
		) (string, []string, error) {
			return rooms.Guard.Restorer.RescueFiles(ctx, room, by, top, paths, command)
		},
		KeepTips: func(ctx context.Context, common, branch string, commits []string) ([]string, error) {
			return rooms.Guard.Restorer.KeepTips(ctx, common, branch, commits)
		},
	})

	rooms = engine.New(engine.Config{
		Kernel: kernel, Checks: []core.Check{{Name: "workers", Run: tasks.Check}}, StartGuardian: starters.Guardian,
	})

	// Whoever changes a room also keeps the process alive that merges there by itself.
	wake := kernel.AfterCommit
	kernel.AfterCommit = func(ctx context.Context, changed []stick.RoomID) {
		wake(ctx, changed)
		tasks.KeepLanding(changed)
	}

	return Operations{
		rooms, rooms.Log, rooms.Guard, rooms.Guard.Restorer, rooms.Roster, rooms.Scopes, rooms.Upkeep, tasks,
	}
}

// NewOperations makes the operations of a run, which may start the commands of tasks, and guardians.
func (a *Run) NewOperations(procs *proc.Table) Operations {
	return NewOperations(
		a.KernelConfig(procs), Starters{Run: a.StartRun, Guardian: a.GuardianStarter(), Lander: a.LanderStarter()},
	)
}
