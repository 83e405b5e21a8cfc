package shell

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of what is known of variables.
const (
	maxVariables = 100
	maxValue     = 4096 // bytes of a value; a longer one isn't known
	maxRounds    = 300  // how often a command's loops are walked through for a word of theirs
)

// variable is what the command's text sets a variable of the shell to. One that isn't noted has a value that
// nobody knows here.
type variable struct {
	words    []word // its value; of an array, and of the arguments as "@", all of them
	exported bool   // programs get it, too
}

// setVariable notes a value. Subshells share the map, so that it is never changed in place.
func (w *walker) setVariable(name string, v variable) {
	before, noted := w.vars[name]
	if !noted && len(w.vars) >= maxVariables {
		return
	}

	size := 0
	for _, x := range v.words {
		size += len(x.text)
	}
	if size > maxValue || len(v.words) > maxFields {
		v.words = []word{{}}
	}

	vars := maps.Clone(w.vars)
	if vars == nil {
		vars = map[string]variable{}
	}
	v.exported = v.exported || before.exported
	vars[name] = v
	w.vars = vars
}

// forgetVariable notes that a variable has a value that nobody knows.
func (w *walker) forgetVariable(name string) {
	if _, noted := w.vars[name]; noted || name == "IFS" {
		w.setVariable(name, variable{words: []word{{}}})
	}
}

// forgetVariables notes that any variable may have any value, as after a script that isn't read.
func (w *walker) forgetVariables() {
	w.vars = nil
	w.forgetVariable("IFS")
}

// restoreVariable gives a variable the value that it had before.
func (w *walker) restoreVariable(name string, before map[string]variable) {
	vars := maps.Clone(w.vars)
	if v, noted := before[name]; noted {
		vars[name] = v
	} else {
		delete(vars, name)
	}

	w.vars = vars
}

// joinVariables forgets what two ways through a command set to different values.
func (w *walker) joinVariables(one, other map[string]variable) {
	for _, vars := range []map[string]variable{one, other} {
		for name := range vars {
			if !slices.Equal(one[name].words, other[name].words) {
				w.forgetVariable(name)
			}
		}
	}
}

// walkDeclaration walks through export NAME=value and its like.
func (w *walker) walkDeclaration(c *syntax.DeclClause) {
	w.walkNode(c)

	exported, computed := c.Variant.Value == "export", false
	for _, a := range c.Args {
		if a.Name == nil {
			option := w.assignedValue(a.Value).text
			exported = exported || strings.Contains(option, "x")
			computed = computed || strings.ContainsAny(option, "niulA")
			continue
		}

		name := a.Name.Value
		// In a function the variable is its own.
		own := w.declared != nil && !exported && c.Variant.Value != "readonly"
		if own {
			w.declared = append(w.declared, name)
		}
		switch {
		case computed, own && a.Naked:
			w.forgetVariable(name)
		case !a.Naked:
			w.setEnvironment(name, w.assignedValue(a.Value))
			w.assignVariable(a, exported)
		case exported:
			w.exportVariable(name)
		}
	}
}

// assignVariable notes NAME=value, NAME=(…) and their like. What is computed from the value before isn't
// known.
func (w *walker) assignVariable(a *syntax.Assign, exported bool) {
	v := variable{words: []word{w.assignedValue(a.Value)}, exported: exported}

	switch {
	case a.Append || a.Index != nil:
		v.words = []word{{}}
	case a.Array != nil:
		v.words = nil
		for _, e := range a.Array.Elems {
			if e.Index != nil || e.Value == nil {
				v.words = []word{{}}
				break
			}
			v.words = append(v.words, w.expandWord(e.Value)...)
		}
	}

	w.setVariable(a.Name.Value, v)
}

// exportVariable notes that programs get a variable.
func (w *walker) exportVariable(name string) {
	if v, noted := w.vars[name]; noted {
		v.exported = true
		w.setVariable(name, v)
	}
}

// setArguments handles set, which gives a shell other arguments.
func (w *walker) setArguments(args []word) {
	o := parseOptions(args, "+o:")
	options := len(o.rest) > 0 && strings.HasPrefix(o.rest[0].text, "+")

	if o.dash >= 0 || len(o.rest) > 0 && !options {
		w.setVariable("@", variable{words: o.rest})
	}
}

func (w *walker) shiftArguments(args []word) {
	v, known := w.vars["@"]
	if known && len(args) == 0 && len(v.words) > 0 {
		v.words = v.words[1:]
		w.setVariable("@", v)
	} else {
		w.forgetVariable("@")
	}
}

// readNames handles what sets the variables in its arguments to something that it reads. read gets the names
// that the find before it prints.
func (w *walker) readNames(name string, args []word) {
	o := parseOptions(args, "a:d:i:n:N:p:t:u:O:s:c:C:")
	for _, x := range append(slices.Clone(o.rest), o.given["a"]) {
		w.forgetVariable(x.text)
	}

	// read in a loop sets its variable to each of the names that it is fed.
	if name == "read" && len(o.rest) == 1 && len(w.fed) > 0 {
		w.setVariable(o.rest[0].text, variable{words: w.fed})
	}
}

// forgetComputed forgets the variables that arithmetic names: it may set them.
func (w *walker) forgetComputed(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if lit, ok := n.(*syntax.Lit); ok {
			w.forgetVariable(lit.Value)
		}
		return true
	})
}

// callFunction walks through a function with its arguments. What it declares is its own.
func (w *walker) callFunction(body *syntax.Stmt, args []word) {
	before, declared := w.vars, w.declared
	w.declared = []string{"@"}
	w.setVariable("@", variable{words: args})

	w.walkStmt(body)

	for _, name := range w.declared {
		w.restoreVariable(name, before)
	}
	w.declared = declared
}

