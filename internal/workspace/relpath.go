package workspace

import (
	"path/filepath"
	"strings"
)

// RelPath returns path relative to the workspace, with / between the names. The path must lie inside root,
// or inside one of tops, its linked worktrees (see [Worktrees]). A path in a worktree is relative to that
// worktree, as if it were in the main checkout: worktrees/a/src/x.go is src/x.go.
//
// RelPath follows links, as far as the path exists; the file itself needn't. A relative path is taken from
// cwd. root and tops are canonical. It fails with invalid_path if the path lies elsewhere or can't be read.
func RelPath(path, cwd, root string, tops []string) (rel string, err error) {
	real, rest, err := splitExisting(path, cwd)
	if err != nil {
		return "", err
	}

	full := filepath.Join(real, rest)

	// The deepest top level counts: a worktree may lie inside of the root.
	base := ""
	if IsWithin(full, root) {
		base = root
	}

	for _, top := range tops {
		if len(top) > len(base) && IsWithin(full, top) {
			base = top
		}
	}

	if base == "" {
		return "", invalid(nil, "the path is outside the workspace: %s", printable(path)).
			With("path", path).
			With("workspace", root).
			Hintf("name a path inside %s or one of its worktrees", printable(root))
	}

	rel = strings.TrimLeft(full[len(base):], string(filepath.Separator))
	if rel == "" {
		rel = "."
	}

	return filepath.ToSlash(rel), nil
}
