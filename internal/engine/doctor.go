package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// DoctorParams asks for a check-up.
type DoctorParams struct {
	Caller core.Caller `json:"-"`
	Adopt  bool        `json:"adopt,omitempty"` // move another program's database aside and start a new one

	SetAside bool `json:"set_aside,omitempty"` // move a damaged database aside and start a new one

	Configured string `json:"-"` // the database's address in the user's own file, which every start of tt reads

	Shows func(check string) `json:"-"` // called before each check; may be nil
}

// DoctorResult is what the doctor found.
type DoctorResult struct {
	DataDir  string         `json:"data_dir"`
	Healthy  bool           `json:"healthy"`
	Findings []core.Finding `json:"findings"`

	// Hooks says when a hook of each harness last ran in a room. A harness whose hooks never ran isn't in it.
	Hooks map[string]stick.Time `json:"-"`
}

// checks returns the doctor's checks. The engine's own come first. configured is the database's address in the user's file.
func (e *Engine) checks(configured string) []core.Check {
	all := []core.Check{
		{Name: "file system", Run: e.checkFileSystem},
		{Name: "permissions", Run: e.checkPermissions},
		{Name: "database", Run: e.checkDatabase},
		{Name: "losses", Run: e.checkLosses},
		{Name: "writing", Run: e.checkWriting},
		{Name: "waking", Run: e.checkWaking},
		{Name: "policies", Run: e.checkPolicies},
		{Name: "hooks", Run: e.checkHooks},
		{Name: "checkout", Run: e.checkCheckout},
		{Name: "rescues", Run: e.Guard.Check},
		{Name: "copies", Run: e.Guard.CheckCopies},
	}
	if e.core.Config.Database != "" {
		starts := func(context.Context) core.Finding { return e.checkStarts(configured) }
		all = slices.Insert(all, 4, core.Check{Name: "server", Run: e.checkServer}, core.Check{Name: "starts", Run: starts})
	}
	return append(all, e.others...)
}

// Doctor runs all checks. Without Adopt and SetAside, which are a person's, it changes nothing, with one exception: a database
// that was found damaged isn't written until a check by Doctor finds it sound. It fails with [stick.CodePersonOnly] and, where there
// is nothing to move aside, with [stick.CodeUsage].
func (e *Engine) Doctor(ctx context.Context, p DoctorParams) (DoctorResult, error) {
	res := DoctorResult{DataDir: e.core.Config.Dir, Healthy: true}
	if (p.Adopt || p.SetAside) && !p.Caller.ActsAsPerson() {
		return res, stick.Errorf(stick.CodePersonOnly, "only a person may move the database aside: turns, messages, notes and tasks begin anew then").
			Hintf("ask a person to run it; until then, %s shows what is wrong", stick.Cmd("tt doctor"))
	}
	if p.Adopt {
		f, err := e.adopt(ctx)
		if err != nil {
			return res, err
		}
		res.Findings = append(res.Findings, f)
	}
	if p.SetAside {
		f, err := e.setAside(ctx)
		if err != nil {
			return res, err
		}
		res.Findings = append(res.Findings, f)
	}
	for _, c := range e.checks(p.Configured) {
		if p.Shows != nil {
			p.Shows(c.Name)
		}
		f := c.Run(ctx)
		f.Check = c.Name
		res.Healthy = res.Healthy && f.Status != core.FindingFault
		res.Findings = append(res.Findings, f)
	}
	res.Hooks = e.lastHooks(ctx, p.Caller)
	return res, nil
}

// lastHooks returns when hooks last ran. Without a readable database it returns nil.
func (e *Engine) lastHooks(ctx context.Context, by core.Caller) map[string]stick.Time {
	db, err := e.core.Open(ctx, false)
	if err != nil {
		return nil
	}
	last := map[string]stick.Time{}
	err = e.core.View(ctx, db, by, func(tx *store.Tx, _ *core.Probes) error {
		for _, name := range harness.Names() {
			at, err := tx.LastHook(name)
			if err != nil {
				return err
			}
			if !at.IsZero() {
				last[name] = at
			}
		}
		return nil
	})
	if err != nil {
		return nil // checkDatabase reports the error
	}
	return last
}

func (e *Engine) checkFileSystem(context.Context) core.Finding {
	if err := e.core.CheckFileSystem(); err != nil {
		return core.Fault(err)
	}
	return core.Finding{Status: core.FindingOK, Detail: "the data directory is on a local disk"}
}

