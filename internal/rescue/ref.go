package rescue

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
)

// ref is a rescue, as the repository names it.
type ref struct {
	form         form
	checkout, id string
}

// noCommit is the name of no object.
const noCommit = "0000000000000000000000000000000000000000"

// listRefs lists the rescues of a checkout, or of all if checkout is empty, in some forms, or in all. Of each
// form and checkout they are sorted by id.
func (r *bareRepository) listRefs(checkout string, in ...form) (all []ref, err error) {
	if len(in) == 0 {
		in = forms
	}
	for _, f := range in {
		checkouts := []string{checkout}
		if checkout == "" {
			if checkouts, err = listNames(r.pathTo(f.refs)); err != nil {
				return nil, err
			}
		}

		for _, c := range checkouts {
			ids, err := listNames(r.pathTo(f.refs + "/" + c))
			if err != nil {
				return nil, err
			}

			for _, id := range ids {
				if _, ok := timeOf(id); ok {
					all = append(all, ref{f, c, id})
				}
			}
		}
	}

	return all, nil
}

func (r *bareRepository) refPath(f ref) string {
	return r.pathTo(f.form.refs + "/" + f.checkout + "/" + f.id)
}

// readCommit reads the commit of a ref: noCommit if its file is damaged. ok is false if there is none.
func (r *bareRepository) readCommit(f ref) (commit string, ok bool) {
	b, err := plainfile.Read(r.refPath(f))
	if errors.Is(err, fs.ErrNotExist) {
		return noCommit, false
	}

	commit = strings.TrimSpace(string(b))
	if err != nil || len(commit) != len(noCommit) || strings.Trim(commit, "0123456789abcdef") != "" {
		commit = noCommit
	}
	return commit, true
}

// isHeld reports whether a rescue is still there.
func (r *bareRepository) isHeld(f ref) bool {
	_, err := os.Lstat(r.refPath(f))
	return err == nil
}

// lastWithTree returns the newest whole rescue of a checkout, if its state has this tree.
func (r *bareRepository) lastWithTree(ctx context.Context, checkout, tree string) (id string, ok bool) {
	all, err := r.listRefs(checkout, wholeForm)
	if err != nil || len(all) == 0 {
		return "", false
	}
	f := all[len(all)-1]

	// An id ends with the start of the tree's name: most others need no git.
	if !strings.HasSuffix(f.id, tree[:idLen-idTime-1]) {
		return "", false
	}

	commit, _ := r.readCommit(f)
	var out bytes.Buffer
	_, err = r.ownGit().Run(ctx, nil, &out, "rev-parse", "--verify", "--quiet", commit+"^{tree}")
	return f.id, err == nil && strings.TrimSpace(out.String()) == tree
}

// moveRef gives a rescue another commit.
func (r *bareRepository) moveRef(f ref, commit string) error {
	path := r.refPath(f)
	file, err := plainfile.Temp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return unwritable(path, err)
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