// startShell makes the walker one of a new shell, which has the variables that programs get, and arguments of
// its own. Only bash doesn't expand aliases in a script unless it is told to.
func (w *walker) startShell(name string, args []word) {
	vars := map[string]variable{}
	for name, v := range w.vars {
		if v.exported {
			vars[name] = v
		}
	}

	w.vars, w.declared, w.aliased, w.dotglob = vars, nil, shellAliases{on: name != "bash"}, false
	w.setVariable("@", variable{words: args})
}

// walkFor walks through a loop once for each of its words.
func (w *walker) walkFor(c *syntax.ForClause) {
	loop, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.forgetComputed(c.Loop)
		w.walkOneOf(c.Do, nil)
		return
	}

	w.walkSubstitutions(loop.Items...)
	items := w.expandWords(loop.Items)
	if !loop.InPos.IsValid() {
		items = w.vars["@"].words
	}

	// A loop of too many rounds is walked through once, for a word that nobody knows.
	if c.Select || len(items) == 0 || len(items) > w.rounds {
		items = []word{{}}
	}
	w.rounds -= len(items)

	for _, x := range items {
		w.setVariable(loop.Name.Value, variable{words: []word{x}})
		if x.isKnown() {
			w.walkStmts(c.Do)
		} else {
			w.walkOneOf(c.Do, nil)
		}
	}
}

// variableValue returns the words that a variable stands for, as far as the command's text tells. Whatever is
// done to a value isn't followed.
func (w *walker) variableValue(p *syntax.ParamExp) (words []word, known bool) {
	changed := p.Excl || p.Length || p.Width || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil
	if p.Param == nil || changed || p.Index != nil && !isWholeArray(p) {
		return nil, false
	}

	name := p.Param.Value
	switch name {
	case "PWD":
		return directoryValue(w.currentDirectory())
	case "OLDPWD":
		return directoryValue(w.last)
	case "HOME":
		return directoryValue(w.home)
	case "*":
		name = "@"
	}

	// The arguments by number are $1 to $9.
	if args := w.vars["@"].words; len(name) == 1 && "1" <= name && name <= "9" {
		if n := int(name[0] - '0'); n <= len(args) {
			return args[n-1 : n], true
		}
		return nil, false
	}

	v, known := w.vars[name]
	if isList(p) || len(v.words) == 0 {
		return v.words, known
	}
	return v.words[:1], known
}

// directoryValue returns a variable's value that is known if it is a whole path.
func directoryValue(x word) (words []word, known bool) {
	return []word{x}, x.ok && filepath.IsAbs(x.text)
}

// isList reports whether a variable becomes a word for each of its values, also between quotes.
func isList(p *syntax.ParamExp) bool {
	return p.Param != nil && (p.Param.Value == "@" || p.Param.Value == "*") || isWholeArray(p)
}

func isWholeArray(p *syntax.ParamExp) bool {
	index, ok := p.Index.(*syntax.Word)
	return ok && (index.Lit() == "@" || index.Lit() == "*")
}

// joinsList reports whether a list becomes one word between quotes, as "$*" does.
func joinsList(p *syntax.ParamExp) bool {
	if index, ok := p.Index.(*syntax.Word); ok {
		return index.Lit() == "*"
	}
	return p.Param != nil && p.Param.Value == "*"
}

// variableWords returns the words that a variable becomes which is a whole word, or a command of which it is
// known what names it prints. It is false for any other word.
func (w *walker) variableWords(parts []syntax.WordPart) (all []word, ok bool) {
	if len(parts) != 1 {
		return nil, false
	}
	part, quoted := parts[0], false
	if q, is := part.(*syntax.DblQuoted); is && len(q.Parts) == 1 {
		part, quoted = q.Parts[0], true
	}

	if c, is := part.(*syntax.CmdSubst); is && !quoted && len(c.Stmts) == 1 {
		names, filtered := w.printedNames(c.Stmts[0])
		return names, len(names) > 0 && !filtered
	}

	p, is := part.(*syntax.ParamExp)
	if !is || quoted && joinsList(p) {
		return nil, false
	}

	words, known := w.variableValue(p)
	if !known {
		return nil, false
	}

	for _, x := range words {
		switch w.bytes -= len(x.text); {
		case w.bytes < 0:
			all = append(all, word{text: "\x00"})
		case quoted || !x.isKnown():
			all = append(all, x)
		default:
			all = append(all, w.splitValue(x.text)...)
		}
	}
	return all, true
}

// splitValue returns the words that a value becomes without quotes.
func (w *walker) splitValue(text string) (all []word) {
	if w.splitsOddly(text) {
		return []word{{text: "\x00"}}
	}

	for part := range strings.FieldsSeq(text) {
		var f flattener
		f.addBare(part)
		all = append(all, w.matchFiles(&f)...)
	}
	return all
}

// splitsOddly reports whether it can't be told which words a value becomes without quotes.
func (w *walker) splitsOddly(text string) bool {
	_, split := w.vars["IFS"]
	return split || strings.Contains(text, `\`)
}

// setOptions handles shopt, and zsh's setopt, of which on says what it does. They turn options of a shell on
// or off.
func (w *walker) setOptions(args []word, on bool) {
	o := parseOptions(args, "")
	on = on || o.has("s")
	if !on && !o.has("u") {
		return
	}

	for _, x := range o.rest {
		w.setOption(strings.ToLower(strings.ReplaceAll(x.text, "_", "")), on)
	}
}

func (w *walker) setOption(name string, on bool) {
	switch name {
	case "expandaliases":
		w.aliased.on = on
	case "dotglob", "globdots":
		w.dotglob = on
	}
}
