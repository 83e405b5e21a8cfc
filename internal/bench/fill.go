//go:build linux

package main

import (
	"context"
	"fmt"
	"strconv"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// A log as real rooms have it: turns, and in each turn messages that their recipients read and acknowledge.
// The rules make it and the store saves it, so that the doctor finds nothing wrong.
const (
	messagesPerTurn = 10

	// A turn has a claim, the messages, their reads and acknowledgements, and a release.
	turnEvents = 2 + 3*messagesPerTurn

	// Three members join a room that isn't measured, and then it has three turns.
	roomEvents = 3 + 3*turnEvents

	// openMessages is how many messages the asking agent hasn't answered.
	openMessages = 20

	// roomsPerUpdate is how many rooms one transaction fills.
	roomsPerUpdate = 100
)

// fillResult is the result of fillDatabase.
type fillResult struct {
	faults []string // faults, from a check of the database
	cursor int64    // of the event that has twenty later ones in the measured room
}

// fillDatabase adds events to a database with one room: asked of them to that room, in which me is a member,
// and the rest to other rooms. The room's own are spread among the others. A tenth of its messages are for
// me, or more if needed, so that twenty stay unanswered.
func fillDatabase(dir string, me stick.AgentID, events, asked int, check bool) (fillResult, error) {
	var out fillResult

	// Ascending ids make storing fast.
	ids := 0
	newID := func() string {
		ids++
		return fmt.Sprintf("%016x%016x", ids, ids)
	}

	db, err := store.Open(context.Background(), store.Options{Dir: dir, NewID: newID}, false)
	if err != nil {
		return out, err
	}
	defer db.Close()

	room, err := readOnlyRoom(db, me)
	if err != nil {
		return out, err
	}

	planned := planMeasuredRoom(me, asked)
	otherEvents, done, written := events-asked, 0, 0

	// writeShare writes the measured room's events one at a time, each at its place among those of the
	// others.
	writeShare := func(tx *store.Tx) error {
		for written < asked*done/otherEvents {
			if err := room.writeEvent(tx, planned[written]); err != nil {
				return err
			}
			if err := room.saveEvents(tx); err != nil {
				return err
			}
			written++
		}
		return nil
	}

	for done < otherEvents {
		err := db.Update(context.Background(), func(tx *store.Tx) error {
			for range roomsPerUpdate {
				if done >= otherEvents {
					break
				}

				k, size := done/roomEvents, min(roomEvents, otherEvents-done)
				err := writeOtherRoom(tx, k, size, func() error {
					done++
					return writeShare(tx)
				})
				if err != nil {
					return err
				}
			}

			return tx.AdvanceCursor(room.room.ID, me, "wait", room.lastSeq())
		})
		if err != nil {
			return out, err
		}
	}

	out.cursor = room.seqs[max(0, len(room.seqs)-21)]
	if check {
		out.faults, err = db.Check(context.Background())
	}
	return out, err
}

// readOnlyRoom returns a writer for the one room that a database has, with messages for me.
func readOnlyRoom(db *store.DB, me stick.AgentID) (*roomWriter, error) {
	var room *roomWriter
	err := db.View(context.Background(), func(tx *store.Tx) error {
		rooms, err := tx.Rooms(nil, "")
		if err != nil {
			return err
		}
		if len(rooms) != 1 {
			return fmt.Errorf("%d rooms instead of one", len(rooms))
		}

		r, err := tx.Room(rooms[0].ID)
		room = &roomWriter{before: r, room: r, mine: me}
		return err
	})
	return room, err
}

// writeOtherRoom makes the k-th room that isn't measured, with so many events. It calls then after each of
// them.
func writeOtherRoom(tx *store.Tx, k, events int, then func() error) error {
	r, err := tx.NewRoom("/elsewhere/"+strconv.Itoa(k), "")
	if err != nil {
		return err
	}

	other := &roomWriter{before: r, room: r}
	for _, a := range planOtherRoom(k, events) {
		if err := other.writeEvent(tx, a); err != nil {
			return err
		}
		if err := then(); err != nil {
			return err
		}
	}

	return other.saveEvents(tx)
}

// plannedEvent is one event of a planned log.
type plannedEvent struct {
	typ      stick.EventType
	by, to   stick.AgentID
	message  int  // which message is read or acknowledged
	mustSave bool // save here: the next events need the numbers of the earlier ones
}

// planOtherRoom plans the log of a room that isn't measured.
func planOtherRoom(k, n int) []plannedEvent {
	members := make([]stick.AgentID, 3)
	for i := range members {
		members[i] = stick.AgentID(fmt.Sprintf("other:%d-%d", k, i))
	}

	w := planner{members: members}
	for _, m := range members {
		w.addEvent(plannedEvent{typ: stick.EventJoin, by: m})
	}

	for len(w.events)+turnEvents <= n {
		w.planTurn(func() stick.AgentID { return "" }, func() bool { return false })
	}

	return w.padTo(n)
}

// planMeasuredRoom plans the log of the measured room.
func planMeasuredRoom(me stick.AgentID, n int) []plannedEvent {
	w := planner{members: []stick.AgentID{me}}
	for i := range 9 {
		m := stick.AgentID("bench:peer" + strconv.Itoa(i))
		w.members = append(w.members, m)
		w.addEvent(plannedEvent{typ: stick.EventJoin, by: m})
	}

	messages := (n - len(w.events)) / turnEvents * messagesPerTurn
	mine := max(messages/10, openMessages+2)

	// Both are spread evenly: i·share/total goes up by one whenever the i-th is one of them.
	sent, got := 0, 0

	for len(w.events)+turnEvents <= n {
		w.planTurn(func() stick.AgentID {
			sent++
			if sent*mine/messages > (sent-1)*mine/messages {
				return me
			}
			return ""
		}, func() bool {
			got++
			return got*openMessages/mine > (got-1)*openMessages/mine
		})
	}

	return w.padTo(n)
}

// planner plans a log.
type planner struct {
	members []stick.AgentID
	events  []plannedEvent
	turns   int
	sent    int
}

func (w *planner) addEvent(a plannedEvent) { w.events = append(w.events, a) }

func (w *planner) memberAt(i int) stick.AgentID { return w.members[i%len(w.members)] }

// planTurn plans a turn. forWhom names the recipient of the next message, or leaves the choice to the
// planner. stays reports whether a message for a named recipient stays unanswered.
func (w *planner) planTurn(forWhom func() stick.AgentID, stays func() bool) {
	owner := w.memberAt(w.turns)
	w.turns++
	w.addEvent(plannedEvent{typ: stick.EventClaim, by: owner})

	type reply struct {
		message int
		by      stick.AgentID
	}
	var answered []reply

	for range messagesPerTurn {
		to := forWhom()
		named := to != ""
		if !named {
			// The first member gets only what is named for it.
			to = w.memberAt(1 + w.sent%(len(w.members)-1))
		}

		from := w.memberAt(w.sent)
		for i := 1; from == to; i++ {
			from = w.memberAt(w.sent + i)
		}

		w.addEvent(plannedEvent{typ: stick.EventMessageSent, by: from, to: to})
		if !named || !stays() {
			answered = append(answered, reply{w.sent, to})
		}
		w.sent++
	}

	// The reads and acknowledgements need the numbers of the messages.
	w.events[len(w.events)-1].mustSave = true

	for _, r := range answered {
		w.addEvent(plannedEvent{typ: stick.EventMessageRead, by: r.by, message: r.message})
		w.addEvent(plannedEvent{typ: stick.EventMessageAcked, by: r.by, message: r.message})
	}

	// A message that stays open lacks a read and an acknowledgement: notes take their places.
	for range messagesPerTurn - len(answered) {
		w.planNote(owner)
		w.planNote(owner)
	}

	w.addEvent(plannedEvent{typ: stick.EventRelease, by: owner, mustSave: true})
}

// planNote plans a message for nobody, which fills the log up to its size.
func (w *planner) planNote(by stick.AgentID) {
	w.addEvent(plannedEvent{typ: stick.EventMessageSent, by: by, to: stick.ToSystem})
}

// padTo returns the log with exactly n events.
func (w *planner) padTo(n int) []plannedEvent {
	for len(w.events) < n {
		w.planNote(w.members[0])
	}
	return w.events[:n]
}

// roomWriter carries out a plan in a room, with the rules. It saves when a plan asks for it.
type roomWriter struct {
	before, room stick.Room
	unsaved      []stick.Event
	sent         []stick.Event // the messages with a recipient
	seqs         []int64       // the numbers of all events
	turns        int
	mine         stick.AgentID // whose messages count as shown; empty for nobody's
}

// nothingProbed returns what the rules need to have probed: nobody listens, and nobody is known to be gone.
func nothingProbed() *stick.Probed {
	return &stick.Probed{
		Processes: map[stick.Process]stick.Verdict{},
		Listeners: map[stick.ListenerID]stick.Verdict{},
	}
}

func (s *roomWriter) writeEvent(tx *store.Tx, a plannedEvent) error {
	now, r := tx.Now(), s.room
	var events []stick.Event
	var err error

	lease := func() stick.LeaseID { return stick.LeaseID(fmt.Sprintf("lease-%d", s.turns)) }

	switch a.typ {
	case stick.EventJoin:
		r, events, _, err = r.Join(a.by, "", false, now)
	case stick.EventClaim:
		s.turns++
		r, events, _ = r.Claim(a.by, lease(), nothingProbed(), now)
	case stick.EventRelease:
		r, events, err = r.Release(a.by, stick.Fence{Turn: r.Turn.ID, Lease: lease()}, stick.Handoff{
			Status: "the parser reads numbers with exponents, and its tests pass; " +
				"strings with escapes are half done",
			NextAction: "finish scanString in parse.go, and see what the fuzzer says to it",
		}, nothingProbed(), now)
	case stick.EventMessageSent:
		m := stick.Message{
			To: []stick.AgentID{a.to}, Category: stick.Info, RequiresAck: a.to != stick.ToSystem,
			Body: "The scanner keeps its state in scan.go now; " +
				"what you call from the parser has a new argument, the position.",
		}
		r, events, err = talk.Send(r, talk.Sending{By: a.by, Message: m}, nothingProbed(), now)
	default:
		return s.answerMessage(tx, a)
	}

	if err == nil && len(events) != 1 {
		err = fmt.Errorf("%d events instead of one", len(events))
	}
	if err != nil {
		return fmt.Errorf("%s by %s: %w", a.typ, a.by, err)
	}

	s.room, s.unsaved = r, append(s.unsaved, events...)
	if a.mustSave {
		return s.saveEvents(tx)
	}
	return nil
}

// answerMessage reads or acknowledges a message.
func (s *roomWriter) answerMessage(tx *store.Tx, a plannedEvent) error {
	m := s.sent[a.message]
	c, ok, err := tx.Receipt(s.room.ID, a.by, m.Seq)
	if err == nil && !ok {
		err = fmt.Errorf("message %d isn't for %s", m.Seq, a.by)
	}
	if err != nil {
		return err
	}

	var events []stick.Event
	if a.typ == stick.EventMessageRead {
		c, events = talk.Read(s.room, a.by, m, c, tx.Now())
	} else if c, events, err = talk.Ack(s.room, a.by, m, c, tx.Now()); err != nil {
		return err
	}

	s.unsaved = append(s.unsaved, events...)
	return tx.PutReceipt(s.room.ID, c)
}

// saveEvents saves the unsaved events.
func (s *roomWriter) saveEvents(tx *store.Tx) error {
	if len(s.unsaved) == 0 {
		return nil
	}

	r, events, err := tx.Save(s.before, s.room, s.unsaved)
	if err != nil {
		return err
	}

	s.before, s.room, s.unsaved = r, r, nil
	for _, e := range events {
		s.seqs = append(s.seqs, e.Seq)
		if e.Type != stick.EventMessageSent || e.Message().To[0] == stick.ToSystem {
			continue
		}

		s.sent = append(s.sent, e)
		if e.To == s.mine {
			if err := tx.MarkShown(r.ID, s.mine, e.Seq); err != nil {
				return err
			}
		}
	}

	return nil
}

// lastSeq returns the number of the newest event.
func (s *roomWriter) lastSeq() int64 {
	if len(s.seqs) == 0 {
		return 0
	}

	return s.seqs[len(s.seqs)-1]
}
