package shell

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of a word's expansion.
const (
	maxFields  = 200
	maxBraces  = 50
	maxEntries = 5000 // of the directories that one command has us read
)

// word is an argument of a command.
type word struct {
	text string
	ok   bool // its text is known: it has no variable or substitution of which nobody knows what it becomes
	some bool // it stands for files that nobody can tell, at or below text
}

// isKnown reports whether the text of a word is known, and is what the word stands for.
func (x word) isKnown() bool { return x.ok && !x.some }

func literal(s string) word { return word{text: s, ok: true} }

// filesBelow returns a word that stands for files below a directory, as those that xargs reads.
func filesBelow(dir word) word {
	dir.some = true
	return dir
}

// expandWord returns the arguments that a word expands to, by its braces and patterns.
func (w *walker) expandWord(x *syntax.Word) (all []word) {
	// Braces multiply the words that one becomes.
	if countBraces(x) <= maxBraces {
		syntax.SplitBraces(x)
	}

	for _, parts := range expandBraces(x.Parts) {
		if words, ok := w.variableWords(parts); ok {
			all = append(all, words...)
			continue
		}

		var f flattener
		if w.flattenParts(&f, parts) {
			all = append(all, w.matchFiles(&f)...)
		} else {
			all = append(all, word{text: f.text.String()})
		}
	}
	return all
}

// matchFiles returns the words that a text becomes: the files that match it, if it is a pattern.
func (w *walker) matchFiles(f *flattener) (all []word) {
	text := f.text.String()
	if !f.wild || text == "[" {
		return []word{literal(text)}
	}

	names := w.globFiles(f.pattern.String())
	if len(names) == 0 {
		// The shell leaves the pattern as it is, and it names no file.
		return []word{{text: text}}
	}

	for _, name := range names {
		// A pattern that isn't a whole path becomes names that aren't, either.
		if !strings.HasPrefix(text, "/") {
			name = strings.TrimPrefix(name, contentsOf(w.dir))
		}
		all = append(all, literal(name))
	}
	return all
}

func countBraces(x *syntax.Word) (n int) {
	for _, p := range x.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	return n
}

func (w *walker) expandWords(words []*syntax.Word) (all []word) {
	for _, x := range words {
		all = append(all, w.expandWord(x)...)
	}
	return all
}

// expandBraces expands {a,b} as bash does. It leaves a word as it is, and so unknown, if that counts ({1..3})
// or becomes too many.
func expandBraces(parts []syntax.WordPart) [][]syntax.WordPart {
	i := slices.IndexFunc(parts, func(p syntax.WordPart) bool { _, ok := p.(*syntax.BraceExp); return ok })
	if i < 0 {
		return [][]syntax.WordPart{parts}
	}

	brace := parts[i].(*syntax.BraceExp)
	if brace.Sequence {
		return [][]syntax.WordPart{parts}
	}

	var middle [][]syntax.WordPart
	for _, e := range brace.Elems {
		middle = append(middle, expandBraces(e.Parts)...)
	}

	ends := expandBraces(parts[i+1:])
	if len(middle)*len(ends) > maxFields {
		return [][]syntax.WordPart{parts}
	}

	var all [][]syntax.WordPart
	for _, m := range middle {
		for _, e := range ends {
			all = append(all, slices.Concat(parts[:i], m, e))
		}
	}
	return all
}

// flatText returns a word's text. It isn't ok if that isn't known.
func (w *walker) flatText(parts []syntax.WordPart) (text string, ok bool) {
	var f flattener
	ok = w.flattenParts(&f, parts)
	return f.text.String(), ok
}

