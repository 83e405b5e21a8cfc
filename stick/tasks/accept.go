package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"talkingstick/stick"
)

// ProjectCommand is a command that a project's settings have tt run, on the machine of everybody who clones
// the repository. tt runs it only after a person has seen and accepted it: see
// [ProjectCommand.RequireAccepted].
type ProjectCommand struct {
	Key     string `json:"key"` // in .talking-stick.toml, with its section: worker.setup
	Command string `json:"command"`
}

// WorktreeDirKey is the key of the one setting that a person accepts and that is no command: a directory beside
// the workspace, in which tt makes the worktrees of tasks.
const WorktreeDirKey = "worker.worktree_dir"

// Acceptance says that a person has accepted a project's command.
type Acceptance struct {
	Key string
	Sum string // of the command, see [ProjectCommand.Sum]
	By  stick.AgentID
	At  stick.Time
}

// Sum returns the sum that stands for the command: another command, or the same one under another key, has
// another.
func (c ProjectCommand) Sum() string {
	h := sha256.Sum256([]byte(c.Key + "\x00" + c.Command))
	return hex.EncodeToString(h[:])
}

// shortCommandSum is how many digits of a sum people read, and the fewest that name a command. Whoever writes
// the project's settings looks for two commands with the same digits: of 12 digits a computer finds them in
// seconds.
const shortCommandSum = 32

// ShortSum returns the beginning of the sum, by which a person names the command that it has read.
func (c ProjectCommand) ShortSum() string { return c.Sum()[:shortCommandSum] }

// Named reports whether sum is the beginning of the command's sum, and long enough to name it.
func (c ProjectCommand) Named(sum string) bool {
	return len(sum) >= shortCommandSum && strings.HasPrefix(c.Sum(), strings.ToLower(sum))
}

// Accept accepts the command, which only a person may do. It fails with [stick.CodePersonOnly].
func (c ProjectCommand) Accept(by stick.AgentID, person bool, now stick.Time) (Acceptance, error) {
	if !person {
		return Acceptance{}, stick.Errorf(stick.CodePersonOnly,
			"only a person may accept a project's command").With("key", c.Key).
			Hintf("ask a person to read and accept it; to see it: %s", stick.Cmd("tt task init"))
	}

	return Acceptance{Key: c.Key, Sum: c.Sum(), By: by, At: now}, nil
}

// maxShownCommand is how much of a command a refusal shows.
const maxShownCommand = 160

// RequireAccepted refuses a command that nobody has accepted, or that isn't the one that was accepted. last
// is the last acceptance of a command of this key in the room, or zero. person says whether the caller may
// accept it: the refusal names the step only if it shows the whole command as it is. It fails with
// [stick.CodeConfigChanged].
func (c ProjectCommand) RequireAccepted(last Acceptance, person bool) error {
	if last.Sum == c.Sum() {
		return nil
	}

	what, why := stick.Words("command"), stick.Words("it would run on this machine")
	if c.Key == WorktreeDirKey {
		what, why = "directory", "tt would make worktrees there, outside of the repository"
	}

	e := stick.Errorf(stick.CodeConfigChanged, "nobody has accepted the %s of %s: %s", what, c.Key,
		stick.Clip(c.Command, maxShownCommand))
	if last.Sum != "" {
		e = stick.Errorf(stick.CodeConfigChanged,
			"the %s of %s has changed since %s accepted it; it is now: %s",
			what, c.Key, last.By, stick.Clip(c.Command, maxShownCommand))
	}

	// A program finds in the facts what it needs to show the command itself.
	e.With("key", c.Key).With("command", c.Command).With("sum", c.Sum())

	// Only a person may accept, and only a command that the refusal shows whole.
	if !person {
		return e.Hintf("ask a person to read and accept it, because %s; to see it: %s", why,
			stick.Cmd("tt task init"))
	}
	if stick.Clip(c.Command, maxShownCommand) != strings.TrimSpace(c.Command) {
		if c.Key == WorktreeDirKey {
			return e.Hintf("to accept it: %s", stick.Cmd("tt task init --accept <sum>", c.ShortSum()))
		}

		return e.Hintf("read it and whatever it runs, because it would run on this machine; to see all of it, and to accept it: %s",
			stick.Cmd("tt task init"))
	}

	if c.Key == WorktreeDirKey {
		return e.Hintf("to accept it: %s", stick.Cmd("tt task init --accept <sum>", c.ShortSum()))
	}

	return e.Hintf("read it and whatever it runs, because it would run on this machine; to accept it: %s",
		stick.Cmd("tt task init --accept <sum>", c.ShortSum()))
}
