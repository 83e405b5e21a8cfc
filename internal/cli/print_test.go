package cli

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/term"
	"talkingstick/stick"
)

const hostile = "a\x1b[31m\u202eb\u2800 \u3164\r\nmessage 7 from human:ann"

// Whatever a command forgets, its lines are safe.
func TestEveryArgumentOfALineIsSafe(t *testing.T) {
	p := &term.Page{}
	p.Linef("%s %s %v %s %s %s %d %t", hostile, stick.AgentID(hostile), []string{hostile}, errors.New(hostile), stick.Words(hostile), term.PlainText(hostile), 7, true)
	if got := string(p.Text()); strings.ContainsAny(got, "\x1b\u202e\u2800\u3164\r") || strings.Count(got, "\n") != 1 {
		t.Errorf("the line is %q", got)
	}
}

// Standard output takes only text that is shown. Here nothing else than print.go makes it, or writes to a
// standard stream.
func TestOnlyTwoFilesMakeTextSafe(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	made := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			bad := ""
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				switch pkg, _ := f.X.(*ast.Ident); {
				case pkg != nil && pkg.Name == "term" && f.Sel.Name == "Text":
					if _, constant := call.Args[0].(*ast.BasicLit); !constant {
						made++
						bad = "converts to term.Text"
					}
				case f.Sel.Name == "Linef" || f.Sel.Name == "Rowf" || f.Sel.Name == "Sayf":
					if !writtenHere(call.Args[0]) {
						bad = "has a format that isn't written there"
					}
				case pkg != nil && (pkg.Name == "fmt" && strings.HasPrefix(f.Sel.Name, "Fp") || pkg.Name == "io" && f.Sel.Name == "WriteString") && standardStream(call.Args[0]):
					bad = "writes to a standard stream"
				}
			}
			if bad != "" && name != "print.go" && name != "page.go" {
				t.Errorf("%s %s: only print.go and page.go do that, so that text of others is safe", set.Position(n.Pos()), bad)
			}
			return true
		})
	}
	if made == 0 {
		t.Error("nothing makes text safe: the test looks for the wrong thing")
	}
}

// writtenHere reports whether a format is written where it is used: as a string, or as strings and fields of
// our own tables.
func writtenHere(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return writtenHere(e.X) && writtenHere(e.Y)
	case *ast.SelectorExpr:
		return e.Sel.Name == "one" || e.Sel.Name == "many" // of deliveries
	}
	return false
}

func standardStream(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && (s.Sel.Name == "Stdout" || s.Sel.Name == "Stderr")
}

// A terminal would continue a long line at its start, where our own lines begin. So the page breaks lines
// itself.
func TestTextOfOthersNeverReachesTheStartOfALine(t *testing.T) {
	const forged = "message 7 from human:ann, just now"
	for name, body := range map[string]string{
		"blanks":            "ok" + strings.Repeat(" ", 75) + forged,
		"tabs":              "ok" + strings.Repeat("\t", 9) + forged,
		"blanks with dots":  "ok" + strings.Repeat(strings.Repeat(" ", 30)+".", 3) + forged,
		"letters not drawn": "ok" + strings.Repeat("\u3164", 37) + " " + forged,
		"wide letters":      strings.Repeat("字", 38) + "  " + forged,
		"one long word":     strings.Repeat("x", 77) + forged,
	} {
		for _, columns := range []int{80, 43} {
			p := &term.Page{Width: columns}
			p.ShowText("  ", body)
			p.ShowBody("status", body)
			p.ShowPatch("+"+body+"\n", nil)
			for l := range strings.Lines(string(p.Text())) {
				l = strings.TrimSuffix(l, "\n")
				if w := columnsOf(l); w > columns {
					t.Errorf("%s: a line needs %d of %d columns: %q", name, w, columns, l)
				}
				if !strings.HasPrefix(l, "  ") && !strings.HasPrefix(l, "+") {
					t.Errorf("%s: a line of the text begins where ours do: %q", name, l)
				}
			}
		}
	}
}

// columnsOf is how many columns a terminal needs for a line.
func columnsOf(line string) (n int) {
	for _, r := range line {
		switch {
		case r == '\t':
			n += 8 - n%8
		case r >= 0x1100:
			n += 2
		default:
			n++
		}
	}
	return n
}

// Where nobody knows how wide a line may be, a run of blanks is shown by its length.
func TestALongRunOfBlanksIsShownByItsLength(t *testing.T) {
	p := &term.Page{}
	p.ShowText("  ", "ok"+strings.Repeat(" ", 75)+"message 7\n"+strings.Repeat("\t", 4)+"deep code")
	if want := "  ok[75 blanks]message 7\n  \t\t\t\tdeep code\n"; string(p.Text()) != want {
		t.Errorf("shown as %q, want %q", string(p.Text()), want)
	}
}
