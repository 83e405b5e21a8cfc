package upkeep

import (
	"cmp"
	"context"
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

	Fix     bool                       `json:"fix,omitempty"` // repair what can be repaired
	Confirm func(Repair) (bool, error) `json:"-"`             // with Fix: is asked about each repair

	Configured string `json:"-"` // the database's address in the user's own file, which every start of tt reads

	Shows func(Checking) `json:"-"` // called before each check, and while one goes on; may be nil
}

// Checking is what the doctor does now.
type Checking struct {
	Check       string
	Events, All int64 // how many events it has replayed, of how many; 0 for other checks
}

// DoctorResult is what the doctor found.
type DoctorResult struct {
	DataDir  string         `json:"data_dir"`
	Healthy  bool           `json:"healthy"`
	Findings []core.Finding `json:"findings"`
	Repairs  []Repair       `json:"repairs,omitempty"` // with --fix: what can be repaired, before the checks

	// Hooks says when a hook of each harness last ran in a room. A harness whose hooks never ran isn't in it.
	Hooks map[string]stick.Time `json:"-"`

	// Paths are the workspaces of all rooms, which a report leaves out.
	Paths []string `json:"-"`
}

// The checks whose findings the doctor can repair.
const (
	checkOfPermissions = "permissions"
	checkOfDatabase    = "database"
)

// allChecks returns the doctor's checks. Those of this package come first. configured is the database's address
// in the user's file. shows says how far a long check is; it may be nil.
func (u *Upkeep) allChecks(configured string, shows func(Checking)) []core.Check {
	database := func(ctx context.Context) core.Finding { return u.checkDatabase(ctx, shows) }
	all := []core.Check{
		{Name: "file system", Run: u.checkFileSystem},
		{Name: checkOfPermissions, Run: u.checkPermissions},
		{Name: checkOfDatabase, Run: database},
		{Name: "losses", Run: u.checkLosses},
		{Name: "writing", Run: u.checkWriting},
		{Name: "waking", Run: u.checkWaking},
		{Name: "policies", Run: u.checkPolicies},
		{Name: "hooks", Run: u.checkHooks},
		{Name: "checkout", Run: u.checkCheckout},
	}

	// A server has checks of its own, which come before the one that tries to write.
	if u.core.Config.Database != "" {
		starts := func(context.Context) core.Finding { return u.checkStarts(configured) }
		all = slices.Insert(all, 4,
			core.Check{Name: "server", Run: u.checkServer}, core.Check{Name: "starts", Run: starts},
		)
	}

	return append(all, u.checks...)
}

// Doctor runs all checks. Without Adopt, SetAside and Fix, which are a person's, it changes nothing, with one
// exception: a database that was found damaged isn't written until a check by Doctor finds it sound. It fails
// with [stick.CodePersonOnly] and, where there is nothing to move aside, with [stick.CodeUsage].
func (u *Upkeep) Doctor(ctx context.Context, p DoctorParams) (DoctorResult, error) {
	res := DoctorResult{DataDir: u.core.Config.Dir, Healthy: true}

	if err := p.requirePerson(); err != nil {
		return res, err
	}

	if p.Adopt {
		f, err := u.adoptDatabase(ctx)
		if err != nil {
			return res, err
		}
		res.Findings = append(res.Findings, f)
	}

	if p.SetAside {
		f, err := u.setDatabaseAside(ctx)
		if err != nil {
			return res, err
		}
		res.Findings = append(res.Findings, f)
	}

	if p.Fix {
		var err error
		if res.Repairs, err = u.repairAll(ctx, p); err != nil {
			return res, err
		}
	}

	for _, c := range u.allChecks(p.Configured, p.Shows) {
		if p.Shows != nil {
			p.Shows(Checking{Check: c.Name})
		}

		f := c.Run(ctx)
		f.Check = c.Name
		res.Healthy = res.Healthy && f.Status != core.FindingFault
		res.Findings = append(res.Findings, f)
	}

	res.Hooks, res.Paths = u.lastHooks(ctx, p.Caller), u.workspacePaths(ctx, p.Caller)
	return res, nil
}