func (e *Engine) checkPermissions(context.Context) core.Finding {
	if runtime.GOOS == "windows" {
		return core.Finding{Status: core.FindingOK, Detail: "not checked on Windows"}
	}
	for _, c := range []struct {
		path string
		want fs.FileMode
	}{{e.core.Config.Dir, 0o700}, {filepath.Join(e.core.Config.Dir, store.FileName), 0o600}} {
		path, want := c.path, c.want
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return core.Fault(err)
		}
		if got := info.Mode().Perm(); got&^want != 0 {
			return core.Finding{
				Status: core.FindingWarning, Detail: fmt.Sprintf("%s has mode %#o: others can read it", path, got),
				Fix: fmt.Sprintf("chmod %o %s", want, path),
			}
		}
	}
	if f, found := e.checkOwners(); found {
		return f
	}
	return core.Finding{Status: core.FindingOK, Detail: "only you can read the data directory"}
}

// checkOwners looks for files that don't belong to the owner of the data directory, as root leaves them that uses somebody's
// HOME. That user's commands can't open them.
func (e *Engine) checkOwners() (f core.Finding, found bool) {
	dir, err := os.Stat(e.core.Config.Dir)
	if err != nil {
		return f, false
	}
	want, ok := plainfile.Owner(dir)
	if !ok || want == 0 {
		return f, false
	}
	err = filepath.WalkDir(e.core.Config.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // whoever can't look inside hears of it elsewhere
		}
		info, err := d.Info()
		if err != nil {
			return nil // it is gone
		}
		if uid, _ := plainfile.Owner(info); uid != want {
			f = core.Finding{
				Status: core.FindingFault, Fix: fmt.Sprintf("sudo chown -R %d %s", want, e.core.Config.Dir),
				Detail: fmt.Sprintf("%s belongs to uid %d, and the data directory to uid %d, whose commands can't open it", path, uid, want),
			}
			return fs.SkipAll
		}
		return nil
	})
	return f, err == nil && f.Status != ""
}

func (e *Engine) checkDatabase(ctx context.Context) core.Finding {
	db, err := e.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return core.Finding{Status: core.FindingOK, Detail: "there is no database yet; the first tt join makes it"}
	}
	if err != nil {
		return damaged(err)
	}
	found, err := db.Check(ctx)
	if err != nil {
		return damaged(err)
	}
	if len(found) > 0 {
		var all []core.Problem
		for _, what := range found {
			all = append(all, core.Problem{Detail: what, Fix: e.wayOut()})
		}
		return core.Found(core.FindingFault, all)
	}
	return core.Finding{Status: core.FindingOK, Detail: "the database is sound, and every room agrees with its log"}
}

// lossShows is how long the doctor shows a loss that was settled.
const lossShows = 7 * 24 * time.Hour

// checkLosses says what the database has lost of what it had committed.
func (e *Engine) checkLosses(ctx context.Context) core.Finding {
	db, err := e.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return e.checkRemoved()
	}
	var l store.Losses
	if err == nil {
		l, err = db.Losses(ctx)
	}
	switch now := stick.At(e.core.Now()); {
	case err != nil:
		return core.Finding{Status: core.FindingWarning, Detail: "not looked for, because the database can't be read"}
	case l.Open != nil:
		return core.Finding{
			Status: core.FindingFault, Detail: l.Open.Warning(),
			Fix: "if you have the right files, put them back now; else go on: from the next command that writes, new turns and events get numbers above all that were given out",
		}
	case !l.LastAt.IsZero() && now.Sub(l.LastAt) < lossShows:
		return core.Finding{
			Status: core.FindingWarning, Detail: fmt.Sprintf("%s the database had lost %s; all turns and reservations ended then", stick.Ago(now.Sub(l.LastAt)), l.Last),
			Fix: "say again what those changes said; nothing else has to be done",
		}
	}
	if now := stick.At(e.core.Now()); !l.OlderAt.IsZero() && now.Sub(l.OlderAt) < lossShows {
		return olderCopy(l, now)
	}
	return core.Finding{Status: core.FindingOK, Detail: "the database has everything that was committed"}
}

// olderCopy is the finding of a database that didn't know what a caller knew.
func olderCopy(l store.Losses, now stick.Time) core.Finding {
	f := core.Finding{
		Status: core.FindingWarning, Detail: fmt.Sprintf("%s a command named event %d, which the database hasn't given out: it is an older copy, or the number was wrong", stick.Ago(now.Sub(l.OlderAt)), l.OlderEvent),
		Fix: "nothing has to be done: new events get numbers above it",
	}
	if l.OlderTurn > 0 {
		f.Detail = fmt.Sprintf("%s somebody had turn %d, which the database has granted and no longer knew: it is an older copy; all turns and reservations ended then",
			stick.Ago(now.Sub(l.OlderAt)), l.OlderTurn)
		f.Fix = "say again what was lost; nothing else has to be done, and new turns and events get numbers far above"
	}
	return f
}

