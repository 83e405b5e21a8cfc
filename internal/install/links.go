package install

import (
	"os"
	"path/filepath"
)

// maxLinks bounds how many links a path may lead through.
const maxLinks = 100

// follow returns a path with all links followed. What it leads to, and the last parts of it, needn't exist. It
// returns the empty string for links that lead in a circle.
func follow(path string) string {
	path = filepath.Clean(path)
	rest := "" // parts that don't exist
	for range maxLinks {
		if found, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(found, rest)
		}
		link, err := os.Readlink(path)
		switch {
		case err == nil && filepath.IsAbs(link):
			path = filepath.Clean(link)
		case err == nil:
			path = filepath.Join(follow(filepath.Dir(path)), link)
		case filepath.Dir(path) == path:
			return filepath.Join(path, rest)
		default:
			path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
		}
	}
	return ""
}

// inside reports whether a path lies in a directory, with all links followed.
func inside(path, dir string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	real := follow(path)
	if real == "" {
		return false
	}
	rel, err := filepath.Rel(follow(dir), real)
	return err == nil && filepath.IsLocal(rel)
}

// leaves reports whether a project's file would be written outside of the project, because a link leads there.
// Whoever wrote the link may not be who installs, so nothing there is read or written.
func (t Target) leaves(path string) bool { return t.Project != "" && !inside(path, t.Project) }

// behind returns where a file really lies, if a link below the project or the home directory leads there. It is
// empty where the path itself says it.
func (t Target) behind(path string) string {
	real, root := follow(path), t.Home
	if t.Project != "" {
		root = t.Project
	}
	plain := filepath.Clean(path)
	if rel, err := filepath.Rel(root, plain); err == nil && filepath.IsLocal(rel) {
		plain = filepath.Join(follow(root), rel)
	}
	if real == plain {
		return ""
	}
	return real
}
