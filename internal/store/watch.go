package store

import (
	"context"
	"sync"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// Watch is a watch of a room's bell: see [bell.Watch].
type Watch struct {
	*bell.Watch
	db     *DB
	unread int  // how often nobody needed to read, since somebody did
	deaf   bool // nobody hears for this host, when it was last asked
	leave  func()
}

// ReleaseForSleep says that its caller is about to wait for a ring, and reads nothing until then. A database
// on a server takes back what it keeps for the process meanwhile.
func (w *Watch) ReleaseForSleep() { w.db.dialect.ReleaseForSleep() }

// enoughUnread is how often [Watch.SleepOn] says in a row that nobody needs to read: about an hour.
const enoughUnread = 10

// SleepOn says how much longer its caller may sleep when its slow timer fires, because no ring can be missed;
// 0 if it is to read the room. It is 0 on SQLite, where reading costs next to nothing, and now and then
// anyway. It belongs to one goroutine.
func (w *Watch) SleepOn(net *bell.Net) time.Duration {
	hears, guards := w.db.dialect.HearsCommits()
	w.unread++
	switch {
	case !hears:
		if guards && !w.deaf {
			// The others may sleep for minutes. Once is enough, as then they know.
			_ = w.db.Bell.RingAll()
		}
		w.unread, w.deaf = 0, true
		return 0
	case w.unread > enoughUnread:
		w.unread, w.deaf = 0, false
		return 0
	}

	// A process that guards the others reads more often than they do.
	if w.deaf = false; guards {
		return net.Next()
	}

	return net.NextHeard()
}

// Missed says that a read failed, so what rang or was due wasn't seen. The next [Watch.SleepOn] is 0.
func (w *Watch) Missed() { w.unread = enoughUnread }

// Close ends the watch; no ring comes after it.
func (w *Watch) Close() error {
	w.leave()
	return w.Watch.Close()
}

// witness is this process's part in hearing what other hosts commit.
// See docs/decisions/postgresql.md#connections.
type witness struct {
	mu      sync.Mutex // guards the rest
	watches int
	end     func()
}

// Watch listens to the bell of a room, which rings for commits of this host and of others. It doesn't hear
// earlier ones: watch first, then read. While a process has a watch, it may hear for all of its host what
// other hosts commit.
func (db *DB) Watch(room stick.RoomID) (*Watch, error) { return db.watchBells(string(room)) }

// WatchOwn is [DB.Watch] for a wait that is registered as a listener: it rings for what concerns the wait, see
// [stick.Room.RingAfter]. Where other hosts have the database open, it rings for all that happens in the room.
func (db *DB) WatchOwn(room stick.RoomID, l stick.ListenerID) (*Watch, error) {
	if db.ManyHosts() {
		return db.Watch(room)
	}

	w, err := db.Bell.WatchOwn(string(room), string(l))
	if err != nil {
		return nil, err
	}
	return &Watch{Watch: w, db: db, leave: func() {}}, nil
}

// RingWaits rings waits of a room although nothing was committed. Where other hosts have the database open, the
// next commit does so.
func (db *DB) RingWaits(room stick.RoomID, ring stick.Ring) {
	if db.ManyHosts() || len(ring.Listeners) == 0 {
		return
	}

	some := bell.SomeOf{Room: string(room)}
	for _, l := range ring.Listeners {
		some.Listeners = append(some.Listeners, string(l))
	}
	// Without it, they read when their nets say so.
	r, _ := db.Bell.PrepareRings(bell.Rings{Some: []bell.SomeOf{some}})
	r.Ring()
}

// WatchLooks is [DB.Watch] for whoever shows a room to people: it also rings for what only they see, such as
// that an agent has become idle. Waits sleep on then.
func (db *DB) WatchLooks(room stick.RoomID) (*Watch, error) {
	return db.watchBells(string(room), looksBell(room))
}

// WatchRooms rings when there is a new room.
func (db *DB) WatchRooms() (*Watch, error) { return db.watchBells(roomsBell) }

// roomsBell is the bell that rings for new rooms, and looksBell the one of a room for what only people see.
const roomsBell = "rooms"

func looksBell(room stick.RoomID) string { return "looks-" + string(room) }

func (db *DB) watchBells(bells ...string) (*Watch, error) {
	w, err := db.Bell.Watch(bells...)
	if err != nil {
		return nil, err
	}

	// All who write are on this host, and ring its bells themselves.
	if !db.ManyHosts() {
		return &Watch{Watch: w, db: db, leave: func() {}}, nil
	}

	db.witness.join(db.dialect, func(ctx context.Context) {
		db.dialect.ListenForCommits(ctx, db.Bell, func(ctx context.Context, heard <-chan struct{}) {
			if db.opt.Witness != nil {
				db.opt.Witness(ctx, db, heard)
			}
		})
	})

	return &Watch{Watch: w, db: db, leave: sync.OnceFunc(func() { db.witness.leave(db.dialect) })}, nil
}

// join begins to listen with the first watch.
func (w *witness) join(d dialect.DB, listen func(context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.watches++; w.watches > 1 {
		return
	}

	// A process that waits gives its connection back between reads.
	d.SetWaiting(true)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})

	// It listens until the last watch is closed.
	go func() {
		defer close(done)
		listen(ctx)
	}()

	w.end = func() {
		cancel()
		<-done
	}
}

// leave ends that with the last one.
func (w *witness) leave(d dialect.DB) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watches--; w.watches == 0 {
		d.SetWaiting(false)
		w.end()
	}
}
