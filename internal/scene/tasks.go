package scene

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/store"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// Work is a task of a story and its worker.
type Work struct {
	*Actor        // the worker, in the task's worktree
	Task   string // its name
	Path   string // its worktree
}

// Queue sets up the integration branch, with a gate; empty for none.
func (s *Scene) Queue(gate string) {
	s.Helper()
	s.commitGate(gate)
	s.observer.WorkerInit(task.WorkerInitParams{}).OK()
}

func (s *Scene) commitGate(gate string) {
	s.Helper()
	if gate != "" {
		s.Commit(".talking-stick.toml", "[gate]\ncommand = '''"+gate+"'''\n")
	}
}

// Spawn makes a task.
func (a *Actor) Spawn(name string) Answer[task.WorkerSpawnResult] {
	return a.WorkerSpawn(task.WorkerSpawnParams{TaskID: name, Description: "do " + name})
}

// SpawnLater makes a task that begins after others have landed.
func (a *Actor) SpawnLater(name string, after ...string) Answer[task.WorkerSpawnResult] {
	return a.WorkerSpawn(task.WorkerSpawnParams{TaskID: name, Description: "do " + name, Later: true, After: after})
}

// Next takes the oldest task that is ready.
func (a *Actor) Next() Answer[task.WorkerNextResult] { return a.WorkerNext(task.WorkerNextParams{}) }

// AcceptsCommands accepts all commands of the project, as a person.
func (a *Actor) AcceptsCommands() {
	a.Helper()
	var sums []string
	for _, c := range a.WorkerInit(task.WorkerInitParams{}).OK().Commands {
		sums = append(sums, c.Sum)
	}
	a.WorkerInit(task.WorkerInitParams{Accept: sums}).OK()
}

// Holds returns the paths that a rescue holds.
func (a *Actor) Holds(rescue string) (paths []string) {
	a.Helper()
	for _, f := range a.ShowRescue(restore.ShowRescueParams{ID: rescue}).OK().Entries {
		paths = append(paths, f.Path)
	}
	return paths
}

// WorksOn starts a task in its worktree, with the actor as its worker.
func (a *Actor) WorksOn(name string) *Work {
	a.Helper()

	path := filepath.Join(a.Scene.Work, "worktrees", name)
	w := &Work{Actor: a.At(path), Task: name, Path: path}
	w.WorkerStart(task.WorkerStartParams{}).OK()
	return w
}

// Commits commits a file in the worktree, and returns the commit.
func (w *Work) Commits(name, text string) string {
	w.Helper()
	return w.CommitIn(w.Path, name, text)
}

// BlockedOn sends who a message that says what blocks the task.
func (w *Work) BlockedOn(who *Actor, body string) Sent {
	return w.SendAs(engine.SendMessageParams{To: []stick.AgentID{who.ID}, Body: body, Category: string(stick.Blocked), TaskID: w.Task})
}

// HeldBack expects that the worker is kept from stopping, for a reason that contains why.
func (w *Work) HeldBack(why string) {
	w.Helper()
	w.Stops().That("to be kept from stopping: "+why, func(r roster.CheckStopResult) bool {
		return r.Block && strings.Contains(string(r.Reason), why)
	})
}

// Done asks for a review of a task.
func (a *Actor) Done(name string) Answer[task.WorkerDoneResult] {
	return a.WorkerDone(task.WorkerDoneParams{TaskID: name})
}

// Approve reads the changes of a task, and approves them.
func (a *Actor) Approve(name string) Answer[task.WorkerReviewResult] {
	a.Helper()
	a.WorkerDiff(task.WorkerDiffParams{TaskID: name}).OK()
	return a.WorkerApprove(task.WorkerApproveParams{TaskID: name})
}

// Merge merges a task.
func (a *Actor) Merge(name string) Answer[task.WorkerMergeResult] {
	return a.WorkerMerge(task.WorkerMergeParams{TaskID: name})
}

