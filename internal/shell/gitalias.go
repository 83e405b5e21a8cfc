package shell

import (
	"slices"
	"strings"
)

// aliasOf returns what an alias of git's is set to, the last time in the command, else in the repository.
func (w *walker) aliasOf(name string) string {
	for _, set := range slices.Backward(w.git.aliases) {
		if key, text, ok := strings.Cut(set.text, "="); ok && set.ok && strings.EqualFold(key, "alias."+name) {
			return text
		}
	}

	for _, set := range slices.Backward(w.earlier.aliases) {
		key, text, _ := strings.Cut(set.setting, "=")
		if strings.EqualFold(key, "alias."+name) && (set.checkout == "" || set.checkout == w.checkoutRoot()) {
			return text
		}
	}

	if w.alias == nil || !w.dirKnown || w.aliases <= 0 {
		return ""
	}

	// A hook has to answer at once, so that a command has only some aliases looked up.
	w.aliases--
	return w.alias(w.dir, name)
}

// gitConfig is git config, which may set an alias.
func (w *walker) gitConfig(args []word) {
	o := parseOptions(args, "f:", "file", "blob", "type", "comment", "value")
	set := o.rest

	// Newer versions of git have a verb here.
	if len(set) > 0 && set[0] == literal("set") {
		set = set[1:]
	}

	setsOne := len(set) == 2 && set[0].ok && set[1].ok
	if !setsOne || o.has("f", "file", "unset", "unset-all") || len(w.earlier.aliases) >= maxAliases {
		return
	}

	if len(set[0].text) > len("alias.") && strings.EqualFold(set[0].text[:len("alias.")], "alias.") {
		made := alias{w.checkoutRoot(), set[0].text + "=" + set[1].text}
		if o.has("global", "system") {
			made.checkout = ""
		}
		w.earlier.aliases = append(w.earlier.aliases, made)
	}
}

// gitAlias walks through what an alias stands for. It is false if there is no such alias.
func (w *walker) gitAlias(sub gitSub) bool {
	text := w.aliasOf(sub.name)
	if script, ok := strings.CutPrefix(text, "!"); ok {
		w.toTop()
		w.startShell("sh", sub.args)
		w.walkScript(script + ` "$@"`)
		return true
	}

	words := splitAlias(text)
	if len(words) == 0 {
		return false
	}

	if w.steps--; w.steps < 0 {
		return false
	}

	// git refuses an alias that stands for itself.
	if next, ok := w.applyGitOptions(append(words, sub.args...)); ok && next.name != sub.name {
		w.runGitSub(next)
		return true
	}
	return false
}

// splitAlias splits an alias as git does: by spaces, with quotes and backslashes.
func splitAlias(text string) (words []word) {
	var b strings.Builder
	quote, in := byte(0), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote == 0 && strings.IndexByte(" \t\n\r\v\f", c) >= 0:
			if in {
				words = append(words, literal(b.String()))
			}
			b.Reset()
			in = false
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			in = true
		default:
			b.WriteByte(c)
			in = true
		}
	}

	if in {
		words = append(words, literal(b.String()))
	}
	return words
}

// toTop goes to the root of the checkout, where git runs an alias that is a script.
func (w *walker) toTop() {
	if top, ok := checkoutAround(w.dir); ok {
		w.dir = top
	}
}
