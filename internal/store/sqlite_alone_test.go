package store

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// knowsSQLite matches what only SQLite has.
var knowsSQLite = regexp.MustCompile(`(?i)sqlite|pragma|immediate|rowid|\bwal\b`)

// TestOnlyItsPackageKnowsSQLite: no other package of the store uses words that only SQLite has.
func TestOnlyItsPackageKnowsSQLite(t *testing.T) {
	found := 0
	for _, dir := range []string{".", "dialect", "postgres", "schema", "sqlite"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s has no Go files (%v)", dir, err)
		}

		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}

			ast.Inspect(file, func(n ast.Node) bool {
				if _, ok := n.(*ast.ImportSpec); ok {
					return false // arch_test.go says who may import what
				}

				if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && knowsSQLite.MatchString(s.Value) {
					if dir == "sqlite" {
						found++
					} else {
						t.Errorf("%s: %s belongs into the package of SQLite", set.Position(s.Pos()), s.Value)
					}
				}

				return true
			})
		}
	}

	if found < 10 {
		t.Errorf("it has %d such texts", found)
	}
}
