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

// TestItsFilesKnowSQLite: no other file of the store imports SQLite or uses words that only SQLite has.
func TestItsFilesKnowSQLite(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
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
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && knowsSQLite.MatchString(s.Value) {
				if strings.HasPrefix(name, "sqlite") {
					found++
				} else {
					t.Errorf("%s: %s belongs into a file of SQLite's", set.Position(s.Pos()), s.Value)
				}
			}
			return true
		})
	}
	if found < 10 {
		t.Errorf("they have %d such texts", found)
	}
}
