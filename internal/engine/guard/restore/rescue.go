package restore

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// How many rescues are listed: if nobody says how many, and at most.
const (
	defaultRescues = 50
	maxRescues     = 500
)

// ListRescuesParams asks for rescues.
type ListRescuesParams struct {
	core.Where
	All   bool `json:"all,omitempty"`   // those of every repository
	Limit int  `json:"limit,omitempty"` // 0 for 50, at most 500
}

// ListRescuesResult lists rescues, and the old tips of branches, each with the newest first.
type ListRescuesResult struct {
	Common     string            `json:"git_common_dir,omitempty"`   // of the repository of the call
	Rescues    []rescue.Manifest `json:"rescues"`                    // what each is
	Damaged    []string          `json:"damaged,omitempty"`          // the ids of rescues that can't be read
	Hidden     int               `json:"hidden,omitempty"`           // how many more rescues there are
	Tips       []KeptTip         `json:"kept_tips"`                  // of the repository of the call
	TipsHidden int               `json:"kept_tips_hidden,omitempty"` // how many more tips there are
	TipsWhy    stick.Words       `json:"kept_tips_unread,omitempty"` // why they can't be read

	// commits that only this repository has, and that aren't copied: refs, or "./" for all
	LeftOut []rescue.LeftOut `json:"commits_left_out,omitempty"`
}

// KeptTip is the last commit of a branch that was deleted or moved, or one that the repository has lost and
// ours has.
type KeptTip struct {
	rescue.Tip
	Inside string `json:"inside,omitempty"` // the git directory of the repository inside that of the call which had it
	Back   string `json:"brings_back"`      // the command that makes a branch of the commit

	command stick.Command
}

// Command is the command that makes a branch of the commit.
func (t KeptTip) Command() stick.Command { return t.command }

// ListRescues lists the rescues of the repository of a place, even if the repository itself is gone by now.
// It writes nothing. It fails with [stick.CodeNoRepository], [stick.CodeUsage] and, if there are rescues,
// [stick.CodeGitMissing].
func (rs *Restorer) ListRescues(ctx context.Context, p ListRescuesParams) (ListRescuesResult, error) {
	res := ListRescuesResult{Rescues: []rescue.Manifest{}, Tips: []KeptTip{}}
	switch {
	case p.Limit < 0 || p.Limit > maxRescues:
		return res, stick.Errorf(stick.CodeUsage, "a limit must be between 1 and %d", maxRescues).
			With("field", "limit")
	case p.Limit == 0:
		p.Limit = defaultRescues
	}

	// A repository that is gone may have left rescues, too.
	place, err := rs.core.PlaceOf(ctx, p.Where)
	if err != nil {
		return res, err
	}

	tree, found := workspace.FindCheckout(place.Path, rs.core.Config.Workspace)
	res.Common = cmp.Or(tree.Common, rs.goneRepository(place.Path))
	if res.Common == "" && !p.All {
		if err := place.CheckRepository(); err != nil {
			return res, err
		}
		return res, stick.Errorf(stick.CodeNoRepository, "%s isn't in a git repository", place.Path).
			With("path", place.Path).
			Hintf("for the rescues of all repositories: %s", stick.Cmd("tt rescue list --all"))
	}

	if found {
		rs.addTips(ctx, &res, p.Limit)
		res.LeftOut = rs.Store().LeftOutCommits(tree)
	}

	if res.Common != "" {
		rs.addLostTips(ctx, &res, res.Common, p.Limit)
		for _, inner := range rs.Store().InnerRepositories(
			res.Common, cmp.Or(tree.Top, filepath.Dir(res.Common)),
		) {
			rs.addLostTips(ctx, &res, inner, p.Limit)
		}
	}

	// No repository means the rescues of all.
	common := res.Common
	if p.All {
		common = ""
	}

	which := rescue.Named
	if !p.All && rs.keepsAlone(ctx, place) {
		which = rescue.Every
	}

	l, err := rs.Store().List(ctx, common, p.Limit, which)
	res.Rescues, res.Damaged, res.Hidden = l.Rescues, l.Damaged, l.Hidden
	return res, err
}

// keepsAlone reports whether work is copied at a place without a room. No event names a copy there, so all of
// them are listed.
func (rs *Restorer) keepsAlone(ctx context.Context, at *workspace.Place) bool {
	if !rs.core.Config.Snapshots.Alone {
		return false
	}

	db, err := rs.core.Open(ctx, false)
	if err != nil {
		return err == store.ErrAbsent
	}

	isOutside := false
	err = rs.core.View(ctx, db, core.Caller{}, func(tx *store.Tx, _ *core.Probes) error {
		rooms, err := tx.RoomsAt([][]string{at.Chain})
		isOutside = err == nil && rooms[0].Room == ""
		return err
	})
	return err == nil && isOutside
}

