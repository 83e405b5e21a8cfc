package store

import (
	"context"
	"sync"

	"talkingstick/internal/bell"
	"talkingstick/stick"
)

// Watch is a watch of a room's bell: see [bell.Watch].
type Watch struct {
	*bell.Watch
	db     *DB
	unread int // how often nobody needed to read, since somebody did
	leave  func()
}

// Sleeps says that its caller is about to wait for a ring, and reads nothing until then. A database on a server takes back what
// it keeps for the process meanwhile.
func (w *Watch) Sleeps() { w.db.dialect.sleeps() }

// enoughUnread is how often [Watch.Hears] says in a row that nobody needs to read: about half an hour of a wait's slow timer.
const enoughUnread = 30

// Hears reports whether a ring can't be missed now, so that its caller, when its slow timer fires, needn't read the room. It is false
// on SQLite, where reading costs next to nothing, and now and then anyway. It belongs to one goroutine.
func (w *Watch) Hears() bool {
	if w.unread++; w.unread > enoughUnread || !w.db.dialect.hears() {
		w.unread = 0
		return false
	}
	return true
}

// Close ends the watch; no ring comes after it.
func (w *Watch) Close() error {
	w.leave()
	return w.Watch.Close()
}

// witness is this process's part in hearing what other hosts commit.
type witness struct {
	mu      sync.Mutex // guards the rest
	watches int
	end     func()
}

// Watch listens to the bell of a room, which rings for commits of this host and of others. It doesn't hear earlier ones: watch first,
// then read. While a process has a watch, it may hear for all of its host what other hosts commit.
func (db *DB) Watch(room stick.RoomID) (*Watch, error) {
	w, err := db.Bell.Watch(string(room))
	if err != nil {
		return nil, err
	}
	if !db.ManyHosts() {
		return &Watch{Watch: w, db: db, leave: func() {}}, nil
	}
	db.witness.join(db.dialect, func(ctx context.Context) {
		db.dialect.listen(ctx, db.Bell, func(ctx context.Context, heard <-chan struct{}) {
			if db.opt.Witness != nil {
				db.opt.Witness(ctx, db, heard)
			}
		})
	})
	return &Watch{Watch: w, db: db, leave: sync.OnceFunc(func() { db.witness.leave(db.dialect) })}, nil
}

// join begins to listen with the first watch.
func (w *witness) join(d dialect, listen func(context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watches++; w.watches > 1 {
		return
	}
	d.setWaiting(true)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { // until the last watch is closed
		defer close(over)
		listen(ctx)
	}()
	w.end = func() {
		cancel()
		<-over
	}
}

// leave ends that with the last one.
func (w *witness) leave(d dialect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watches--; w.watches == 0 {
		d.setWaiting(false)
		w.end()
	}
}
