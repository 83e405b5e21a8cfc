package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
)

// A counting binary is built from the unchanged code, and tells which mutants matter to the tests that it
// runs. A mutant of a condition matters when the condition would have had another value, any other when its
// statement ran. A mutant that doesn't matter to a test can't be killed by it.

// seenVariable is the environment variable with the file into which a counting binary writes the numbers of
// mutants that matter.
const seenVariable = "MUTANTS_SEEN"

// counterSource is the file that a counting package has more than the original. Tests mustn't run side by
// side in it.
func counterSource(pkg string, most int) []byte {
	return fmt.Appendf(nil, `package %s

import (
	"os"
	"strconv"
)

var (
	mutantsSeen     [%d]bool
	mutantsSeenFile, _ = os.OpenFile(os.Getenv(%q), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	mutantCompares  bool
)

func mutantMatters(n int) {
	if !mutantsSeen[n] && !mutantCompares {
		mutantsSeen[n] = true
		mutantsSeenFile.WriteString(strconv.Itoa(n) + "\n")
	}
}

func mutantsReached(all ...int) {
	for _, n := range all {
		mutantMatters(n)
	}
}

func mutantCompared[B ~bool](value B, n int, other func() bool) B {
	if !mutantsSeen[n] && !mutantCompares {
		if mutantDiffers(bool(value), other) {
			mutantMatters(n)
		}
	}
	return value
}

func mutantDiffers(value bool, other func() bool) (differs bool) {
	mutantCompares = true
	defer func() {
		mutantCompares = false
		if recover() != nil {
			differs = true
		}
	}()
	return other() != value
}
`, pkg, most+1, seenVariable)
}

// newCounting puts the counts of these mutants into packages.
func newCounting(mutants []mutant) rewriting {
	most := 0
	for _, m := range mutants {
		most = max(most, m.number)
	}

	return rewriting{added: func(pkg string) []byte { return counterSource(pkg, most) }, file: withCounts}
}

// insertion is text that comes into a file.
type insertion struct {
	at   int
	text string
	rank int // where several come to one place, those of a lower rank come first
}

// withCounts returns a source file in which these of its mutants are counted.
func withCounts(path string, code []byte, mutants []mutant) ([]byte, []region, error) {
	source, functions, err := readSource(path, code, mutants)
	if err != nil {
		return nil, nil, err
	}

	var out []byte
	var regions []region
	done := 0
	for _, f := range functions {
		out = append(out, code[done:source.offset(f.decl.Pos())]...)
		done = source.offset(f.decl.Pos())
		start := len(out)

		for _, in := range source.listCounts(f) {
			out = append(append(out, code[done:in.at]...), in.text...)
			done = in.at
		}

		out = append(out, code[done:source.offset(f.decl.End())]...)
		done = source.offset(f.decl.End())
		regions = append(regions, region{mutants: f.mutants, start: start, end: len(out)})
	}
	return append(out, code[done:]...), regions, nil
}

// listCounts lists what counts the mutants of a function, in the order of the source.
func (s sourceFile) listCounts(f function) []insertion {
	statements := s.statementStarts(f.decl)
	var out []insertion

	for i, m := range f.mutants {
		// What isn't a condition matters when its statement runs.
		if !m.condition {
			at := statements[0]
			for _, begin := range statements {
				if begin <= m.start {
					at = max(at, begin)
				}
			}
			out = append(out, insertion{at: at, text: fmt.Sprintf("mutantsReached(%d); ", m.number), rank: 0})
			continue
		}

		// What is longer opens earlier and closes later.
		size := (m.end-m.start)*(len(f.mutants)+1) + i
		other := fmt.Sprintf(", %d, func() bool { return bool(%s) })", m.number, m.by)
		out = append(out, insertion{at: m.start, text: "mutantCompared(", rank: 1<<40 - size},
			insertion{at: m.end, text: other, rank: -1<<40 + size})
	}

	slices.SortStableFunc(out, func(a, b insertion) int { return cmp.Or(a.at-b.at, a.rank-b.rank) })
	return out
}

// statementStarts are where the statements of a function begin that stand in a list, so that another can come
// before.
func (s sourceFile) statementStarts(fn *ast.FuncDecl) []int {
	var out []int
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}

		// No statement can stand before a clause of a switch or a select.
		for _, st := range list {
			if _, isClause := st.(*ast.CaseClause); isClause {
				break
			}
			if _, isClause := st.(*ast.CommClause); isClause {
				break
			}
			out = append(out, s.offset(st.Pos()))
		}
		return true
	})
	return out
}