// lastHooks returns when hooks last ran. Without a readable database it returns nil.
func (u *Upkeep) lastHooks(ctx context.Context, by core.Caller) map[string]stick.Time {
	db, err := u.core.Open(ctx, false)
	if err != nil {
		return nil
	}

	last := map[string]stick.Time{}
	err = u.core.View(ctx, db, by, func(tx *store.Tx, _ *core.Probes) error {
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

// workspacePaths returns the paths of all rooms that can be read.
func (u *Upkeep) workspacePaths(ctx context.Context, by core.Caller) (paths []string) {
	db, err := u.core.Open(ctx, false)
	if err != nil {
		return nil
	}

	err = u.core.View(ctx, db, by, func(tx *store.Tx, _ *core.Probes) error {
		rooms, err := tx.Rooms(nil, "")
		for _, r := range rooms {
			paths = append(paths, r.Path)
		}
		return err
	})
	if err != nil {
		return nil // checkDatabase reports the error
	}

	return paths
}

func (u *Upkeep) checkFileSystem(context.Context) core.Finding {
	if err := u.core.CheckFileSystem(); err != nil {
		return core.Fault(err)
	}
	return core.Finding{Status: core.FindingOK, Detail: "the data directory is on a local disk"}
}

func (u *Upkeep) checkPermissions(context.Context) core.Finding {
	if runtime.GOOS == "windows" {
		return core.Finding{Status: core.FindingOK, Detail: "not checked on Windows"}
	}
	if found := u.findOpenToOthers(); len(found) > 0 {
		return found[0].finding()
	}

	if f, found := u.checkOwners(); found {
		return f
	}

	return core.Finding{Status: core.FindingOK, Detail: "only you can read the data directory"}
}

// checkOwners looks for files that don't belong to the owner of the data directory, as root leaves them that
// uses somebody's HOME. That user's commands can't open them.
func (u *Upkeep) checkOwners() (f core.Finding, found bool) {
	dir, err := os.Stat(u.core.Config.Dir)
	if err != nil {
		return f, false
	}

	want, ok := plainfile.Owner(dir)
	if !ok || want == 0 {
		// This system has no owners of files, or root owns these, whose commands can open every file.
		return f, false
	}

	// The first such file is enough to say what has to be done.
	err = filepath.WalkDir(u.core.Config.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			// Another check says that the directory can't be read.
			return nil
		}

		info, err := d.Info()
		if err != nil {
			return nil // it is gone
		}

		if uid, _ := plainfile.Owner(info); uid != want {
			f = core.Finding{
				Status: core.FindingFault,
				Fix:    stick.Cmd("sudo chown -R <uid> <path>", want, u.core.Config.Dir).Words(),
				Detail: stick.Wordsf("%s belongs to uid %d, and the data directory to uid %d, "+
					"whose commands can't open it",
					path, uid, want),
			}
			return fs.SkipAll
		}

		return nil
	})

	return f, err == nil && f.Status != ""
}

// checkWriting tries whether commands can write.
func (u *Upkeep) checkWriting(ctx context.Context) core.Finding {
	db, err := u.core.Open(ctx, false)
	switch {
	case err == store.ErrAbsent:
		err = store.TryWriting(u.core.Config.Dir)
	case err == nil:
		err = db.Trial(ctx)
	default:
		return core.Finding{Status: core.FindingWarning, Detail: "not tried, because the database can't be opened"}
	}

	if err != nil {
		return core.Fault(err)
	}

	return core.Finding{
		Status: core.FindingOK,
		Detail: "the files of the data directory can be used, and the disk has room",
	}
}

func (u *Upkeep) checkWaking(ctx context.Context) core.Finding {
	db, err := u.core.Open(ctx, false)
	if err != nil {
		return core.Finding{Status: core.FindingOK, Detail: "nothing to wake yet"}
	}

	// A watch shows by which mechanism this system wakes.
	w, err := db.Bell.Watch("doctor")
	if err != nil {
		return core.Fault(err)
	}
	defer w.Close()

	return core.Finding{Status: core.FindingOK, Detail: "waits are woken by " + stick.Words(w.Mechanism())}
}

// olderHooksWindow is how long ago an older program may have answered a hook for the doctor to say so.
const olderHooksWindow = 24 * time.Hour

// OlderHooksRisk says what follows where an older tt answers the hooks of an agent.
const OlderHooksRisk stick.Words = "it may keep no copies of uncommitted work, and allow what this one refuses"

// checkHooks looks for sessions whose hooks an older program answers.
func (u *Upkeep) checkHooks(ctx context.Context) core.Finding {
	db, err := u.core.Open(ctx, false)
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
		older, err = tx.OlderHooks(now.Add(-olderHooksWindow))
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
			Detail: stick.Wordsf("an older tt than this one answered the last hook of %s, %s: %s",
				h.Agent, stick.Ago(now.Sub(h.At)), OlderHooksRisk),
			Fix: stick.Wordsf("tt install %s, by this tt; then start its session again", h.Harness),
		})
	}
	return core.FindingOf(core.FindingWarning, found)
}

// checkCheckout says whether the repository of the working directory can be found.
func (u *Upkeep) checkCheckout(context.Context) core.Finding {
	if err := u.core.CheckRepository(core.Where{}); err != nil {
		return core.Fault(err)
	}
	return core.Finding{
		Status: core.FindingOK,
		Detail: "this directory has no repository, or one that can be found",
	}
}

// checkPolicies looks for rooms with a word for enforce that this program doesn't know: it enforces nothing
// there.
func (u *Upkeep) checkPolicies(ctx context.Context) core.Finding {
	db, err := u.core.Open(ctx, false)
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
					Detail: stick.Wordsf("the room of %s has enforce=%s, which this tt doesn't know: "+
						"it stops and tells nobody there",
						cmp.Or(r.Path, r.Key), word),
					Fix: "use the newer tt that set it",
				})
			}
		}
		return err
	})
	switch {
	case err != nil:
		return core.Fault(err)
	case len(unknown) > 0:
		return core.FindingOf(core.FindingWarning, unknown)
	}

	return core.Finding{Status: core.FindingOK, Detail: "this tt knows the policies of all rooms"}
}
