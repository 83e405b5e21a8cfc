// Package shell finds out what a shell command is going to do to files and to work that isn't committed, as far as
// the command's text shows it. It knows what the text sets a variable to, and doesn't guess at what is computed, at scripts, or at what
// programs do by themselves. It is no guard against somebody who wants to hide what a command does.
//
// See docs/decisions/guard-what-a-command-changes.md.
package shell

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// Changes is what a command is going to change. Paths are clean, except for a separator at the end, and
// absolute if the directory is known.
type Changes struct {
	// Paths are in the command's order, each once. A directory means everything below it, and itself unless
	// it ends with a separator.
	Paths []string

	Names []string // those of Paths where a link itself is removed, moved or replaced, not what it leads to
	Trees []string // where a command runs that may change any file of its checkout, such as git reset --hard
	Acts  []Act    // what may cost work, in the command's order, each once

	Wholes []string // those of Paths whose content is replaced as a whole
	Shown  []string // files of which it prints all or a part for whoever runs it, in the command's order, each once

	Reads bool   // all that the command does is known, and it changes no file and nothing of a repository
	End   string // where the shell is at the end; empty if that is unknown
}

// Limits of the work. A hook has to answer at once, whatever a command looks like.
const (
	maxCommand = 64 << 10 // bytes of a command; a longer one is mostly the text of a file
	maxParsed  = 2 * maxCommand
	maxDepth   = 200  // nested brackets
	maxMarks   = 2000 // question marks: the parser needs quadratic time for them in arithmetic
	maxSteps   = 5000 // simple commands, counted each time a function runs them
	maxPaths   = 1000
	maxAliases = 20                    // of git's, that one command has us look up
	maxTime    = 15 * time.Millisecond // for the parser
)

// Env is what a shell knows, and the text of a command doesn't tell.
type Env struct {
	Home  string // the home directory; empty if it isn't known
	Alias Alias  // nil means that git has no aliases
}

// Alias returns what the alias of git's with that name is set to in the repository at dir, without a ! at the
// front taken off; empty if there is none.
type Alias func(dir, name string) string

// Edits returns what a command will change when a POSIX shell or bash runs it in dir. Without dir, paths are
// relative to wherever it runs, and there are no acts but on whole paths.
func Edits(command, dir string, env Env) (c Changes) {
	defer func() {
		// The parser isn't ours, and may panic.
		if recover() != nil {
			c = Changes{}
		}
	}()

	w := walker{dir: dir, dirKnown: true, home: word{text: env.Home, ok: true}, shared: &shared{
		alias: env.Alias, aliases: maxAliases,
		steps: maxSteps, bytes: maxParsed, entries: maxEntries, rounds: maxRounds,
	}}
	w.walkScript(command)

	if w.dirKnown {
		w.changes.End = filepath.Clean(w.dir)
	}

	w.changes.Reads = !w.writes && !w.refused
	return w.changes
}

// walker goes through a command in the order in which it runs.
type walker struct {
	dir      string // where the shell is
	dirKnown bool   // whether that is known
	last     word   // where it was before, as cd - has it
	home     word   // the home directory
	nameOnly bool   // the command changes a link itself, not what it leads to
	form     string // how acts call the command that runs
	text     uint64 // a sum of all its words
	fed      []word // where the find looks whose output the command reads
	hidden   bool   // nobody reads what the command prints
	git      gitPlace
	vars     map[string]variable // what variables are set to
	declared []string            // the variables that the function which runs declares
	aliased  shellAliases
	dotglob  bool // a pattern matches names that begin with a dot, too
	*shared
}

// shared is what a subshell and its parent share.
type shared struct {
	changes Changes
	funcs   map[string]*syntax.Stmt
	writes  bool // something isn't known to only read
	refused bool // git refuses something, unless it has run already
	alias   Alias
	earlier earlier

	aliases, steps, bytes, entries, rounds int // what the limits still allow
}

