package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change of a source file.
type mutant struct {
	number     int    // from 1, in the order of the source
	name       string // file, function, old and new code; it stays the same when lines move
	file       string
	line       int
	code       []byte // of the whole file, unchanged
	start, end int    // what is replaced
	by         string
	condition  bool // what is replaced has a value of true or false, which the mutant may leave as it is
}

// changedSource is the changed file.
func (m mutant) changedSource() []byte {
	return slices.Concat(m.code[:m.start], []byte(m.by), m.code[m.end:])
}

// mutantsBelow lists the mutants of the Go files in a directory and below it, without tests and without packages
// that are there for tests, whose names end in test.
func mutantsBelow(dir string) ([]mutant, error) {
	var out []mutant
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && isForTests(d) {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		ms, err := listMutants(path, code)
		out = append(out, ms...)
		return err
	})

	for i := range out {
		out[i].number = i + 1
	}
	return out, err
}

func isForTests(d fs.DirEntry) bool { return d.IsDir() && strings.HasSuffix(d.Name(), "test") }

// drawMutants draws n mutants. The draw depends only on their names and the seed, so that most stay the same
// when code is added elsewhere.
func drawMutants(ms []mutant, n int, seed uint64) []mutant {
	rank := func(m mutant) uint64 {
		h := fnv.New64a()
		h.Write(binary.LittleEndian.AppendUint64(nil, seed))
		h.Write([]byte(m.name))

		// FNV alone keeps similar names together.
		return h.Sum64() * 0x9e3779b97f4a7c15 >> 3
	}

	out := slices.Clone(ms)
	slices.SortStableFunc(out, func(a, b mutant) int { return cmp.Compare(rank(a), rank(b)) })

	if n > 0 && n < len(out) {
		out = out[:n]
	}
	return out
}

var swappedOperators = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ}, token.LEQ: {token.LSS}, token.GTR: {token.GEQ}, token.GEQ: {token.GTR},
	token.ADD: {token.SUB}, token.SUB: {token.ADD},
}

// listMutants lists the mutants of a file: comparisons and sums reversed, each part of a condition left out,
// conditions of if and case always true or false, assignments and calls left out, constants changed.
func listMutants(path string, code []byte) ([]mutant, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path, code, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}

	at := func(p token.Pos) int { return fset.Position(p).Offset }
	var out []mutant
	names := map[string]int{}
	for _, d := range tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}

		in := fn.Name.Name
		if fn.Recv != nil {
			t := fn.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			in = string(code[at(t.Pos()):at(t.End())]) + "." + in
		}

		add := func(start, end token.Pos, by string, condition bool) {
			old := string(code[at(start):at(end)])
			if by == old {
				return
			}
			name := fmt.Sprintf("%s %s: %s → %s",
				filepath.ToSlash(path), in, shorten(old), cmp.Or(shorten(by), "nothing"))

			// The same change may stand several times in a function.
			if names[name]++; names[name] > 1 {
				name += fmt.Sprintf(" #%d", names[name])
			}

			out = append(out, mutant{
				name: name, file: path, line: fset.Position(start).Line, code: code,
				start: at(start), end: at(end), by: by,
				condition: condition,
			})
		}

		text := func(n ast.Node) string { return string(code[at(n.Pos()):at(n.End())]) }

		ast.Inspect(fn.Body, func(n ast.Node) bool {
			addChanges(n, text, add)
			return true
		})
	}

	return out, nil
}

// addChanges calls add for each change of a node: where it is, what comes there, and whether that is a
// condition which may have the value it had. text returns the source of a node.
func addChanges(n ast.Node, text func(ast.Node) string, add func(start, end token.Pos, by string, condition bool)) {
	replace := func(start, end token.Pos, by string) { add(start, end, by, false) }
	condition := func(n ast.Node, by string) { add(n.Pos(), n.End(), by, true) }

	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, op := range swappedOperators[n.Op] {
			// The value may stay as it was only where one order replaces another.
			isOrder := slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, op)
			add(n.Pos(), n.End(), text(n.X)+" "+op.String()+" "+text(n.Y), isOrder)
		}
		if n.Op == token.LAND || n.Op == token.LOR {
			condition(n, text(n.X))
			condition(n, text(n.Y))
		}
	case *ast.IfStmt:
		replace(n.Cond.Pos(), n.Cond.End(), "!("+text(n.Cond)+")")
	case *ast.SwitchStmt:
		if n.Tag != nil {
			break
		}

		// Without a tag, the cases are conditions.
		for _, s := range n.Body.List {
			for _, e := range s.(*ast.CaseClause).List {
				condition(e, "false && ("+text(e)+")")
				condition(e, "true || ("+text(e)+")")
			}
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			replace(n.Pos(), n.End(), text(n.X))
		}
	case *ast.AssignStmt:
		switch n.Tok {
		case token.DEFINE:
		case token.ASSIGN:
			for _, l := range n.Lhs {
				replace(l.Pos(), l.End(), "_")
			}

		default:
			// Assignments such as += are left out as a whole.
			replace(n.Pos(), n.End(), "")
		}
	case *ast.IncDecStmt:
		replace(n.Pos(), n.End(), "")
	case *ast.ExprStmt:
		replace(n.Pos(), n.End(), "")
	case *ast.Ident:
		switch n.Name {
		case "true":
			replace(n.Pos(), n.End(), "false")
		case "false":
			replace(n.Pos(), n.End(), "true")
		}
	case *ast.BasicLit:
		if v, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
			replace(n.Pos(), n.End(), strconv.Itoa(v+1))
		}
	case *ast.BranchStmt:
		if n.Label == nil && n.Tok == token.CONTINUE {
			replace(n.Pos(), n.End(), "break")
		}
	}
}

// shorten returns source code as one line of text.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")

	// Long code ends with its checksum, so that names stay different.
	if r := []rune(s); len(r) > 120 {
		h := fnv.New32a()
		h.Write([]byte(s))
		s = string(r[:100]) + fmt.Sprintf("… (%08x)", h.Sum32())
	}
	return s
}