// checkRemoved says whether there was a database where there is none.
func (e *Engine) checkRemoved() core.Finding {
	n := store.IssuedIn(e.core.Config.Dir)
	if e.core.Config.Database != "" || n == 0 {
		return core.Finding{Status: core.FindingOK, Detail: "there is nothing to be lost yet"}
	}
	return core.Finding{
		Status: core.FindingFault, Detail: fmt.Sprintf("the database is gone, which has given out the numbers of events up to %d", n),
		Fix: "put it back; or go on: the next tt join makes a new one, which goes on above these numbers",
	}
}

// wayOut says what to do about a damaged database.
const wayOut = "commands that only read show what can still be read. To go on, a person runs tt doctor --set-aside, which keeps the damaged files and " +
	"starts a new database: turns, messages, notes and tasks begin anew, and your files and branches stay as they are"

// wayOut is what to do about a database whose check has found something.
func (e *Engine) wayOut() string {
	if e.core.Config.Database != "" {
		return "have whoever runs the server restore the database, or begin anew in another schema: ?search_path=<name> at the end of its address"
	}
	return "keep a copy of the data directory and report this; " + wayOut
}

// damaged is the finding of a database that can't be read.
func damaged(err error) core.Finding {
	f := core.Fault(err)
	switch e := stick.AsError(err); {
	case e.Code == stick.CodeForeignDatabase:
		f.Fix = "a person moves it aside and starts a new one: tt doctor --adopt"
	case !store.IsDamage(err):
	case e.Code == stick.CodeDatabaseCorrupt && e.Fields["path"] != nil: // it knows what is missing
		f.Fix = "put back the files that belong together. To give them up, a person runs tt doctor --set-aside, which keeps what is there and starts a new database"
	default:
		f.Fix = wayOut
	}
	return f
}

// setAside moves a damaged database aside, and makes a new one. Whatever the doctor calls faulty about a database is damage.
func (e *Engine) setAside(ctx context.Context) (core.Finding, error) {
	if e.core.Config.Database != "" {
		return core.Finding{}, stick.Errorf(stick.CodeUsage, "the rooms are in a database on a server, and tt moves only its own file aside").
			Hintf("have whoever runs the server restore the database, or begin anew in another schema: ?search_path=<name> at the end of its address")
	}
	db, err := e.core.Open(ctx, false)
	isFaulty := err != store.ErrAbsent && store.IsDamage(err)
	if err == nil {
		isFaulty, err = e.isFaulty(ctx, db)
	}
	switch {
	case isFaulty:
	case err == nil || err == store.ErrAbsent:
		return core.Finding{}, stick.Errorf(stick.CodeUsage, "there is no damaged database to move aside").
			Hintf("see what the doctor finds: %s", stick.Cmd("tt doctor"))
	default:
		return core.Finding{}, err
	}
	aside, err := store.SetAside(ctx, e.core.Config.Dir, db)
	if err != nil {
		return core.Finding{}, err
	}
	if _, err := e.core.Open(ctx, true); err != nil {
		return core.Finding{}, err
	}
	return core.Finding{
		Check: "set aside", Status: core.FindingOK,
		Detail: "the damaged database is now in " + aside + "; with TALKING_STICK_DATA_DIR=" + aside + ", tt shows what can still be read of it",
	}, nil
}

// isFaulty reports whether the doctor finds a fault in a database that can be opened.
func (e *Engine) isFaulty(ctx context.Context, db *store.DB) (bool, error) {
	found, err := db.Check(ctx)
	if err != nil || len(found) > 0 {
		return store.IsDamage(err) || len(found) > 0, err
	}
	losses, err := db.Losses(ctx)
	return losses.Open != nil || store.IsDamage(err), err
}

// checkWriting tries whether commands can write.
func (e *Engine) checkWriting(ctx context.Context) core.Finding {
	db, err := e.core.Open(ctx, false)
	switch {
	case err == store.ErrAbsent:
		err = store.TryDisk(e.core.Config.Dir)
	case err == nil:
		err = db.Trial(ctx)
	default:
		return core.Finding{Status: core.FindingWarning, Detail: "not tried, because the database can't be opened"}
	}
	if err != nil {
		return core.Fault(err)
	}
	return core.Finding{Status: core.FindingOK, Detail: "the files of the data directory can be used, and the disk has room"}
}

