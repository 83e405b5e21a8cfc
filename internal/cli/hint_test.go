package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

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

// What TestHintsAreCommands relies on: it doesn't understand just anything.
func TestHintsThatAreNoCommands(t *testing.T) {
	for _, line := range []string{
		"tt jion", "tt worker mend", "tt wait --forever", "tt release now then later", "tt kick", "tt worker done ui-7", "tt take --turn soon",
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
			words[i] = w.Blank
		}
	}
	c, rest, err := (&app{}).root().Find(words)
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
	for _, dir := range []string{"../../stick", "../../internal"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			all = append(all, hintedIn(t, path)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func hintedIn(t *testing.T, path string) (all []hinted) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || called(call) != "Cmd" {
			return true
		}
		if line, ok := literal(call.Args[0]); ok { // else it is put together, as tt --help is
			all = append(all, hinted{files.Position(call.Pos()).String(), stick.Cmd(line)})
		}
		return true
	})
	return all
}

// called is the name of the function of package stick that a call means, or of its method.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}
