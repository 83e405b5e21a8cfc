package guard

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/engine/guard/stash"
	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// ClaimChangesParams names files whose uncommitted changes are the caller's, who is a person.
type ClaimChangesParams struct {
	Caller core.Caller `json:"-"`
	core.Where

	// absolute, or relative to the directory of the call; a directory means everything below it
	Paths []string `json:"paths"`
	Not   bool     `json:"not,omitempty"` // they aren't the caller's after all
}

// ClaimChangesResult says what is the caller's now.
type ClaimChangesResult struct {
	RoomID   stick.RoomID  `json:"room_id"`
	AgentID  stick.AgentID `json:"agent_id"`
	Joined   bool          `json:"joined,omitempty"`
	Checkout string        `json:"checkout"`          // its top level
	Paths    []string      `json:"paths"`             // the files of which it is news, relative to the checkout
	Already  bool          `json:"already,omitempty"` // it is news of none
}

// ClaimChanges records that uncommitted changes are a person's own, so that no agent takes them for its own
// or for nobody's. All named paths count, or none. A person that isn't a member joins. It fails with
// [stick.CodePersonOnly], [stick.CodeNotFound] for a path without uncommitted changes,
// [stick.CodeNotEnforced], [stick.CodeRoomClosed], [stick.CodeKicked], [stick.CodeUsage],
// [stick.CodeInvalidPath], and as [Guard.ListChanges] does.
func (g *Guard) ClaimChanges(ctx context.Context, p ClaimChangesParams) (ClaimChangesResult, error) {
	var res ClaimChangesResult
	w, c, err := g.namedChanges(ctx, p.Caller, p.Where, p.Paths)
	if err != nil {
		return res, err
	}

	err = g.writeOwners(ctx, p.Caller, c, w, func(
		o *op, by edits.Editor, files []edits.EditedFile,
	) (out []edits.EditedFile, err error) {
		out, err = edits.Mine(o.Room, by, o.Me.Person(), p.Not, files)
		res = ClaimChangesResult{
			RoomID: o.Room.ID, AgentID: o.Me.Agent, Joined: o.Joined, Checkout: c.top,
			Paths: editedPaths(out), Already: len(out) == 0,
		}
		return out, err
	})
	return res, err
}

// AdoptChangesParams names files whose uncommitted changes the caller makes its own.
type AdoptChangesParams struct {
	Caller core.Caller `json:"-"`
	core.Where

	// absolute, or relative to the directory of the call; a directory means everything below it. Or entries
	// of the stash, such as stash@{1}
	Paths  []string `json:"paths"`
	Reason string   `json:"reason"` // the former editors read it
}

// AdoptChangesResult says what is the caller's now, and whose it was.
type AdoptChangesResult struct {
	RoomID   stick.RoomID  `json:"room_id"`
	AgentID  stick.AgentID `json:"agent_id"`
	Joined   bool          `json:"joined,omitempty"`
	Checkout string        `json:"checkout"` // its top level

	// the files that weren't the caller's before, relative to the checkout
	Paths []string `json:"paths"`

	// the entries of the stash that weren't the caller's before, as git names them
	Stash     []string        `json:"stash,omitempty"`
	Already   bool            `json:"already,omitempty"` // there are none
	From      []stick.AgentID `json:"taken_from"`        // the former editors; each gets an event
	Rescue    *AdoptedCopy    `json:"rescue"`            // null if there is none
	RescueWhy stick.Words     `json:"rescue_why,omitempty"`
	Told      stick.Words     `json:"told,omitempty"` // what is against the rules, though it is allowed
	Hint      stick.Words     `json:"hint,omitempty"` // the next safe step
}

// AdoptedCopy is the rescue that was made of changes before they were adopted.
type AdoptedCopy struct {
	ID      string           `json:"id"`                 // of the rescue
	Files   int              `json:"files"`              // of how many paths it holds something; a deletion counts
	LeftOut []rescue.LeftOut `json:"left_out,omitempty"` // what it lacks
}

