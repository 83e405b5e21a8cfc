package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// checkDatabase looks for damage, and compares every room with its log, which takes seconds where logs are long.
// shows says how far it is; it may be nil.
func (u *Upkeep) checkDatabase(ctx context.Context, shows func(Checking)) core.Finding {
	db, err := u.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return core.Finding{Status: core.FindingOK, Detail: "there is no database yet; the first tt join makes it"}
	}
	if err != nil {
		return damageFinding(err)
	}

	var replays func(replayed, all int64)
	if shows != nil {
		replays = func(replayed, all int64) {
			shows(Checking{Check: checkOfDatabase, Events: replayed, All: all})
		}
	}

	found, err := db.CheckShowing(ctx, replays)
	if err != nil {
		return damageFinding(err)
	}

	if len(found) > 0 {
		advice := u.repairAdvice()
		if u.isMendable(ctx, db, found) {
			advice = stick.Wordsf("a person runs %s, which rebuilds the room from its log", stick.Cmd("tt doctor --fix"))
		}

		var all []core.Problem
		for _, what := range found {
			all = append(all, core.Problem{Detail: stick.Words(what), Fix: advice})
		}

		return core.FindingOf(core.FindingFault, all)
	}

	return core.Finding{Status: core.FindingOK, Detail: "the database is sound, and every room agrees with its log"}
}

// lossShownFor is how long the doctor shows a loss that was settled.
const lossShownFor = 7 * 24 * time.Hour

// checkLosses says what the database has lost of what it had committed.
func (u *Upkeep) checkLosses(ctx context.Context) core.Finding {
	db, err := u.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return u.checkRemoved()
	}

	var l store.Losses
	if err == nil {
		l, err = db.Losses(ctx)
	}

	switch now := stick.At(u.core.Now()); {
	case err != nil:
		return core.Finding{Status: core.FindingWarning, Detail: "not looked for, because the database can't be read"}
	case l.Open != nil:
		return core.Finding{
			Status: core.FindingFault, Detail: l.Open.Warning(),
			Fix: "if you have the right files, put them back now; else go on: from the next command that writes, " +
				"new turns and events get numbers higher than any used before",
		}
	case !l.LastAt.IsZero() && now.Sub(l.LastAt) < lossShownFor:
		return core.Finding{
			Status: core.FindingWarning,
			Detail: stick.Wordsf("%s the database had lost %s; all turns and reservations ended then",
				stick.Ago(now.Sub(l.LastAt)), l.Last.Words()),
			Fix: "say again what those changes said; nothing else has to be done",
		}
	}

	if now := stick.At(u.core.Now()); !l.OlderAt.IsZero() && now.Sub(l.OlderAt) < lossShownFor {
		return olderCopy(l, now)
	}

	return core.Finding{Status: core.FindingOK, Detail: "the database has everything that was committed"}
}

// olderCopy is the finding of a database that didn't know what a caller knew.
func olderCopy(l store.Losses, now stick.Time) core.Finding {
	f := core.Finding{
		Status: core.FindingWarning,
		Detail: stick.Wordsf("%s a command named event %d, which the database hasn't given out: "+
			"it is an older copy, or the number was wrong", stick.Ago(now.Sub(l.OlderAt)), l.OlderEvent),
		Fix: "nothing has to be done: new events get numbers above it",
	}

	if l.OlderTurn > 0 {
		f.Detail = stick.Wordsf("%s somebody had turn %d, which the database has granted and no longer knew: "+
			"it is an older copy; all turns and reservations ended then",
			stick.Ago(now.Sub(l.OlderAt)), l.OlderTurn)
		f.Fix = "say again what was lost; nothing else has to be done, and new turns and events get numbers far above"
	}

	return f
}

// checkRemoved says whether there was a database where there is none.
func (u *Upkeep) checkRemoved() core.Finding {
	n := store.LastIssued(u.core.Config.Dir)
	if u.core.Config.Database != "" || n == 0 {
		return core.Finding{Status: core.FindingOK, Detail: "there is nothing yet that could be lost"}
	}

	return core.Finding{
		Status: core.FindingFault,
		Detail: stick.Wordsf("the database is gone, which has given out the numbers of events up to %d", n),
		Fix:    "put it back; or go on: the next tt join makes a new one, which goes on above these numbers",
	}
}

