package workspace

import (
	"path/filepath"
	"strings"
)

// RelPath gives path in the terms of the workspace at root, with / between the names, when it lies
// inside of root or of one of tops, the tops of its linked worktrees (see [Worktrees]). Links are
// followed as far as they exist; the file itself needn't exist. What lies in a worktree is named as
// if it were in the main checkout: worktrees/a/src/x.go is src/x.go. A relative path is taken from
// cwd; root and tops are canonical.
//
// It fails with invalid_path for a path that lies elsewhere or can't be looked at.
func RelPath(path, cwd, root string, tops []string) (rel string, err error) {
	real, rest, err := splitExisting(path, cwd)
	if err != nil {
		return "", err
	}
	full := filepath.Join(real, rest)
	base := ""
	if within(full, root) {
		base = root
	}
	for _, top := range tops {
		if len(top) > len(base) && within(full, top) { // a worktree may lie inside of the root
			base = top
		}
	}
	if base == "" {
		return "", invalid(nil, "the path lies outside of the workspace: %s", printable(path)).
			With("path", path).
			With("workspace", root).
			Hintf("name a path inside of %s or of one of its worktrees", printable(root))
	}
	rel = strings.TrimLeft(full[len(base):], string(filepath.Separator))
	if rel == "" {
		rel = "."
	}
	return filepath.ToSlash(rel), nil
}
