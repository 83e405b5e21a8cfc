package guard

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// Change is an uncommitted file of a checkout.
type Change struct {
	Path string `json:"path"` // relative to the checkout

	// what git status --porcelain says: of the index, and of the working tree
	Status  string          `json:"status"`
	Share   edits.Share     `json:"whose"`            // for the caller
	Others  []stick.AgentID `json:"others,omitempty"` // whose it is, where it is others'
	Editors []edits.Editor  `json:"editors"`          // who has edited it, as far as it is known

	file edits.EditedFile
	git  git.Uncommitted
}

// ListChangesParams asks for the uncommitted files of a checkout.
type ListChangesParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Agent stick.AgentID // only files that this agent has edited; empty for all
	Diff  bool          // with the diff of these files
	Limit int           // how many; 0 for 200
}

// ListChangesResult lists the uncommitted files of a checkout, and whose they are.
type ListChangesResult struct {
	RoomID   stick.RoomID  `json:"room_id"`
	AgentID  stick.AgentID `json:"agent_id"` // who asks
	Checkout string        `json:"checkout"` // its top level
	Enforce  stick.Enforce `json:"enforce"`  // with off it isn't noted who edits what
	Changes  []Change      `json:"changes"`  // by their paths
	Count    int           `json:"count"`    // of all

	Diff string `json:"diff,omitempty"` // of all, as they are now: of tracked files against HEAD
	Cut  bool   `json:"cut,omitempty"`  // there is more of it
}

// maxDiff is how many bytes of a diff are shown.
const maxDiff = 4 << 20

// changesLimit is how long git may take to say what is uncommitted.
const changesLimit = 20 * time.Second

// ListChanges says which files of the checkout of a place are uncommitted, and whose they are. It writes
// nothing. It fails with [stick.CodeNoRoom], [stick.CodeNoRepository], [stick.CodeGitMissing] and
// [stick.CodeGitFailed], and for an agent that is unknown with [stick.CodeUnknownMember],
// [stick.CodeAmbiguousRecipient] and [stick.CodeUsage].
func (g *Guard) ListChanges(ctx context.Context, p ListChangesParams) (ListChangesResult, error) {
	res := ListChangesResult{Changes: []Change{}}
	c, err := g.checkoutAt(ctx, p.Where)
	if err != nil {
		return res, err
	}

	ctx, cancel := context.WithTimeout(ctx, changesLimit)
	defer cancel()
	w, err := g.findWork(ctx, p.Caller, c)
	if err != nil {
		return res, err
	}

	res.RoomID, res.AgentID, res.Checkout, res.Enforce = w.room.ID, w.me.Agent, c.top, w.room.Policy.Enforce
	all := w.changes
	if p.Agent != "" {
		if p.Agent, err = g.editorNamed(ctx, p.Caller, w, p.Agent); err != nil {
			return res, err
		}
		all = slices.DeleteFunc(all, func(c Change) bool { return !c.editedBy(p.Agent) })
	}

	if p.Diff {
		var files []git.Uncommitted
		for _, c := range all {
			files = append(files, c.git)
		}

		if res.Diff, res.Cut, err = g.core.Config.Git.DiffUncommitted(ctx, c.top, files, maxDiff); err != nil {
			return res, err
		}
	}

	limit := p.Limit
	if limit <= 0 {
		limit = 200
	}

	res.Count = len(all)
	res.Changes = append(res.Changes, all[:min(len(all), limit)]...)
	return res, nil
}

// editedBy reports whether an agent is known to have edited the file.
func (c Change) editedBy(a stick.AgentID) bool {
	return slices.ContainsFunc(c.Editors, func(e edits.Editor) bool { return e.Agent == a })
}

// editorNamed returns the agent that a name means: one that has edited an uncommitted file, or a member, also
// a former one.
func (g *Guard) editorNamed(
	ctx context.Context, by core.Caller, w uncommittedWork, name stick.AgentID,
) (found stick.AgentID, err error) {
	if slices.ContainsFunc(w.changes, func(c Change) bool { return c.editedBy(name) }) {
		return name, nil
	}

	err = g.core.Read(ctx, core.Where{RoomID: w.room.ID}, by, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, _ core.Identity,
	) error {
		if found, err = r.NamedEver(name, probes.Probed, tx.Now()); err != nil {
			return stick.AsError(err).With("field", "agent")
		}
		return nil
	})
	return found, err
}

