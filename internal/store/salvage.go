package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/sqlite"
	"talkingstick/stick"
)

// Salvage is what can be read of a damaged database, and what its logs prove.
type Salvage struct {
	Rooms  []SalvagedRoom
	Unread []Numbers // of events that can't be read, if there were any

	blobs   []dialect.Blob
	highest int64 // the number of the last event that could be read
}

// SalvagedRoom is a room of a damaged database, with its log up to where that is whole.
type SalvagedRoom struct {
	History        // of the events that stay
	Lost    int64  // the number of the last event that doesn't; 0 if all do
	Why     string // why those after the last one that stays are lost

	events []stick.Event
}

// Numbers are numbers of events in a row, both ends included.
type Numbers struct{ From, To int64 }

// Events counts the events that stay.
func (s Salvage) Events() (n int64) {
	for _, r := range s.Rooms {
		n += r.Events
	}
	return n
}

// ReadSalvage reads what can be read of a damaged database. It fails if not even a transaction can begin.
func (db *DB) ReadSalvage(ctx context.Context) (s Salvage, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		run := salvaging{tx: tx, events: map[int64]stick.Event{}}
		run.readEvents(0, run.findHighest())
		s = Salvage{Unread: run.unread, blobs: run.readBlobs()}

		for seq := range run.events {
			s.highest = max(s.highest, seq)
		}
		s.Rooms = run.readRooms()
		return nil
	})

	return s, err
}

