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

		task := wanted[i]
		tried[task.ID] = true
		if err := l.tryTask(ctx, task, halted); err != nil {
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

// tryTask merges a task, or notes why that is held up. It fails only if nothing can be merged now.
func (l *lander) tryTask(ctx context.Context, task stick.Task, halted map[string]error) error {
	key := stick.TaskKey(task.ID)
	head := ""
	if t, err := l.ReadTarget(ctx, task.Integration); err == nil {
		head = t.Head()
	}

	// What has failed for a reason of its own would fail again, after another long gate.
	h, before := l.held[key]
	if before && !tasks.WaitsForOthers(h.HeldTask.Error) && !h.TriesAgain(task, head) {
		return nil
	}
	if why := halted[task.Integration]; why != nil {
		l.hold(task, head, why)
		return nil
	}

	by := core.Caller{Behalf: task.ApprovedBy, Person: task.ApprovedBy.Human()}
	l.By = by
	m, stopped, err := l.mergeOne(ctx, task, false)
	l.By = core.Caller{Behalf: landerName}

	if err == nil {
		delete(l.held, key)
		l.params.Say(sayLanded(m))
		l.params.Landed(ctx, by)
		return nil
	}

	if !othersMayMerge(err) {
		return err
	}
	if stopped {
		halted[task.Integration] = err
	}

	now, terr := l.ReadTask(ctx, task.ID)
	if terr != nil {
		return terr
	}

	// It came back, or another command has landed it.
	if now.State != stick.TaskApproved {
		delete(l.held, key)
		l.params.Say(stick.Wordsf("%s is %s: %s", now.ID, now.State, stick.AsError(err).Words()))
		l.params.Landed(ctx, by)
		return nil
	}

	l.hold(now, head, err)
	return nil
}

// sayLanded says that a task has landed.
func sayLanded(m MergedTask) stick.Words {
	if m.Commit == "" {
		return stick.Wordsf("%s is merged into %s", m.TaskID, m.Branch)
	}
	return stick.Wordsf("%s is merged into %s: %s", m.TaskID, m.Branch, repository.ShortCommit(m.Commit))
}

// hold notes why a task isn't merged. The same reason is said once.
func (l *lander) hold(task stick.Task, head string, why error) {
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
