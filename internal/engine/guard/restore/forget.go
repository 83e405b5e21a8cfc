package restore

import (
	"context"
	"os"
	"path/filepath"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// ForgetRescueParams asks to remove a rescue, or a file from all rescues. One of ID and File is set.
type ForgetRescueParams struct {
	Caller     core.Caller `json:"-"`
	core.Where             // a checkout of the repository whose rescues lose the file

	// of a rescue or a snapshot, or the start of it, at least six characters
	ID string `json:"rescue_id,omitempty"`

	// relative to the top level of the checkout, or absolute; a directory means everything below it
	File string `json:"file,omitempty"`
}

// ForgetRescueResult says what was removed.
type ForgetRescueResult struct {
	ID      string   `json:"id,omitempty"`         // of the rescue that is gone
	File    string   `json:"file,omitempty"`       // the file that was removed, relative to the top level
	Rescues []string `json:"rescues,omitempty"`    // the ids of those that had the file, and are without it now
	Unread  []string `json:"unread,omitempty"`     // the ids of damaged ones, of which nobody can say what they have
	Kept    bool     `json:"kept_again,omitempty"` // the file is there, so the next snapshot may keep it again
}

// ForgetRescue removes a rescue, or a file from all rescues of a repository, and the bytes from the disk.
// Only a person may: an agent could remove what others need. Nothing brings them back. It may be repeated.
//
// It fails with [stick.CodePersonOnly] for an agent, with [stick.CodeNotFound] if there is no such rescue, or
// no rescue has the file, with [stick.CodeNoRepository] and [stick.CodeUsage] for a file that isn't in a
// checkout, and with [stick.CodeDataDirNotWritable].
func (rs *Restorer) ForgetRescue(ctx context.Context, p ForgetRescueParams) (ForgetRescueResult, error) {
	switch {
	case !isPerson(p.Caller):
		return ForgetRescueResult{}, stick.Errorf(
			stick.CodePersonOnly, "only a person may forget a copy of uncommitted work",
		).
			Hintf("ask a person to run it")
	case (p.ID == "") == (p.File == ""):
		return ForgetRescueResult{}, stick.Errorf(stick.CodeUsage, "name a rescue or a file")
	case p.ID != "":
		return rs.forgetRescue(ctx, p.ID)
	}

	return rs.forgetFile(ctx, p)
}

// isPerson reports whether a caller is a person under its own name.
func isPerson(by core.Caller) bool {
	return by.Person && (by.As == "" || stick.AgentID(by.As).Human())
}

func (rs *Restorer) forgetRescue(ctx context.Context, name string) (ForgetRescueResult, error) {
	store := rs.Store()
	id, err := store.Named(name)
	if stick.CodeOf(err) == stick.CodeNotFound {
		// Its forgetting may have been interrupted.
		id = name
	} else if err != nil {
		return ForgetRescueResult{}, err
	}

	return ForgetRescueResult{ID: id}, store.Forget(ctx, id)
}

func (rs *Restorer) forgetFile(ctx context.Context, p ForgetRescueParams) (res ForgetRescueResult, err error) {
	top, common, err := rs.repositoryOf(ctx, p)
	if err != nil {
		return res, err
	}

	res.File = rescuePaths([]string{p.File}, top)[0]

	done, err := rs.Store().ForgetPath(ctx, common, filepath.ToSlash(res.File))
	if err != nil {
		return res, err
	}

	res.Rescues, res.Unread = done.Rescues, done.Unread
	if len(done.Rescues)+len(done.Unread) == 0 {
		return res, stick.Errorf(stick.CodeNotFound, "no rescue of %s has %s", top, res.File).
			With("path", res.File).
			Hintf("see what rescues have: %s", stick.Cmd("tt rescue list"))
	}

	_, err = os.Lstat(filepath.Join(top, filepath.FromSlash(res.File)))
	res.Kept = err == nil
	return res, nil
}

// repositoryOf finds the checkout in which a file lies or lay, and its common git directory. The repository
// may be gone.
func (rs *Restorer) repositoryOf(ctx context.Context, p ForgetRescueParams) (top, common string, err error) {
	place, err := rs.core.PlaceOf(ctx, p.Where)
	if err != nil {
		return "", "", err
	}

	from, env := place.Path, rs.core.Config.Workspace
	if filepath.IsAbs(p.File) {
		from, env = nearestDir(filepath.Dir(filepath.Clean(p.File))), workspace.Env{}
	}
	if tree, found := workspace.FindCheckout(from, env); found {
		return tree.Top, tree.Common, nil
	}
	if common = rs.goneRepository(from); common != "" {
		return filepath.Dir(common), common, nil
	}
	if err := workspace.CheckRepository(from, env); err != nil {
		return "", "", err
	}

	return "", "", stick.Errorf(stick.CodeNoRepository, "%s isn't in a git repository", from).With("path", from).
		Hintf(
			"name the file by its absolute path, or a rescue by its id: %s",
			stick.Cmd("tt rescue forget <id|path>"),
		)
}

// nearestDir returns a directory, or the nearest one above it that is there.
func nearestDir(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// IsRescue reports whether a text is how people name a rescue that there is.
func (rs *Restorer) IsRescue(name string) bool {
	_, err := rs.Store().Named(name)
	return err == nil || rescue.IsID(name)
}