// AdoptChanges makes uncommitted changes the caller's own, whoever made them, if the caller may change these
// files now. It makes a rescue of them first, whose failure is in the result, and tells the former editors.
// The files stay as they are. All named paths count, or none. A caller that isn't a member joins. An entry of
// the stash is adopted alike, whoever may change files; its commit is kept. It fails with
// [stick.CodeEditDenied], and as [Guard.ClaimChanges] does for people.
func (g *Guard) AdoptChanges(ctx context.Context, p AdoptChangesParams) (AdoptChangesResult, error) {
	var res AdoptChangesResult
	q := edits.Adoption{Reason: p.Reason}
	if err := q.Check(); err != nil {
		if len(p.Paths) > 0 {
			err = stick.AsError(err).With("path", p.Paths[0])
		}
		return res, err
	}

	if slices.ContainsFunc(p.Paths, stash.IsName) {
		return g.adoptStash(ctx, p, q)
	}

	w, c, err := g.namedChanges(ctx, p.Caller, p.Where, p.Paths)
	if err != nil {
		return res, err
	}

	w.changes = slices.DeleteFunc(w.changes, func(c Change) bool { return c.Share == edits.ShareOwn })
	res = AdoptChangesResult{
		RoomID: w.room.ID, AgentID: w.me.Agent, Checkout: c.top, Paths: []string{}, From: []stick.AgentID{},
	}

	if res.Already = len(w.changes) == 0; res.Already {
		return res, nil
	}

	var paths, full []string
	for _, ch := range w.changes {
		full = append(full, filepath.Join(c.top, filepath.FromSlash(ch.Path)))
		paths = append(paths, ch.Path)
	}

	// Whoever may not change a file now may not make it its own either.
	told, step, err := g.askEdit(ctx, p.Caller, c.top, full)
	if err != nil {
		return res, err
	}

	res.Told, res.Hint = told, step.As(p.Caller.AssumedByFlag()).Words()

	// The former editors' work is kept before it changes hands.
	res.Rescue, res.RescueWhy = g.rescueBefore(ctx, c, paths, rescue.Facts{
		Room: string(w.room.ID), Agent: string(w.me.Agent), TurnID: w.room.Turn.ID,
		Cause: rescue.CauseCommand, Command: "tt changes adopt",
	})
	if res.Rescue != nil {
		q.Rescue = res.Rescue.ID
	}

	err = g.writeOwners(ctx, p.Caller, c, w, func(
		o *op, by edits.Editor, files []edits.EditedFile,
	) ([]edits.EditedFile, error) {
		q.By = by
		out, events, err := edits.Adopt(o.Room, q, files)
		o.Apply(o.Room, events)
		res.AgentID, res.Joined, res.Paths, res.From = o.Me.Agent, o.Joined, editedPaths(out), []stick.AgentID{}

		for _, ev := range events {
			res.From = append(res.From, ev.To)
		}

		return out, err
	})
	return res, err
}

// rescueBefore makes a rescue of what is uncommitted in files of a checkout. If there is none, why says so.
func (g *Guard) rescueBefore(
	ctx context.Context, c *checkout, paths []string, f rescue.Facts,
) (got *AdoptedCopy, why stick.Words) {
	tree, ok := workspace.FindCheckout(c.top, workspace.Env{})
	if !ok {
		return nil, "there is no checkout"
	}

	taken, err := g.Restorer.Take(ctx, rescue.Request{Tree: tree, Paths: paths, Untracked: true, Facts: f})
	switch {
	case err != nil:
		return nil, "failed: " + stick.AsError(err).Words()
	case taken.ID != "":
		return &AdoptedCopy{taken.ID, taken.Files, taken.LeftOut}, ""
	case len(taken.LeftOut) > 0:
		return nil, stick.Wordsf("failed: %s is left out, because %s", taken.LeftOut[0].Path, taken.LeftOut[0].Why)
	}

	return nil, "nothing is uncommitted"
}

