package store

import (
	"context"
	"fmt"
	"path/filepath"

	"talkingstick/internal/store/sqlite"
	"talkingstick/stick"
)

// Contradiction is a room that isn't what its log says.
type Contradiction struct {
	Room  stick.RoomID
	Path  string
	Found []string // what the check says about it
	Whole bool     // the log is whole, so that the room can be rebuilt from it
}

// Contradictions lists the rooms that aren't what their logs say. It fails if they can't be read.
func (db *DB) Contradictions(ctx context.Context) (all []Contradiction, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		all = nil
		rooms, err := tx.Rooms(nil, "")
		for _, r := range rooms {
			if err != nil {
				break
			}

			c := Contradiction{Room: r.ID, Path: r.Path}
			if c.Found, err = tx.contradictionsOf(r.ID); err == nil && len(c.Found) > 0 {
				_, logErr := tx.replayWhole(r.ID)
				c.Whole = logErr == nil
				all = append(all, c)
			}
		}
		return err
	})

	return all, err
}

// contradictionsOf checks a room, and fails if it can't be read.
func (tx *Tx) contradictionsOf(room stick.RoomID) (found []string, err error) {
	_, err = tx.checkRoom(room, nil, func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) })
	return found, err
}

// replayWhole replays the log of a room, and fails where an event doesn't follow from those before it, and where the
// log has no events.
func (tx *Tx) replayWhole(room stick.RoomID) (l wholeLog, err error) {
	l.seen = map[stick.AgentID]stick.Time{}
	record, err := tx.beginReplay(room)
	if err != nil {
		return l, err
	}

	l.Record = record
	err = tx.eachEvent(room, func(e stick.Event) error {
		l.last, l.seen[e.From] = e.Seq, e.CreatedAt
		return l.Replay(e)
	})
	if err != nil {
		return l, err
	}

	if l.Events == 0 {
		return l, fmt.Errorf("the log of room %s is empty", room)
	}
	return l, nil
}

// wholeLog is what a log comes to.
type wholeLog struct {
	*stick.Record
	last int64                        // its last event
	seen map[stick.AgentID]stick.Time // when each agent did something last
}

// KeepCopy copies the database as it is into a new directory of the data directory, and returns that.
func (db *DB) KeepCopy(ctx context.Context) (aside string, err error) {
	if aside, err = newAside(db.opt.Dir, sqlite.ReplacedName); err != nil {
		return "", ErrBackupFile(db.opt.Dir, err)
	}

	err = db.View(ctx, func(tx *Tx) error {
		// The query begins the transaction.
		if _, err := tx.contents(); err != nil {
			return err
		}
		return db.dialect.(*sqlite.DB).CopyTo(ctx, filepath.Join(aside, FileName))
	})
	return aside, err
}

// Mend rebuilds a room from its log, and returns the agent whose turn ended by that: the log has only the sum of a
// lease. What the log doesn't say stays, such as when a message was shown and comments that weren't sent. It changes
// nothing and fails with [stick.CodeDatabaseCorrupt] if the log isn't whole, or the room can't be read.
func (db *DB) Mend(ctx context.Context, room stick.RoomID) (ended stick.AgentID, err error) {
	defer db.dialect.(*sqlite.DB).AllowRepair()()
	err = db.Update(ctx, func(tx *Tx) error {
		if err := tx.lockRoom(room); err != nil {
			return err
		}
		if err := tx.requireSoundFile(); err != nil {
			return err
		}
		r, err := tx.Room(room)
		if err != nil {
			return err
		}
		l, err := tx.replayWhole(room)
		if err != nil {
			return errUnmendable(r, err.Error())
		}

		// A new event mustn't get a number of this log.
		counter, err := tx.db.dialect.LastDrawn()
		if err == nil && counter < l.last {
			err = tx.db.dialect.SkipNumbers(l.last - counter)
		}
		if err != nil {
			return err
		}

		if err := tx.rebuildTables(room, *l.Record); err != nil {
			return err
		}
		if ended, err = tx.rebuildTurn(r, l); err != nil {
			return err
		}

		found, err := tx.contradictionsOf(room)
		if err == nil && len(found) > 0 {
			err = errUnmendable(r, found[0])
		}
		tx.Ring(room)
		return err
	})

	return ended, err
}

