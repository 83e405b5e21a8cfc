package upkeep

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// roomFormat is what the first line of an exported room begins with, and its version.
const (
	roomFormat        = "talking-stick-room"
	roomFormatVersion = 2
)

// ExportedRoom is the first line of an exported room.
type ExportedRoom struct {
	Format    string       `json:"format"`  // always talking-stick-room
	Version   int          `json:"version"` // of the format: 1, or 2 with a checkpoint. Fields may be added to it
	RoomID    stick.RoomID `json:"room_id"`
	Path      string       `json:"canonical_path"` // the workspace
	CreatedAt stick.Time   `json:"created_at"`
	Events    int64        `json:"events"`         // how many lines follow, an event each
	LastEvent int64        `json:"last_event_seq"` // the number of the last one
	LastSum   string       `json:"last_sum"`       // its sum

	Checkpoint *ExportedCheckpoint `json:"checkpoint,omitempty"` // absent if no events were removed with tt prune
}

// ExportedCheckpoint is what the removed events of an exported room came to.
type ExportedCheckpoint struct {
	Seq      int64           `json:"event_seq"` // the event that has the sum of the state
	PrunedTo int64           `json:"pruned_to"` // events up to this one were removed, except for those that follow
	Turn     int64           `json:"turn_id"`   // the turn then
	State    json.RawMessage `json:"state"`     // what the events up to there came to, as tt keeps it
}

// ExportedEvent is a further line of an exported room: an event, as tt events prints it, and its sum.
type ExportedEvent struct {
	stick.Event
	Sum string `json:"sum"` // over the event and the sum of the one before it
}

// ExportRoomParams asks for the whole log of a room.
type ExportRoomParams struct {
	Caller core.Caller `json:"-"`
	core.Where

	Write func(line any) error `json:"-"` // is called with an [ExportedRoom], and then with each [ExportedEvent]
}

// ExportRoom writes the whole log of a room, the oldest event first. Events that come while it writes are left
// out. It fails with [stick.CodeNoRoom].
func (u *Upkeep) ExportRoom(ctx context.Context, p ExportRoomParams) (ExportedRoom, error) {
	var h store.History
	err := u.core.ReadRoom(ctx, p.Where, p.Caller, func(tx *store.Tx, _ *core.Probes, r stick.Room) (err error) {
		h, err = tx.HistoryOf(r.ID)
		return err
	})

	head := ExportedRoom{
		Format: roomFormat, Version: 1, RoomID: h.Room, Path: h.Path, CreatedAt: h.CreatedAt,
		Events: h.Events, LastEvent: h.LastEvent, LastSum: h.LastSum,
	}
	if h.Checkpoint != nil {
		head.Version, head.Checkpoint = roomFormatVersion, new(ExportedCheckpoint(*h.Checkpoint))
	}
	if err == nil {
		err = p.Write(head)
	}

	// Whoever reads the lines may be slow, so no transaction is open while they are written.
	for after := int64(0); err == nil && after < h.LastEvent; {
		var events []stick.Event
		err = u.core.ReadRoom(ctx, p.Where, p.Caller, func(tx *store.Tx, _ *core.Probes, r stick.Room) (err error) {
			if err := requireUncut(tx, h); err != nil {
				return err
			}
			events, _, err = tx.Events(
				store.EventQuery{Room: h.Room, After: after, Before: h.LastEvent + 1, Limit: 500},
			)
			return err
		})
		for _, e := range events {
			if after = e.Seq; err == nil {
				err = p.Write(ExportedEvent{e, e.Sum})
			}
		}
		if len(events) == 0 {
			break
		}
	}

	return head, err
}

// requireUncut fails if old events of a room were removed since its export began.
func requireUncut(tx *store.Tx, h store.History) error {
	was := int64(0)
	if h.Checkpoint != nil {
		was = h.Checkpoint.Seq
	}

	p, _, err := tx.Checkpoint(h.Room)
	if err == nil && p.Seq != was {
		err = stick.Errorf(stick.CodeDatabaseBusy, "tt prune removed old events of the room while it was exported").
			Hintf("export it again: %s", stick.Cmd("tt export"))
	}
	return err
}

// ImportRoomParams asks to make a room by its exported log.
type ImportRoomParams struct {
	Caller core.Caller `json:"-"`
	From   io.Reader   `json:"-"`
}

// ImportRoomResult is the room that was made.
type ImportRoomResult struct {
	RoomID    stick.RoomID `json:"room_id"`
	Path      string       `json:"canonical_path"`
	Events    int64        `json:"events"`
	LastEvent int64        `json:"last_event_seq"`
}

