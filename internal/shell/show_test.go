package shell

import (
	"path/filepath"
	"strings"
)

// letters name the parts of a [Work] in the tables.
var letters = []struct {
	letter string
	work   Work
}{
	{"M", Modified},
	{"S", Staged},
	{"P", Partly},
	{"U", Untracked},
	{"I", Ignored},
	{"N", Nested},
	{"T", Stash},
	{"C", Commits},
}

func showWork(work Work) (s string) {
	for _, l := range letters {
		if work&l.work != 0 {
			s += l.letter
		}
	}
	return s
}

// showAct is an act as the tables show it: its kind, what it loses, and its paths or refs.
func showAct(a Act, dir string) string {
	s := strings.TrimSpace(string(a.Kind) + " " + showWork(a.Loses))
	if a.Dir != dir {
		s += " in " + below(dir, a.Dir)
	}
	if a.Some {
		s += " some"
	}
	if a.Tracked {
		s += " tracked"
	}
	for _, p := range a.Paths {
		s += " " + below(dir, p)
	}
	for _, r := range a.Refs {
		s += " " + r
	}
	return s
}

// below shortens a path for the tables.
func below(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, dir+"/"); ok {
		if rest == "" {
			return "./"
		}
		return rest
	}

	rel, err := filepath.Rel(dir, path)
	if err == nil && strings.HasPrefix(rel, "../") && strings.Count(rel, "..") == 1 {
		return rel
	}
	return strings.ReplaceAll(path, dir, ".")
}

func showActs(acts []Act, dir string) string {
	var all []string
	for _, a := range acts {
		all = append(all, showAct(a, dir))
	}
	return strings.Join(all, "; ")
}