// requireSoundFile refuses a database whose file is damaged. What its tables say can be mended, though a command may
// have found that damaged.
func (tx *Tx) requireSoundFile() error {
	file := tx.db.dialect.(*sqlite.DB)
	if file.ReadMark() == "" {
		return nil
	}

	damage := ""
	err := file.CheckFile(func(what string) { damage = what })
	if err != nil || damage == "" {
		return err
	}
	return stick.Errorf(stick.CodeDatabaseCorrupt, "%s", stick.Words(damage)).
		Hintf("restore a backup: %s", stick.Cmd("tt restore"))
}

// errUnmendable is the error for a room that can't be rebuilt.
func errUnmendable(r stick.Room, why string) error {
	return stick.Errorf(stick.CodeDatabaseCorrupt, "the room of %s can't be rebuilt from its log: %s", r.Path,
		stick.Words(why)).Hintf("restore a backup: %s", stick.Cmd("tt restore"))
}

// rebuildTurn stores the room and its members as their log has them, with what the log doesn't say. A turn whose lease
// isn't the one of the log ends, because nobody could go on with it.
func (tx *Tx) rebuildTurn(was stick.Room, l wholeLog) (ended stick.AgentID, err error) {
	r := was
	r.Policy.NextTurn = stick.Limits{}
	if r, err = l.Rebuild(r); err != nil {
		return "", errUnmendable(was, err.Error())
	}

	isHeld := r.Turn.State == stick.Owned
	hasLease := isHeld && was.Turn.Lease != "" && stick.LeaseSum(was.Turn.Lease) == l.LeaseSum
	if !hasLease {
		r.Turn.Lease = ""
	}
	if isHeld && !hasLease {
		ended = r.Turn.Owner
		r.Generation = tx.Generation().Number - 1
	}

	if err := tx.rebuildMembers(was, r, l.seen); err != nil {
		return "", err
	}
	if err := tx.saveTurn(r); err != nil {
		return "", err
	}
	err = tx.exec("UPDATE rooms SET last_event_seq = ?, last_sum = ? WHERE room_id = ?", l.last, l.Sum, r.ID)
	if err == nil && l.Path != "" && r.Key == "" {
		err = tx.exec("UPDATE rooms SET canonical_path = ? WHERE room_id = ?", l.Path, r.ID)
	}
	if err != nil || ended == "" {
		return ended, err
	}

	return ended, tx.endWithoutLease(r.ID)
}

// rebuildMembers stores the members that a log has. r has them with nothing but what the log says.
func (tx *Tx) rebuildMembers(was, r stick.Room, seen map[stick.AgentID]stick.Time) error {
	for _, m := range was.Members {
		if _, ok := r.Member(m.Agent); ok {
			continue
		}
		if err := tx.exec("DELETE FROM members WHERE room_id = ? AND agent_id = ?", r.ID, m.Agent); err != nil {
			return err
		}
	}

	for _, logged := range r.Members {
		before, known := was.Member(logged.Agent)
		m := before
		if !known {
			m = logged
			m.JoinedAt, m.LastSeenAt = seen[m.Agent], seen[m.Agent]
		}

		m.Name, m.State, m.Ordinal = logged.Name, logged.State, logged.Ordinal
		m.JoinSeq, m.HeldSeq, m.Session = logged.JoinSeq, logged.HeldSeq, logged.Session
		if err := tx.saveMember(r.ID, before, m, known); err != nil {
			return err
		}
	}

	return nil
}

// endWithoutLease ends the turn and the reservations of a room, whose generation is an earlier one.
func (tx *Tx) endWithoutLease(room stick.RoomID) error {
	before, err := tx.Room(room)
	if err != nil {
		return err
	}

	g := tx.Generation()
	g.Cause = stick.RestoreCause
	probed := &stick.Probed{
		Processes: map[stick.Process]stick.Verdict{}, Listeners: map[stick.ListenerID]stick.Verdict{},
	}
	after, events := before.Restore(g, probed, tx.Now())
	_, _, err = tx.Save(before, after, events)
	return err
}
