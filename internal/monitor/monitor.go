// Package monitor keeps a picture of rooms for people who watch them: what each agent does, what waits for
// the person, tasks and the last events. One monitor reads the database for all who watch in a process. It
// performs the same operations as everybody, and writes nothing. While nothing happens it costs nothing:
// bells, ends of processes and deadlines wake it.
package monitor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// Operations are those that a monitor performs.
type Operations interface {
	WatchRooms(context.Context, eventlog.WatchRoomsParams) error
	ListRooms(context.Context, engine.ListRoomsParams) (engine.ListRoomsResult, error)
	GetRoomState(context.Context, engine.GetRoomStateParams) (engine.GetRoomStateResult, error)
	GetRoomEvents(context.Context, eventlog.GetRoomEventsParams) (eventlog.EventsResult, error)
	ListReservations(context.Context, scopes.ListReservationsParams) (scopes.ListReservationsResult, error)
	GetInbox(context.Context, engine.GetInboxParams) (engine.GetInboxResult, error)
	GetMessage(context.Context, engine.GetMessageParams) (engine.GetMessageResult, error)
	WorkerStatus(context.Context, task.WorkerStatusParams) (task.WorkerStatusResult, error)
	AgentNames(context.Context) (map[stick.AgentID]string, error)
	IsRescueOpen(id string) bool
	Now() stick.Time
}

// Options say what a monitor watches.
type Options struct {
	Operations Operations
	Caller     core.Caller // who watches
	Where      core.Where  // a room; the zero Where means all of them
	Limit      int         // how many rooms at most; 0 for 50
	Events     int         // how many events of each room; 0 for 30
	One        bool        // watch the room of Where only, also if that is zero
}

// Monitor keeps a picture. [Monitor.Run] keeps it up to date.
type Monitor struct {
	o Options

	mu      sync.Mutex // guards the rest
	picture *Picture
	heard   map[chan struct{}]bool
	rooms   map[stick.RoomID]*reading
	names   map[stick.AgentID]string
	order   []stick.RoomID
	hidden  int
	later   map[needID]stick.Time // see [Monitor.PutOff]
}

// New returns a monitor with an empty picture.
func New(o Options) *Monitor {
	if o.Limit == 0 {
		o.Limit = 50
	}
	if o.Events == 0 {
		o.Events = 30
	}

	return &Monitor{
		o: o, picture: &Picture{At: o.Operations.Now()},
		heard: map[chan struct{}]bool{}, rooms: map[stick.RoomID]*reading{},
	}
}

// Picture returns the latest picture.
func (m *Monitor) Picture() *Picture {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.picture
}

// Changed returns a channel that gets a value after each new picture. It holds one value. stop ends that.
func (m *Monitor) Changed() (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)

	m.mu.Lock()
	m.heard[c] = true
	m.mu.Unlock()

	return c, func() {
		m.mu.Lock()
		delete(m.heard, c)
		m.mu.Unlock()
	}
}

// Run keeps the picture up to date until ctx ends, with [stick.CodeCanceled], or the database can't be read
// any more.
func (m *Monitor) Run(ctx context.Context) error {
	return m.o.Operations.WatchRooms(ctx, eventlog.WatchRoomsParams{Caller: m.o.Caller, Rooms: m.listRooms, Look: m.readRooms})
}

// TakeRoomPicture takes one picture. Its room is that of o.Where.
func TakeRoomPicture(ctx context.Context, o Options) (*Picture, error) {
	o.One = true
	return TakePicture(ctx, o)
}

// Once takes one picture of all that o means.
func TakePicture(ctx context.Context, o Options) (*Picture, error) {
	m := New(o)
	ids, err := m.listRooms(ctx)
	if err != nil {
		return nil, err
	}

	_, err = m.readRooms(ctx, ids)
	return m.Picture(), err
}

