package shell

import (
	"slices"
	"strings"
	"sync"
)

// jjReads are the commands of jj that only read, by one word or by two. Jujutsu notes in its own directory
// what it has seen of the tree, also with these, and leaves the tree as it is.
var jjReads = sync.OnceValue(func() map[string]bool {
	one := wordSet("log status st diff show files evolog evolution-log obslog interdiff root version help")
	two := map[string]string{
		"op": "log show diff", "operation": "log show diff", "bookmark": "list l", "b": "list l",
		"branch": "list", "tag": "list l",
		"config": "list l get g path p", "file": "list show annotate search",
		"git": "root", "git remote": "list", "workspace": "list root",
		"sparse": "list", "util": "completion config-schema markdown-help mangen",
	}

	for name, verbs := range two {
		for verb := range strings.FieldsSeq(verbs) {
			one[name+" "+verb] = true
		}
	}

	return one
})

// jjWritesElsewhere reports whether a command of jj writes to another directory than the tree in which it
// runs.
func jjWritesElsewhere(command []word) bool {
	return isJJ(command, map[string]bool{"workspace add": true, "git clone": true})
}

// runJJ is Jujutsu. Nearly all of its commands may bring another commit into the tree, or change the one that
// is the tree, which all who work there share. So any that isn't known to only read counts as a change of the
// whole tree; an alias, too.
func (w *walker) runJJ(args []word) {
	w.inSubshell(func(w *walker) {
		o := parseOptions(args, "+R:", "repository",
			"at-operation", "at-op", "color", "config", "config-file", "config-toml")
		if at, ok := o.value("R", "repository"); ok {
			w.enterDirectory(at)
		}

		w.writes = w.writes || !isHarmlessJJ(o)

		command := o.rest
		switch {
		case len(command) == 0, o.has("h", "help", "V", "version"), asksForHelp(command):
			// Without a command jj prints the log.
		case !command[0].isKnown():
			w.writes = true
		case isJJ(command, jjReads()):
			w.writes = w.writes || parseOptions(command, "").has("tool", "config", "config-file", "config-toml")
		case jjWritesElsewhere(command):
			w.writes = true
		default:
			w.changeTree()
		}
	})
}

// isJJ reports whether a command of jj is one of those with these names.
func isJJ(command []word, names map[string]bool) bool {
	name := ""
	for _, x := range command[:min(3, len(command))] {
		if !x.isKnown() {
			return false
		}
		if name = strings.TrimSpace(name + " " + x.text); names[name] {
			return true
		}
	}
	return false
}

// isHarmlessJJ reports whether the settings in a command of jj change at most how it prints.
func isHarmlessJJ(o options) bool {
	if o.has("config-file", "config-toml") || o.times("config") > 1 {
		return false
	}

	set, given := o.value("config")
	harmless := []string{"ui.color", "ui.paginate=", "ui.graph.", "user."}
	return !given || set.ok && slices.ContainsFunc(harmless, func(p string) bool {
		return strings.HasPrefix(set.text, p)
	})
}
