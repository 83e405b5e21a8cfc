package shell

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellAliases are the aliases of the shell that the command's text makes. A shell expands them where it
// reads a line, so that an alias, and the option that turns them on, count from the next line on.
type shellAliases struct {
	on   bool
	text map[string]string // subshells share it, so that it is never changed in place
	line map[string]string // those that are expanded in the line that runs
}

// beginLine is called where a shell reads on.
func (a *shellAliases) beginLine() {
	if a.line = nil; a.on {
		a.line = a.text
	}
}

// setAliases handles alias.
func (a *shellAliases) setAliases(args []word) {
	a.text = maps.Clone(a.text)
	if a.text == nil {
		a.text = map[string]string{}
	}

	for _, x := range args {
		if name, text, ok := strings.Cut(x.text, "="); ok && x.ok && len(a.text) < maxAliases {
			a.text[name] = text
		}
	}
}

// removeAliases handles unalias.
func (a *shellAliases) removeAliases(args []word) {
	a.text = maps.Clone(a.text)
	for _, x := range args {
		if delete(a.text, x.text); x.text == "-a" {
			clear(a.text)
		}
	}
}

// runAlias walks through what an alias of the shell stands for. It is false if the word is none. In its own
// text an alias isn't one.
func (w *walker) runAlias(name *syntax.Word, args []word) bool {
	alias, ok := w.aliased.line[name.Lit()]
	if !ok {
		return false
	}

	aliases, vars := w.aliased, w.vars
	w.aliased.removeAliases([]word{literal(name.Lit())})
	w.setVariable("@", variable{words: args})
	w.walkScript(alias + ` "$@"`)

	w.restoreVariable("@", vars)
	w.aliased = aliases
	return true
}