// ImportRoom makes a room by the lines of [Upkeep.ExportRoom], as a person. It checks the sums, and that the
// room is what its log says. A turn that is held in it, and reservations, end. It fails with
// [stick.CodePersonOnly], with [stick.CodeAlreadyExists] where the room is, or its numbers are in use, and
// with [stick.CodeUsage] if the lines aren't a whole log.
func (u *Upkeep) ImportRoom(ctx context.Context, p ImportRoomParams) (res ImportRoomResult, err error) {
	switch {
	case !p.Caller.ActsAsPerson():
		return res, stick.Errorf(stick.CodePersonOnly,
			"only a person may import a room, because its log says who has approved what").
			Hintf("ask a person to run it")
	case u.core.Config.Database != "":
		return res, stick.Errorf(stick.CodeUsage,
			"the rooms are in a database on a server, where rooms are found by their repositories, and tt imports into its own file").
			Hintf("import it into a data directory of its own, and move that to a server of its own: %s",
				stick.Cmd("tt migrate-db"))
	}

	// A line may be as long as a handoff or a message with its quotes.
	lines := json.NewDecoder(bufio.NewReader(p.From))
	var head ExportedRoom
	if err := lines.Decode(&head); err != nil || head.Format != roomFormat {
		return res, errNoExport("the file doesn't begin as an exported room does")
	}
	if head.Version < 1 || head.Version > roomFormatVersion {
		return res, stick.Errorf(stick.CodeSchemaTooNew,
			"the file has version %d of the format, and this tt knows those up to %d", head.Version, roomFormatVersion).
			Hintf("get a newer tt first: %s", stick.Cmd("tt self-update"))
	}
	if head.RoomID == "" || !filepath.IsAbs(head.Path) {
		return res, errNoExport("its first line names no room")
	}

	db, err := u.core.Open(ctx, true)
	if err != nil {
		return res, err
	}

	// The transaction may run twice, and the lines come once.
	var events []stick.Event
	for {
		var line ExportedEvent
		err := lines.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return res, errNoExport("it ends within an event, or has something else than events")
		}

		line.Event.Sum, line.Event.Payload = line.Sum, storedPayload(line.Event.Payload)
		events = append(events, line.Event)
	}

	err = db.Update(ctx, func(tx *store.Tx) error {
		h := store.History{
			Room: head.RoomID, Path: head.Path, CreatedAt: head.CreatedAt,
			Events: head.Events, LastEvent: head.LastEvent, LastSum: head.LastSum,
		}

		if p := head.Checkpoint; p != nil {
			h.Checkpoint = new(stick.Checkpoint(*p))
			h.Checkpoint.State = storedPayload(p.State)
		}

		n := 0
		return tx.ImportRoom(ctx, h, func() (e stick.Event, more bool, err error) {
			if n == len(events) {
				return e, false, nil
			}
			n++
			return events[n-1], true, nil
		})
	})

	return ImportRoomResult{RoomID: head.RoomID, Path: head.Path, Events: head.Events, LastEvent: head.LastEvent}, err
}

// storedPayload is a payload as the log has it, whose sum is over its bytes. An answer of tt has characters
// escaped that a terminal could act on, and the log doesn't: it escapes only those that are listed here.
func storedPayload(answer json.RawMessage) json.RawMessage {
	stored := make([]byte, 0, len(answer))
	for i := 0; i < len(answer); {
		if answer[i] != '\\' {
			stored = append(stored, answer[i])
			i++
			continue
		}

		r, size := escapedRune(answer[i:])
		switch r {
		case utf8.RuneError, '\u2028', '\u2029', 0:
			stored = append(stored, answer[i:i+size]...)
		default:
			stored = utf8.AppendRune(stored, r)
		}
		i += size
	}

	if len(stored) == 0 {
		return nil
	}
	return stored
}

// escapedRune reads the escape that JSON begins with. r is 0 for one that the log has, too.
func escapedRune(json []byte) (r rune, size int) {
	unit := func(at int) (rune, bool) {
		if len(json) < at+6 || json[at] != '\\' || json[at+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(json[at+2:at+6]), 16, 16)
		return rune(n), err == nil
	}

	first, ok := unit(0)
	switch {
	case !ok:
		return 0, min(2, len(json))
	case first < unicode.MaxASCII:
		return 0, 6
	case !utf16.IsSurrogate(first):
		return first, 6
	}

	second, _ := unit(6)
	if r = utf16.DecodeRune(first, second); r == utf8.RuneError {
		return 0, 6
	}
	return r, 12
}

// errNoExport is the error for what isn't an exported room.
func errNoExport(why stick.Words) *stick.Error {
	return stick.Errorf(stick.CodeUsage, "this isn't an exported room: %s", why).
		Hintf("write one on the other machine, into a file: %s; nothing was changed", stick.Cmd("tt export"))
}
