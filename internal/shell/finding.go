package shell

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// repositoryParts are the names without one of which git finds no repository, relative to a checkout.
var repositoryParts = []string{".git", ".git/HEAD", ".git/objects", ".git/refs"}

// isRepositoryPart reports whether a path has such a name.
func isRepositoryPart(path string) bool {
	return slices.ContainsFunc(repositoryParts, func(part string) bool {
		return strings.HasSuffix(filepath.ToSlash(path), "/"+part)
	})
}

// foundPart is something that nobody may remove, and that find comes to for certain.
type foundPart struct {
	name   word // as find names it
	runs   []int
	prints bool
}

// foundParts are those of one find.
type foundParts []foundPart

// foundParts returns what find comes to for certain of all that nobody may remove: a directory where it
// looks, a checkout's root and the parts of its repository. Neither rm nor -delete removes . and ..
// themselves.
func (w *walker) foundParts(starts, tests []word) (found foundParts) {
	for _, start := range starts {
		dir, ok := w.pathOf(start)
		if !ok || !filepath.IsAbs(dir) {
			continue
		}

		for _, full := range w.partsBelow(dir) {
			rel, err := filepath.Rel(dir, full)
			keepsItself := strings.Trim(path.Base(start.text), ".") == ""
			if err != nil || !filepath.IsLocal(rel) || rel == "." && keepsItself {
				continue
			}

			// Each of them costs as much as all tests of the find.
			if w.steps -= len(tests); w.steps < 0 {
				return nil
			}

			f := finding{tests: tests, start: start.text, dir: dir}
			if rel != "." {
				f.names = strings.Split(filepath.ToSlash(rel), "/")
			}

			if x, ok := f.outcome(); ok {
				found = append(found, x)
			}
		}
	}
	return found
}

// ranBy returns those on which find runs the action at a place among its tests.
func (all foundParts) ranBy(action int) (names []word) {
	for _, x := range all {
		if slices.Contains(x.runs, action) {
			names = append(names, x.name)
		}
	}
	return names
}

// namesPrinted returns those that find prints.
func (all foundParts) namesPrinted() (names []word) {
	for _, x := range all {
		if x.prints {
			names = append(names, x.name)
		}
	}
	return names
}

// partsBelow lists what nobody may remove and a find in a directory may come to: of the checkout in which it
// runs, and of that where it looks.
func (w *walker) partsBelow(dir string) []string {
	parts := []string{dir}
	for _, around := range []string{w.dir, dir} {
		top, ok := checkoutAround(around)
		if !ok {
			continue
		}

		parts = addPath(parts, top)
		for _, name := range repositoryParts {
			if full := filepath.Join(top, filepath.FromSlash(name)); pathExists(full) {
				parts = addPath(parts, full)
			}
		}
	}
	return parts
}

// checkoutAround returns the nearest directory, from dir upwards, that has a .git.
func checkoutAround(dir string) (string, bool) {
	for ; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		if pathExists(filepath.Join(dir, ".git")) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return "", false
}

// finding is what find does with one path that it comes to.
type finding struct {
	tests []word
	start string   // where it looks, as it was written
	dir   string   // the same, absolute
	names []string // from there to the path

	at     int   // of the test that is next
	runs   []int // the actions that run for certain
	pruned bool  // it may not go into the directory
	quits  bool  // it may end
}

// answer is what a test says of a path.
type answer int

const (
	no answer = iota
	maybe
	yes
)

func answerOf(b bool) answer {
	if b {
		return yes
	}
	return no
}

func (a answer) negate() answer { return yes - a }

// printedPath is the path as find prints it.
func (f *finding) printedPath() string {
	if len(f.names) == 0 {
		return f.start
	}
	return strings.TrimSuffix(f.start, "/") + "/" + strings.Join(f.names, "/")
}

func (f *finding) fullPath() string { return filepath.Join(f.dir, filepath.Join(f.names...)) }

// outcome says what find does with the path for certain. It is false if find may not come to it.
func (f *finding) outcome() (foundPart, bool) {
	depthFirst := f.has("-depth") || f.has("-d")
	if f.has("-delete") && f.has("-prune") && !depthFirst {
		// find refuses that.
		return foundPart{}, false
	}

	tooDeep := f.hasLimit("-maxdepth", func(limit int) bool { return len(f.names) > limit })
	if tooDeep || f.hasLimit("-mindepth", func(limit int) bool { return len(f.names) < limit }) {
		return foundPart{}, false
	}

	// find doesn't go into a directory that it prunes, unless it looks at what is inside before the
	// directory.
	for i := range f.names {
		above := finding{tests: f.tests, start: f.start, dir: f.dir, names: f.names[:i]}
		if above.evaluateExpression(yes); above.pruned && !depthFirst {
			return foundPart{}, false
		}
	}

	// Without an action, find prints whatever the tests let through.
	value := f.evaluateExpression(yes)
	prints := slices.ContainsFunc(f.runs, f.isPrint) || value == yes && !f.hasAction()
	return foundPart{literal(f.printedPath()), f.runs, prints}, !f.quits
}

func (f *finding) has(test string) bool { return containsWord(f.tests, test) }

