package repository

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// A clone brings commands that tt runs: the gate, which everybody knows of, and the settings of
// [config.Config.Commands]. The latter run only if a person has accepted exactly them in this clone. What an
// operation asks before it makes anything is [Repo.RequireAccepted].

// ShownCommand is a command that the project has tt run, and who has accepted it.
type ShownCommand struct {
	tasks.ProjectCommand
	Sum        string        `json:"sum"`                   // by which a person accepts it
	AcceptedBy stick.AgentID `json:"accepted_by,omitempty"` // empty if nobody has accepted it as it is now
	AcceptedAt stick.Time    `json:"accepted_at"`
}

// RequireAccepted refuses a command that no person has accepted in this clone. Where there is no room, nobody
// has. It fails with [stick.CodeConfigChanged]. See
// docs/decisions/install-and-settings-files.md#commands-that-a-clone-brings.
func (rp *Repo) RequireAccepted(ctx context.Context, c tasks.ProjectCommand) error {
	clone := rp.cloneID()
	err := rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) error {
		last, err := tx.Acceptance(r.ID, c.Key, clone)
		if err != nil {
			return err
		}
		return c.RequireAccepted(last, me.Person())
	})

	if stick.CodeOf(err) == stick.CodeNoRoom {
		return c.RequireAccepted(tasks.Acceptance{}, rp.By.Person && rp.By.As == "")
	}
	return err
}

// acceptedSettings reads the settings of tasks from a commit, before a worktree is made by them. It refuses a
// command that would run there, as [Repo.RequireAccepted] does.
func (rp *Repo) acceptedSettings(ctx context.Context, commit string) (config.Worker, error) {
	_, w, err := rp.TaskSettings(ctx, commit)
	if err == nil {
		err = rp.requireSettingsAccepted(ctx, w)
	}
	return w, err
}

// requireSettingsAccepted is [Repo.RequireAccepted] for all settings by which a worktree is made.
func (rp *Repo) requireSettingsAccepted(ctx context.Context, w config.Worker) error {
	if err := rp.requireBesideAccepted(ctx, w); err != nil {
		return err
	}
	return rp.requireSetupAccepted(ctx, w)
}

// requireBesideAccepted is [Repo.RequireAccepted] for a directory beside the workspace, if worktrees are made in
// one. A person who makes a worktree accepts it: nothing runs by that, and the answer names the place.
func (rp *Repo) requireBesideAccepted(ctx context.Context, w config.Worker) error {
	if !w.IsBeside() {
		return nil
	}

	beside := w.BesideSetting()
	err := rp.RequireAccepted(ctx, beside)
	if stick.CodeOf(err) != stick.CodeConfigChanged || !rp.By.Person || rp.By.As != "" {
		return err
	}
	return rp.AcceptCommands(ctx, []tasks.ProjectCommand{beside}, []string{beside.Sum()})
}

// requireSetupAccepted is [Repo.RequireAccepted] for the command that sets worktrees up, if there is one.
func (rp *Repo) requireSetupAccepted(ctx context.Context, w config.Worker) error {
	if w.Setup == "" {
		return nil
	}
	return rp.RequireAccepted(ctx, w.SetupCommand())
}

// AcceptCommands accepts those of the project's commands that sums name, for the caller. It fails with
// [stick.CodePersonOnly], and with [stick.CodeNotFound] if a sum names none of them: it may have changed
// since the caller saw it.
func (rp *Repo) AcceptCommands(ctx context.Context, commands []tasks.ProjectCommand, sums []string) error {
	// All sums have to name a command before any of them is accepted.
	var named []tasks.ProjectCommand
	for _, sum := range sums {
		i := slices.IndexFunc(commands, func(c tasks.ProjectCommand) bool { return c.Named(sum) })
		if i < 0 {
			return stick.Errorf(stick.CodeNotFound, "the project has no command with the sum %q", stick.Clip(sum, 70)).
				With("field", "accept").
				Hintf("it may have changed; to see the commands: %s", stick.Cmd("tt task init"))
		}

		named = append(named, commands[i])
	}

	// A clone that has no id yet gets one, by which its acceptances are stored.
	clone := rp.cloneID()
	id := cmp.Or(clone, rand.Text())
	err := rp.Write(ctx, core.JoinsIfNew, func(o *Op) error {
		for _, c := range named {
			a, err := c.Accept(o.Me.Agent, o.Me.Person(), o.Tx.Now())
			if err != nil {
				return err
			}

			last, err := o.Tx.Acceptance(o.Room.ID, c.Key, id)

			// Who has accepted the same command first stays named.
			if err == nil && last.Sum != a.Sum {
				err = o.Tx.Accept(o.Room.ID, id, a)
			}
			if err != nil {
				return err
			}
		}

		return nil
	})
	if err != nil || clone != "" {
		return err
	}

	// Until the clone has its id, nothing counts as accepted.
	return rp.writeCloneID(id)
}

// cloneIDFile is the file in the git directory that says which clone it is. A clone of it, or another
// repository in its place, doesn't have it.
const cloneIDFile = "talking-stick-clone"

// cloneID returns the id of this clone, "" if it has none: then nobody has accepted a command in it.
func (rp *Repo) cloneID() string {
	b, err := config.ReadFile(rp.Common, cloneIDFile, 100)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// writeCloneID gives this clone its id.
func (rp *Repo) writeCloneID(id string) error {
	// The id appears whole or not at all: the file is renamed into its place.
	tmp, err := os.CreateTemp(rp.Common, cloneIDFile+"-")
	if err == nil {
		defer os.Remove(tmp.Name())

		_, err = tmp.WriteString(id + "\n")
		err = errors.Join(err, tmp.Close())
	}

	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(rp.Common, cloneIDFile))
	}
	if err != nil {
		return stick.Errorf(stick.CodeGitFailed,
			"can't write to the git directory, so the command isn't accepted: %w", err).
			With("path", rp.Common).
			Hintf("check the permissions of %s, and run the same command again", rp.Common)
	}

	return nil
}

// ShowCommands says of each of the project's commands who has accepted it.
func (rp *Repo) ShowCommands(ctx context.Context, commands []tasks.ProjectCommand) (shown []ShownCommand, err error) {
	for _, c := range commands {
		shown = append(shown, ShownCommand{ProjectCommand: c, Sum: c.Sum()})
	}

	clone := rp.cloneID()
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		for i, c := range shown {
			last, err := tx.Acceptance(r.ID, c.Key, clone)
			if err != nil {
				return err
			}

			// An acceptance of an earlier form of the command doesn't count.
			if last.Sum == c.Sum {
				shown[i].AcceptedBy, shown[i].AcceptedAt = last.By, last.At
			}
		}

		return nil
	})
	return shown, IgnoreNoRoom(err)
}
