package monitor

import (
	"context"
	"slices"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// taskInterval is how soon tasks at work are read again although the log has nothing new about them: commits
// and the ends of processes make no event.
const taskInterval = 30 * time.Second

// readRoom reads a room. was is what was read before, nil for nothing.
func (m *Monitor) readRoom(ctx context.Context, id stick.RoomID, was *reading) (*reading, error) {
	ops, by, at := m.o.Operations, m.o.Caller, core.Where{RoomID: id}
	state, err := ops.GetRoomState(ctx, engine.GetRoomStateParams{Caller: by, Where: at})
	if err != nil {
		return nil, err
	}

	r := &Room{State: state}
	events, err := ops.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
		Caller: by, Where: at, EventFilter: eventlog.EventFilter{Limit: m.o.Events},
	})
	if err != nil {
		return nil, err
	}
	r.Events, r.More = events.Events, events.More

	scopes, err := ops.ListReservations(ctx, scopes.ListReservationsParams{Caller: by, Where: at, Limit: 200})
	if err != nil {
		return nil, err
	}
	r.Scopes = scopes.Reservations

	if err := m.readInbox(ctx, r); err != nil {
		return nil, err
	}
	if err := m.readLosses(ctx, r, was); err != nil {
		return nil, err
	}

	now := &reading{room: r, holds: eventlog.Holds{Until: state.LooksUntil, Watched: state.Watched}}
	if err := m.readTasks(ctx, now, was); err != nil {
		return nil, err
	}
	if err := m.readReturns(ctx, r); err != nil {
		return nil, err
	}

	r.addNeeds(ops.Now(), ops.IsRescueOpen)
	r.sortTasks()
	now.readAgainForRescues(ops.Now())
	return now, nil
}

// mostOwed is how many messages that wait for an answer are read, and how many events of each other kind.
const mostOwed = 500

// readInbox adds the newest open messages, and every one that waits for an answer: what needs a person is asked
// for by itself, so that chatter can't push it out. Most rooms have no open message, and their inboxes aren't read.
func (m *Monitor) readInbox(ctx context.Context, r *Room) error {
	p := engine.GetInboxParams{Caller: m.o.Caller, Where: core.Where{RoomID: r.ID()}}
	if r.State.Unread+r.State.Unacked > 0 {
		inbox, err := m.o.Operations.GetInbox(ctx, p)
		if err != nil {
			return err
		}
		r.Inbox = inbox.Messages
	}
	if r.State.Unacked == 0 {
		return nil
	}

	p.Owed, p.Limit = true, mostOwed
	owed, err := m.o.Operations.GetInbox(ctx, p)
	if err != nil || len(owed.Messages) == 0 {
		return err
	}
	r.Owed = owed.Messages

	// An answer may be older than the last events, too.
	sent, err := m.o.Operations.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
		Caller: p.Caller, Where: p.Where, EventFilter: eventlog.EventFilter{
			From: r.State.AgentID, After: r.Owed[0].MessageID, Limit: mostOwed,
			Types: []stick.EventType{stick.EventMessageSent},
		},
	})
	r.answers = sent.Events
	return err
}

// mostSearched is how many events, of all rooms, are searched for losses at most.
const mostSearched = 20_000

// readLosses adds the events about work that was taken away. The log is searched once; later readings add what
// has come since.
func (m *Monitor) readLosses(ctx context.Context, r *Room, was *reading) error {
	filter := eventlog.EventFilter{
		Types: []stick.EventType{stick.EventWorkTaken, stick.EventCallUndone}, Limit: mostOwed,
	}
	// No index finds them, so what is older than a busy fortnight isn't searched.
	filter.After = max(0, r.lastSeq()-mostSearched)

	// After a backup was restored the log may be shorter than it was.
	if was != nil && was.room.lastSeq() <= r.lastSeq() {
		r.losses, filter.After = was.room.losses, was.room.lastSeq()
	}

	res, err := m.o.Operations.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
		Caller: m.o.Caller, Where: core.Where{RoomID: r.ID()}, EventFilter: filter,
	})
	if err != nil || len(res.Events) == 0 {
		return err
	}

	// What was read before is part of an older picture, and isn't changed. An event that is in both readings,
	// because it came between two reads of one, counts once.
	r.losses = slices.Clone(r.losses)
	for _, e := range res.Events {
		if len(r.losses) == 0 || e.Seq > r.losses[len(r.losses)-1].Seq {
			r.losses = append(r.losses, e)
		}
	}
	return nil
}

