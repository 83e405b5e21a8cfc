package upkeep

import (
	"context"
	"os"
	"path/filepath"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// planSalvage finds what can be read of a database that logs alone can't mend. db is nil where it can't be opened.
func (u *Upkeep) planSalvage(ctx context.Context, db *store.DB, found stick.Words) []Repair {
	s, err := u.readSalvage(ctx, db)
	if err != nil || s.Events() == 0 {
		return nil
	}

	how := stick.Wordsf("save %s into a new database, and keep the damaged one", salvageText(s))
	if lost := lostText(s); lost != "" {
		how += stick.Wordsf("; this is lost: %s; a backup may have it (%s)", lost, stick.Cmd("tt restore"))
	}

	return []Repair{{
		Check: checkOfDatabase, What: found, How: how,
		do: func(ctx context.Context) (stick.Words, error) { return u.saveSalvage(ctx, db, s) },
	}}
}

func (u *Upkeep) readSalvage(ctx context.Context, db *store.DB) (store.Salvage, error) {
	if db == nil {
		return store.ReadBroken(ctx, u.core.StoreOptions())
	}
	return db.ReadSalvage(ctx)
}

// saveSalvage puts a new database with what can be read in the place of the damaged one. If it is killed, either of
// them is in its place, as with [Upkeep.RestoreDB].
func (u *Upkeep) saveSalvage(ctx context.Context, db *store.DB, s store.Salvage) (_ stick.Words, err error) {
	// Others may have written since the person was asked.
	if db != nil {
		if err := db.StopWriters(ctx, "tt doctor --fix saves what can be read"); err != nil {
			return "", err
		}
		if s, err = db.ReadSalvage(ctx); err != nil {
			return "", err
		}
	}

	file, err := u.newBackupName()
	if err != nil {
		return "", err
	}
	if s, err = store.WriteSalvage(ctx, u.core.StoreOptions(), s, file); err != nil {
		return "", err
	}

	done, err := store.Restore(ctx, u.core.StoreOptions(), store.RestoreRequest{
		File: file, DB: db, OpenErr: errDamaged, Close: u.core.Close,
		Confirm: func(store.RestorePlan) error { return nil },
	})
	if err != nil {
		return "", err
	}

	// It is in its place, and isn't a backup that anybody asked for.
	_ = os.Remove(file)

	text := stick.Wordsf("the new database has %s; the damaged one is in %s", salvageText(s), done.Aside)
	if lost := lostText(s); lost != "" {
		text += stick.Wordsf("; this is lost: %s", lost)
	}
	return text, nil
}

// errDamaged says why a database isn't open that is replaced.
var errDamaged = stick.Errorf(stick.CodeDatabaseCorrupt, "the database is damaged").
	Hintf("see what to do: %s", stick.Cmd("tt doctor"))

// salvageText counts what is saved.
func salvageText(s store.Salvage) stick.Words {
	rooms := 0
	for _, r := range s.Rooms {
		if r.Events > 0 {
			rooms++
		}
	}
	return stick.Wordsf("%s with %s", stick.Count(rooms, "room"), stick.Count(s.Events(), "event"))
}

// lostText says which events are lost, by their numbers.
func lostText(s store.Salvage) stick.Words {
	var lost []stick.Words
	for _, r := range s.Rooms {
		if r.Lost > 0 {
			lost = append(lost, stick.Wordsf("of %s, what came after event %d, up to event %d",
				filepath.Clean(r.Path), r.LastEvent, r.Lost))
		}
	}

	for _, n := range s.Unread {
		lost = append(lost, stick.Wordsf("events from %d to %d, as far as there were any", n.From, n.To))
	}
	return stick.JoinWords(lost, "; ")
}