// walkScript walks through a script. It skips one that doesn't parse.
func (w *walker) walkScript(text string) {
	// The parser's time grows with the square of some things, so they are counted before it begins.
	w.bytes -= len(text)
	tooCostly := bracketDepth(text) > maxDepth || strings.Count(text, "?") > maxMarks
	if w.bytes < 0 || len(text) > maxCommand || tooCostly {
		w.writes = true
		return
	}

	in := &timedReader{Reader: strings.NewReader(text), until: time.Now().Add(maxTime)}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(in, "")
	if err != nil {
		w.writes = true
		return
	}

	// Whether links themselves change was said of the command that runs the script, such as git with an
	// alias.
	was := w.nameOnly
	w.nameOnly = false

	for i, s := range f.Stmts {
		// An alias counts from the line after the one that sets it.
		if i == 0 || s.Pos().Line() > f.Stmts[i-1].End().Line() {
			w.aliased.beginLine()
		}
		w.walkStmt(s)
	}

	w.nameOnly = was
}

// timedReader reads a text, and fails when that takes too long. The parser reads one KiB at a time, so it
// reads an ordinary command at once, however slow the machine is.
type timedReader struct {
	*strings.Reader
	until time.Time
}

func (h *timedReader) Read(b []byte) (int, error) {
	if 0 < h.Len() && int64(h.Len()) < h.Size() && time.Now().After(h.until) {
		return 0, errors.New("the parser takes too long")
	}
	return h.Reader.Read(b)
}

// bracketDepth returns how many brackets are open at once, whatever they mean. The parser's time grows with
// its square.
func bracketDepth(text string) (most int) {
	open := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			open++
			most = max(most, open)
		case ')', '}', ']':
			open = max(0, open-1)
		}
	}
	return most
}

// inSubshell walks through what runs in a subshell, which ends the effect of a cd in it.
func (w *walker) inSubshell(f func(*walker)) {
	sub := *w
	f(&sub)
}

func (w *walker) walkStmts(all []*syntax.Stmt) {
	for _, s := range all {
		w.walkStmt(s)
	}
}

func (w *walker) walkStmt(s *syntax.Stmt) {
	if w.steps--; w.steps < 0 {
		w.writes = true
		return
	}

	// What runs in the background has a shell of its own.
	if s.Background || s.Coprocess {
		sub := *w
		w = &sub
	}

	stdin := ""
	for _, r := range s.Redirs {
		if in := w.noteRedirect(r); in != "" {
			stdin = in
		}
	}

	if takesOutput(s.Redirs) {
		w.walkHidden(func() { w.walkCommand(s.Cmd, stdin) })
		return
	}
	w.walkCommand(s.Cmd, stdin)
}

// noteRedirect notes the file that a redirection writes, and returns the text that it reads.
func (w *walker) noteRedirect(r *syntax.Redirect) (stdin string) {
	w.walkSubstitutions(r.Word)
	w.walkSubstitutions(r.Hdoc)

	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return heredocText(r)
	case syntax.WordHdoc:
		stdin, _ = w.flatText(r.Word.Parts)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.DplOut, syntax.RdrAll, syntax.AppAll:
		to := w.expandWord(r.Word)
		switch {
		case len(to) != 1:
			// Some shells refuse several files.
			w.writes = true
		case r.Op != syntax.DplOut || !isDescriptor(to[0].text):
			w.changeFile(to[0])
			keepsContent := r.Op == syntax.AppOut || r.Op == syntax.AppAll || r.Op == syntax.RdrInOut
			if !keepsContent {
				w.noteOverwrite(to[0])
			}
		}
	}
	return stdin
}

// isDescriptor reports whether what follows >& is a file descriptor, and not a file.
func isDescriptor(s string) bool {
	return strings.Trim(s, "0123456789") == "" || strings.HasSuffix(s, "-")
}

