package install

import (
	"path/filepath"

	"talkingstick/internal/confedit"
)

// isInside reports whether a path lies in a directory, with all links followed.
func isInside(path, dir string) bool {
	if !filepath.IsAbs(path) {
		return false
	}

	real := confedit.FollowLinks(path)
	if real == "" {
		return false
	}

	rel, err := filepath.Rel(confedit.FollowLinks(dir), real)
	return err == nil && filepath.IsLocal(rel)
}

// leadsOutside reports whether a project's file would be written outside of the project, because a link leads
// there. Whoever wrote the link may not be who installs, so nothing there is read or written. A link that
// leads to itself leads nowhere; whoever reads or writes it hears of that.
func (t Target) leadsOutside(path string) bool {
	return t.Project != "" && confedit.FollowLinks(path) != "" && !isInside(path, t.Project)
}

// realPath returns where a file really lies, if a link below the project or the home directory leads there.
// It is empty where the path itself says it.
func (t Target) realPath(path string) string {
	real, root := confedit.FollowLinks(path), t.Home
	if t.Project != "" {
		root = t.Project
	}

	plain := filepath.Clean(path)
	if rel, err := filepath.Rel(root, plain); err == nil && filepath.IsLocal(rel) {
		plain = filepath.Join(confedit.FollowLinks(root), rel)
	}
	if real == plain {
		return ""
	}

	return real
}
