package confedit

import (
	"os"
	"path/filepath"
)

// maxLinks bounds how many links a path may lead through.
const maxLinks = 100

// Follow returns a path with all links followed. What it leads to, and the last parts of it, needn't exist. It
// returns the empty string for links that lead in a circle.
func Follow(path string) string {
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
			path = filepath.Join(Follow(filepath.Dir(path)), link)
		case filepath.Dir(path) == path:
			return filepath.Join(path, rest)
		default:
			path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
		}
	}
	return ""
}
