package monitor

import (
	"slices"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// Picture is how everything looked at one time. Nobody changes a picture, so many may show it at once.
type Picture struct {
	Number  int64 // counts the pictures of a monitor, from 0 for the one before it has looked
	At      stick.Time
	Me      stick.AgentID            // who watches
	Rooms   []*Room                  // those in which somebody is needed come first, then those that have changed last
	Hidden  int                      // how many more rooms there are
	Names   map[stick.AgentID]string // what people call agents, where that isn't their id
	Problem *stick.Error             // why the rooms couldn't be read when they were last looked at; nil if they could

	later map[needID]stick.Time // when needs come back that were put off
}

// NameOf returns what people call an agent; empty where that is its id.
func (p *Picture) NameOf(a stick.AgentID) string { return p.Names[a] }

// Room is a room in a picture.
type Room struct {
	State  engine.GetRoomStateResult
	Tasks  []task.TaskView          // the newest first, without those that ended more than a day ago
	Hidden int                      // how many those are
	Paused []task.QueuePause        // merge queues that are paused
	Inbox  []engine.InboxMessage    // the newest open messages
	Owed   []engine.InboxMessage    // every message that waits for an answer, whatever came after it
	Scopes []scopes.ReservationView // the reserved paths, the newest first
	Events []stick.Event            // the last ones, the oldest first
	More   bool                     // there are older events
	Needs  []presence.Need          // what waits for the one who watches, the most urgent first
	Unread map[string]bool          // the tasks that came back, by their keys, whose workers haven't read why

	losses  []stick.Event // that work was taken away, and that a call was taken back
	answers []stick.Event // messages of the one who watches since the oldest that waits for an answer
}

// ID is the room's id.
func (r *Room) ID() stick.RoomID { return r.State.RoomID }

// Room returns a room of the picture, nil if it isn't there.
func (p *Picture) Room(id stick.RoomID) *Room {
	for _, r := range p.Rooms {
		if r.ID() == id {
			return r
		}
	}
	return nil
}

// Task returns a task of the room, nil if it isn't there.
func (r *Room) Task(id string) *task.TaskView {
	for i := range r.Tasks {
		if stick.TaskKey(r.Tasks[i].TaskID) == stick.TaskKey(id) {
			return &r.Tasks[i]
		}
	}
	return nil
}

// Member returns a member of the room, nil if it isn't there.
func (r *Room) Member(a stick.AgentID) *engine.RoomMember {
	for i := range r.State.Members {
		if r.State.Members[i].AgentID == a {
			return &r.State.Members[i]
		}
	}
	return nil
}

// HasLostWorker reports whether a task has a worker that is gone.
func (r *Room) HasLostWorker(t *task.TaskView) bool {
	if t.Worker == "" || t.Worker.Human() || t.Run != nil && isRunning(t.Run) {
		return false
	}
	m := r.Member(t.Worker)
	return m == nil || m.Verdict == stick.Gone
}

// OpenMessage returns a message that is open for the one who watches.
func (r *Room) OpenMessage(id int64) (m engine.InboxMessage, ok bool) {
	for _, all := range [][]engine.InboxMessage{r.Inbox, r.Owed} {
		i := slices.IndexFunc(all, func(m engine.InboxMessage) bool { return m.MessageID == id })
		if i >= 0 {
			return all[i], true
		}
	}

	return m, false
}

// NeedIn is a need with its room.
type NeedIn struct {
	Room *Room
	presence.Need
}

// Needs returns what waits for the one who watches, in all rooms, the most urgent first. What was put off is left out.
func (p *Picture) Needs() []NeedIn { return p.selectNeeds(false) }

// selectNeeds returns the needs that are put off, or those that aren't.
func (p *Picture) selectNeeds(later bool) (out []NeedIn) {
	for _, kind := range presence.NeedKinds {
		for _, r := range p.Rooms {
			for _, n := range r.Needs {
				if one := (NeedIn{r, n}); n.Kind == kind && later == !p.BackAt(one).IsZero() {
					out = append(out, one)
				}
			}
		}
	}
	return out
}
