package confedit

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// maxLinks bounds how many links to what doesn't exist a path may lead through, as Linux does for those that
// lead somewhere.
const maxLinks = 40

// FollowLinks returns a path with all links followed. What it leads to, and the last parts of it, needn't
// exist. It returns the empty string for links that lead in a circle.
func FollowLinks(path string) string {
	path = filepath.Clean(path)
	// rest are the last parts of the path, which don't exist.
	rest := ""

	for links := 0; links <= maxLinks; {
		if _, err := os.Stat(path); errors.Is(err, syscall.ELOOP) {
			// [filepath.EvalSymlinks] would go round hundreds of times.
			return ""
		}
		if found, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(found, rest)
		}

		link, err := os.Readlink(path)
		if err == nil {
			// It leads to what doesn't exist.
			if links++; !filepath.IsAbs(link) {
				link = filepath.Join(realDir(path), link)
			}
			path = filepath.Clean(link)
			continue
		}

		if filepath.Dir(path) == path {
			return filepath.Join(path, rest)
		}

		path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
	}
	return ""
}

// realDir returns the directory in which a link lies.
func realDir(link string) string {
	dir := filepath.Dir(link)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
