package workspace

import "path/filepath"

// markers are the names that make a directory a workspace where there is no git. Where a directory
// has several, the first is the one reported.
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

// findMarker gives the nearest ancestor of dir, or dir itself, with a marker. A marker in the home
// directory counts only for that directory: people keep a CLAUDE.md there for all of their
// projects, and it must not make one room of them.
func findMarker(dir, home string) (root, name string, ok bool) {
	if home != "" {
		if real, err := canonical(home); err == nil {
			home = real
		}
	}
	for d := dir; ; d = filepath.Dir(d) {
		if d != home || d == dir {
			for _, m := range markers {
				if exists(d, m) {
					return d, m, true
				}
			}
		}
		if d == filepath.Dir(d) {
			return "", "", false
		}
	}
}
