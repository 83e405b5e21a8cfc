package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/store"
	"talkingstick/internal/wake"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// wakeLimit is what waking idle agents may add to a command, for all of them together.
const wakeLimit = 200 * time.Millisecond

// recordLimit is what of it has to be left for recording that an agent was told.
const recordLimit = 50 * time.Millisecond

// wakeRooms wakes the idle agents in rooms to whose logs somebody has just added. Waits aren't woken here:
// they hear the bells, see [store.DB.Update]. It never fails: what can't be told now stays untold, and the
// next hook of the agent tells it, or the next process that waits in the room.
func (e *Engine) wakeRooms(ctx context.Context, rooms []stick.RoomID) {
	if e.core.Config.News == nil {
		return
	}
	in := e.core.Inboxes()
	if in.Empty() {
		return
	}

	e.core.KillPoint("before wake")

	// What was committed is told even if the caller gives up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.core.ExtendLimit(wakeLimit))
	defer cancel()

	slices.Sort(rooms)
	for _, id := range slices.Compact(rooms) {
		e.wakeIdle(ctx, in, id, true)
	}
}

// wakeOthers wakes the idle agents in the room of a blocked wait, and has the wait read again when a message
// is due that comes too soon after others. Of the waits in a room one does it, until it ends; then it is the
// next one that reads the room.
func (w *wait) wakeOthers(ctx context.Context) {
	if w.e.core.Config.News == nil {
		return
	}
	in := w.e.core.Inboxes()
	if in.Empty() {
		return
	}

	if w.attendLock == nil {
		l, free, err := bell.TryLock(wake.FolderOf(w.e.core.Config.Dir).AttendantLock(w.res.RoomID))
		if err != nil || !free {
			return
		}
		w.attendLock = l
		w.followRoom()
	}

	ctx, cancel := context.WithTimeout(ctx, w.e.core.ExtendLimit(wakeLimit))
	defer cancel()

	if next := w.e.wakeIdle(ctx, in, w.res.RoomID, false); !next.IsZero() && (w.next.IsZero() || next < w.next) {
		if w.next = next; w.now.IsZero() {
			w.now = stick.At(w.e.core.Now())
		}
	}
}

// followRoom listens to all that happens in the room, since what is for others concerns whoever tells them.
func (w *wait) followRoom() {
	if w.follow == nil {
		// Without it, the next read comes later.
		w.follow, _ = w.db.Watch(w.res.RoomID)
	}
}

// stopWakingOthers leaves that to another wait.
func (w *wait) stopWakingOthers() {
	if w.follow != nil {
		w.follow.Close()
		w.follow = nil
	}
	if w.attendLock != nil {
		// The lock ends with the process at the latest.
		_ = w.attendLock.Unlock()
		w.db.RingWaits(w.res.RoomID, w.heirs)
	}
}

// wakeIdle writes to the inboxes of the idle agents in a room what is new for them. With patience it waits
// for whoever else is telling one of them something. next is when the next message is due that comes too soon
// after others, zero for never.
func (e *Engine) wakeIdle(ctx context.Context, in *core.Inboxes, room stick.RoomID, patient bool) (next stick.Time) {
	db, err := e.core.Open(ctx, false)
	if err != nil {
		return 0
	}

	news, next := e.pendingNews(ctx, db, in, room, "")
	var mu sync.Mutex // guards next
	var all sync.WaitGroup
	for _, w := range news {
		all.Go(func() {
			later := e.tellByInbox(ctx, db, in, w, patient)

			mu.Lock()
			defer mu.Unlock()
			if !later.IsZero() && (next.IsZero() || later < next) {
				next = later
			}
		})
	}

	all.Wait()
	return next
}

// tellByInbox tells an agent by its inbox what is untold, and what comes meanwhile: whoever commits that
// finds the agent's lock taken.
func (e *Engine) tellByInbox(
	ctx context.Context, db *store.DB, in *core.Inboxes, w *wait, patient bool,
) (next stick.Time) {
	for told := true; told && ctx.Err() == nil; {
		told, next = e.tellOnce(ctx, db, in, w, patient)
	}

	return next
}

