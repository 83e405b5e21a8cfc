package upkeep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Repair is something that the doctor can put right, or has.
type Repair struct {
	Check  string      `json:"check"`            // the check that found it
	What   stick.Words `json:"what"`             // what is wrong
	How    stick.Words `json:"how"`              // what would be done about it
	Done   bool        `json:"done"`             // it was done
	Result stick.Words `json:"result,omitempty"` // what came of it, or why it failed

	do func(context.Context) (stick.Words, error)
}

// repairAll finds what can be put right, asks about each, and does what is agreed to.
func (u *Upkeep) repairAll(ctx context.Context, p DoctorParams) (all []Repair, err error) {
	if u.core.Config.Database != "" {
		return nil, stick.Errorf(stick.CodeUsage,
			"the rooms are in a database on a server, and tt can repair only its own file").
			Hintf("see what the doctor finds: %s", stick.Cmd("tt doctor"))
	}

	all = append(u.planModes(), u.planDatabase(ctx)...)
	for i := range all {
		agreed, err := p.Confirm(all[i])
		if err != nil {
			return all, err
		}
		if !agreed {
			continue
		}

		// The next one may be done though this one can't.
		result, err := all[i].do(ctx)
		if all[i].Done, all[i].Result = err == nil, result; err != nil {
			all[i].Result = stick.AsError(err).Words()
		}
	}

	return all, nil
}

// planModes finds files of the data directory that others can read.
func (u *Upkeep) planModes() (plan []Repair) {
	for _, f := range u.findOpenToOthers() {
		plan = append(plan, Repair{
			Check: checkOfPermissions, What: f.detail(), How: stick.Wordsf("set the mode to %#o", f.want),
			do: func(context.Context) (stick.Words, error) {
				if err := os.Chmod(f.path, f.want); err != nil {
					return "", fmt.Errorf("change the mode: %w", err)
				}
				return "only you can read it", nil
			},
		})
	}

	return plan
}

// planDatabase finds what can be done about a damaged database. Whole logs mend the rooms where they are. If that
// isn't enough, what can be read comes into a new database.
func (u *Upkeep) planDatabase(ctx context.Context) []Repair {
	db, err := u.core.Open(ctx, false)
	e := stick.AsError(err)
	switch {
	case store.IsDamage(err) && isOfOneDatabase(e):
		return u.planSalvage(ctx, nil, e.Words())
	case err != nil:
		return nil
	}

	found, err := db.Check(ctx)
	switch {
	case err != nil || len(found) == 0:
		return nil
	case u.isMendable(ctx, db, found):
		return u.planMends(ctx, db)
	}
	return u.planSalvage(ctx, db, stick.Words(found[0])+moreText(len(found)-1))
}

// isOfOneDatabase reports whether files are damaged that belong together. Others can still be put back, which an
// error says that names the missing one.
func isOfOneDatabase(e *stick.Error) bool {
	return e.Code == stick.CodeDatabaseCorrupt && e.Fields["path"] == nil
}

// planMends finds the rooms that their logs can bring back.
func (u *Upkeep) planMends(ctx context.Context, db *store.DB) (plan []Repair) {
	found, err := db.Contradictions(ctx)
	if err != nil {
		return nil
	}

	// One copy has all rooms as they were.
	aside := ""
	for _, c := range found {
		plan = append(plan, Repair{
			Check: checkOfDatabase, What: stick.Words(c.Found[0]) + moreText(len(c.Found)-1),
			How: stick.Wordsf("rebuild the room of %s from its log, which is whole, after a copy of the database", c.Path),
			do: func(ctx context.Context) (_ stick.Words, err error) {
				if aside == "" {
					if aside, err = db.KeepCopy(ctx); err != nil {
						return "", err
					}
				}

				ended, err := db.Mend(ctx, c.Room)
				return mendedText(c, ended, aside), err
			},
		})
	}

	return plan
}

// moreText says how many more findings there are.
func moreText(n int) stick.Words {
	if n == 0 {
		return ""
	}
	return stick.Wordsf(" (and %d more)", n)
}

// mendedText says what came of a room.
func mendedText(c store.Contradiction, ended stick.AgentID, aside string) stick.Words {
	s := stick.Wordsf("the room of %s is what its log says", c.Path)
	if ended != "" {
		s += stick.Wordsf("; the turn of %s ended, because its lease was lost", ended)
	}
	return s + stick.Wordsf("; the database as it was is in %s", aside)
}

// isMendable reports whether logs that are whole bring back all that the check has found.
func (u *Upkeep) isMendable(ctx context.Context, db *store.DB, found []string) bool {
	if u.core.Config.Database != "" {
		return false
	}

	n := 0
	all, err := db.Contradictions(ctx)
	for _, c := range all {
		if !c.Whole {
			return false
		}
		n += len(c.Found)
	}
	return err == nil && n == len(found)
}

// requirePerson refuses agents what only a person may have the doctor do.
func (p DoctorParams) requirePerson() error {
	moves := p.Adopt || p.SetAside
	switch {
	case p.Caller.ActsAsPerson() || !moves && !p.Fix:
		return nil
	case p.Fix:
		return stick.Errorf(stick.CodePersonOnly,
			"only a person may repair the database, because turns may end").
			Hintf("ask a person to run it; until then, %s shows what is wrong", stick.Cmd("tt doctor"))
	}
	return stick.Errorf(stick.CodePersonOnly,
		"only a person may move the database aside, because the new one has no turns, messages, "+
			"notes or tasks").
		Hintf("ask a person to run it; until then, %s shows what is wrong", stick.Cmd("tt doctor"))
}

// openFile is a file or directory that others can read.
type openFile struct {
	path      string
	got, want os.FileMode
}

// findOpenToOthers lists what in the data directory others can read. Another check says what can't be looked at.
func (u *Upkeep) findOpenToOthers() (found []openFile) {
	if runtime.GOOS == "windows" {
		return nil // its modes say nothing
	}

	for _, f := range []openFile{
		{path: u.core.Config.Dir, want: 0o700}, {path: filepath.Join(u.core.Config.Dir, store.FileName), want: 0o600},
	} {
		info, err := os.Stat(f.path)
		if err != nil {
			continue
		}
		// A file in the place of the data directory is somebody else's, and another check names it.
		isDir := f.path == u.core.Config.Dir
		if info.IsDir() != isDir {
			continue
		}
		if f.got = info.Mode().Perm(); f.got&^f.want != 0 {
			found = append(found, f)
		}
	}

	return found
}

func (f openFile) detail() stick.Words {
	return stick.Wordsf("%s has mode %#o: others can read it", f.path, f.got)
}

// finding is what the doctor says of it.
func (f openFile) finding() core.Finding {
	return core.Finding{
		Status: core.FindingWarning, Detail: f.detail(),
		Fix: stick.Cmd("chmod <mode> <path>", fmt.Sprintf("%o", f.want), f.path).Words(),
	}
}
