package repository

import (
	"encoding/json"
	"fmt"
	"os"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// An intent says what a command is about to do to git. It is stored before the command acts, and ended with
// the outcome. If the command dies in between, the next command finds the open intent and finishes or undoes
// the work. The structs below are the stored form. Other versions of the program write and read them, so
// fields keep their names, and new fields are optional.

// The kinds of intents.
const (
	IntentSpawn    = "spawn"
	IntentRetry    = "retry"
	IntentSetup    = "setup"
	IntentDone     = "done"
	IntentLand     = "land"
	IntentRollback = "rollback"
	IntentCleanup  = "cleanup"
	IntentPR       = "pr"    // its data is a doneIntent: the commit is pushed for a pull request
	IntentPause    = "pause" // the merge queue is paused, because the gate is red on the branch itself
)

// SpawnIntent is what spawn and retry are about to create, as far as that is needed to undo it.
type SpawnIntent struct {
	Task      spawnedTask `json:"task"`
	Path      string      `json:"path"`
	Base      string      `json:"base"`
	NewBranch bool        `json:"new_branch"`
	NewTree   bool        `json:"new_tree"`
	Slot      int         `json:"slot"` // of the task

	// Begun says whether git may have made something by now: before that, whatever lies there is somebody
	// else's. Earlier programs didn't say it; it is nil then.
	Begun *bool `json:"begun,omitempty"`
	Next  bool  `json:"next,omitempty"` // it is for the agent of the intent, which asked for any task
}

// spawnedTask is the part of a task that its intent keeps. Earlier programs stored the whole task, with
// names in capitals; encoding/json reads them too, because it ignores case.
type spawnedTask struct {
	Branch string `json:"branch"`
	ID     string `json:"id"`
}

// setupIntent is what the set-up of a worktree is about to run there. If it is interrupted, there is nothing
// to undo.
type setupIntent struct {
	Path    string `json:"path"`
	Command string `json:"command"`
}

// DoneIntent is what done is about to do to a task's branch.
type DoneIntent struct {
	Path   string `json:"path"`
	Head   string `json:"head"`
	Onto   string `json:"onto"`
	Pushed string `json:"pushed,omitempty"` // the commit that the push moves the remote's branch to
}

// LandIntent is what a merge or a rollback is about to do to a branch.
type LandIntent struct {
	Branch   string `json:"branch"`
	Remote   string `json:"remote,omitempty"`
	Base     string `json:"base"`
	Head     string `json:"head"`
	Result   string `json:"result"`
	Tip      string `json:"tip,omitempty"`      // to which the branch moves, if other tasks land on top of this one
	Checkout string `json:"checkout,omitempty"` // where the branch is checked out; its files move with it
	Tree     string `json:"tree,omitempty"`     // the gate's worktree
	Revert   string `json:"revert,omitempty"`
}

// CleanupIntent is what is left of a task that has ended.
type CleanupIntent struct {
	Branch  string `json:"branch"`
	Path    string `json:"path"`
	Head    string `json:"head"`   // the last commit of the branch
	Target  string `json:"target"` // the branch that must contain it
	Remote  string `json:"remote,omitempty"`
	Attempt int    `json:"attempt"`

	Worker stick.AgentID `json:"worker,omitempty"`
	Pulled string        `json:"pulled,omitempty"` // the commit by which a forge merged it
}

// PauseIntent is why the merge queue of a branch is paused: at this commit of it, the gate is red.
type PauseIntent struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	Report string `json:"report"`
}

// NewIntent returns an intent of this process. data is one of the stored forms above.
func NewIntent(
	id, kind string, room stick.RoomID, t stick.Task, attempt int, by stick.AgentID, data any,
) (store.Intent, error) {
	b, err := json.Marshal(data)
	if err != nil {
		return store.Intent{}, fmt.Errorf("intent: %w", err)
	}
	return store.Intent{
		ID: id, Room: room, Task: stick.TaskKey(t.ID), Attempt: attempt, Kind: kind, Agent: by, Data: b,
		PID: os.Getpid(),
	}, nil
}

// StoreIntent stores an intent for a task, or replaces the one with the same id. It fails with
// [stick.CodeLanding] while a command in another checkout is in the way.
func (o *Op) StoreIntent(id, kind string, task stick.Task, attempt int, data any) error {
	i, err := NewIntent(id, kind, o.Room.ID, task, attempt, o.Me.Agent, data)
	if err != nil {
		return err
	}

	i.In = o.Tx.CheckoutOf(o.Room)
	if err := o.requireUnblocked(i); err != nil {
		return err
	}
	return o.Tx.PutIntent(i)
}

// ReadIntent decodes the stored form of an intent.
func ReadIntent[T SpawnIntent | setupIntent | DoneIntent | LandIntent | CleanupIntent | PauseIntent](
	i store.Intent,
) (T, error) {
	var data T
	if err := json.Unmarshal(i.Data, &data); err != nil {
		return data, fmt.Errorf("intent %s of kind %s: %w", i.ID, i.Kind, err)
	}
	return data, nil
}

// RequireNotLanding refuses to change a task that is being merged, or whose merge was interrupted.
func (o *Op) RequireNotLanding(id string) error {
	i, err := OpenIntentOf(o.Tx, o.Room.ID, id)
	if err != nil || i == nil || i.Kind != IntentLand && i.Kind != IntentRollback {
		return err
	}

	what, again := stick.Words("merged"), stick.Cmd("tt task merge <task_id>", id)
	if i.Kind == IntentRollback {
		what, again = "reverted", stick.Cmd("tt task rollback <task_id> --reason …", id)
	}
	return stick.Errorf(stick.CodeLanding, "%s is being %s (started %s)",
		id, what, stick.Ago(o.Tx.Now().Sub(i.StartedAt))).
		With("task_id", id).With("pid", i.PID).Hintf("wait for the outcome: %s; if it was interrupted: %s",
		stick.Cmd("tt task show <task_id>", id), again)
}
