package bare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/manifest"
)

// Ref is a rescue, as the repository names it.
type Ref struct {
	Form         Form
	Checkout, ID string
}

// NoCommit is the name of no object.
const NoCommit = "0000000000000000000000000000000000000000"

// ListRefs lists the rescues of a checkout, or of all if checkout is empty, in some forms, or in all. Of each
// form and checkout they are sorted by id.
func (r *Repository) ListRefs(checkout string, in ...Form) (all []Ref, err error) {
	if len(in) == 0 {
		in = Forms
	}
	for _, f := range in {
		checkouts := []string{checkout}
		if checkout == "" {
			if checkouts, err = ListNames(r.PathTo(f.Refs)); err != nil {
				return nil, err
			}
		}

		for _, c := range checkouts {
			ids, err := ListNames(r.PathTo(f.Refs + "/" + c))
			if err != nil {
				return nil, err
			}

			for _, id := range ids {
				if _, ok := manifest.TimeOf(id); ok {
					all = append(all, Ref{f, c, id})
				}
			}
		}
	}

	return all, nil
}

// RefPath is the file of a ref.
func (r *Repository) RefPath(f Ref) string {
	return r.PathTo(f.Form.Refs + "/" + f.Checkout + "/" + f.ID)
}

// ReadCommit reads the commit of a ref: [NoCommit] if its file is damaged. ok is false if there is none.
func (r *Repository) ReadCommit(f Ref) (commit string, ok bool) {
	b, err := plainfile.Read(r.RefPath(f))
	if errors.Is(err, fs.ErrNotExist) {
		return NoCommit, false
	}

	commit = strings.TrimSpace(string(b))
	if err != nil || len(commit) != len(NoCommit) || strings.Trim(commit, "0123456789abcdef") != "" {
		commit = NoCommit
	}
	return commit, true
}

// IsHeld reports whether a rescue is still there.
func (r *Repository) IsHeld(f Ref) bool {
	_, err := os.Lstat(r.RefPath(f))
	return err == nil
}

// LastWithTree returns the newest whole rescue of a checkout, if its state has this tree.
func (r *Repository) LastWithTree(ctx context.Context, checkout, tree string) (id string, ok bool) {
	all, err := r.ListRefs(checkout, WholeForm)
	if err != nil || len(all) == 0 {
		return "", false
	}
	f := all[len(all)-1]

	// An id ends with the start of the tree's name: most others need no git.
	if !strings.HasSuffix(f.ID, tree[:manifest.IDLen-manifest.IDTime-1]) {
		return "", false
	}

	commit, _ := r.ReadCommit(f)
	var out bytes.Buffer
	_, err = r.OwnGit().Run(ctx, nil, &out, "rev-parse", "--verify", "--quiet", commit+"^{tree}")
	return f.ID, err == nil && strings.TrimSpace(out.String()) == tree
}

// MoveRef gives a rescue another commit.
func (r *Repository) MoveRef(f Ref, commit string) error {
	path := r.RefPath(f)
	file, err := plainfile.Temp(filepath.Dir(path), TempPrefix)
	if err != nil {
		return ErrUnwritable(path, err)
	}

	_, err = file.WriteString(commit + "\n")
	err = errors.Join(err, file.Sync(), file.Close())

	// The ref has the old commit or the new one at any moment.
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
		return fmt.Errorf("write a rescue: %w", err)
	}
	return nil
}