// Cancel cancels a task.
func (a *Actor) Cancel(name string) Answer[task.WorkerCancelResult] {
	return a.WorkerCancel(task.WorkerCancelParams{TaskID: name, Reason: "not needed"})
}

// Retry starts another attempt at a task.
func (a *Actor) Retry(name string) Answer[task.WorkerSpawnResult] {
	return a.WorkerRetry(task.WorkerRetryParams{TaskID: name})
}

// Rollback reverts the merge of a task.
func (a *Actor) Rollback(name string) Answer[task.WorkerRollbackResult] {
	return a.WorkerRollback(task.WorkerRollbackParams{TaskID: name, Reason: "it broke"})
}

// TaskIs expects this state of a task, and returns the task.
func (s *Scene) TaskIs(name string, want stick.TaskState) task.WorkerShowResult {
	s.Helper()
	res := s.observer.WorkerShow(task.WorkerShowParams{TaskID: name}).OK()
	if res.State != want {
		s.failStory("%s is %s (%s %s), want %s", name, res.State, res.Cause, res.Reason, want)
	}
	return res
}

// ReadyToMerge plays a task up to its approval: worker makes it with one commit, and reviewer approves it.
func (s *Scene) ReadyToMerge(name string, worker, reviewer *Actor) *Work {
	s.Helper()
	worker.Spawn(name).OK()
	w := worker.WorksOn(name)
	w.Commits(name+".txt", name+"\n")
	w.Done("").OK()
	reviewer.Approve(name).OK()
	return w
}

// DropRun is the operation of that name.
func (a *Actor) DropRun(p task.RunTaskParams) (dropped bool, err error) {
	return a.Tasks.DropRun(context.Background(), p)
}

// RunTask is the operation of that name. It returns when the command ends.
func (a *Actor) RunTask(ctx context.Context, p task.RunTaskParams) error {
	return a.Tasks.RunTask(ctx, p)
}

// Intent returns the id of a task's open intent; empty for none.
func (s *Scene) Intent(name string) (id string) {
	s.Helper()
	room := s.Room().ID

	db, err := s.observer.kernel.Open(s.Context(), false)
	if err == nil {
		err = db.View(s.Context(), func(tx *store.Tx) error {
			open, err := tx.Intents(room, name)
			for _, i := range open {
				id = i.ID
			}
			return err
		})
	}
	if err != nil {
		s.Fatal(err)
	}
	return id
}

// RenewsIntent waits until the command that works on a task has renewed its intent at the present time of the
// story.
func (s *Scene) RenewsIntent(name string) {
	s.Helper()

	room := s.Room().ID
	db, err := s.observer.kernel.Open(s.Context(), false)
	for end := time.Now().Add(patience); err == nil; {
		renewed := false
		err = db.View(s.Context(), func(tx *store.Tx) error {
			open, err := tx.Intents(room, name)
			renewed = len(open) > 0 && open[0].RenewedAt == s.Now()
			return err
		})
		if renewed {
			return
		}
		if time.Now().After(end) {
			s.failStory("the intent of %s isn't renewed", name)
		}
	}
	s.Fatal(err)
}

// OwnChange is the operation of that name.
func (a *Actor) OwnChange(intent string) bool {
	a.Helper()
	own, _, err := a.Tasks.OwnChange(a.Context(), intent)
	if err != nil {
		a.failStory("%s asks whether a change is its own: %v", a.Name, err)
	}
	return own
}

// Fills adds drafts of an agent to a task, which are like the newest one that is there.
func (s *Scene) Fills(name string, by stick.AgentID, drafts int) {
	s.Helper()

	room := s.Room().ID
	db, err := s.observer.kernel.Open(s.Context(), true)
	if err == nil {
		err = db.Update(s.Context(), func(tx *store.Tx) error {
			all, err := tx.Comments(room, name)
			for i := 0; err == nil && i < drafts; i++ {
				c := all[len(all)-1]
				c.ID, c.Author = c.ID+i+1, by
				err = tx.PutCommentDraft(room, name, c)
			}
			return err
		})
	}
	if err != nil {
		s.Fatal(err)
	}
}
