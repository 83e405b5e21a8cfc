package workspace

import "path/filepath"

// markers are the files that make a directory a workspace outside git. If a directory has several, the
// first of this list is reported.
var markers = [...]string{
	".talking-stick",
	".talking-stick.toml",
	"CLAUDE.md",
	"AGENTS.md",
	"package.json",
	"pyproject.toml",
	"Cargo.toml",
	"go.mod",
}

// findMarker finds the nearest directory with a marker, from dir upwards. A marker in the home directory
// counts only for the home directory itself: people keep a CLAUDE.md there for all their projects, which
// must not become one room.
func findMarker(dir, home string) (root, name string, ok bool) {
	home = realHome(home)
	for d := dir; ; d = filepath.Dir(d) {
		if d != home || d == dir {
			for _, m := range markers {
				if hasEntry(d, m) {
					return d, m, true
				}
			}
		}

		if d == filepath.Dir(d) {
			return "", "", false
		}
	}
}

// realHome returns the canonical form of the home directory. One that can't be looked up stays as it is.
func realHome(home string) string {
	if home != "" {
		if real, err := canonicalPath(home); err == nil {
			return real
		}
	}

	return home
}
