package task

import (
	"context"
	"slices"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// A clone brings commands that tt runs: the gate, which everybody knows of, and those of [config.Config.Commands]. The
// latter run only if a person has accepted exactly them in this room. What an operation asks before it makes anything is
// [repo.requireAccepted].

// ShownCommand is a command that the project has tt run, and who has accepted it.
type ShownCommand struct {
	stick.ProjectCommand
	Sum        string        `json:"sum"`                   // by which a person accepts it
	AcceptedBy stick.AgentID `json:"accepted_by,omitempty"` // empty if nobody has accepted it as it is now
	AcceptedAt stick.Time    `json:"accepted_at"`
}

// requireAccepted refuses a command that no person has accepted in the room. Where there is no room, nobody has. It fails
// with [stick.CodeConfigChanged].
func (rp *repo) requireAccepted(ctx context.Context, c stick.ProjectCommand) error {
	err := rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) error {
		last, err := tx.Acceptance(r.ID, c.Key)
		if err != nil {
			return err
		}
		return c.RequireAccepted(last, me.Person())
	})
	if stick.CodeOf(err) == stick.CodeNoRoom {
		return c.RequireAccepted(stick.Acceptance{}, rp.by.Person && rp.by.As == "")
	}
	return err
}

// acceptedSettings reads the settings of tasks from a commit, before a worktree is made by them. It refuses a command
// that would run there, as [repo.requireAccepted] does.
func (rp *repo) acceptedSettings(ctx context.Context, commit string) (config.Worker, error) {
	_, w, err := rp.settings(ctx, commit)
	if err == nil && w.Setup != "" {
		err = rp.requireAccepted(ctx, w.SetupCommand())
	}
	return w, err
}

// accept accepts those of the project's commands that sums name, for the caller. It fails with [stick.CodePersonOnly], and
// with [stick.CodeNotFound] if a sum names none of them: it may have changed since the caller saw it.
func (rp *repo) accept(ctx context.Context, commands []stick.ProjectCommand, sums []string) error {
	var named []stick.ProjectCommand
	for _, sum := range sums {
		i := slices.IndexFunc(commands, func(c stick.ProjectCommand) bool { return c.Named(sum) })
		if i < 0 {
			return stick.Errorf(stick.CodeNotFound, "the project has no command with the sum %q", stick.Clip(sum, 70)).With("field", "accept").
				Hintf("it may have changed; to see the commands that there are: %s", stick.Cmd("tt worker init"))
		}
		named = append(named, commands[i])
	}
	return rp.write(ctx, core.JoinsIfNew, func(o *op) error {
		for _, c := range named {
			a, err := c.Accept(o.Me.Agent, o.Me.Person(), o.Tx.Now())
			if err != nil {
				return err
			}
			last, err := o.Tx.Acceptance(o.Room.ID, c.Key)
			if err == nil && last.Sum != a.Sum { // else who accepted it first stays named
				err = o.Tx.Accept(o.Room.ID, a)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// showCommands says of each of the project's commands who has accepted it.
func (rp *repo) showCommands(ctx context.Context, commands []stick.ProjectCommand) (shown []ShownCommand, err error) {
	for _, c := range commands {
		shown = append(shown, ShownCommand{ProjectCommand: c, Sum: c.Sum()})
	}
	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		for i, c := range shown {
			last, err := tx.Acceptance(r.ID, c.Key)
			if err != nil {
				return err
			}
			if last.Sum == c.Sum {
				shown[i].AcceptedBy, shown[i].AcceptedAt = last.By, last.At
			}
		}
		return nil
	})
	return shown, ignoreNoRoom(err)
}
