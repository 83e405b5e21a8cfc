package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/full"
	"talkingstick/stick"
)

// hinted is a command that a hint proposes, and where.
type hinted struct {
	at      string
	command stick.Command
}

// TestHintsAreCommands reads every command of tt that a hint in the source proposes: it has to be one that
// exists, with flags and arguments that it takes. Whether it then does what the hint says only a test of the
// situation can tell.
func TestHintsAreCommands(t *testing.T) {
	all := hintedCommands(t)
	if len(all) < 50 {
		t.Fatalf("only %d hints with a command were found: the search for them is broken", len(all))
	}

	for _, h := range all {
		if h.command[0].Text == "tt" {
			if err := understood(h.command[1:]); err != nil {
				t.Errorf("%s: %s: %v", h.at, h.command, err)
			}
		}
	}
}

// TestHintsAboutEditsTakeAPath: where the room is another than that of the caller's place, these hints name
// it by --path.
func TestHintsAboutEditsTakeAPath(t *testing.T) {
	n := 0
	for _, h := range hintedCommands(t) {
		if !regexp.MustCompile(`\bstick/(act|edit\w*|pause|turn)\.go:`).MatchString(filepath.ToSlash(h.at)) ||
			h.command[0].Text != "tt" {
			continue
		}
		n++
		if err := understood(stick.Hint{{Command: h.command}}.At("lib")[0].Command[1:]); err != nil {
			t.Errorf("%s: %s: %v", h.at, h.command, err)
		}
	}

	if n < 10 {
		t.Errorf("only %d hints were found", n)
	}
}

// TestHintsSayTheirCommands finds the hints that have a command of tt among their plain words, where
// nobody could run it.
func TestHintsSayTheirCommands(t *testing.T) {
	first := map[string]bool{}
	for _, c := range commandTree(&app.Run{Env: app.Env{Full: full.Commands()}}).Commands() {
		first[c.Name()] = true
	}

	for _, s := range sources(t) {
		calls(s, func(name string, call *ast.CallExpr) {
			if format, ok := literal(call.Args[0]); ok && name == "Hintf" {
				for _, m := range regexp.MustCompile(`\btt (\S+)`).FindAllStringSubmatch(format, -1) {
					if first[m[1]] {
						t.Errorf("%s: %q is a command among plain words: make it one with stick.Cmd",
							s.files.Position(call.Pos()), m[0])
					}
				}
			}
		})
	}
}

// TestPrintedCommandsCanCarryAName finds the lines of an answer that have a command of tt among their plain
// words. Only a [stick.Command] gets the name under which its reader acts.
func TestPrintedCommandsCanCarryAName(t *testing.T) {
	first := map[string]bool{}
	for _, c := range commandTree(&app.Run{Env: app.Env{Full: full.Commands()}}).Commands() {
		// they do the same for everybody
		first[c.Name()] = !slices.Contains([]string{"doctor", "install", "demo", "help"}, c.Name())
	}

	for _, s := range sources(t) {
		if !strings.Contains(filepath.ToSlash(s.files.Position(s.Pos()).Filename), "internal/cli/") {
			continue
		}

		calls(s, func(name string, call *ast.CallExpr) {
			if name != "Linef" && name != "Sprintf" && !isOfPackage(call, "term") {
				return
			}

			for _, text := range stringsOf(call.Args[0]) {
				for _, m := range regexp.MustCompile(`\btt (\w+)`).FindAllStringSubmatch(text, -1) {
					if first[m[1]] {
						t.Errorf("%s: %q is a command among plain words: print it with Page.Next",
							s.files.Position(call.Pos()), m[0])
					}
				}
			}
		})
	}
}

// isOfPackage reports whether a call is of a function of a package.
func isOfPackage(call *ast.CallExpr, name string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == name
}

// stringsOf returns the texts that an expression is made of.
func stringsOf(e ast.Expr) (all []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok {
			if s, ok := literal(l); ok {
				all = append(all, s)
			}
		}
		return true
	})

	return all
}

// TestHintsAreCommands relies on this: what isn't a command isn't understood.
func TestHintsThatAreNoCommands(t *testing.T) {
	for _, line := range []string{
		"tt jion", "tt task mend", "tt wait --forever", "tt release now then later", "tt kick",
		"tt task done ui-7", "tt take --turn soon",
	} {
		if err := understood(stick.Cmd(line)[1:]); err == nil {
			t.Errorf("%s passes for a command", line)
		}
	}
}

// understood reports what is wrong with the words behind tt.
func understood(command stick.Command) error {
	words := make([]string, len(command))
	for i, w := range command {
		if words[i] = w.Text; w.Text == "" {
			words[i] = "1" // which passes for a name and for a number
		}
	}

	c, rest, err := commandTree(&app.Run{Env: app.Env{Full: full.Commands()}}).Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if help, _ := c.Flags().GetBool("help"); help {
		return nil
	}

	return c.ValidateArgs(c.Flags().Args())
}

// hintedCommands finds the calls of stick.Cmd in the source of the program.
func hintedCommands(t *testing.T) (all []hinted) {
	for _, s := range sources(t) {
		calls(s, func(name string, call *ast.CallExpr) {
			// otherwise its words are joined at run time, as in tt --help
			if line, ok := literal(call.Args[0]); ok && name == "Cmd" {
				all = append(all, hinted{s.files.Position(call.Pos()).String(), stick.Cmd(line)})
			}
		})
	}

	return all
}

// HintedCommands returns every command that a hint proposes, with its blanks. It is for the tests that run
// them.
func HintedCommands(t *testing.T) (all []string) {
	for _, h := range hintedCommands(t) {
		words := make([]string, len(h.command))
		for i, w := range h.command {
			switch {
			case w.Blank == "" || w.Text != "":
				words[i] = w.Text
			default:
				words[i] = "<" + w.Blank + ">"
			}
		}
		all = append(all, strings.Join(words, " "))
	}

	return all
}

// goFile is a file of the program's source.
type goFile struct {
	*ast.File
	files *token.FileSet
}

// sources returns the files of the packages that make hints.
func sources(t *testing.T) (all []goFile) {
	for _, dir := range []string{"../../stick", "../../internal"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			all = append(all, goFile{file, files})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	return all
}

// calls visits the calls with arguments in a file, with the name of the function or method.
func calls(s goFile, visit func(name string, call *ast.CallExpr)) {
	ast.Inspect(s.File, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}

		switch f := call.Fun.(type) {
		case *ast.Ident:
			visit(f.Name, call)
		case *ast.SelectorExpr:
			visit(f.Sel.Name, call)
		}

		return true
	})
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}
