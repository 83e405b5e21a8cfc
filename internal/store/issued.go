package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// IssuedName is the file beside the database that says which numbers it has issued. A database that is behind
// it has lost something: SQLite drops the end of a damaged log without a word, and somebody may have put an
// older copy in place.
//
// Only who has the lock of writers writes it: before each commit what that is going to issue, and after it
// that this is committed. So it is never behind what somebody can have seen, and whoever is killed in between
// has lost nothing. Nothing is synced: the system keeps what was written when a process ends in whatever way.
// After a power loss the file may be behind the database, or ahead of it. A generation begins then in any
// case.
const IssuedName = "issued"

// numbers count what a database has committed.
type numbers struct {
	commit int64 // the last transaction that changed something
	event  int64 // the last number that was drawn for an event
}

// issued is what the file says.
// See docs/decisions/damage-and-repair.md#a-loss.
type issued struct {
	database  int64   // which database it is about; 0 for one that was set aside
	committed numbers // the database has these, unless it has lost something
	highest   numbers // that anybody can have seen
	turn      int64   // the highest turn of all rooms that anybody can have seen
}

// Loss is what a database has lost of what it had committed.
type Loss struct {
	Changes int64 // transactions
	Events  stick.Lost
}

// Words says what is lost, as a part of a sentence.
func (l Loss) Words() stick.Words {
	what := "its last " + stick.Count(l.Changes, "change")
	switch {
	case l.Changes == 1:
		what = "its last change"
	case l.Changes == 0:
		return l.Events.Words()
	}
	if l.Events.To > 0 {
		what += ", with " + l.Events.Words()
	}

	return what
}

// Losses are what a database has lost, as far as it says.
type Losses struct {
	Open *Loss // the next command that writes begins a generation because of it; nil for nothing

	Last   Loss // the last one that was settled
	LastAt stick.Time

	// What a caller knew last that the database didn't, because it is an older copy: a turn, or an event.
	OlderTurn, OlderEvent int64
	OlderAt               stick.Time
}

// Losses returns what the database has lost.
func (db *DB) Losses(ctx context.Context) (l Losses, err error) {
	db.compareNext()
	err = db.View(ctx, func(tx *Tx) error {
		tx.ensureBegun()
		l = Losses{
			Open: db.dialect.unsettledLoss(), Last: tx.meta.lastLoss, LastAt: tx.meta.lostAt,
			OlderTurn: tx.meta.olderTurn, OlderEvent: tx.meta.olderEvent, OlderAt: tx.meta.olderAt,
		}

		return nil
	})

	return l, err
}

// settleLoss begins a generation if the database has lost something of what it had committed, and has a new
// one begin above what the one in its place had.
func (tx *Tx) settleLoss() error {
	settled, err := tx.db.dialect.settleLoss(tx.meta)
	if err != nil {
		return err
	}

	if settled.isNew {
		if err := tx.beginAbove(max(tx.meta.generation.Above, settled.above)); err != nil {
			return err
		}
	}

	loss := settled.lost
	if loss == nil {
		return nil
	}

	// Leases from before the loss end with their generation.
	tx.meta.lastLoss, tx.meta.lostAt = *loss, tx.Now()
	return errors.Join(
		tx.newGeneration(stick.Generation{Cause: stick.LossCause, Above: settled.turn}),
		tx.setMeta("lost_at", fmt.Sprint(int64(tx.Now()))),
		tx.setMeta("lost_changes", fmt.Sprint(loss.Changes)),
		tx.setMeta("lost_from", fmt.Sprint(loss.Events.From)),
		tx.setMeta("lost_to", fmt.Sprint(loss.Events.To)),
	)
}

// Settle does what the next transaction that writes does about a loss.
func (db *DB) Settle(ctx context.Context) error {
	return db.Update(ctx, func(*Tx) error { return nil })
}

func (db *DB) compareNext() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.dialect.compareNext()
}

// IssuedIn returns the last number of an event that was issued in a data directory, whatever has become of
// its database. It is 0 if that isn't known.
func IssuedIn(dir string) int64 {
	i, _ := readIssued(filepath.Join(dir, IssuedName))
	return i.committed.event
}

// Warning says to everybody what is lost, and what follows.
func (l Loss) Warning() stick.Words {
	return stick.Wordsf("the database has lost %s, because its files were damaged, removed or replaced. All turns and reservations end, and handoffs stay", l.Words())
}

// lossOf returns what a database has lost that has committed no more than these numbers. ok is false if that
// is nothing.
func (i issued) lossOf(have numbers) (l Loss, ok bool) {
	// The event number alone isn't enough: many commits have no event.
	if have.commit >= i.committed.commit && have.event >= i.committed.event {
		return l, false
	}

	l.Changes = max(0, i.committed.commit-have.commit)
	if have.event < i.committed.event {
		l.Events = stick.Lost{From: have.event + 1, To: i.committed.event}
	}

	return l, true
}

// issuedFields is how many numbers the file has, issuedWidth how wide each is, and issuedSize the size of the
// file.
const (
	issuedFields = 6
	issuedWidth  = 20
	issuedSize   = issuedFields*(issuedWidth+1) + 8 + 1
)