func (e *Engine) checkWaking(ctx context.Context) core.Finding {
	db, err := e.core.Open(ctx, false)
	if err != nil {
		return core.Finding{Status: core.FindingOK, Detail: "nothing to wake yet"}
	}
	w, err := db.Bell.Watch("doctor")
	if err != nil {
		return core.Fault(err)
	}
	defer w.Close()
	return core.Finding{Status: core.FindingOK, Detail: "waits are woken by " + w.Mechanism()}
}

// olderHooksFor is how long ago an older program may have answered a hook for the doctor to say so.
const olderHooksFor = 24 * time.Hour

// OlderHooksMean says what follows where an older tt answers the hooks of an agent.
const OlderHooksMean = "it may keep no copies of uncommitted work, and allow what this one refuses"

// checkHooks looks for sessions whose hooks an older program answers.
func (e *Engine) checkHooks(ctx context.Context) core.Finding {
	db, err := e.core.Open(ctx, false)
	switch {
	case err == store.ErrAbsent:
		return core.Finding{Status: core.FindingOK, Detail: "no hook has run so far"}
	case err != nil:
		return core.Finding{Status: core.FindingWarning, Detail: "not read, because the database can't be opened"}
	}

	var older []store.OlderHook
	var now stick.Time
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		now = tx.Now()
		older, err = tx.OlderHooks(now.Add(-olderHooksFor))
		return err
	})
	if err != nil {
		return core.Fault(err)
	}
	if len(older) == 0 {
		return core.Finding{Status: core.FindingOK, Detail: "no older tt answers them"}
	}

	var found []core.Problem
	for _, h := range older {
		found = append(found, core.Problem{
			Detail: fmt.Sprintf("an older tt than this one answered the last hook of %s, %s: %s", h.Agent, stick.Ago(now.Sub(h.At)), OlderHooksMean),
			Fix:    "tt install " + h.Harness + ", by this tt; then start its session again",
		})
	}
	return core.Found(core.FindingWarning, found)
}

// checkCheckout says whether the repository of the working directory can be found.
func (e *Engine) checkCheckout(context.Context) core.Finding {
	if err := e.checkRepository(core.Where{}); err != nil {
		return core.Fault(err)
	}
	return core.Finding{Status: core.FindingOK, Detail: "the repository of this directory can be found, or it is in none"}
}

// checkPolicies looks for rooms with a word for enforce that this program doesn't know: it enforces nothing there.
func (e *Engine) checkPolicies(ctx context.Context) core.Finding {
	db, err := e.core.Open(ctx, false)
	switch {
	case err == store.ErrAbsent:
		return core.Finding{Status: core.FindingOK, Detail: "there are no rooms yet"}
	case err != nil:
		return core.Finding{Status: core.FindingWarning, Detail: "not read, because the database can't be opened"}
	}
	var unknown []core.Problem
	err = db.View(ctx, func(tx *store.Tx) error {
		unknown = nil
		rooms, err := tx.Rooms(nil, "")
		for _, r := range rooms {
			if word := r.Policy.Enforce; !r.Closed && !word.Known() {
				unknown = append(unknown, core.Problem{
					Detail: fmt.Sprintf("the room of %s has enforce=%s, which this tt doesn't know: it stops and tells nobody there", cmp.Or(r.Path, r.Key), stick.Line(string(word))),
					Fix:    "use the newer tt that set it",
				})
			}
		}
		return err
	})
	switch {
	case err != nil:
		return core.Fault(err)
	case len(unknown) > 0:
		return core.Found(core.FindingWarning, unknown)
	}
	return core.Finding{Status: core.FindingOK, Detail: "this tt knows the policies of all rooms"}
}

// adopt moves a database of another program aside, and makes a new one.
func (e *Engine) adopt(ctx context.Context) (core.Finding, error) {
	path := filepath.Join(e.core.Config.Dir, store.FileName)
	_, err := e.core.Open(ctx, false)
	if stick.CodeOf(err) != stick.CodeForeignDatabase {
		return core.Finding{}, stick.Errorf(stick.CodeUsage, "there is no database of another program to move aside").
			Hintf("see what the doctor finds: %s", stick.Cmd("tt doctor"))
	}
	aside := path + ".other"
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s.other-%d", path, n)
	}
	for _, suffix := range []string{"-wal", "-shm", ""} { // the file itself comes last: until then it is still in place
		err := os.Rename(path+suffix, aside+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return core.Finding{}, fmt.Errorf("move the other program's database aside: %w", err)
		}
	}
	db, err := e.core.Open(ctx, true)
	if err == nil {
		err = db.Settle(ctx)
	}
	if err != nil {
		return core.Finding{}, err
	}
	return core.Finding{Check: "adopt", Status: core.FindingOK, Detail: "the other program's database is now " + aside}, nil
}