// checkoutAt returns the checkout of a place.
func (g *Guard) checkoutAt(ctx context.Context, w core.Where) (*checkout, error) {
	at, err := g.core.PlaceOf(ctx, w)
	if err != nil {
		return nil, err
	}
	if err := at.CheckRepository(); err != nil {
		return nil, err
	}

	c := newCheckout(*at)
	if c.top == "" {
		return nil, errNoCheckout(at.Path)
	}

	return c, nil
}

func errNoCheckout(path string) error {
	return stick.Errorf(stick.CodeNoRepository, "%s isn't in a git repository", path).With("path", path).
		Hintf("make it a repository first: %s", stick.Cmd("git init"))
}

// uncommittedWork is the uncommitted work in a checkout, as one agent should see it.
type uncommittedWork struct {
	room    stick.Room
	me      core.Identity
	changes []Change         // those that the room is about, by their paths
	found   []edits.SeenFile // what the files are like, as far as they can be read
}

// findWork finds the uncommitted files of a checkout, and whose they are for the caller; with paths, only
// those that are there or below. It fails with [stick.CodeNoRoom].
func (g *Guard) findWork(
	ctx context.Context, by core.Caller, c *checkout, paths ...string,
) (w uncommittedWork, err error) {
	where := core.Where{}
	read := func(fn func(*store.Tx, *core.Probes, stick.Room) error) error {
		db, err := g.core.Open(ctx, false)
		if err != nil {
			return err
		}

		return g.core.View(ctx, db, by, func(tx *store.Tx, probes *core.Probes) error {
			r, err := core.FindRoom(tx, where, &workspace.Place{Path: c.top, Chain: c.chain})
			if err != nil {
				return err
			}

			w.room = r.AtGeneration(tx.Generation(), tx.Now())
			if w.me, err = core.Identify(tx, probes, by); err != nil {
				return err
			}
			if err := fn(tx, probes, w.room); err != nil {
				return err
			}

			return probes.RequireComplete(w.room)
		})
	}

	known := map[string]edits.FileState{}
	err = read(func(tx *store.Tx, _ *core.Probes, r stick.Room) error {
		rows, err := tx.Edited(r.ID, c.top, nil)
		for _, f := range rows {
			known[f.Path] = f.State
		}
		return err
	})
	if err == store.ErrAbsent {
		err = core.NoRoom(c.top)
	}
	if err != nil {
		return w, err
	}

	fold := workspace.FoldsCase(c.top)
	dirty, found := c.staged, []edits.SeenFile(nil)
	if len(dirty) > 0 {
		found, err = seeFiles(ctx, c.top, dirty, known, 0)
	} else {
		dirty, found, err = seeUncommitted(ctx, g.core.Config.Git, c.top, known, 0, paths...)
	}
	if err != nil {
		return w, err
	}

	w.found = found
	err = read(func(tx *store.Tx, probes *core.Probes, r stick.Room) error {
		rows, err := tx.Edited(r.ID, c.top, nil)
		if err != nil {
			return err
		}
		return w.addChanges(tx, probes, c, fold, dirty, edits.Look(rows, found, edits.Editor{At: tx.Now()}))
	})
	return w, err
}

// addChanges says whose the uncommitted files are. It leaves out those that aren't in the room's directory.
func (w *uncommittedWork) addChanges(
	tx *store.Tx, probes *core.Probes, in *checkout, fold bool, dirty []git.Uncommitted, looked []edits.EditedFile,
) (err error) {
	files := map[string]edits.EditedFile{}
	for _, f := range looked {
		files[f.Path] = f
	}

	w.changes = nil
	shared := !in.apart
	var paths []string // relative to the room

	for _, u := range dirty {
		f := files[u.Path]
		f.Path = u.Path
		if shared {
			rel, ok := workspace.RelBelow(filepath.Join(in.top, u.Path), w.room.Path)
			if !ok {
				continue
			}
			f.Path, paths = rel, append(paths, rel)
		}

		if f.Editors == nil {
			f.Editors = []edits.Editor{}
		}

		w.changes = append(w.changes, Change{
			Path: u.Path, Status: string([]byte{u.Index, u.Tree}), Editors: f.Editors, file: f, git: u,
		})
	}

	var near []stick.Reservation
	if len(paths) > 0 {
		if near, err = tx.ReservationsNear(w.room.ID, paths, nil); err != nil {
			return err
		}
	}

	q := edits.Editing{By: w.me.Agent, Above: w.me.Above, Person: w.me.Person(), Tree: shared, Fold: fold}
	for i := range w.changes {
		c := &w.changes[i]
		c.Share, c.Others = edits.WhoseEdit(w.room, c.file, q, near, probes.Probed, tx.Now())
	}

	slices.SortFunc(w.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return nil
}