// bytes is what is written: the numbers, and a checksum. It always has the same size.
func (i issued) bytes() []byte {
	b := make([]byte, 0, issuedSize)
	fields := [issuedFields]int64{
		i.database, i.committed.commit, i.committed.event, i.highest.commit, i.highest.event, i.turn,
	}

	for _, n := range fields {
		b = fmt.Appendf(b, "%0*d ", issuedWidth, n)
	}

	return fmt.Appendf(b, "%08x\n", crc32.ChecksumIEEE(b))
}

// parseIssued reads what bytes has written. ok is false for anything else.
func parseIssued(b []byte) (i issued, ok bool) {
	if len(b) != issuedSize {
		return i, false
	}

	fields := bytes.Fields(b)
	if len(fields) != issuedFields+1 {
		return i, false
	}

	numbers := [issuedFields]*int64{
		&i.database, &i.committed.commit, &i.committed.event, &i.highest.commit, &i.highest.event, &i.turn,
	}

	for n, into := range numbers {
		v, err := strconv.ParseInt(string(fields[n]), 10, 64)
		if err != nil {
			return i, false
		}

		*into = v
	}

	// There is one way to write these numbers, so the checksum needs no code of its own.
	return i, bytes.Equal(i.bytes(), b)
}

// readIssued reads the file at path, as one that may be written meanwhile. ok is false if there is none, or
// it can't be read: then there is nothing to compare a database with.
func readIssued(path string) (i issued, ok bool) {
	b, err := plainfile.Read(path)
	if err != nil {
		return i, false
	}
	return parseIssued(b)
}

// issuedFile is the file, kept open by a process that writes. Its caller has the lock of writers.
type issuedFile struct {
	path string
	file *os.File // nil until it is first needed
}

func (f *issuedFile) ensureOpen(flags int) (err error) {
	if f.file == nil {
		f.file, err = plainfile.Open(f.path, os.O_RDWR|flags)
	}
	return err
}

// read reads the file. ok is false if there is none, or it is damaged.
func (f *issuedFile) read() (i issued, ok bool, err error) {
	if err := f.ensureOpen(0); errors.Is(err, fs.ErrNotExist) {
		return i, false, nil
	} else if err != nil {
		return i, false, err
	}

	b := make([]byte, issuedSize)

	// A shorter file says nothing.
	if _, err = f.file.ReadAt(b, 0); errors.Is(err, io.EOF) {
		return i, false, nil
	}

	i, ok = parseIssued(b)
	return i, ok, err
}

func (f *issuedFile) write(i issued) error {
	if err := f.ensureOpen(os.O_CREATE); err != nil {
		return err
	}
	_, err := f.file.WriteAt(i.bytes(), 0)
	return err
}

func (f *issuedFile) close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// requireUsable fails if there is such a file and it can't be used.
func (f *issuedFile) requireUsable() error {
	// It is opened anew, as a process that starts opens it.
	file, err := plainfile.Open(f.path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = file.Close()
	}

	return err
}

// Issued is the last number that the database has given out for an event, of any room.
func (tx *Tx) Issued() (int64, error) { return tx.db.dialect.lastDrawn() }

// IssueAbove has new events get numbers above one that somebody knows, and that the database hasn't given
// out. It leaves numbers that can be of no event.
func (tx *Tx) IssueAbove(event int64) error {
	issued, err := tx.Issued()
	if err != nil || event <= issued || event-issued > beyondAll {
		return err
	}

	return errors.Join(
		tx.db.dialect.skipNumbers(event-issued),
		tx.setMeta("older_at", fmt.Sprint(int64(tx.Now()))),
		tx.setMeta("older_event", fmt.Sprint(event)),
		tx.setMeta("older_turn", "0"),
	)
}

// HasGrant reports whether the log of a room has the grant of a turn with this sum of a lease, or that of any
// turn.
func (tx *Tx) HasGrant(room stick.RoomID, turn int64, sum string) (bool, error) {
	grants := []stick.EventType{stick.EventClaim, stick.EventTakeover}
	events, _, err := tx.Events(EventQuery{Room: room, Turn: turn, Types: grants, Limit: 1})
	if err != nil || len(events) > 0 && events[0].Lease() == sum {
		return err == nil, err
	}

	// Else the payload of another grant may have the sum.
	var seq int64
	return tx.queryOne(`SELECT event_seq FROM events
		WHERE room_id = ? AND event_type IN (?, ?) AND payload LIKE ? ORDER BY event_seq LIMIT 1`,
		[]any{room, grants[0], grants[1], `%"` + sum + `"%`}, &seq)
}

// BeginAfterCopy begins a generation because somebody has a grant of this turn that the database has lost: it
// is an older copy. Nobody knows how much newer the copy before it was, so numbers jump far.
func (tx *Tx) BeginAfterCopy(turn int64) error {
	var highest int64
	if _, err := tx.queryOne("SELECT COALESCE(MAX(turn_id), 0) FROM rooms", nil, &highest); err != nil {
		return err
	}

	above := max(turn, highest, tx.Generation().Above) + beyondAll
	return errors.Join(
		tx.newGeneration(stick.Generation{Cause: stick.RestoreCause, Above: above}),
		tx.db.dialect.skipNumbers(beyondAll),
		tx.setMeta("older_at", fmt.Sprint(int64(tx.Now()))),
		tx.setMeta("older_turn", fmt.Sprint(turn)),
		tx.setMeta("older_event", "0"),
	)
}