// tellOnce tells an agent by its inbox what is still untold once nobody else is telling it anything, and
// records that it was shown.
func (e *Engine) tellOnce(
	ctx context.Context, db *store.DB, in *core.Inboxes, w *wait, patient bool,
) (told bool, next stick.Time) {
	free, alone := e.takeTellingLock(ctx, db, w.res.RoomID, w.me.Agent, patient)
	if !alone {
		// The agent is about to work, and its hooks tell it the rest.
		return false, 0
	}
	defer free()

	news, next := e.pendingNews(ctx, db, in, w.res.RoomID, w.me.Agent)
	b, _ := in.InboxOf(w.me.Agent)
	row, ok := harness.ByName(b.Harness)
	if len(news) == 0 || !ok || row.Inbox == nil {
		return false, next
	}

	res := news[0].res.clipForHook()
	if at, ok := ctx.Deadline(); ok && time.Until(at) < recordLimit {
		// The agent would be told, and that couldn't be recorded in time.
		return false, next
	}

	e.core.KillPoint("before inbox")
	lines := row.Inbox.Lines(b.Token, db.NewID(), e.core.Config.News(res.Events, res.More))
	if err := b.Write(ctx, e.core.Config.InboxPeer, lines); err != nil {
		return false, next
	}

	e.core.KillPoint("inbox written")

	// If it can't be recorded, a hook shows it once more: each event comes at least once.
	return e.RecordShown(ctx, res) == nil, next
}

// pendingNews returns the idle agents in a room, or only one of them, that have an inbox and something new
// that may wake them now, as waits whose answers hold it. next is as in wakeIdle.
func (e *Engine) pendingNews(
	ctx context.Context, db *store.DB, in *core.Inboxes, room stick.RoomID, only stick.AgentID,
) (news []*wait, next stick.Time) {
	err := e.core.View(ctx, db, core.Caller{}, func(tx *store.Tx, probes *core.Probes) error {
		news, next = nil, 0
		r, err := tx.Room(room)
		if err != nil {
			return err
		}

		r = onlyInboxes(r.AtGeneration(tx.Generation(), tx.Now()), in, only)
		if len(r.Members) == 0 {
			return nil
		}

		signs, err := tx.SessionSigns(room)
		if err != nil {
			return err
		}

		for _, m := range r.Members {
			if _, ok := in.InboxOf(m.Agent); !ok || !presence.WokenByInbox(r, m.Agent, signs[m.Agent], probes.Probed, tx.Now()) {
				continue
			}

			w := &wait{
				e: e, forIdle: true, knownIdle: true,
				q: stick.Asking{Purpose: stick.Wake}, me: core.Identity{Agent: m.Agent},
			}
			w.res = WaitForTurnResult{RoomID: room, AgentID: m.Agent, Events: []stick.Event{}}
			if err := w.readEvents(tx, probes, r); err != nil {
				return err
			}

			if !w.next.IsZero() && (next.IsZero() || w.next < next) {
				next = w.next
			}

			if len(w.res.Events) > 0 {
				news = append(news, w)
			}
		}

		return probes.RequireComplete(r)
	})
	if err != nil {
		return nil, 0
	}

	return news, next
}

// onlyInboxes leaves in a room those of its members and listeners that matter for inboxes, so that no others
// are probed.
func onlyInboxes(r stick.Room, in *core.Inboxes, only stick.AgentID) stick.Room {
	matters := func(a stick.AgentID) bool {
		_, ok := in.InboxOf(a)
		return ok && (only == "" || a == only)
	}

	r.Members = slices.DeleteFunc(slices.Clone(r.Members), func(m stick.Member) bool { return !matters(m.Agent) })
	r.Listeners = slices.DeleteFunc(slices.Clone(r.Listeners), func(l stick.Listener) bool { return !matters(l.Agent) })
	return r
}
