package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"strings"
)

// chosenVariable is the environment variable that chooses the mutant a test binary runs, by its number.
const chosenVariable = "MUTANT"

// addedFile is the name of the file that each mutated package has more. It sorts before all others, so that
// the number is known when tables are made at initialisation.
const addedFile = "0_mutants.go"

// copyRewriting puts all mutants into the packages, from which the variable chooses one.
var copyRewriting = rewriting{added: chooserSource, file: withCopies}

func chooserSource(pkg string) []byte {
	return fmt.Appendf(nil, `package %s

import (
	"os"
	"strconv"
)

var mutantChosen, _ = strconv.Atoi(os.Getenv(%q))
`, pkg, chosenVariable)
}

// withCopies returns a source file that has these of its mutants in it: of each function a copy for each
// mutant, and at its beginning a jump to the copy that is chosen. Functions for which that can't be done are
// left as they are: their mutants have no copy.
func withCopies(path string, code []byte, mutants []mutant) ([]byte, []region, error) {
	source, functions, err := readSource(path, code, mutants)
	if err != nil {
		return nil, nil, err
	}

	var body, tail bytes.Buffer
	var copies []region
	done := 0
	for _, f := range functions {
		fn := f.decl
		if !source.canCopy(fn) {
			continue
		}

		jump := source.buildJump(fn, f.mutants)
		body.Write(code[done:source.offset(fn.Pos())])
		body.WriteString(jump.head)
		done = source.offset(fn.Body.Lbrace) + 1

		tail.WriteString(jump.table)
		for _, m := range f.mutants {
			start := tail.Len()
			tail.WriteString(source.copyOf(fn, m))
			copies = append(copies, region{mutants: []mutant{m}, start: start, end: tail.Len()})
		}
	}
	body.Write(code[done:])
	body.WriteByte('\n')

	// The copies stand behind the rewritten file, so their places move by its length.
	for i := range copies {
		copies[i].start += body.Len()
		copies[i].end += body.Len()
	}

	body.Write(tail.Bytes())
	return body.Bytes(), copies, nil
}

// canCopy reports whether a copy, called by the function, does the same as the function.
func (s sourceFile) canCopy(fn *ast.FuncDecl) bool {
	if fn.Type.TypeParams != nil {
		for _, name := range namesOf(fn.Type.TypeParams) {
			if name == "_" {
				// A parameter without a name can't be handed on.
				return false
			}
		}
	}

	can := true
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "recover" {
			// Recover works in a function that is deferred, and not in one that this calls.
			can = false
		}
		return can
	})
	return can
}

// jump is what makes a function run the copy that is chosen.
type jump struct {
	head  string // of the function, with the brace that opens it
	table string // a function that calls the copies
}

// buildJump builds the jump to the copies with these mutants, in the order of the source: all numbers between
// the first and the last belong to the function. It only compares with those two itself, so that it stays
// quick.
func (s sourceFile) buildJump(fn *ast.FuncDecl, mutants []mutant) jump {
	receiver, prefix := "", ""
	if fn.Recv != nil {
		params, names := s.namedParams(fn.Recv, "mutantReceiver")
		receiver, prefix = params+" ", names[0]+"."
	}

	params, names := s.namedParams(fn.Type.Params, "mutantParam")
	if last := len(names) - 1; last >= 0 {
		if _, variadic := fn.Type.Params.List[len(fn.Type.Params.List)-1].Type.(*ast.Ellipsis); variadic {
			names[last] += "..."
		}
	}

	typeParams, typeArgs := "", ""
	if fn.Type.TypeParams != nil {
		typeParams = s.textOf(fn.Type.TypeParams.Pos(), fn.Type.TypeParams.End())
		typeArgs = "[" + strings.Join(namesOf(fn.Type.TypeParams), ", ") + "]"
	}

	// A function without results returns after the call.
	results := ""
	if fn.Type.Results != nil {
		results = " " + s.textOf(fn.Type.Results.Pos(), fn.Type.Results.End())
	}

	declare := func(name string) string { return "func " + receiver + name + typeParams + params + results + " {" }
	call := func(name string) string {
		c := prefix + name + typeArgs + "(" + strings.Join(names, ", ") + ")"
		if results == "" {
			return c + "; return"
		}
		return "return " + c
	}

	first, last := mutants[0].number, mutants[len(mutants)-1].number
	table := fmt.Sprintf("mutants%d_%s", first, fn.Name.Name)

	var t strings.Builder
	fmt.Fprintf(&t, "%s\nswitch mutantChosen {\n", declare(table))
	for _, m := range mutants {
		fmt.Fprintf(&t, "case %d: %s\n", m.number, call(copyName(fn, m)))
	}
	t.WriteString("}\npanic(\"this mutant has no copy\")\n}\n")

	test := fmt.Sprintf(" if mutantChosen >= %d && mutantChosen <= %d { %s };", first, last, call(table))
	return jump{head: declare(fn.Name.Name) + test, table: t.String()}
}

// namedParams returns the source of parameters that all have names, and the names.
func (s sourceFile) namedParams(fields *ast.FieldList, unnamed string) (string, []string) {
	var params, names []string
	for _, f := range fields.List {
		idents := f.Names

		// A parameter needs a name, by which the jump hands it on.
		if len(idents) == 0 {
			idents = []*ast.Ident{{Name: "_"}}
		}
		for _, id := range idents {
			name := id.Name
			if name == "_" {
				name = fmt.Sprint(unnamed, len(names))
			}
			names = append(names, name)
			params = append(params, name+" "+s.textOf(f.Type.Pos(), f.Type.End()))
		}
	}

	return "(" + strings.Join(params, ", ") + ")", names
}

// copyOf is the source of a function with a mutant in it.
func (s sourceFile) copyOf(fn *ast.FuncDecl, m mutant) string {
	return s.textOf(fn.Pos(), fn.Name.Pos()) + copyName(fn, m) +
		string(s.code[s.offset(fn.Name.End()):m.start]) + m.by + string(s.code[m.end:s.offset(fn.End())]) + "\n"
}

// copyName has a small letter, so that reflection finds no methods that the original doesn't have.
func copyName(fn *ast.FuncDecl, m mutant) string {
	return fmt.Sprintf("mutant%d_%s", m.number, fn.Name.Name)
}

func namesOf(fields *ast.FieldList) []string {
	var out []string
	for _, f := range fields.List {
		for _, id := range f.Names {
			out = append(out, id.Name)
		}
	}
	return out
}
