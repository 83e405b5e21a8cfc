package config

import (
	"slices"
	"strings"

	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// Snapshots is the section [snapshots], of a project's file or of the user's.
type Snapshots struct {
	Never []glob.Pattern // files that are never copied; nil for none

	// Work is copied in repositories without a room, too. Only the user's file says so.
	Alone, SaysAlone bool
}

// snapshotKeys are the keys of [snapshots].
var snapshotKeys = []key{
	{
		"never", "a list of patterns", "files whose bytes are in no snapshot and no rescue. A pattern without a slash is a name in any directory; " +
			"one that matches a directory means everything below it", func(c *Config, v any) error { return readPatterns(v, &c.Snapshots.Never) },
	},
}

// Matcher returns a function that reports whether a file is never copied, by its path relative to the
// directory of the configuration. With fold, upper and lower case don't count.
func (s Snapshots) Matcher(fold bool) func(path string) bool {
	var ofName, ofPath []func(string) bool
	for _, p := range s.Never {
		if strings.Contains(string(p), "/") {
			ofPath = append(ofPath, p.Matcher(fold))
		} else {
			ofName = append(ofName, p.Matcher(fold))
		}
	}

	return func(path string) bool {
		// A pattern that matches a directory on the way means the file, too.
		for at, rest := 0, path; rest != ""; {
			name, after, _ := strings.Cut(rest, "/")
			at += len(name)
			if matchesAny(ofName, name) || matchesAny(ofPath, path[:at]) {
				return true
			}
			at, rest = at+1, after
		}
		return false
	}
}

func matchesAny(all []func(string) bool, path string) bool {
	return slices.ContainsFunc(all, func(matches func(string) bool) bool { return matches(path) })
}

// validPatterns returns the patterns of a list that are understood. It is for those who go on in spite of a
// fault elsewhere in a file: what somebody wanted kept out of copies stays out.
func validPatterns(v any) (all []glob.Pattern) {
	list, _ := v.([]any)
	for _, x := range list {
		text, _ := x.(string)
		if p, err := scope.ParsePattern(text); err == nil {
			all = append(all, p)
		}
	}
	return all
}
