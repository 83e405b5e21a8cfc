package edits

import (
	"fmt"
	"slices"

	"talkingstick/stick"
)

// FileVersion is how a file lay in a checkout at one time. The zero version says that there was none. Equal
// versions have equal bytes and the same mode.
type FileVersion struct {
	Mode    string // as git writes it
	Sum     string // of its bytes
	Unknown bool   // nobody can tell
}

// Exists reports whether there was a file, as far as it is known.
func (v FileVersion) Exists() bool { return !v.Unknown && v != FileVersion{} }

// UndoneFile is a path that a call has changed, for who takes the call back.
type UndoneFile struct {
	Was   FileVersion // before the call
	Left  FileVersion // as the call left it
	Is    FileVersion // now
	Alone bool        // nobody else can have changed it while the call ran
}

// UndoStep says what is done with a path when a call is taken back.
type UndoStep string

// The steps.
const (
	UndoNothing UndoStep = "nothing" // it is as it was before the call
	UndoRestore UndoStep = "restore" // it gets its state from before the call
	UndoRemove  UndoStep = "remove"  // the call has made it
	UndoLeave   UndoStep = "leave"   // it stays as it is
)

// UndoReason says why a path stays as it is.
type UndoReason string

// The reasons.
const (
	UndoChanged UndoReason = "changed" // somebody has changed it since the call
	UndoShared  UndoReason = "shared"  // a call of another agent ran when it changed
	UndoUnkept  UndoReason = "unkept"  // the snapshots don't tell how it was, or how the call left it
	UndoUnread  UndoReason = "unread"  // what is there now can't be read as a file
	UndoStaged  UndoReason = "staged"  // only what is staged has changed, which an undo leaves alone
	UndoNested  UndoReason = "nested"  // it lies in a repository inside the checkout that is gone, or whose HEAD has moved
	UndoFailed  UndoReason = "failed"  // it couldn't be written
)

// Step decides what is done with a path. Work of others is never replaced: only what is still as the call
// left it, and what the call alone has changed. See docs/decisions/snapshots-and-undo.md#undo.
func (f UndoneFile) Step() (UndoStep, UndoReason) {
	switch {
	case f.Was.Unknown || f.Left.Unknown:
		return UndoLeave, UndoUnkept
	case f.Is.Unknown:
		return UndoLeave, UndoUnread
	case f.Is == f.Was:
		return UndoNothing, ""
	case !f.Alone:
		return UndoLeave, UndoShared
	case f.Is != f.Left:
		return UndoLeave, UndoChanged
	case !f.Was.Exists():
		return UndoRemove, ""
	}
	return UndoRestore, ""
}

// Says is the reason in words, about one path, without a full stop.
func (r UndoReason) Says() stick.Words {
	switch r {
	case UndoChanged:
		return "it has changed since the call"
	case UndoShared:
		return "a call of another agent ran when it changed"
	case UndoUnkept:
		return "no snapshot tells how it was, or how the call left it"
	case UndoUnread:
		return "what is there now can't be read as a file"
	case UndoStaged:
		return "only what is staged has changed"
	case UndoNested:
		return "it lies in a repository of its own that is gone, or in which the call has moved HEAD"
	}
	return "it couldn't be written"
}

// IsEditOf reports whether a call is one of a tool that edits files, by the paths that have changed: of such
// a call, the command is a file.
func (c Call) IsEditOf(paths []string) bool { return slices.Contains(paths, c.Command) }

// HeadMove is how a call has moved HEAD.
type HeadMove struct {
	From, To             string // the commits; From is empty if there was none
	FromBranch, ToBranch string // the branches that were checked out; empty for none

	Differ []string // the paths in which the commits differ
	Held   []string // those of them that had uncommitted changes before the call, or have some now
}

// Moved reports whether HEAD is another commit or branch than it was.
func (m HeadMove) Moved() bool { return m.From != m.To || m.FromBranch != m.ToBranch }

// maxGitPaths is how many paths a printed command of git names.
const maxGitPaths = 20

// Back returns the commands of git that bring HEAD back once the files of a call were restored, in their
// order. None of them loses uncommitted work.
func (m HeadMove) Back() (back []stick.Command) {
	// Files with uncommitted changes stay as they are.
	rest := slices.DeleteFunc(slices.Clone(m.Differ), func(p string) bool { return slices.Contains(m.Held, p) })
	switch {
	case !m.Moved():
		return nil
	case m.From == "":
		return []stick.Command{stick.Cmd("git update-ref -d HEAD")}
	case m.FromBranch == m.ToBranch && len(m.Held) == 0:
		return []stick.Command{stick.Cmd("git reset --keep <commit>", m.From)}
	case m.FromBranch == m.ToBranch:
		back = []stick.Command{stick.Cmd("git reset <commit>", m.From)}
	case len(m.Held) == 0 && m.FromBranch == "":
		return []stick.Command{stick.Cmd("git switch --detach <commit>", m.From)}
	case len(m.Held) == 0:
		return []stick.Command{stick.Cmd("git switch <branch>", m.FromBranch)}
	case m.FromBranch == "":
		back = []stick.Command{stick.Cmd("git update-ref --no-deref HEAD <commit>", m.From), stick.Cmd("git reset")}
	default:
		back = []stick.Command{
			stick.Cmd("git symbolic-ref HEAD <branch>", "refs/heads/"+m.FromBranch),
			stick.Cmd("git reset"),
		}
	}

	// After a reset of the index alone, the files still have to follow.
	if n := len(rest); n > 0 && n <= maxGitPaths {
		back = append(back, gitRestore("git restore --", rest))
	}

	return back
}

// Unstage returns the command of git that makes the index of paths that of HEAD again.
func Unstage(paths []string) stick.Command {
	if len(paths) > maxGitPaths {
		return stick.Cmd("git restore --staged .")
	}
	return gitRestore("git restore --staged --", paths)
}

func gitRestore(command string, paths []string) stick.Command {
	values := make([]any, len(paths))
	for i, p := range paths {
		command += fmt.Sprintf(" <path%d>", i+1)
		values[i] = p
	}
	return stick.Cmd(command, values...)
}

// Undo is what taking a call back has come to, as the log has it.
type Undo struct {
	By       stick.AgentID
	Call     Call
	As       int64 // the number of the call that the undo is; 0 if it has changed nothing
	Checkout string
	Files    []string        // restored or removed
	Left     []string        // stay as they are
	Of       []stick.AgentID // who has changed those since, or ran a call meanwhile
}

// CallUndone makes the event that a call was taken back. It is for the agent whose call it was, and for those
// whose files stayed as they are, but not for who has taken it back.
func CallUndone(r stick.Room, u Undo) stick.Event {
	p := stick.CallUndonePayload{
		Call: u.Call.ID, Of: u.Call.Agent,
		Command: stick.Clip(u.Call.commandOrTool(), maxCommand), As: u.As,
		Checkout: stick.Clip(u.Checkout, 256),
		Paths:    clipPaths(u.Files), Count: len(u.Files),
		Left: clipPaths(u.Left), LeftCount: len(u.Left), LeftOf: u.Of,
	}
	e := r.NewEvent(stick.EventCallUndone, u.By, "").WithPayload(p)
	e.For = p.ListReaders(u.By)
	return e
}

// commandOrTool names a call: by its command, or by its tool and the file.
func (c Call) commandOrTool() string {
	if c.Command == "" {
		return c.Tool
	}
	return c.Command
}