// flattenParts adds the parts of a word to f. It isn't ok if the text isn't known.
func (w *walker) flattenParts(f *flattener, parts []syntax.WordPart) (ok bool) {
	ok = true

	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text, known := p.Value, true
			if i == 0 && strings.HasPrefix(text, "~") {
				text, known = w.expandTilde(text, len(parts) == 1)
			}
			f.addBare(text)
			ok = ok && known
		case *syntax.SglQuoted:
			ok = ok && (!p.Dollar || !strings.Contains(p.Value, `\`))
			f.addQuoted(p.Value)
		case *syntax.DblQuoted:
			ok = w.addDoubleQuoted(f, p) && ok
		default:
			ok = w.addExpansion(f, p, false) && ok
		}
	}
	return ok
}

// flattener collects a word's text, and the same as a pattern of [path.Match].
type flattener struct {
	text, pattern strings.Builder
	wild          bool
}

// addBare adds text without quotes.
func (f *flattener) addBare(s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			f.addQuoted(s[i : i+1])
		case strings.IndexByte("*?[", c) >= 0:
			f.wild = true
			f.text.WriteByte(c)
			f.pattern.WriteByte(c)
			if c == '[' && i+1 < len(s) && s[i+1] == '!' {
				i++
				f.text.WriteByte('!')
				f.pattern.WriteByte('^')
			}
		default:
			f.text.WriteByte(c)
			f.pattern.WriteByte(c)
		}
	}
}

// addQuoted adds text that means itself.
func (f *flattener) addQuoted(s string) {
	f.text.WriteString(s)

	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]\-^`, s[i]) >= 0 {
			f.pattern.WriteByte('\\')
		}
		f.pattern.WriteByte(s[i])
	}
}

// addExpansion adds what a variable or a substitution becomes.
func (w *walker) addExpansion(f *flattener, p syntax.WordPart, quoted bool) (ok bool) {
	text, ok := w.expansionOf(p)
	w.bytes -= len(text)

	// A zero byte stands for what can't be told: no file's name has one.
	switch split := strings.ContainsAny(text, " \t\n") || w.splitsOddly(text); {
	case !ok, w.bytes < 0, !quoted && split:
		f.addQuoted("\x00")
		return false
	case quoted:
		f.addQuoted(text)
	default:
		f.addBare(text)
	}

	return true
}

// addDoubleQuoted adds text between double quotes.
func (w *walker) addDoubleQuoted(f *flattener, q *syntax.DblQuoted) (ok bool) {
	ok = true
	for _, p := range q.Parts {
		if lit, is := p.(*syntax.Lit); is {
			f.addQuoted(unescape(lit.Value, "$`\"\\"))
		} else {
			ok = w.addExpansion(f, p, true) && ok
		}
	}
	return ok
}

// unescape removes the backslashes before any of some characters.
func unescape(s, special string) string {
	if !strings.Contains(s, `\`) {
		return s
	}

	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(special, s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// heredocText returns the text of a here-document. If its end is quoted, nothing in it is special. Each unknown part
// becomes a zero byte.
func heredocText(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		return ""
	}

	plain := !slices.ContainsFunc(r.Word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	})

	var b strings.Builder
	for _, p := range r.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		switch {
		case !ok:
			b.WriteByte(0)
		case plain:
			b.WriteString(unescape(lit.Value, "$`\\"))
		default:
			b.WriteString(lit.Value)
		}
	}
	return b.String()
}

// globFiles lists the files that a pattern matches, within the limits.
func (w *walker) globFiles(pattern string) []string {
	at := []string{w.dir}
	if strings.HasPrefix(pattern, "/") {
		at = []string{"/"}
	} else if !w.dirKnown {
		return nil
	}

	for part := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		var next []string
		for _, dir := range at {
			if strings.ContainsAny(part, "*?[") {
				next = append(next, w.matchingNames(dir, part)...)
			} else if name := filepath.Join(dir, unescape(part, `*?[]\-^`)); pathExists(name) {
				next = append(next, name)
			}
			if len(next) > maxFields {
				next = next[:maxFields]
				break
			}
		}
		at = next
	}
	return at
}

// matchingNames lists the names in a directory that match. As in a shell, only a pattern that begins with a
// dot matches a name that does, unless an option says otherwise.
func (w *walker) matchingNames(dir, pattern string) (names []string) {
	if w.entries <= 0 {
		return nil
	}

	// To open a named pipe would wait for somebody who writes to it.
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}

	f, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return nil
	}
	defer f.Close()

	// Whatever can't be read doesn't count.
	entries, _ := f.ReadDir(w.entries)
	w.entries -= len(entries) + 1

	for _, e := range entries {
		hidden, named := strings.HasPrefix(e.Name(), "."), strings.HasPrefix(pattern, ".")
		if hidden != named && (named || !w.dotglob) {
			continue
		}

		if ok, err := path.Match(pattern, e.Name()); ok && err == nil {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}

	slices.Sort(names)
	return names
}

func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
