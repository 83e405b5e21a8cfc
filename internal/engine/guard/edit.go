package guard

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// MayEditParams asks whether the caller may change paths now.
type MayEditParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Paths []string `json:"paths"` // absolute, or relative to the directory of the call

	// the whole shared tree, for a command that moves the branch checked out there
	Tree bool `json:"tree,omitempty"`

	Branches []string `json:"-"` // full names of branches to move; branches of other agents' tasks are denied
}

// MayEditResult is the answer.
type MayEditResult struct {
	Allowed bool          `json:"allowed"`
	RoomID  stick.RoomID  `json:"room_id,omitempty"` // of the room that decided; empty outside of rooms
	AgentID stick.AgentID `json:"agent_id,omitempty"`
	Enforce stick.Enforce `json:"enforce,omitempty"`
	Denied  []string      `json:"denied,omitempty"` // relative to the room
	Holder  stick.AgentID `json:"holder,omitempty"` // of the stick

	// reservations of others on these paths; they only count with enforce=scopes or warn
	Reserved []stick.Reservation `json:"reserved"`
	Reason   stick.Words         `json:"reason,omitempty"` // why not
	Told     stick.Words         `json:"told,omitempty"`   // what is against the rules, though it is allowed
	Hint     stick.Words         `json:"hint,omitempty"`   // the next safe step

	here     stick.RoomID // that of the place of the call
	refusal  *stick.Error
	step     stick.Hint
	against  []string    // the paths of Reason or Told, some of them
	due      bool        // the hook that asked has something to record
	tellings []telling   // what a command that is allowed is going to do
	kept     []*snapshot // of the checkouts that it may change
	reads    []knownRead // of the files that the call writes whole, what the caller has last seen
	stale    []knownRead // those over which the call is refused once
	unkept   string      // the command that is refused once, because there is no whole copy of what it takes

	unkeptSum string // of what that command takes
}

// Refusal returns the answer as an error: [stick.CodeEditDenied], or nil if the edit is allowed.
func (r MayEditResult) Refusal() error {
	if r.refusal == nil {
		return nil
	}
	return r.refusal
}

// Step is the next safe step, as Hint has it in words.
func (r MayEditResult) Step() stick.Hint { return r.step }

// maxEditPaths is how many paths one question may name. A commit of more files counts as a change of the
// whole tree.
const maxEditPaths = 5000

// MayEdit decides whether the caller may change paths now, by the policy enforce of the room of each path. It
// allows everything outside of rooms, for people, and in a worktree, which isn't shared (unless it belongs to
// the task of another agent, or the room is paused). It writes nothing. It fails with [stick.CodeUsage] and
// [stick.CodeInvalidPath].
func (g *Guard) MayEdit(ctx context.Context, p MayEditParams) (MayEditResult, error) {
	if len(p.Paths) == 0 && !p.Tree {
		return MayEditResult{}, stick.Errorf(stick.CodeUsage, "no path given").With("field", "paths").
			Hintf("name what you want to change: %s", stick.Cmd("tt may-edit <path>"))
	}

	q, err := g.namedEdit(ctx, p)
	if err != nil {
		return MayEditResult{}, err
	}

	return g.mayEdit(ctx, q, nil)
}

// namedEdit resolves what somebody asks about. It fails as [Guard.newEditQuestion] does.
func (g *Guard) namedEdit(ctx context.Context, p MayEditParams) (editQuestion, error) {
	at, err := g.core.PlaceOf(ctx, p.Where)
	if err != nil {
		return editQuestion{}, err
	}

	return g.newEditQuestion(at, CheckEditParams{
		HookParams: core.HookParams{Caller: p.Caller, Where: p.Where}, Paths: p.Paths, Branches: p.Branches,
	}, p.Tree)
}

// askEdit asks whether a caller may change paths of a checkout now, whose top level is top. An error says why
// not. told is what is against the rules, though it is allowed, and step the next safe step.
func (g *Guard) askEdit(
	ctx context.Context, by core.Caller, top string, paths []string,
) (told stick.Words, step stick.Hint, err error) {
	q, err := g.namedEdit(ctx, MayEditParams{Caller: by, Where: core.Where{Path: top}, Paths: paths})

	// What can't be looked up is judged by its name, such as what was below a directory in whose place a file is now,
	// and a link to itself. Whether it can be written shows when it is.
	if err != nil && stick.CodeOf(err) != stick.CodeInvalidPath {
		return "", stick.Hint{}, err
	}

	may, err := g.mayEdit(ctx, q, nil)
	if err == nil {
		err = may.Refusal()
	}
	if err != nil {
		return "", stick.Hint{}, err
	}

	return may.Told, may.step, nil
}

// editQuestion is a question about edits, in terms of the file system.
type editQuestion struct {
	CheckEditParams
	at     *workspace.Place   // the place of the call, nil for a room by its id
	in     []workspace.Target // the files and directories to change
	tree   []workspace.Place  // checkouts in which anything may change
	wholes []*checkout        // with the files that are written whole
	gone   []removal          // directories, and what belongs to a repository, that are removed or moved away
	all    bool               // anything may change at the place of the call
	acts   []checkoutAct      // what a command may cost in each checkout, where that was looked up

	around map[string][]string // the places around each submodule, by its top level

	roles map[stick.RoomID]roleFiles // of the rooms that decide, as far as they were read

	decides bool // only the decision matters, not the reservations nearby

	ahead *rescue.Ahead // what git was asked of the place of the call
}