// lastSeq is the number of the room's last event; 0 for none.
func (r *Room) lastSeq() int64 {
	if len(r.Events) == 0 {
		return 0
	}
	return r.Events[len(r.Events)-1].Seq
}

// readTasks adds the tasks of a room. They cost a git command each, so those that were read before stay
// unless something has happened to them, or a worker is at work and may have committed.
func (m *Monitor) readTasks(ctx context.Context, now, was *reading) error {
	r := now.room
	fresh := was != nil && !was.tasks.IsZero() && time.Since(was.tasks) < taskInterval-time.Second
	if fresh && !hasTaskNews(was.room.Events, r.Events) {
		now.tasks, r.Tasks, r.Hidden, r.Paused = was.tasks, was.room.Tasks, was.room.Hidden, was.room.Paused
	} else {
		res, err := m.o.Operations.WorkerStatus(ctx, task.WorkerStatusParams{
			Caller: m.o.Caller, Where: core.Where{RoomID: r.ID()}, Stat: true,
		})
		if err != nil {
			return err
		}
		now.tasks, r.Tasks, r.Hidden, r.Paused = time.Now(), res.Tasks, res.Hidden, res.Paused
	}

	// A commit makes no event, so tasks at work are read again after some time.
	if slices.ContainsFunc(r.Tasks, isAtWork) {
		again := m.o.Operations.Now().Add(taskInterval - time.Since(now.tasks))
		if u := now.holds.Until; u.IsZero() || again < u {
			now.holds.Until = again
		}
	}
	return nil
}

// readAgainForRescues has a room be read again after some time while a rescue waits for its person: to restore or
// forget one makes no event.
func (now *reading) readAgainForRescues(at stick.Time) {
	isOfRescue := func(n presence.Need) bool { return n.Kind == presence.NeedRescue }
	if !slices.ContainsFunc(now.room.Needs, isOfRescue) {
		return
	}

	again := at.Add(taskInterval)
	if u := now.holds.Until; u.IsZero() || again < u {
		now.holds.Until = again
	}
}

// readReturns finds out which workers haven't read why their tasks came back: a message says so to each, in
// the transaction of the return. It costs two small reads for each such task.
func (m *Monitor) readReturns(ctx context.Context, r *Room) error {
	at := core.Where{RoomID: r.ID()}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if !hasComeBack(t) {
			continue
		}

		filter := eventlog.EventFilter{TaskID: t.TaskID, Types: []stick.EventType{stick.EventMessageSent}, Limit: 20}
		sent, err := m.o.Operations.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{Caller: m.o.Caller, Where: at, EventFilter: filter})
		if err != nil {
			return err
		}

		why := slices.IndexFunc(sent.Events, func(e stick.Event) bool {
			return e.CreatedAt >= t.StateAt && e.From != t.Worker && e.Message() != nil && slices.Contains(e.Message().To, t.Worker)
		})
		if why < 0 {
			continue
		}

		res, err := m.o.Operations.GetMessage(ctx, engine.GetMessageParams{Caller: m.o.Caller, Where: at, MessageID: sent.Events[why].Seq})
		if err != nil {
			return err
		}

		for _, x := range res.Receipts {
			if x.AgentID == t.Worker && x.State == stick.Unread && x.ShownAt.IsZero() {
				r.markUnread(t.TaskID)
			}
		}
	}
	return nil
}

// markUnread notes that a task's worker hasn't read why the task came back.
func (r *Room) markUnread(task string) {
	if r.Unread == nil {
		r.Unread = map[string]bool{}
	}
	r.Unread[stick.TaskKey(task)] = true
}

// hasComeBack reports whether a task is its worker's again.
func hasComeBack(t *task.TaskView) bool {
	return (t.State == stick.TaskWorking || t.State == stick.TaskConflicted) && t.Cause != "" && t.Worker != ""
}

// isAtWork reports whether a task may change without an event.
func isAtWork(t task.TaskView) bool {
	return t.Doing != "" || t.State == stick.TaskWorking || t.Run != nil && isRunning(t.Run)
}

// hasTaskNews reports whether events came that are about tasks, or more than the pictures show.
func hasTaskNews(was, now []stick.Event) bool {
	last := int64(0)
	if len(was) > 0 {
		last = was[len(was)-1].Seq
	}

	// The pictures have no event in common: some in between may be about tasks.
	if len(now) > 0 && len(was) > 0 && now[0].Seq > last {
		return true
	}

	return slices.ContainsFunc(now, func(e stick.Event) bool { return e.Seq > last && e.Task != "" })
}