// hasAction reports whether find only prints what it is told to print.
func (f *finding) hasAction() bool {
	return slices.ContainsFunc(f.tests, func(x word) bool {
		return x.text == "-delete" || strings.HasPrefix(x.text, "-exec") || strings.HasPrefix(x.text, "-ok") ||
			strings.Contains(x.text, "print")
	})
}

func (f *finding) isPrint(at int) bool { return strings.HasPrefix(f.tests[at].text, "-print") }

// hasLimit reports whether a limit of the depth excludes the path, or may.
func (f *finding) hasLimit(option string, excludes func(limit int) bool) bool {
	i := slices.Index(f.tests, literal(option))
	if i < 0 || i+1 == len(f.tests) {
		return false
	}

	limit, err := strconv.Atoi(f.tests[i+1].text)
	return err != nil || excludes(limit)
}

// evaluateExpression evaluates find's expression: parts with -o or a comma between them. live says whether
// find comes to evaluate it.
func (f *finding) evaluateExpression(live answer) answer {
	value := f.evaluateConjunction(live)
	for f.at < len(f.tests) {
		switch f.tests[f.at].text {
		case "-o", "-or":
			f.at++
			value = max(value, f.evaluateConjunction(min(live, value.negate())))
		case ",":
			f.at++
			value = f.evaluateConjunction(live)
		default:
			return value
		}
	}
	return value
}

// evaluateConjunction evaluates tests that follow each other, until one fails.
func (f *finding) evaluateConjunction(live answer) answer {
	value := yes
	for f.at < len(f.tests) {
		switch f.tests[f.at].text {
		case "-o", "-or", ",", ")":
			return value
		case "-a", "-and":
			f.at++
		default:
			value = min(value, f.evaluateTest(min(live, value)))
		}
	}
	return value
}

// evaluateTest evaluates one test or action.
func (f *finding) evaluateTest(live answer) answer {
	if f.at >= len(f.tests) {
		return maybe
	}
	at := f.at
	f.at++

	switch name := f.tests[at].text; name {
	case "!", "-not":
		return f.evaluateTest(live).negate()
	case "(":
		value := f.evaluateExpression(live)
		// The bracket that closes it says nothing else.
		f.at++
		return value
	case "-name", "-iname":
		return f.matchesPattern(filepath.Base(f.printedPath()), name == "-iname")
	case "-path", "-wholename", "-ipath", "-iwholename":
		return f.matchesPattern(f.printedPath(), strings.HasPrefix(name, "-i"))
	case "-type":
		return f.isOfType()
	case "-true", "-depth", "-d", "-mount", "-xdev", "-follow", "-noleaf", "-daystart", "-warn", "-nowarn":
		return yes
	case "-false":
		return no
	case "-maxdepth", "-mindepth":
		f.nextArgument()
		return yes
	case "-empty", "-readable", "-writable", "-executable", "-nouser", "-nogroup":
		return maybe
	case "-prune":
		f.pruned = f.pruned || live != no
		return yes
	case "-quit":
		f.quits = f.quits || live != no
		return yes
	default:
		return f.evaluateAction(at, live)
	}
}

// evaluateAction evaluates an action, or a test of which nothing is known but that it has an argument.
func (f *finding) evaluateAction(at int, live answer) answer {
	value := yes
	switch name := f.tests[at].text; name {
	case "-delete", "-print", "-print0", "-ls":
	case "-printf", "-fprint", "-fprint0", "-fls":
		f.nextArgument()
	case "-fprintf":
		f.nextArgument()
		f.nextArgument()
	case "-exec", "-execdir", "-ok", "-okdir":
		f.at = commandEnd(f.tests, f.at) + 1
		value = maybe
	default:
		f.nextArgument()
		return maybe
	}

	// Of an action that may run, nothing is certain.
	if live == yes {
		f.runs = append(f.runs, at)
	}
	return value
}

// nextArgument returns the argument of a test.
func (f *finding) nextArgument() (x word) {
	if f.at < len(f.tests) {
		x = f.tests[f.at]
	}
	f.at++
	return x
}

// matchesPattern evaluates a pattern. Unlike a shell's, its wildcards match a slash and a dot, too.
func (f *finding) matchesPattern(text string, foldsCase bool) answer {
	x := f.nextArgument()
	if !x.isKnown() {
		return maybe
	}

	pattern := strings.ReplaceAll(x.text, "[!", "[^")
	if foldsCase {
		text, pattern = strings.ToLower(text), strings.ToLower(pattern)
	}

	// A slash is nothing special to find's patterns, so path.Match gets another character for it.
	noSlash := strings.NewReplacer("/", "\x01").Replace
	ok, err := path.Match(noSlash(pattern), noSlash(text))
	if err != nil {
		return maybe
	}
	return answerOf(ok)
}

func (f *finding) isOfType() answer {
	kinds := f.nextArgument()
	info, err := os.Lstat(f.fullPath())
	if !kinds.ok || err != nil {
		return maybe
	}

	kind := "f"
	switch {
	case info.IsDir():
		kind = "d"
	case info.Mode()&os.ModeSymlink != 0:
		kind = "l"
	}
	return answerOf(strings.Contains(kinds.text, kind))
}