// newEditQuestion resolves what is to be changed. If it can't look up some of it, it returns an error, and q
// with the rest.
func (g *Guard) newEditQuestion(at *workspace.Place, p CheckEditParams, all bool) (q editQuestion, err error) {
	// Paths are relative to the place of the call, if it has one.
	env := g.core.Config.Workspace
	if env.Dir = ""; at != nil {
		env.Dir = at.Path
	}

	// So many files are judged as a change of the whole tree.
	if len(p.Paths)+len(p.Tracked) > maxEditPaths {
		p.Paths, p.Tracked, all = nil, nil, true
	}

	q = editQuestion{CheckEditParams: p, at: at, all: all, roles: map[stick.RoomID]roleFiles{}}
	if all && at != nil {
		q.tree = append(q.tree, *at)
	}

	targets := workspace.NewTargets(env)
	found := func(in []workspace.Target, ferr error) {
		q.in, err = append(q.in, in...), cmp.Or(err, ferr)
	}

	for _, path := range p.Paths {
		if slices.Contains(p.Names, path) {
			found(targets.ResolveNamed(path))
		} else {
			found(targets.ResolveWritten(path))
		}
	}

	for _, path := range p.Tracked {
		if at != nil {
			q.in = append(q.in, targets.ResolveTracked(*at, path))
		}
	}

	for _, dir := range p.Trees {
		place, perr := targets.ResolveDir(dir)
		if err = cmp.Or(err, perr); perr == nil {
			q.tree = append(q.tree, place)
		}
	}

	q.gone, q.wholes = findRemovals(targets, p.Acts), checkoutsOf(targets, p.Wholes)
	q.findAround()
	return q, err
}

// findAround looks up the places around submodules: a submodule without a room is of the one around it.
func (q *editQuestion) findAround() {
	q.around = map[string][]string{}
	for _, p := range q.askedPlaces() {
		top := p.CheckoutTop()
		if _, known := q.around[top]; known || top == "" {
			continue
		}

		q.around[top] = nil
		if over, ok := p.Superproject(); ok {
			q.around[top] = newCheckout(over).chain
		}
	}
}

// askedPlaces are those that the question is about: of the files and directories, then of the checkouts, then
// of the call. The room of a command is asked also where its text only names files elsewhere.
func (q editQuestion) askedPlaces() (places []workspace.Place) {
	for _, x := range q.in {
		places = append(places, x.Place)
	}

	places = append(places, q.tree...)
	if q.at != nil && (len(places) == 0 || q.Unread) {
		places = append(places, *q.at)
	}

	return places
}

// readRoles reads which files of a room belong to a role or to a session.
func (g *Guard) readRoles(r stick.Room) roleFiles {
	return roleFiles{g.roles(r.Path), workspace.FoldsCase(r.Path)}
}

// errRolesUnread aborts a transaction that needs a room's [roleFiles] before they were read. Files are read
// outside of transactions, so the caller reads them and runs it again.
type errRolesUnread struct{ room stick.Room }

func (e errRolesUnread) Error() string {
	return "the roles of room " + string(e.room.ID) + " weren't read"
}

// RoleFiles says which files of a room belong to a role or to a session, relative to the room.
type RoleFiles struct {
	PrimaryOnly []glob.Pattern              // only the primary changes these
	SessionFile func(context string) string // the file in which a session keeps its context; "" means the primary's
}

// roleFiles are those of a room, and how its file system names files.
type roleFiles struct {
	RoleFiles
	foldsCase bool // names that differ only in case are one file
}

// withoutContextFile returns paths without the context file of m's running session. An agent may write that
// file whoever has the stick.
func (f roleFiles) withoutContextFile(paths []string, m stick.Member) []string {
	// Then nobody has read the roles.
	if len(paths) == 0 {
		return paths
	}

	if m.State != stick.Joined || !m.Session.Running {
		return paths
	}

	own := f.SessionFile(m.Session.Context)
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == own })
}

// mayEdit answers a question. It calls also, which may be nil, in the same transaction for each room that
// decides.
func (g *Guard) mayEdit(
	ctx context.Context, q editQuestion, also func(
		*store.Tx, *core.Probes, core.Identity, stick.Room, *MayEditResult,
	) error,
) (res MayEditResult, err error) {
	allowed := MayEditResult{Allowed: true, Reserved: []stick.Reservation{}}
	db, err := g.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return allowed, nil
	}
	if err != nil {
		return res, err
	}

	read := func(tx *store.Tx, probes *core.Probes) error {
		res = allowed
		me, err := core.Identify(tx, probes, q.Caller)
		if err != nil {
			return err
		}

		asked, here, err := q.readRooms(tx, me.Agent)
		if err != nil {
			return err
		}

		res.here = here
		for _, a := range asked {
			if err := a.answerEdit(tx, probes, me, q, &res); err != nil {
				return err
			}
			if also != nil {
				if err := also(tx, probes, me, a.room, &res); err != nil {
					return err
				}
			}

			if err := probes.RequireComplete(a.room); err != nil || !res.Allowed {
				return err
			}
		}

		return nil
	}

	for run := 2; ; run++ {
		err = g.core.View(ctx, db, q.Caller, read)
		unread, ok := errors.AsType[errRolesUnread](err)
		if !ok {
			return res, err
		}

		q.roles[unread.room.ID] = g.readRoles(unread.room)
		g.core.Config.Trace.RanAgain(run, err)
	}
}
