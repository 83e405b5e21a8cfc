package workspace

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// recordedSpelling returns path as its directories spell it. Some file systems find src under SRC, or é
// under e with an accent, and one directory must not be two rooms. Names in a directory that can't be
// listed stay as given.
func recordedSpelling(path string, list func(dir string) ([]fs.DirEntry, error), same func(a, b string) bool) string {
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}

	name := filepath.Base(path)

	// The names above decide which directory is listed, so they come first.
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

	// Perhaps it is another Unicode form: only comparing the files shows it.
	if found == "" {
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
