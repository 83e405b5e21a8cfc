package talkingstick_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the text of the program's Go files must be like, without tests and generated files. Well-kept programs
// of this kind lie within these bounds.
const (
	minBlank, maxBlank = 8.0, 14.0 // percent of the lines inside functions
	minComments        = 3.0       // the same
	maxWide            = 0.5       // percent of all lines
	widest             = 120       // columns; a tab counts four
	maxOneWord         = 20.0      // percent of unexported functions and methods
	longestFunction    = 78        // lines between its braces
	longestFile        = 448       // lines
	largestPackage     = 6000      // lines; of the rules, see largestRules
	largestRules       = 9000      // lines of package stick, which a reader of the product reads as one
)

// oversized are the packages that are larger, with how many lines they may have meanwhile. Nothing is added here:
// whoever moves a subject out lowers the number, and takes the row away when the package fits.
var oversized = map[string]int{
	"stick":          9900, // next: whom a change rings, and how texts of others are made safe to show
	"internal/store": 8440, // next: backup, restore, salvage, mending and the check, to a package beside it
}

// readability counts what a reader of Go files meets.
type readability struct {
	lines, wide               int
	inside, blank, comments   int
	functions, namedByOneWord int
}

// TestReadability_Text measures air and width over the whole program, and the length of each function and file.
func TestReadability_Text(t *testing.T) {
	var all readability
	for path, file := range programFiles(t) {
		lines := strings.Split(strings.TrimSuffix(file.text, "\n"), "\n")
		if len(lines) > longestFile {
			t.Errorf("%s has %d lines, at most %d: split it by subject", path, len(lines), longestFile)
		}
		all.countLines(lines)
		all.countFunctions(t, file.fset, file.syntax, lines)
	}

	t.Logf("%d lines, %d functions: %+v", all.lines, all.functions, all)
	blank, comments := percent(all.blank, all.inside), percent(all.comments, all.inside)
	if blank < minBlank || blank > maxBlank {
		t.Errorf("%.1f %% of the lines inside functions are blank, want %.0f to %.0f: set steps apart",
			blank, minBlank, maxBlank)
	}
	if comments < minComments {
		t.Errorf("%.1f %% of the lines inside functions are comments, want %.0f: say why", comments, minComments)
	}
	if wide := percent(all.wide, all.lines); wide > maxWide {
		t.Errorf("%.1f %% of the lines are wider than %d columns, want at most %.1f", wide, widest, maxWide)
	}
	if one := percent(all.namedByOneWord, all.functions); one > maxOneWord {
		t.Errorf(
			"%.0f %% of unexported functions have a name of one word, want at most %.0f: a verb with its object",
			one, maxOneWord,
		)
	}
}

// TestReadability_Packages holds how large a package may become, without its tests and the packages below it.
func TestReadability_Packages(t *testing.T) {
	sizes := map[string]int{}
	for file, text := range programFiles(t) {
		sizes[path.Dir(file)] += strings.Count(text.text, "\n")
	}

	for _, dir := range slices.Sorted(maps.Keys(sizes)) {
		limit := largestPackage
		if dir == "stick" {
			limit = largestRules
		}

		allowed, isOversized := oversized[dir]
		switch {
		case isOversized && sizes[dir] <= limit:
			t.Errorf("%s has %d lines, which is within %d: take its row out of oversized", dir, sizes[dir], limit)
		case isOversized:
			limit = allowed
		}

		if sizes[dir] > limit {
			t.Errorf("%s has %d lines, at most %d: move a subject with few ties to the rest into a package below it, "+
				"as engine/scopes and engine/guard/stash are below engine", dir, sizes[dir], limit)
		}
	}

	for dir := range oversized {
		if sizes[dir] == 0 {
			t.Errorf("%s has a row in oversized, and doesn't exist", dir)
		}
	}
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

func (r *readability) countLines(lines []string) {
	r.lines += len(lines)
	for _, line := range lines {
		if len([]rune(strings.ReplaceAll(line, "\t", "    "))) > widest {
			r.wide++
		}
	}
}

var (
	oneWord   = regexp.MustCompile(`^[a-z0-9]+$`)
	firstWord = regexp.MustCompile(`^[a-z]+`)
)

func (r *readability) countFunctions(t *testing.T, fset *token.FileSet, file *ast.File, lines []string) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}

		if name := f.Name.Name; !f.Name.IsExported() && name != "main" && name != "init" {
			r.functions++
			if oneWord.MatchString(name) {
				r.namedByOneWord++
			}
		}

		if f.Body == nil {
			continue
		}

		from, to := fset.Position(f.Body.Lbrace).Line, fset.Position(f.Body.Rbrace).Line
		if length := to - from - 1; length > longestFunction {
			t.Errorf("%s has %d lines, at most %d: give a part of it a name", f.Name.Name, length, longestFunction)
		}

		// What stands between the line with { and the one with }.
		for _, line := range lines[from:max(from, to-1)] {
			r.inside++
			switch line = strings.TrimSpace(line); {
			case line == "":
				r.blank++
			case strings.HasPrefix(line, "//"):
				r.comments++
			}
		}
	}
}

// fillers are verbs that say nothing about what a function does. A process is a thing here.
var fillers = []string{"do", "handle", "perform", "manage"}

// idioms are names of one word that many types of Go have.
var idioms = []string{"close", "write", "read", "add", "run"}

// TestReadability_Names checks that a name can be searched for: hardly any is declared in five places, and no
// verb is a filler.
func TestReadability_Names(t *testing.T) {
	declared := map[string]int{}
	for _, file := range programFiles(t) {
		for _, decl := range file.syntax.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.IsExported() {
				continue
			}

			if oneWord.MatchString(f.Name.Name) {
				declared[f.Name.Name]++
			}

			verb := firstWord.FindString(f.Name.Name)
			if slices.Contains(fillers, verb) {
				t.Errorf("%s: %s says nothing: name what it does", file.fset.Position(f.Pos()), f.Name.Name)
			}
		}
	}

	for name, n := range declared {
		if n >= 5 && !slices.Contains(idioms, name) && name != "main" && name != "init" {
			t.Errorf("%s is declared %d times: add its object", name, n)
		}
	}
}

// programFile is a Go file of the program.
type programFile struct {
	text   string
	fset   *token.FileSet
	syntax *ast.File
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT`)

// programFiles returns the program's Go files, by path: no tests, nothing generated.
func programFiles(t *testing.T) map[string]programFile {
	t.Helper()
	files := map[string]programFile{}
	for _, path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}

		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if generated.Match(text) {
			continue
		}

		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, path, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = programFile{string(text), fset, syntax}
	}

	if len(files) < 100 {
		t.Fatalf("only %d files were found", len(files))
	}
	return files
}
