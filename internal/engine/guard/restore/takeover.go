package restore

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// TakeoverRescue is the rescue of what the holder before left uncommitted, made before the new holder changes
// anything.
type TakeoverRescue struct {
	ID       string           `json:"id"`                 // of the rescue
	Checkout string           `json:"checkout"`           // the top level of the checkout that it is of
	Files    int              `json:"files"`              // how many paths it covers, deleted ones included
	Bytes    int64            `json:"bytes"`              // the size of that, with what was staged
	LeftOut  []rescue.LeftOut `json:"left_out,omitempty"` // what it lacks
	Nested   []rescue.Nested  `json:"nested,omitempty"`   // rescues of repositories inside the checkout
}

// CommittedTakeover is what a transaction knows of a takeover that it commits, as far as the rescue after it
// needs to know.
type CommittedTakeover struct {
	took     bool // the caller holds the stick by a takeover
	already  bool // which an earlier command made
	enforces bool // the room does
	copies   bool // the room keeps copies of uncommitted work
	path     string
	left     []stick.Process // those of the holder before
	facts    rescue.Facts
}

// DescribeTakeover describes the takeover by which the caller has the stick now, if it has.
func DescribeTakeover(o *core.Op, why stick.ClaimReason) (t CommittedTakeover, err error) {
	r := o.Room
	t = CommittedTakeover{
		enforces: edits.Enforces(r), copies: edits.KeepsSnapshots(r), path: r.Path, already: why == stick.AlreadyOwner,
	}

	event := o.LastEvent(stick.EventTakeover)
	if t.already {
		if event, err = o.LastGrant(); err != nil {
			return t, err
		}
	}

	if event == nil || event.Type != stick.EventTakeover || event.Turn != r.Turn.ID {
		return t, nil
	}

	t.took = true
	if m, ok := r.Member(event.To); ok {
		for _, ev := range m.Processes {
			t.left = append(t.left, ev.Process)
		}
	}

	t.facts = rescue.Facts{
		Room: string(r.ID), Agent: string(o.Me.Agent), TurnID: r.Turn.ID,
		Cause: rescue.CauseTakeover, Prior: string(event.To),
	}

	return t, nil
}

// RescueAfterTakeover makes the rescue after a takeover that was committed. If there is none, why says so.
// Nothing that fails here undoes the takeover.
func (rs *Restorer) RescueAfterTakeover(
	ctx context.Context, w core.Where, t CommittedTakeover,
) (got *TakeoverRescue, why stick.Words) {
	switch {
	case !t.took:
		return nil, "nothing was taken over"
	case !t.enforces:
		return nil, "the room enforces nothing"
	case !t.copies:
		return nil, "the room has snapshots=off"
	}

	trees := rs.treesLeft(w, t)
	if len(trees) == 0 {
		return nil, "the workspace isn't a checkout of git"
	}
	if t.already {
		if got := rs.rescueOfTurn(ctx, trees, t.facts); got != nil {
			return got, ""
		}
	}

	why = "nothing is uncommitted"
	for _, tree := range trees {
		taken, err := rs.Take(ctx, rescue.Request{Tree: tree, Untracked: true, Nested: true, Facts: t.facts})

		// Only repositories inside have uncommitted files.
		if taken.ID == "" && len(taken.Nested) > 0 {
			taken.ID = taken.Nested[0].ID
		}

		switch {
		case err != nil:
			why = "failed: " + stick.AsError(err).Words()
		case taken.ID != "":
			return &TakeoverRescue{taken.ID, tree.Top, taken.Files, taken.Bytes, taken.LeftOut, taken.Nested}, ""
		case len(taken.LeftOut) > 0:
			why = stick.Wordsf("failed: %s is left out, because %s", taken.LeftOut[0].Path, taken.LeftOut[0].Why)
		}
	}

	return nil, why
}

// treesLeft returns the checkouts in which a prior owner may have left work, the likeliest first: that in
// which its process still runs, the one that the members of the room share, and the caller's. Other
// repositories aren't the room's.
func (rs *Restorer) treesLeft(w core.Where, t CommittedTakeover) (trees []workspace.Checkout) {
	var dirs []string
	for _, p := range t.left {
		if dir, ok := rs.core.Config.Procs.WorkingDir(p); ok {
			dirs = append(dirs, dir)
		}
	}

	dirs = append(dirs, t.path)
	if place, err := rs.core.PlaceToRead(w); err == nil && place != nil {
		dirs = append(dirs, place.Path)
	}

	shared, inGit := workspace.FindCheckout(t.path, workspace.Env{})
	seen := map[string]bool{}
	for _, dir := range dirs {
		tree, ok := workspace.FindCheckout(dir, workspace.Env{})
		if !ok || seen[tree.Top] || inGit && tree.Common != shared.Common ||
			!inGit && !workspace.IsWithin(tree.Top, t.path) {
			continue
		}

		seen[tree.Top] = true
		trees = append(trees, tree)
	}

	return trees
}

// rescueOfTurn finds the rescue that an earlier command has made after the same takeover, or returns nil.
func (rs *Restorer) rescueOfTurn(ctx context.Context, trees []workspace.Checkout, f rescue.Facts) *TakeoverRescue {
	l, err := rs.Store().List(ctx, trees[0].Common, 0, rescue.Named)
	if err != nil {
		return nil
	}

	for _, m := range l.Rescues {
		if m.Cause == f.Cause && m.Room == f.Room && m.TurnID == f.TurnID {
			return &TakeoverRescue{m.ID, m.Top, m.Files, m.Bytes, m.LeftOut, m.Nested}
		}
	}

	return nil
}
