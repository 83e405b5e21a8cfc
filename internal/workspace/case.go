package workspace

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// recordedSpelling gives path in the spelling that its directories have on record, for file systems that
// find src under SRC, or é under e with an accent: one directory must not be two rooms. A directory
// that can't be listed leaves its entry as it was given.
func recordedSpelling(path string, list func(dir string) ([]fs.DirEntry, error), same func(a, b string) bool) string {
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	name := filepath.Base(path)
	parent = recordedSpelling(parent, list, same)
	entries, err := list(parent)
	if err != nil {
		return filepath.Join(parent, name)
	}
	given := filepath.Join(parent, name)
	found := ""
	for _, e := range entries {
		switch {
		case e.Name() == name:
			return given
		case found == "" && strings.EqualFold(e.Name(), name) && same(given, filepath.Join(parent, e.Name())):
			found = e.Name()
		}
	}
	if found == "" { // another Unicode form: nothing but the file itself tells
		for _, e := range entries {
			if e.IsDir() && same(given, filepath.Join(parent, e.Name())) {
				found = e.Name()
				break
			}
		}
	}
	if found == "" {
		return given
	}
	return filepath.Join(parent, found)
}
