package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Standard output takes only text that is shown. Beside package term nothing else than app/print.go makes it, or writes to a
// standard stream.
func TestOneFileMakesTextSafe(t *testing.T) {
	var files []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".go" {
			files = append(files, path)
		}
		return err
	})

	if err != nil || len(files) < 80 {
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

				case pkg != nil &&
					(pkg.Name == "fmt" && strings.HasPrefix(f.Sel.Name, "Fp") ||
						pkg.Name == "io" && f.Sel.Name == "WriteString") &&
					standardStream(call.Args[0]):
					bad = "writes to a standard stream"
				}
			}

			if bad != "" && filepath.ToSlash(name) != "app/print.go" {
				t.Errorf("%s %s: only app/print.go does that, so that text of others is safe",
					set.Position(n.Pos()), bad)
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