// writeOwners lets a rule say whose files of a checkout are, and writes that down. The rule gets the files of
// w as they are noted now, and returns those that have changed. A caller that isn't a member joins.
func (g *Guard) writeOwners(
	ctx context.Context, by core.Caller, c *checkout, w uncommittedWork, rule func(
		*op, edits.Editor, []edits.EditedFile,
	) ([]edits.EditedFile, error),
) error {
	chosen := map[string]bool{}
	for _, ch := range w.changes {
		chosen[ch.Path] = true
	}

	c.room = w.room.ID
	return g.writeRoom(ctx, core.Where{RoomID: w.room.ID}, by, core.JoinsIfNew, func(o *op) error {
		o.Settle()
		me := ledger.EditorNow(o.Room, o.Me, o.Probes.Probed, o.Tx.Now())

		// The rule gets what is noted now: it may have changed since the look.
		known, err := o.Tx.Edited(c.room, c.top, nil)
		if err != nil {
			return err
		}

		files := edits.Look(known, w.found, edits.Editor{At: o.Tx.Now()})
		files, err = rule(o, me, slices.DeleteFunc(files, func(f edits.EditedFile) bool { return !chosen[f.Path] }))
		if err != nil || len(files) == 0 {
			return err
		}

		return ledger.AddEdited(o.Tx, c.room, c.top, files)
	})
}

// namedChanges finds the uncommitted files that paths name, in the checkout in which they lie, and whose they
// are.
func (g *Guard) namedChanges(
	ctx context.Context, by core.Caller, at core.Where, paths []string,
) (w uncommittedWork, c *checkout, err error) {
	if len(paths) == 0 {
		return w, nil, stick.Errorf(stick.CodeUsage, "no path given").With("field", "paths").
			Hintf("to see what is uncommitted: %s", stick.Cmd("tt changes"))
	}

	c, err = g.checkoutOfPaths(ctx, at, paths)
	if err != nil {
		return w, nil, err
	}

	looking, cancel := context.WithTimeout(ctx, changesLimit)
	defer cancel()
	if w, err = g.findWork(looking, by, c, c.files...); err != nil {
		return w, nil, err
	}
	if err := edits.NotesEdits(w.room); err != nil {
		return w, nil, err
	}

	for i, rel := range c.files {
		// Each named path has to stand for something, so that a typing error shows.
		below := func(ch Change) bool { return rel == "." || ch.Path == rel || strings.HasPrefix(ch.Path, rel+"/") }
		if !slices.ContainsFunc(w.changes, below) {
			return w, nil, stick.Errorf(stick.CodeNotFound, "%s has no uncommitted changes", paths[i]).
				With("path", paths[i]).
				Hintf("to see what is uncommitted: %s", stick.Cmd("tt changes"))
		}
	}

	for _, ch := range w.changes {
		// Only a file with a state that can be read, and with a name of text, is noted.
		seen := slices.ContainsFunc(w.found, func(s edits.SeenFile) bool { return s.Path == ch.Path })
		if !seen || !utf8.ValidString(ch.Path) {
			return w, nil, stick.Errorf(
				stick.CodeUsage,
				"tt can't record whose %s is: it can't be read as a file, or its name isn't text", ch.Path,
			).
				With("field", "paths").With("path", ch.Path)
		}
	}

	return w, c, nil
}

// checkoutOfPaths returns the checkout in which paths lie, with these paths relative to it. They must lie in
// the same one.
func (g *Guard) checkoutOfPaths(ctx context.Context, w core.Where, paths []string) (c *checkout, err error) {
	at, err := g.core.PlaceOf(ctx, w)
	if err != nil {
		return nil, err
	}

	env := g.core.Config.Workspace
	env.Dir = at.Path
	targets := workspace.NewTargets(env)

	for _, path := range paths {
		found, err := targets.ResolveNamed(path)
		if err != nil {
			return nil, err
		}

		top := found[0].Place.CheckoutTop()
		switch {
		case top == "":
			return nil, errNoCheckout(found[0].Place.Path)
		case c == nil:
			c = newCheckout(found[0].Place)
		case c.top != top:
			return nil, stick.Errorf(stick.CodeUsage, "%s isn't in the same checkout as %s", path, paths[0]).
				With("field", "paths").With("path", path).Hintf("run the command once for each checkout")
		}

		rel, _ := workspace.RelBelow(found[0].Full, top)
		c.files = append(c.files, filepath.ToSlash(rel))
	}

	return c, nil
}

// editedPaths are the paths of files.
func editedPaths(files []edits.EditedFile) []string {
	paths := []string{}
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths
}