// listRooms returns the rooms to watch.
func (m *Monitor) listRooms(ctx context.Context) ([]stick.RoomID, error) {
	var ids []stick.RoomID
	hidden := 0

	if m.o.One || m.o.Where != (core.Where{}) {
		st, err := m.o.Operations.GetRoomState(ctx, engine.GetRoomStateParams{Caller: m.o.Caller, Where: m.o.Where})
		if err != nil {
			return nil, err
		}
		ids = []stick.RoomID{st.RoomID}
	} else {
		res, err := m.o.Operations.ListRooms(ctx, engine.ListRoomsParams{
			Caller: m.o.Caller, Path: "/", All: true, Recent: true, Limit: m.o.Limit,
		})
		if err != nil {
			return nil, err
		}

		hidden = res.Hidden
		for _, r := range res.Rooms {
			ids = append(ids, r.RoomID)
		}
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	m.order, m.hidden = ids, hidden

	// What was read of rooms that are no longer watched isn't kept.
	for id := range m.rooms {
		if !slices.Contains(ids, id) {
			delete(m.rooms, id)
		}
	}

	if len(ids) == 0 {
		m.showRooms(nil)
	}
	return ids, nil
}

// readRooms reads rooms anew, and makes a picture.
func (m *Monitor) readRooms(ctx context.Context, ids []stick.RoomID) (map[stick.RoomID]eventlog.Holds, error) {
	holds := map[stick.RoomID]eventlog.Holds{}
	var problem error

	for _, id := range ids {
		m.mu.Lock()
		was := m.rooms[id]
		m.mu.Unlock()

		now, err := m.readRoom(ctx, id, was)
		if ctx.Err() != nil {
			return nil, err
		}

		if err != nil {
			// The picture of the room stays as it was.
			problem = errors.Join(problem, err)
			if isAboutDatabase(err) {
				break
			}
			continue
		}

		holds[id] = now.holds
		m.mu.Lock()
		m.rooms[id] = now
		m.mu.Unlock()
	}

	names := m.readNames(ctx, ids)

	m.mu.Lock()
	m.names = names
	m.showRooms(problem)
	m.mu.Unlock()

	// An error about one room is shown in the picture, and ends nothing.
	if isAboutDatabase(problem) {
		return holds, problem
	}
	return holds, nil
}

// readNames returns what people call agents: those of the database as it was when the monitor began, and those of
// the members since then, which their rooms have with them.
func (m *Monitor) readNames(ctx context.Context, ids []stick.RoomID) map[stick.AgentID]string {
	m.mu.Lock()
	defer m.mu.Unlock()

	names := m.names
	if names == nil {
		// Without names, ids are shown.
		names, _ = m.o.Operations.AgentNames(ctx)
	}

	// Pictures share the names, so the map is copied where it gets more.
	copied := false
	for _, id := range ids {
		r := m.rooms[id]
		if r == nil {
			continue
		}

		for _, member := range r.room.State.Members {
			if member.Name == names[member.AgentID] {
				continue
			}
			if !copied {
				names, copied = maps.Clone(names), true
			}
			if names == nil {
				names = map[stick.AgentID]string{}
			}
			names[member.AgentID] = member.Name
		}
	}

	return names
}

// isAboutDatabase reports whether an error is about the database, so that no room can be read. One about a
// room alone must not end the others' pages.
func isAboutDatabase(err error) bool {
	switch stick.CodeOf(err) {
	case stick.CodeUpgraded, stick.CodeDatabaseMoved, stick.CodeSchemaTooNew, stick.CodeForeignDatabase,
		stick.CodeDatabaseCorrupt, stick.CodeDatabaseUnavailable,
		stick.CodeDataDirNotWritable, stick.CodeDataDirOfAnother, stick.CodeFileSystem, stick.CodeCanceled:
		return true
	}
	return false
}

// showRooms makes a picture of what was read. Its caller holds m.mu.
func (m *Monitor) showRooms(problem error) {
	p := &Picture{Number: m.picture.Number + 1, At: m.o.Operations.Now(), Hidden: m.hidden, Names: m.names}
	if problem != nil {
		p.Problem = stick.AsError(problem)
	}

	for _, id := range m.order {
		if r := m.rooms[id]; r != nil {
			p.Rooms, p.Me = append(p.Rooms, r.room), r.room.State.AgentID
		}
	}

	slices.SortStableFunc(p.Rooms, byNeed)
	m.publishPicture(p)
}

// Renew makes a new picture of what was read before, because something has changed that is shown beside it.
func (m *Monitor) Renew() {
	m.mu.Lock()
	defer m.mu.Unlock()

	p := *m.picture
	p.Number++
	m.publishPicture(&p)
}

// publishPicture makes p the latest picture, and tells those who wait for one. Its caller holds m.mu.
func (m *Monitor) publishPicture(p *Picture) {
	p.later = m.stillLater(m.o.Operations.Now())
	m.picture = p
	for c := range m.heard {
		select {
		case c <- struct{}{}:
		default: // the one before wasn't received
		}
	}
}

// byNeed puts the rooms in front in which somebody is needed, and then those that are in use.
func byNeed(a, b *Room) int { return needRank(a) - needRank(b) }

func needRank(r *Room) int {
	switch {
	case len(r.Needs) > 0:
		return 0
	case r.State.State == stick.StateDormant, r.State.State == stick.StateClosed:
		return 2
	}
	return 1
}

// reading is what a monitor has read of a room.
type reading struct {
	room  *Room
	holds eventlog.Holds
	tasks time.Time // when its tasks were read; zero for never
}
