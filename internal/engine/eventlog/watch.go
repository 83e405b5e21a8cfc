package eventlog

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// WatchRoomsParams asks to be told when rooms look different.
type WatchRoomsParams struct {
	Caller core.Caller

	// Rooms returns the rooms to watch. It is called at the start, and whenever there is a new room.
	Rooms func(context.Context) ([]stick.RoomID, error)

	// Look is called with the rooms that may look different: at the start and after a new room with all of
	// them. For each it returns how long what it has seen holds if nobody commits anything. An error ends the
	// watch.
	Look func(ctx context.Context, rooms []stick.RoomID) (map[stick.RoomID]Holds, error)
}

// Holds says how long a look at a room holds if nobody commits anything.
type Holds struct {
	Until   stick.Time      // zero for ever
	Watched []stick.Process // and as long as none of these ends
}

// WatchRooms calls p.Look whenever rooms may look different to people, until ctx ends, with
// [stick.CodeCanceled], or a function of p fails. It writes nothing, and while nothing happens it costs
// nothing: it sleeps until a bell rings, a process ends, or a time is reached.
func (l *Log) WatchRooms(ctx context.Context, p WatchRoomsParams) error {
	db, err := l.core.Open(ctx, true)
	if err != nil {
		return err
	}

	w := &roomsWatch{
		kernel: l.core, db: db, p: p, net: bell.NewNet(rand.Float64), deaths: l.core.Config.Procs.Deaths(),
		rooms: map[stick.RoomID]*watchedRoom{}, rings: make(chan stick.RoomID),
	}
	defer w.close()

	if w.newRooms, err = db.WatchRooms(); err != nil {
		return err
	}

	return w.run(ctx)
}

// roomsWatch is one call of [Log.WatchRooms].
type roomsWatch struct {
	kernel   *core.Kernel
	db       *store.DB
	p        WatchRoomsParams
	net      *bell.Net
	newRooms *store.Watch // of new rooms
	deaths   *proc.Deaths
	rooms    map[stick.RoomID]*watchedRoom
	rings    chan stick.RoomID // a room whose bell rang
}

// watchedRoom is a room with its bell.
type watchedRoom struct {
	bell      *store.Watch
	unwatched chan struct{} // closed when nobody wants to know any more
	holds     Holds
}

func (w *roomsWatch) close() {
	for id := range w.rooms {
		w.unwatchRoom(id)
	}

	if w.newRooms != nil {
		w.newRooms.Close()
	}

	w.deaths.Close()
}

// watchRoom begins to watch a room. Its goroutine ends with [roomsWatch.unwatchRoom].
func (w *roomsWatch) watchRoom(id stick.RoomID) error {
	b, err := w.db.WatchLooks(id)
	if err != nil {
		return err
	}

	r := &watchedRoom{bell: b, unwatched: make(chan struct{})}
	w.rooms[id] = r

	// A ring goes on to the loop that waits for all rooms, unless nobody wants to know any more.
	go func() {
		for {
			select {
			case <-b.C:
			case <-r.unwatched:
				return
			}

			select {
			case w.rings <- id:
			case <-r.unwatched:
				return
			}
		}
	}()

	return nil
}

func (w *roomsWatch) unwatchRoom(id stick.RoomID) {
	close(w.rooms[id].unwatched)
	w.rooms[id].bell.Close()
	delete(w.rooms, id)
}

// updateRooms makes the watched rooms those of p.Rooms.
func (w *roomsWatch) updateRooms(ctx context.Context) error {
	ids, err := w.p.Rooms(ctx)
	if err != nil {
		return err
	}

	for id := range w.rooms {
		if !slices.Contains(ids, id) {
			w.unwatchRoom(id)
		}
	}

	for _, id := range ids {
		if w.rooms[id] == nil {
			if err := w.watchRoom(id); err != nil {
				return err
			}
		}
	}

	return nil
}

func (w *roomsWatch) run(ctx context.Context) error {
	due, all := map[stick.RoomID]bool{}, true
	for {
		// There may be other rooms now, and what was seen of each may have changed.
		if all {
			if err := w.updateRooms(ctx); err != nil {
				return w.endError(ctx, err)
			}
			for id := range w.rooms {
				due[id] = true
			}
		}

		if err := w.reportDue(ctx, due); err != nil {
			return w.endError(ctx, err)
		}

		clear(due)
		var err error
		if all, err = w.sleepUntilDue(ctx, due); err != nil {
			return err
		}
	}
}

// reportDue looks at the rooms that are due. Where the server can't be reached, the net under the bells looks
// again.
func (w *roomsWatch) reportDue(ctx context.Context, due map[stick.RoomID]bool) error {
	var ids []stick.RoomID
	for id := range due {
		if w.rooms[id] != nil {
			ids = append(ids, id)
		}
	}

	slices.Sort(ids)
	holds, err := w.p.Look(ctx, ids)

	// The server may come back, so the slow timer tries again.
	if core.IsUnavailable(err) && ctx.Err() == nil {
		w.newRooms.Missed()
		return nil
	}
	if err != nil {
		return err
	}

	var watched []stick.Process
	for id, r := range w.rooms {
		if h, ok := holds[id]; ok {
			r.holds = h
		}
		watched = append(watched, r.holds.Watched...)
	}

	w.deaths.Watch(watched)
	return nil
}

// endError is the error of a watch that ends.
func (w *roomsWatch) endError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return stick.Errorf(stick.CodeCanceled, "interrupted")
	}
	return err
}

// burstWindow is how long rings are gathered, so that a burst of commits is one look.
const burstWindow = 20 * time.Millisecond

// sleepUntilDue sleeps until rooms are due, and adds them to due. all means that the list of rooms has
// changed, or everything may have.
func (w *roomsWatch) sleepUntilDue(ctx context.Context, due map[stick.RoomID]bool) (all bool, err error) {
	w.newRooms.ReleaseForSleep()
	net := time.NewTimer(w.net.Next())
	defer net.Stop()

	next := w.nextDeadline()
	var deadline <-chan time.Time
	if !next.IsZero() {
		t := time.NewTimer(max(next.Sub(stick.At(w.kernel.Now())), 0))
		defer t.Stop()
		deadline = t.C
	}

	// After the first ring, others are gathered for a moment.
	var enough <-chan time.Time
	for {
		select {
		case id := <-w.rings:
			w.net.Reset()
			due[id] = true
		case <-w.newRooms.C:
			w.net.Reset()
			all = true
		case <-w.deaths.C:
			// It doesn't say whose process has ended.
			for id, r := range w.rooms {
				if len(r.holds.Watched) > 0 {
					due[id] = true
				}
			}
		case <-deadline:
			now := stick.At(w.kernel.Now())
			for id, r := range w.rooms {
				if !r.holds.Until.IsZero() && r.holds.Until <= now {
					due[id] = true
				}
			}
			deadline = nil
		case <-net.C:
			if more := w.newRooms.SleepOn(w.net); more > 0 {
				net.Reset(more)
				continue
			}
			return true, nil
		case <-enough:
			return all, nil
		case <-ctx.Done():
			return false, w.endError(ctx, ctx.Err())
		}

		if enough == nil {
			t := time.NewTimer(burstWindow)
			defer t.Stop()
			enough = t.C
		}
	}
}

// nextDeadline returns when the first room has to be looked at although nothing rings, zero for never.
func (w *roomsWatch) nextDeadline() stick.Time {
	at := stick.Time(0)
	for _, r := range w.rooms {
		if u := r.holds.Until; !u.IsZero() && (at.IsZero() || u < at) {
			at = u
		}
	}

	return at
}