// setAsideAdvice says what to do about a damaged file.
const setAsideAdvice = "a person runs tt doctor --fix, which saves what can be read into a new database and says " +
	"what is lost. Where it finds nothing to save, commands that only read show what can still be read. " +
	"To go on, a person runs tt doctor --set-aside, which keeps the damaged files and " +
	"starts a new database: turns, messages, notes and tasks begin anew, and your files and branches stay as they are"

// repairAdvice is what to do about a database whose check has found something.
func (u *Upkeep) repairAdvice() stick.Words {
	if u.core.Config.Database != "" {
		return "ask whoever runs the server to restore the database, or start in another schema: " +
			"?search_path=<name> at the end of its address"
	}

	return "keep a copy of the data directory and report this; " + setAsideAdvice
}

// damageFinding is the finding of a database that can't be read.
func damageFinding(err error) core.Finding {
	f := core.Fault(err)
	switch e := stick.AsError(err); {
	case e.Code == stick.CodeForeignDatabase:
		f.Fix = "a person moves it aside and starts a new one: tt doctor --adopt"
	case !store.IsDamage(err):
	case e.Code == stick.CodeDatabaseCorrupt && e.Fields["path"] != nil:
		// The error says which file is missing.
		f.Fix = "put back the files that belong together. To give them up, a person runs tt doctor --set-aside, " +
			"which keeps what is there and starts a new database"
	default:
		f.Fix = setAsideAdvice
	}

	return f
}

// setDatabaseAside moves a damaged database aside, and makes a new one. Whatever the doctor calls faulty
// about a database is damage.
func (u *Upkeep) setDatabaseAside(ctx context.Context) (core.Finding, error) {
	if u.core.Config.Database != "" {
		return core.Finding{}, stick.Errorf(stick.CodeUsage,
			"the rooms are in a database on a server, and tt can move only its own file aside").
			Hintf("ask whoever runs the server to restore the database, or start in another schema: " +
				"?search_path=<name> at the end of its address")
	}

	db, err := u.core.Open(ctx, false)
	isFaulty := err != store.ErrAbsent && store.IsDamage(err)
	if err == nil {
		isFaulty, err = u.isFaulty(ctx, db)
	}

	switch {
	case isFaulty:
	case err == nil || err == store.ErrAbsent:
		return core.Finding{}, stick.Errorf(stick.CodeUsage, "there is no damaged database to move aside").
			Hintf("see what the doctor finds: %s", stick.Cmd("tt doctor"))
	default:
		return core.Finding{}, err
	}

	aside, err := store.SetAside(ctx, u.core.Config.Dir, db)
	if err != nil {
		return core.Finding{}, err
	}
	if _, err := u.core.Open(ctx, true); err != nil {
		return core.Finding{}, err
	}

	return core.Finding{
		Check: "set aside", Status: core.FindingOK,
		Detail: stick.Wordsf("the damaged database is now in %s; "+
			"with TALKING_STICK_DATA_DIR=%s, tt shows what can still be read of it", aside, aside),
	}, nil
}

// isFaulty reports whether the doctor finds a fault in a database that can be opened.
func (u *Upkeep) isFaulty(ctx context.Context, db *store.DB) (bool, error) {
	found, err := db.Check(ctx)
	if err != nil || len(found) > 0 {
		return store.IsDamage(err) || len(found) > 0, err
	}

	losses, err := db.Losses(ctx)
	return losses.Open != nil || store.IsDamage(err), err
}

// adoptDatabase moves a database of another program aside, and makes a new one.
func (u *Upkeep) adoptDatabase(ctx context.Context) (core.Finding, error) {
	path := filepath.Join(u.core.Config.Dir, store.FileName)
	_, err := u.core.Open(ctx, false)
	if stick.CodeOf(err) != stick.CodeForeignDatabase {
		return core.Finding{}, stick.Errorf(stick.CodeUsage, "there is no database of another program to move aside").
			Hintf("see what the doctor finds: %s", stick.Cmd("tt doctor"))
	}

	// What was moved aside before stays as it is.
	aside := path + ".other"
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s.other-%d", path, n)
	}

	// The file itself comes last: until then it is still in place.
	for _, suffix := range []string{"-wal", "-shm", ""} {
		err := os.Rename(path+suffix, aside+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return core.Finding{}, fmt.Errorf("move the other program's database aside: %w", err)
		}
	}

	db, err := u.core.Open(ctx, true)
	if err == nil {
		err = db.SettleLoss(ctx)
	}
	if err != nil {
		return core.Finding{}, err
	}

	return core.Finding{
		Check: "adopt", Status: core.FindingOK,
		Detail: stick.Wordsf("the other program's database is now %s", aside),
	}, nil
}