// goneRepository returns the common git directory of a repository around path that is gone and left rescues.
// It is empty if there is none.
func (rs *Restorer) goneRepository(path string) string {
	for dir := path; ; dir = filepath.Dir(dir) {
		if common := filepath.Join(dir, ".git"); rs.Store().Knows(common) {
			return common
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// ShowRescueParams asks what a rescue holds.
type ShowRescueParams struct {
	ID    string   `json:"rescue_id"`       // or the start of it, at least six characters
	Paths []string `json:"paths,omitempty"` // only these, and what is below them
	Limit int      `json:"limit,omitempty"` // of files; 0 for 200
}

// ShowRescueResult is a rescue and its files.
type ShowRescueResult struct {
	rescue.Rescue
	Hidden int  `json:"hidden,omitempty"`        // how many more files there are
	Gone   bool `json:"checkout_gone,omitempty"` // its checkout isn't there any more
}

// defaultFiles is how many files of a rescue are shown, if nobody says how many.
const defaultFiles = 200

// ShowRescue says what a rescue holds. It writes nothing. It fails with [stick.CodeNotFound] and
// [stick.CodeUsage].
func (rs *Restorer) ShowRescue(ctx context.Context, p ShowRescueParams) (ShowRescueResult, error) {
	if p.Limit < 0 {
		return ShowRescueResult{}, stick.Errorf(stick.CodeUsage, "a limit must be at least 1").
			With("field", "limit")
	}

	r, err := rs.rescueNamed(ctx, p.ID)
	if err != nil {
		return ShowRescueResult{}, err
	}
	if r.Entries, err = r.Within(rescuePaths(p.Paths, r.Top)); err != nil {
		return ShowRescueResult{}, err
	}

	res := ShowRescueResult{Rescue: r, Gone: core.IsGone(r.Top)}
	if limit := cmp.Or(p.Limit, defaultFiles); len(r.Entries) > limit {
		res.Entries, res.Hidden = r.Entries[:limit], len(r.Entries)-limit
	}

	return res, nil
}

// rescueNamed reads the rescue that a caller names.
func (rs *Restorer) rescueNamed(ctx context.Context, name string) (rescue.Rescue, error) {
	store := rs.Store()
	id, err := store.Named(name)
	if err != nil {
		return rescue.Rescue{}, err
	}
	return store.Show(ctx, id)
}

// rescuePaths makes absolute paths relative to the first of the directories that they lie in.
func rescuePaths(paths []string, tops ...string) []string {
	out := slices.Clone(paths)
	for i, p := range out {
		if !filepath.IsAbs(p) {
			continue
		}

		for _, top := range tops {
			if rel, ok := workspace.RelBelow(filepath.Clean(p), top); ok {
				out[i] = filepath.ToSlash(rel)
				break
			}
		}
	}

	return out
}

// DiffRescueParams asks what a restore would change.
type DiffRescueParams struct {
	core.Where          // another checkout of the repository; the zero Where means that of the rescue
	ID         string   `json:"rescue_id"`
	Paths      []string `json:"paths,omitempty"`
}

// DiffRescueResult says how the files of a rescue differ from those in a checkout.
type DiffRescueResult struct {
	ID       string `json:"id"`            // of the rescue
	Checkout string `json:"checkout"`      // the top level of the checkout that it was compared with
	Diff     string `json:"diff"`          // unified, from what is there now to what was rescued
	Cut      bool   `json:"cut,omitempty"` // there is more
}

// DiffRescue compares the files of a rescue with those in a checkout. It writes nothing, and fails as
// [Restorer.RestoreRescue] does.
func (rs *Restorer) DiffRescue(ctx context.Context, p DiffRescueParams) (DiffRescueResult, error) {
	_, r, top, err := rs.prepareRestore(
		ctx, p.Where, p.ID, p.Paths, stick.Cmd("tt rescue diff <rescue> --path <directory>"),
	)
	if err != nil {
		return DiffRescueResult{}, err
	}

	res := DiffRescueResult{ID: r.ID, Checkout: top}
	res.Diff, res.Cut, err = rs.Store().Diff(ctx, r)
	return res, err
}

// RestoreRescueParams asks to bring back what a rescue holds.
type RestoreRescueParams struct {
	Caller     core.Caller `json:"-"`
	core.Where             // another checkout of the repository; the zero Where means that of the rescue
	ID         string      `json:"rescue_id"` // or the start of it, at least six characters

	// relative to the top level of the checkout, or absolute; none for all
	Paths []string `json:"paths,omitempty"`
}

// RestoreRescueResult says what came back, path by path.
type RestoreRescueResult struct {
	ID       string `json:"id"`       // of the rescue
	Checkout string `json:"checkout"` // the top level of the checkout that it was restored to
	rescue.Restored

	// rescues of repositories inside the checkout, to be restored each by itself
	Nested []rescue.Nested `json:"nested,omitempty"`
	Told   stick.Words     `json:"told,omitempty"` // what the room says of the change, though it allows it
}

// RestoreRescue brings back what a rescue holds, if the caller may change these paths now. It destroys
// nothing: a path that has changed since stays as it is, and the rescued file is put beside it. What fails
// for one path is in the result. RestoreRescue may be repeated.
//
// It fails with [stick.CodeNotFound] if there is no such rescue, no such path in it, or its checkout is gone,
// with [stick.CodeNoRepository] and [stick.CodeUsage] for another place that isn't a checkout of the same
// repository, and with [stick.CodeEditDenied].
func (rs *Restorer) RestoreRescue(ctx context.Context, p RestoreRescueParams) (RestoreRescueResult, error) {
	shown, r, top, err := rs.prepareRestore(
		ctx, p.Where, p.ID, p.Paths, stick.Cmd("tt rescue restore <rescue> --path <directory>"),
	)
	if err != nil {
		return RestoreRescueResult{}, err
	}

	res := RestoreRescueResult{ID: r.ID, Checkout: top, Nested: shown.Nested}
	var paths []string
	for _, f := range shown.Entries {
		paths = append(paths, filepath.Join(top, filepath.FromSlash(f.Path)))
	}

	// There is no room for a directory that has to be made.
	if !core.IsGone(top) {
		if res.Told, _, err = rs.askEdit(ctx, p.Caller, top, paths); err != nil {
			return res, err
		}
	}

	res.Restored, err = rs.Store().Restore(ctx, r)

	// People aren't reminded of what is there again, or beside what has changed since.
	if err == nil && len(res.Failed) == 0 {
		err = rs.Store().Settle(r.ID)
	}
	return res, err
}

// IsRescueOpen reports whether there is a rescue on this host that nobody has brought back, neither by itself
// nor by undoing the call before which it was made.
func (rs *Restorer) IsRescueOpen(id string) bool { return rs.Store().IsOpen(id) }

// prepareRestore finds a rescue, as far as it is wanted, and the checkout for it, whose top level is top.
// again is the command for another checkout.
func (rs *Restorer) prepareRestore(
	ctx context.Context, w core.Where, name string, paths []string, again stick.Command,
) (r rescue.Rescue, q rescue.RestoreRequest, top string, err error) {
	if r, err = rs.rescueNamed(ctx, name); err != nil {
		return r, q, "", err
	}

	q.ID, top = r.ID, r.Top
	if w != (core.Where{}) {
		if q.Tree, err = rs.otherCheckout(ctx, w, r.Manifest); err != nil {
			return r, q, "", err
		}
		top = q.Tree.Top
	} else if core.IsGone(top) && !core.IsGone(r.Common) {
		return r, q, "", errCheckoutGone(r.Manifest, again)
	}

	q.Paths = rescuePaths(paths, top, r.Top)
	r.Entries, err = r.Within(q.Paths)
	return r, q, top, err
}

// otherCheckout finds the checkout of a place, which has to be one of the repository of a rescue. If that is
// gone, any checkout will do, such as one of a new clone.
func (rs *Restorer) otherCheckout(ctx context.Context, w core.Where, m rescue.Manifest) (workspace.Checkout, error) {
	place, err := rs.core.PlaceOf(ctx, w)
	if err != nil {
		return workspace.Checkout{}, err
	}

	tree, ok := workspace.FindCheckout(place.Path, rs.core.Config.Workspace)
	switch lost := place.CheckRepository(); {
	case lost != nil:
		return tree, lost
	case !ok:
		return tree, stick.Errorf(
			stick.CodeNoRepository, "%s isn't in a git repository, so nothing can be restored there", place.Path,
		).
			With("path", place.Path)
	case tree.Common != m.Common && !core.IsGone(m.Common):
		return tree, stick.Errorf(
			stick.CodeUsage, "rescue %s is of the repository %s, and %s isn't a checkout of that",
			m.ID, m.Common, tree.Top,
		).
			With("field", "path").With("rescue", m.ID).Hintf(
			"to restore it in its own checkout: %s", stick.Cmd("tt rescue restore <rescue>"),
		)
	}

	return tree, nil
}

// errCheckoutGone says that the checkout of a rescue was removed, while its repository is there. again is the
// command that takes another checkout.
func errCheckoutGone(m rescue.Manifest, again stick.Command) error {
	e := stick.Errorf(stick.CodeNotFound, "the checkout %s of rescue %s is gone", m.Top, m.ID).With("rescue", m.ID).
		With("checkout", m.Top)
	if main, ok := workspace.FindCheckout(filepath.Dir(m.Common), workspace.Env{}); ok && main.Common == m.Common {
		e.With("directory", main.Top)
	}
	return e.Hintf("use another checkout of the repository: %s", again)
}
