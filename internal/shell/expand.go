package shell

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"talkingstick/internal/workspace"
)

// expansionOf returns what a variable or a substitution becomes: what the command sets it to, or a directory
// that is known. Whatever else one stands for, nobody can tell from the text.
func (w *walker) expansionOf(p syntax.WordPart) (text string, ok bool) {
	switch p := p.(type) {
	case *syntax.ParamExp:
		words, known := w.variableValue(p)
		if known && len(words) == 1 && !isList(p) {
			return words[0].text, words[0].isKnown()
		}
	case *syntax.CmdSubst:
		var x word
		if len(p.Stmts) == 1 {
			w.inSubshell(func(w *walker) { x = w.printedDirectory(p.Stmts[0]) })
		}
		return x.text, x.ok && filepath.IsAbs(x.text)
	}
	return "", false
}

// expandTilde returns what bare text at the front of a word becomes, if that begins with a ~. whole says that
// the word ends with it.
func (w *walker) expandTilde(text string, whole bool) (expanded string, ok bool) {
	name, rest, below := strings.Cut(text, "/")
	if !whole && !below {
		return "", false
	}

	var x word
	switch name {
	case "~":
		x = w.home
	case "~+":
		x = w.currentDirectory()
	case "~-":
		x = w.last
	}

	// Another user's directory isn't known here.
	if !x.ok || !filepath.IsAbs(x.text) {
		return "", false
	}

	if below {
		rest = "/" + rest
	}
	return strings.TrimSuffix(x.text, "/") + rest, true
}

// printedDirectory returns the directory that a command prints, if it prints that and nothing else: the one
// in which the shell is, or the top level of the checkout there.
func (w *walker) printedDirectory(s *syntax.Stmt) word {
	if w.steps--; w.steps < 0 || s.Negated || s.Background || s.Coprocess {
		return word{}
	}

	// Only its errors may go elsewhere.
	for _, r := range s.Redirs {
		if r.N == nil || r.N.Value != "2" {
			return word{}
		}
	}

	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Assigns) == 0 {
			return w.printedBy(w.expandWords(c.Args))
		}
	case *syntax.BinaryCmd:
		switch {
		case c.Op == syntax.OrStmt:
			// The second command prints if the first one fails.
			if x := w.printedDirectory(c.X); x.ok {
				return x
			}
			return w.printedDirectory(c.Y)
		case c.Op == syntax.AndStmt && isCd(c.X):
			w.walkStmt(c.X)
			return w.printedDirectory(c.Y)
		}
	}
	return word{}
}

// isCd reports whether a command only goes elsewhere.
func isCd(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)

	// cd - prints where it goes.
	return ok && len(c.Args) == 2 && c.Args[0].Lit() == "cd" && c.Args[1].Lit() != "-"
}

// printedBy is [walker.printedDirectory] for a simple command.
func (w *walker) printedBy(args []word) word {
	switch {
	case len(args) == 0 || !args[0].ok:
	case args[0].text == "pwd" && len(args) == 1:
		return w.currentDirectory()
	case args[0].text == "git":
		sub, ok := w.applyGitOptions(args[1:])
		if ok && sub.name == "rev-parse" && len(sub.args) == 1 {
			return w.whereGitIs(sub.args[0].text)
		}
	}
	return word{}
}

// whereGitIs is what git rev-parse prints of the checkout in which git works: its top level, or the directory
// of its repository. That is the same directory where git prints it relative to where it runs.
func (w *walker) whereGitIs(asked string) word {
	switch asked {
	case "--show-toplevel":
		return w.topLevel()
	case "--git-dir", "--absolute-git-dir", "--git-common-dir":
		top := w.topLevel()
		at, ok := workspace.FindCheckout(top.text, workspace.Env{})
		if !top.ok || !ok || w.git.dir != nil {
			return word{}
		}

		if asked == "--git-common-dir" {
			return literal(at.Common)
		}
		return literal(at.Git)
	}
	return word{}
}

// topLevel is the top level of the checkout in which git works. A directory that doesn't exist yet lies in
// the checkout around it.
func (w *walker) topLevel() word {
	if w.git.top != "" {
		return literal(w.git.top)
	}
	if !w.dirKnown {
		return word{}
	}

	dir := w.dir
	for !pathExists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}

	at, ok := workspace.FindCheckout(dir, workspace.Env{})
	return word{text: at.Top, ok: ok}
}
