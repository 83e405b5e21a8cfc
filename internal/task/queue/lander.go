package queue

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// The lander is the process that merges by itself what its approvers want merged so. There is one for a
// repository on a host: it holds a lock of the operating system. It ends when nothing is left to merge, and
// waits for what others do just now. Each merge is the act of whoever approved the task.

// LanderOrder is what a lander is started with.
type LanderOrder struct {
	RoomID stick.RoomID `json:"room_id"`
	Root   string       `json:"root"`            // the main checkout
	Retry  bool         `json:"retry,omitempty"` // somebody asks: also try what was held before

	Environ []string `json:"-"` // of the process
	Output  string   `json:"-"` // the file that it writes to
}

// LanderParams is what a lander needs besides its order.
type LanderParams struct {
	LanderOrder
	Say    func(line stick.Words)                    // what it does, for its output
	Landed func(ctx context.Context, by core.Caller) // called after each merge, without any lock
}

// landerName is the name under which a lander reads. What it changes is the act of an approver.
const landerName stick.AgentID = "tt"

// minRetry is how long a lander waits between two tries of what waits for others.
const minRetry = 2 * time.Second

// queueLockWait is how long a new lander waits for the end of one that is about to end.
const queueLockWait = 3 * time.Second

// heldLanding is a merge that a lander has tried in vain.
type heldLanding struct {
	tasks.HeldLanding
	HeldTask HeldTask `json:"held"`
}

// lander is one run of the process.
type lander struct {
	*merger
	params LanderParams
	held   map[string]heldLanding // by the keys of tasks
}

