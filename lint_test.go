package talkingstick_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promises are phrases that speak of what somebody means to build. Such a sentence is true on the day it is
// written and stays when the thing is there: the README once denied workers below its own chapter on them.
// What isn't built has its place in ARCHITECTURE ("Not built, and why"), as a fact and with its reason.
var promises = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`not yet`, `as yet`, `comes? with`, `to come`, `will be`, `for now`, `for the time being`, `for the moment`,
	`n't (be )?(exist|there|built|written|supported|implemented|installed|wired|known to work) yet`,
	`no effect yet`, `nothing reads`, `are?n't built`, `isn't built`,
	`(a|the|some) later (issue|step|change|commit|version|release)`, `later issues?`,
	`(a|the|some) future (issue|version|release)`,
	`in the future`, `some ?day`, `upcoming`, `eventually`, `todo`, `fixme`, `xxx`, `hack`,
}, `|`) + `)\b`)

// kept are the sentences, or the parts of one, in which such a phrase says something else.
var kept = []string{
	`A lint fails for "not yet" and its like`,
}

// TestDocumentsMakeNoPromises reads the documents, without their examples, whose text is the program's.
func TestDocumentsMakeNoPromises(t *testing.T) {
	l := newLint()
	for path, text := range documents(t) {
		if strings.HasPrefix(path, "internal/") {
			continue // what install writes for agents
		}
		fenced := false

		var p passage
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if fenced || strings.HasPrefix(line, "    ") {
				line = ""
			}

			if line == "" {
				l.read(t, path, p)
				p = passage{}
			}
			p.add(i+1, line)
		}
		l.read(t, path, p)
	}
}

// TestCommentsMakeNoPromises reads the comments of all Go code, and looks after it whether every sentence in
// the list of exceptions is still somewhere.
func TestCommentsMakeNoPromises(t *testing.T) {
	l := newLint()
	for _, text := range documents(t) {
		var p passage
		p.add(1, text)
		l.find(p)
	}

	for _, path := range goFiles(t) {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Comments {
			l.read(t, path, passageOf(fset, g))
		}
	}

	for _, s := range kept {
		if !l.met[s] {
			t.Errorf("lint_test.go: the exception %q is nowhere any more: remove it", s)
		}
	}
}

// goFiles are the files of Go in this repository.
func goFiles(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(notDocuments, d.Name())):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(path) == ".go" && path != "lint_test.go": // it has the phrases themselves
			paths = append(paths, filepath.ToSlash(path))
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return paths
}

// passage is running text with single blanks, and the line that each of its bytes is from: a phrase may go
// over the end of a line.
type passage struct {
	text  strings.Builder
	lines []int
}

func (p *passage) add(line int, s string) {
	for _, word := range strings.Fields(s) {
		p.text.WriteString(word + " ")
		for range len(word) + 1 {
			p.lines = append(p.lines, line)
		}
	}
}

func passageOf(fset *token.FileSet, g *ast.CommentGroup) (p passage) {
	for _, c := range g.List {
		first := fset.Position(c.Pos()).Line
		for i, line := range strings.Split(c.Text, "\n") {
			p.add(first+i, strings.TrimSuffix(strings.TrimLeft(strings.TrimSpace(line), "/*"), "*/"))
		}
	}

	return p
}

// lint knows which of the exceptions it has met.
type lint struct{ met map[string]bool }

func newLint() *lint { return &lint{map[string]bool{}} }

// find notes the exceptions in a passage and returns where they stand.
func (l *lint) find(p passage) (ranges [][2]int) {
	for _, s := range kept {
		for at := 0; ; {
			i := strings.Index(p.text.String()[at:], s)
			if i < 0 {
				break
			}

			l.met[s] = true
			ranges = append(ranges, [2]int{at + i, at + i + len(s)})
			at += i + len(s)
		}
	}

	return ranges
}

func (l *lint) read(t *testing.T, path string, p passage) {
	t.Helper()
	ranges := l.find(p)
next:
	for _, m := range promises.FindAllStringIndex(p.text.String(), -1) {
		for _, r := range ranges {
			if r[0] <= m[0] && m[1] <= r[1] {
				continue next
			}
		}

		text := p.text.String()
		t.Errorf("%s:%d: %q speaks of what is to be built: …%s…\nsay what is so today; if it does, the sentence belongs into the list of exceptions",
			path, p.lines[m[0]], text[m[0]:m[1]], text[max(0, m[0]-40):min(len(text), m[1]+40)])
	}
}