// ReadBroken is [DB.ReadSalvage] of a database that can't be opened, such as one whose file was cut off. It reads a
// copy that has the size again which the file says it has.
func ReadBroken(ctx context.Context, opt Options) (all Salvage, err error) {
	s, err := newStaging(opt)
	if err != nil {
		return all, err
	}
	defer s.remove()

	// By the numbers, what belongs to another database is refused in the copy, too.
	for _, name := range []string{FileName, FileName + sqlite.LogSuffix, IssuedName} {
		err := copyFile(filepath.Join(opt.Dir, name), filepath.Join(s.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return all, ErrBackupFile(opt.Dir, err)
		}
	}
	if err := sqlite.FillUp(s.file()); err != nil {
		return all, ErrBackupFile(s.file(), err)
	}

	db, err := s.open(ctx)
	if err != nil {
		return all, err
	}
	all, err = db.ReadSalvage(ctx)
	return all, errors.Join(err, db.Close())
}

// maxUnreadable bounds how often a salvage meets what can't be read. A few pages have fewer events.
const maxUnreadable = 4096

// salvaging reads a damaged database.
type salvaging struct {
	tx     *Tx
	events map[int64]stick.Event
	unread []Numbers
	failed int // how many ranges couldn't be read
}

// findHighest returns the highest number that an event can have.
func (s *salvaging) findHighest() int64 {
	drawn, err := s.tx.db.dialect.LastDrawn()
	if err != nil {
		drawn = 0
	}

	highest := max(drawn, LastIssued(s.tx.db.opt.Dir))
	if highest <= 0 {
		return math.MaxInt64
	}
	return highest
}

// readEvents reads the events after one number up to another. It comes to a damaged page from both sides, and then
// tries each half of what lies between.
func (s *salvaging) readEvents(after, to int64) {
	query := "SELECT " + eventTable().namesOf("e") + ` FROM events e WHERE e.event_seq > ? AND e.event_seq <= ?
		ORDER BY e.event_seq`
	first, err := s.scanEvents(query, after, to)
	if err == nil {
		return
	}

	after = max(after, first.To)
	last, err := s.scanEvents(query+" DESC", after, to)
	if err == nil {
		return
	}
	if last.From > 0 {
		to = last.From - 1
	}

	s.failed++
	middle := after + (to-after)/2
	isSingle := middle == after
	if isSingle || s.failed > maxUnreadable {
		s.noteUnread(Numbers{after + 1, to})
		return
	}

	s.readEvents(after, middle)
	s.readEvents(middle, to)
}

// scanEvents keeps the events of a query up to the first that can't be read, and returns the lowest and the highest
// number of them.
func (s *salvaging) scanEvents(query string, after, to int64) (got Numbers, err error) {
	err = s.tx.scan(query, []any{after, to}, func(scan rowScan) error {
		var e stick.Event
		if err := eventTable().read(scan, &e); err != nil {
			return err
		}

		// A damaged page can claim to have any number.
		if e.Seq <= after || e.Seq > to {
			return fmt.Errorf("event %d isn't in its place", e.Seq)
		}

		s.events[e.Seq] = e
		if got.From == 0 {
			got = Numbers{e.Seq, e.Seq}
		}
		got = Numbers{min(got.From, e.Seq), max(got.To, e.Seq)}
		return nil
	})

	return got, err
}

// noteUnread notes numbers whose events can't be read, in the order of the numbers.
func (s *salvaging) noteUnread(n Numbers) {
	if n.From > n.To {
		return
	}
	if last := len(s.unread) - 1; last >= 0 && s.unread[last].To+1 >= n.From {
		s.unread[last].To = n.To
		return
	}
	s.unread = append(s.unread, n)
}

// readBlobs reads which outputs there are. One whose row is lost stays as a file until tt prune.
func (s *salvaging) readBlobs() (all []dialect.Blob) {
	_ = s.tx.scan("SELECT sum, size FROM blobs ORDER BY sum", nil, func(scan rowScan) error {
		var b dialect.Blob
		err := scan(&b.Sum, &b.Size)
		if err == nil {
			all = append(all, b)
		}
		return err
	})

	return all
}

// salvagedRow is what the row of a room says that its log doesn't.
type salvagedRow struct {
	path    string
	created stick.Time
	last    int64

	checkpoint *stick.Checkpoint
}

// readRooms reads the rooms, each with its log as far as that is whole.
func (s *salvaging) readRooms() (all []SalvagedRoom) {
	logs := map[stick.RoomID][]stick.Event{}
	for _, seq := range slices.Sorted(maps.Keys(s.events)) {
		e := s.events[seq]
		logs[e.Room] = append(logs[e.Room], e)
	}

	for id, row := range s.readRoomRows(slices.Sorted(maps.Keys(logs))) {
		r := SalvagedRoom{History: History{Room: id, Path: row.path, CreatedAt: row.created}}
		r.Checkpoint = row.checkpoint
		r.takeLog(logs[id])

		// What the row says of the end counts only where something can't be read.
		isCut := slices.ContainsFunc(s.unread, func(n Numbers) bool { return n.From <= row.last && row.last <= n.To })
		if isCut && r.Why == "" {
			r.Why, r.Lost = "the end of its log can't be read", row.last
		}
		all = append(all, r)
	}

	slices.SortFunc(all, func(a, b SalvagedRoom) int { return cmp.Compare(a.Room, b.Room) })
	return all
}

// readRoomRows reads the rows of rooms, those first that a scan finds, then those that logs name.
func (s *salvaging) readRoomRows(named []stick.RoomID) map[stick.RoomID]salvagedRow {
	rows := map[stick.RoomID]salvagedRow{}
	query := "SELECT room_id, canonical_path, created_at, last_event_seq FROM rooms"
	read := func(scan rowScan) error {
		var id stick.RoomID
		var row salvagedRow
		err := scan(&id, &row.path, &row.created, &row.last)
		if err == nil {
			rows[id] = row
		}
		return err
	}

	_ = s.tx.scan(query, nil, read)
	for _, id := range named {
		if _, ok := rows[id]; !ok {
			_ = s.tx.scan(query+" WHERE room_id = ? ORDER BY room_id", []any{id}, read)
		}
	}

	for id, row := range rows {
		if p, ok, err := s.tx.Checkpoint(id); ok && err == nil {
			row.checkpoint = &p
			rows[id] = row
		}
	}

	return rows
}

// takeLog takes the events of a room up to the first that doesn't follow from those before it.
func (r *SalvagedRoom) takeLog(log []stick.Event) {
	record, err := startRecord(r.Checkpoint)
	if err != nil && len(log) > 0 {
		r.Why, r.Lost = err.Error(), log[len(log)-1].Seq
		return
	}

	for i, e := range log {
		if err := record.Replay(e); err != nil {
			r.Why, r.Lost = err.Error(), log[len(log)-1].Seq
			return
		}
		r.events, r.Events = log[:i+1], int64(i+1)
		r.LastEvent, r.LastSum = e.Seq, e.Sum
	}
}

// StopWriters has nobody write into a damaged database any more, until a check finds it sound.
func (db *DB) StopWriters(ctx context.Context, why string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.dialect.(*sqlite.DB).StopWriters(ctx, why)
}

// WriteSalvage makes a database of what was read of a damaged one, as a file that [Restore] takes. Turns that are
// held, and reservations, end. It returns the salvage with what couldn't be taken after all.
func WriteSalvage(ctx context.Context, opt Options, all Salvage, target string) (Salvage, error) {
	s, err := newStaging(opt)
	if err != nil {
		return all, err
	}
	defer s.remove()

	made, err := Open(ctx, s.opt, true)
	if err != nil {
		return all, err
	}

	if all, err = made.fillSalvage(ctx, all); err == nil {
		err = made.dialect.CodeError(made.dialect.(*sqlite.DB).MergeLog())
	}
	if err = errors.Join(err, made.Close()); err == nil {
		err = placeFile(s.file(), target, false)
	}
	return all, ErrBackupFile(target, err)
}

// fillSalvage puts the rooms into a new database.
func (db *DB) fillSalvage(ctx context.Context, all Salvage) (Salvage, error) {
	// A room that ends its turn in the new database mustn't take the number of an event of another.
	err := db.Update(ctx, func(tx *Tx) error {
		issued, err := tx.Issued()
		if err == nil && all.highest > issued {
			err = tx.db.dialect.SkipNumbers(all.highest - issued)
		}

		for _, b := range all.blobs {
			err = errors.Join(err, tx.AddBlob(b))
		}
		return err
	})

	for i := range all.Rooms {
		r := &all.Rooms[i]
		if err != nil || r.Events == 0 {
			continue
		}

		refused := db.Update(ctx, func(tx *Tx) error {
			n := 0
			return tx.ImportRoom(ctx, r.History, func() (e stick.Event, more bool, err error) {
				if n == len(r.events) {
					return e, false, nil
				}
				n++
				return r.events[n-1], true, nil
			})
		})
		if code := stick.CodeOf(refused); code == stick.CodeUsage || code == stick.CodeAlreadyExists {
			r.Why, r.Lost = stick.AsError(refused).Message, max(r.Lost, r.LastEvent)
			r.events, r.Events, r.LastEvent = nil, 0, 0
			continue
		}
		err = refused
	}

	return all, err
}