// RunLander merges what is to be merged by itself, until nothing of it is left. If another lander runs, it
// returns at once.
func (q *Queue) RunLander(ctx context.Context, p LanderParams) error {
	rp, err := q.config.Repos.Open(ctx, core.Where{Path: p.Root}, core.Caller{Behalf: landerName})
	if err != nil {
		return err
	}

	l := &lander{merger: &merger{Repo: rp, queue: q}, params: p, held: map[string]heldLanding{}}
	l.KillPoint("lander: began")

	unlock, err := l.AcquireLock(ctx, repository.QueueLock, "", queueLockWait)
	if stick.CodeOf(err) == stick.CodeLanding {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()

	// If this process is killed, the next command starts another one.
	if err := q.markDue(p.RoomID, p.Root); err != nil {
		return err
	}
	if !p.Retry {
		l.readHeld()
	}

	// One that was killed may have left a landing or a worktree behind.
	if _, err := l.finishCleanups(ctx); err != nil {
		return err
	}

	return l.landAll(ctx)
}

// landAll merges one task after the other, and waits where that is worth it.
func (l *lander) landAll(ctx context.Context) error {
	var watch *store.Watch
	defer func() {
		if watch != nil {
			watch.Close()
		}
	}()

	net := bell.NewNet(rand.Float64)
	for {
		waits, left, err := l.landRound(ctx)
		if err != nil {
			return err
		}
		if err := l.writeHeld(); err != nil {
			return err
		}

		switch {
		case left == 0:
			return l.queue.dropDue(l.params.RoomID)
		case !waits:
			// Somebody has to do something about it. The next command looks whether that has happened.
			return nil
		}

		if watch == nil {
			if watch, err = l.watchRoom(ctx); err != nil {
				return err
			}
		}
		if err := sleepUntilRung(ctx, watch, net); err != nil {
			return err
		}
	}
}

// watchRoom begins to hear what happens in the room.
func (l *lander) watchRoom(ctx context.Context) (*store.Watch, error) {
	db, err := l.Core.Open(ctx, false)
	if err != nil {
		return nil, err
	}
	return db.Watch(l.params.RoomID)
}

// sleepUntilRung sleeps until something happens in the room, and [minRetry] at least.
func sleepUntilRung(ctx context.Context, watch *store.Watch, net *bell.Net) error {
	watch.ReleaseForSleep()
	least := time.After(minRetry)
	select {
	case <-watch.C:
		net.Reset()
	case <-time.After(net.Next()):
	case <-ctx.Done():
		return ctx.Err()
	}

	select {
	case <-least:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// landRound tries each task once that is to be merged by itself. It reports whether one of those that are left
// waits for others, and how many are left.
func (l *lander) landRound(ctx context.Context) (waits bool, left int, err error) {
	tried, halted := map[string]bool{}, map[string]error{}
	for {
		// The queue is read again each time: a gate takes long, and others approve meanwhile.
		wanted, err := l.listWanted(ctx)
		if err != nil {
			return false, 0, err
		}

		l.forgetOthers(wanted)
		i := slices.IndexFunc(wanted, func(t stick.Task) bool { return !tried[t.ID] })
		if i < 0 {
			for _, h := range l.held {
				waits = waits || tasks.WaitsForOthers(h.HeldTask.Error)
			}
			return waits, len(wanted), nil
		}

		if err := l.tryNext(ctx, wanted, tried, halted); err != nil {
			return false, 0, err
		}
	}
}

// listWanted lists the approved tasks that tt merges by itself, in the order of their approval.
func (mg *merger) listWanted(ctx context.Context) (wanted []stick.Task, err error) {
	err = mg.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		wanted = nil
		queued, err := tx.Queue(r.ID)
		if err != nil {
			return err
		}

		for _, t := range queued {
			merges, err := tx.MergesByItself(r.ID, t)
			if err != nil {
				return err
			}
			if merges {
				wanted = append(wanted, t)
			}
		}

		return nil
	})
	return wanted, err
}

// forgetOthers forgets why tasks were held that are no longer to be merged.
func (l *lander) forgetOthers(wanted []stick.Task) {
	for key := range l.held {
		if !slices.ContainsFunc(wanted, func(t stick.Task) bool { return stick.TaskKey(t.ID) == key }) {
			delete(l.held, key)
		}
	}
}

// tryNext merges the first of the wanted tasks that weren't tried, with those that ride with it, or notes why that
// is held up. It fails only if nothing can be merged now.
func (l *lander) tryNext(
	ctx context.Context, wanted []stick.Task, tried map[string]bool, halted map[string]error,
) error {
	var queued []stick.Task
	heads := map[string]string{}
	for _, t := range wanted {
		if tried[t.ID] {
			continue
		}

		head, known := heads[t.Integration]
		if !known {
			head = l.headOf(ctx, t.Integration)
			heads[t.Integration] = head
		}

		if l.isHeld(t, head, halted[t.Integration]) {
			tried[t.ID] = true
			continue
		}
		queued = append(queued, t)
	}

	if len(queued) == 0 {
		return nil
	}

	results, err := l.mergeNext(ctx, queued, func(t stick.Task) core.Caller {
		return core.Caller{Behalf: t.ApprovedBy, Person: t.ApprovedBy.Human()}
	})
	l.By = core.Caller{Behalf: landerName}
	for _, r := range results {
		tried[r.task.ID] = true
		if err := l.noteTried(ctx, r, heads[r.task.Integration], halted); err != nil {
			return err
		}
	}

	return err
}

// headOf returns the commit of a branch; empty if it can't be read, which its merge says.
func (l *lander) headOf(ctx context.Context, branch string) string {
	t, err := l.ReadTarget(ctx, branch)
	if err != nil {
		return ""
	}
	return t.Head()
}

// isHeld reports whether a task isn't to be tried now. What has failed for a reason of its own would fail again,
// after another long gate.
func (l *lander) isHeld(t stick.Task, head string, halted error) bool {
	h, before := l.held[stick.TaskKey(t.ID)]
	if before && !tasks.WaitsForOthers(h.HeldTask.Error) && !h.TriesAgain(t, head) {
		return true
	}

	if halted != nil {
		l.holdTask(t, head, halted)
	}
	return halted != nil
}

// noteTried notes what has become of a task. It fails only if nothing can be merged now.
func (l *lander) noteTried(ctx context.Context, r trainResult, head string, halted map[string]error) error {
	by := core.Caller{Behalf: r.task.ApprovedBy, Person: r.task.ApprovedBy.Human()}
	if r.err == nil {
		delete(l.held, stick.TaskKey(r.task.ID))
		l.params.Say(sayLanded(r.merged))
		l.params.Landed(ctx, by)
		return nil
	}

	if !othersMayMerge(r.err) {
		return r.err
	}
	if r.halted {
		halted[r.task.Integration] = r.err
	}

	now, err := l.ReadTask(ctx, r.task.ID)
	if err != nil {
		return err
	}

	// It came back, or another command has landed it.
	if now.State != stick.TaskApproved {
		delete(l.held, stick.TaskKey(now.ID))
		l.params.Say(stick.Wordsf("%s is %s: %s", now.ID, now.State, stick.AsError(r.err).Words()))
		l.params.Landed(ctx, by)
		return nil
	}

	l.holdTask(now, head, r.err)
	return nil
}

// sayLanded says that a task has landed.
func sayLanded(m MergedTask) stick.Words {
	if m.Commit == "" {
		return stick.Wordsf("%s is merged into %s", m.TaskID, m.Branch)
	}
	return stick.Wordsf("%s is merged into %s: %s", m.TaskID, m.Branch, repository.ShortCommit(m.Commit))
}

// holdTask notes why a task isn't merged. The same reason is said once.
func (l *lander) holdTask(task stick.Task, head string, why error) {
	e := stick.AsError(why)
	now := heldLanding{
		HeldLanding: tasks.HeldLanding{Task: stick.TaskKey(task.ID), Approval: task.ApprovedSeq, Head: head},
		HeldTask: HeldTask{
			TaskID: task.ID, State: task.State, Error: e.Code, Why: e.Words(), Next: e.Hint.Words(),
		},
	}

	if was := l.held[now.Task]; was.HeldTask.Why != now.HeldTask.Why {
		l.params.Say(stick.Wordsf("%s isn't merged: %s", task.ID, e.Words()))
	}
	l.held[now.Task] = now
}

// readHeld reads what an earlier lander couldn't merge. A file that is missing or damaged says nothing.
func (l *lander) readHeld() {
	for _, h := range readHeldFile(l.Repo) {
		l.held[h.Task] = h
	}
}

func readHeldFile(rp *repository.Repo) (all []heldLanding) {
	b, err := plainfile.Read(rp.QueuePath("held"))
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return nil
	}
	return all
}

// writeHeld writes down what couldn't be merged, for whoever looks. What the database says of a task counts.
func (l *lander) writeHeld() error {
	all := []heldLanding{}
	for _, h := range l.held {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b heldLanding) int { return int(a.Approval - b.Approval) })

	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return plainfile.Replace(l.QueuePath("held"), b)
}
