package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
)

// sourceFile is a file whose text is taken by positions of its syntax tree.
type sourceFile struct {
	code []byte
	base int
}

// function is a function with mutants, in their order.
type function struct {
	decl    *ast.FuncDecl
	mutants []mutant
}

// readSource parses a file, and finds the functions that have some of these mutants.
func readSource(path string, code []byte, mutants []mutant) (sourceFile, []function, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path, code, parser.SkipObjectResolution)
	if err != nil {
		return sourceFile{}, nil, err
	}

	// Positions begin at the base of their file.
	source := sourceFile{code: code, base: fset.File(tree.Pos()).Base()}
	var out []function

	for _, d := range tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		var inside []mutant
		for _, m := range mutants {
			if source.offset(fn.Pos()) <= m.start && m.end <= source.offset(fn.End()) {
				inside = append(inside, m)
			}
		}
		if len(inside) > 0 {
			slices.SortFunc(inside, func(a, b mutant) int { return a.number - b.number })

			out = append(out, function{decl: fn, mutants: inside})
		}
	}
	return source, out, nil
}

func (s sourceFile) offset(p token.Pos) int { return int(p) - s.base }

func (s sourceFile) textOf(start, end token.Pos) string {
	return string(s.code[s.offset(start):s.offset(end)])
}