func (w *walker) walkCommand(cmd syntax.Command, stdin string) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		w.walkCall(c, stdin)
	case *syntax.BinaryCmd:
		w.walkBinary(c)
	case *syntax.Block:
		w.walkStmts(c.Stmts)
	case *syntax.Subshell:
		w.inSubshell(func(w *walker) { w.walkStmts(c.Stmts) })
	case *syntax.IfClause:
		w.walkIf(c)
	case *syntax.WhileClause:
		w.walkStmts(c.Cond)
		w.walkOneOf(c.Do, nil)
	case *syntax.ForClause:
		w.walkFor(c)
	case *syntax.CaseClause:
		w.walkSubstitutions(c.Word)

		// Maybe none of the branches runs.
		branches := [][]*syntax.Stmt{nil}
		for _, item := range c.Items {
			branches = append(branches, item.Stmts)
		}
		w.walkOneOf(branches...)
	case *syntax.FuncDecl:
		if w.funcs == nil {
			w.funcs = map[string]*syntax.Stmt{}
		}
		if c.Name != nil {
			w.funcs[c.Name.Value] = c.Body
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.walkStmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		w.inSubshell(func(w *walker) { w.walkStmt(c.Stmt) })
	case nil:
		// There are redirections alone.
	case *syntax.DeclClause:
		w.walkDeclaration(c)
	default:
		// Tests and arithmetic have only substitutions to walk through.
		w.walkNode(c)
	}
}

// walkBinary walks through a && b, a || b and a | b.
func (w *walker) walkBinary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt:
		w.walkStmt(c.X)
		w.walkStmt(c.Y)
	case syntax.OrStmt:
		// The second command runs if the first fails, mostly in the directory where that began.
		other := *w
		w.walkStmt(c.X)
		from, vars := other.dir, other.vars
		other.walkStmt(c.Y)
		w.joinVariables(vars, other.vars)
		if !other.dirKnown || other.dir != from {
			w.dirKnown, w.last = false, word{}
		}
	default:
		// Each side of a pipe runs in a subshell.
		w.inSubshell(func(w *walker) { w.walkHidden(func() { w.walkStmt(c.X) }) })
		w.inSubshell(func(w *walker) {
			w.fed = w.fedNames(c.X)
			w.walkStmt(c.Y)
		})
	}
}

func (w *walker) walkIf(c *syntax.IfClause) {
	w.walkStmts(c.Cond)

	switch {
	case c.Else == nil:
		w.walkOneOf(c.Then, nil)
	case len(c.Else.Cond) == 0:
		w.walkOneOf(c.Then, c.Else.Then)
	default:
		other := *w
		w.walkStmts(c.Then)
		other.walkIf(c.Else)
		w.joinBranch(other)
	}
}

// walkOneOf walks through branches. One of them runs.
func (w *walker) walkOneOf(branches ...[]*syntax.Stmt) {
	start := *w
	w.walkStmts(branches[0])

	for _, b := range branches[1:] {
		other := start
		other.walkStmts(b)
		w.joinBranch(other)
	}
}

// joinBranch goes on after one of two branches. If they end in different directories, nobody knows where the
// next command runs.
func (w *walker) joinBranch(other walker) {
	if !other.dirKnown || other.dir != w.dir {
		w.dirKnown = false
	}

	if other.last != w.last {
		w.last = word{}
	}

	w.joinVariables(w.vars, other.vars)
}

// walkSubstitutions walks through the commands inside words: $(…), `…`, <(…) and >(…).
func (w *walker) walkSubstitutions(words ...*syntax.Word) {
	for _, word := range words {
		if word != nil {
			w.walkNode(word)
		}
	}
}

func (w *walker) walkNode(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.inSubshell(func(w *walker) { w.walkHidden(func() { w.walkStmts(n.Stmts) }) })
			return false
		case *syntax.ProcSubst:
			w.inSubshell(func(w *walker) { w.walkHidden(func() { w.walkStmts(n.Stmts) }) })
			return false
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
			w.forgetComputed(n)
		case *syntax.ParamExp:
			setsDefault := n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
			if setsDefault && n.Param != nil {
				w.forgetVariable(n.Param.Value)
			}
		}
		return true
	})
}
