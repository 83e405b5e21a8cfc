package main

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// costlyTests are the tests that take long. They run last, for mutants that have survived the others.
var costlyTests = regexp.MustCompile("Explor|Enumerated")

// furtherTests are folders whose tests run against the mutants of the rules too, after the tables of the
// rules' own packages. One that doesn't exist is passed over.
var furtherTests = []string{"internal/model"}

// The phases of a run, from cheap to dear.
const (
	tables            = "tables"
	further           = "further tests"
	shortExplorations = "short explorations"
	explorations      = "explorations"
)

// A step is the tests of one package in one phase. A mutant goes through them in order, until one kills it.
type step struct {
	phase string
	dir   string // of the package
	short bool   // with -test.short
	draws bool   // the tests use rapid, and have its flags

	binary  string                  // with all mutants in it
	tests   []string                // patterns for -test.run
	limit   time.Duration           // of processor time
	imports []string                // of the package
	matters map[string]map[int]bool // by test: the mutants that matter to it, by number
}

// planSteps lists the steps for the packages in these folders, those below before those above.
func planSteps(dirs []string, short bool, phases *regexp.Regexp) []*step {
	var out []*step
	add := func(phase string, dirs []string, short bool) {
		for _, dir := range dirs {
			if _, err := os.Stat(dir); err == nil && phases.MatchString(phase) {
				out = append(out, &step{phase: phase, dir: dir, short: short, draws: drawsAtRandom(dir), imports: listImports(dir)})
			}
		}
	}

	add(tables, dirs, short)
	add(further, furtherTests, short)
	add(shortExplorations, dirs, true)
	if !short {
		add(explorations, dirs, false)
	}
	return out
}

func (s *step) String() string { return s.phase + ", " + s.dir }

// appliesTo reports whether a mutant has to survive this step: it is of its own package, of one that imports that,
// of the package whose folder is top, whose tests use those below, or of a further one.
func (s *step) appliesTo(m mutant, top string) bool {
	own := filepath.Dir(m.file)
	if s.dir == own || s.dir == top || s.phase == further {
		return true
	}
	return slices.ContainsFunc(s.imports, func(path string) bool { return strings.HasSuffix(path, "/"+filepath.ToSlash(own)) })
}

// listImports lists the paths that the Go files of a folder import, without its tests.
func listImports(dir string) (paths []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil || strings.HasSuffix(name, "_test.go") {
			continue // what doesn't parse has no tests, either
		}

		for _, im := range tree.Imports {
			path, _ := strconv.Unquote(im.Path.Value)
			paths = append(paths, path)
		}
	}
	return paths
}

// hasTest reports whether a test belongs to this step.
func (s *step) hasTest(test string) bool {
	switch s.phase {
	case tables:
		return !costlyTests.MatchString(test)
	case further:
		return true
	}
	return s.isCostly() && costlyTests.MatchString(test)
}

// isCostly reports whether each test of the step, and each first part of it, runs by itself: then a mutant
// meets only the parts to which it matters.
func (s *step) isCostly() bool { return s.phase == shortExplorations || s.phase == explorations }

// measureTests finds the tests of the step. It runs them without a mutant, and takes the limit from the time
// that this needs.
func (s *step) measureTests(ctx context.Context, least time.Duration) error {
	// The binary itself says which tests it has.
	names, err := listTests(ctx, s.binary, s.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if s.hasTest(name) {
			s.tests = append(s.tests, "^"+name+"$")
		}
	}
	if len(s.tests) == 0 {
		return nil
	}

	t := s.newTrial(s.binary, s.tests)
	got := t.runTests(ctx)
	if got.end != lives {
		return fmt.Errorf("%s: the tests fail without a mutant: %s\n%s", s, got.end, got.said)
	}

	// Quick tests may take twenty times as long, slow ones three times and half a minute.
	s.limit = max(least, min(20*got.took, 30*time.Second+3*got.took))

	if s.isCostly() {
		s.tests = partsOf(got.said, s.tests)
	}

	fmt.Printf("%s: %d tests, %.1f s of processor time without a mutant\n", s, len(s.tests), got.took.Seconds())
	return nil
}

var partLine = regexp.MustCompile(`(?m)^=== RUN +([^\s/]+)/([^\s/]+)$`)

// partsOf replaces tests by their first parts, as what they print names them.
func partsOf(said string, tests []string) []string {
	parts := map[string][]string{}
	for _, m := range partLine.FindAllStringSubmatch(said, -1) {
		test := "^" + m[1] + "$"
		parts[test] = append(parts[test], test+"/^"+regexp.QuoteMeta(m[2])+"$")
	}

	var out []string
	for _, test := range tests {
		// A test that has no parts runs as a whole.
		if len(parts[test]) == 0 {
			parts[test] = []string{test}
		}
		out = append(out, parts[test]...)
	}
	return out
}

// countAll finds out which mutants matter to each test, in a binary that counts them.
func (s *step) countAll(ctx context.Context, binary string, parallel int) error {
	var mu sync.Mutex // guards what follows
	s.matters = map[string]map[int]bool{}
	var errs []error

	inParallel(parallel, s.tests, func(test string) {
		matters, err := s.countOne(ctx, binary, test)

		mu.Lock()
		defer mu.Unlock()
		s.matters[test] = matters
		errs = append(errs, err)
	})
	return errors.Join(errs...)
}

func (s *step) countOne(ctx context.Context, binary, test string) (map[int]bool, error) {
	file, err := os.CreateTemp(filepath.Dir(binary), "seen-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if err := file.Close(); err != nil {
		return nil, err
	}

	t := s.newTrial(binary, []string{test})

	// Counting takes several times as long.
	t.limit = 0
	t.flags = append(t.flags, "-test.parallel=1")
	t.env = []string{seenVariable + "=" + file.Name()}

	if got := t.runTests(ctx); got.end != lives {
		return nil, fmt.Errorf("%s: %s fails without a mutant: %s\n%s", s, test, got.end, got.said)
	}

	b, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, err
	}

	matters := map[int]bool{}
	for _, n := range strings.Fields(string(b)) {
		number, err := strconv.Atoi(n)
		if err != nil {
			return nil, err
		}
		matters[number] = true
	}
	return matters, nil
}

// mattersToAll notes that nothing is known of a mutant.
func (s *step) mattersToAll(m mutant) {
	for _, matters := range s.matters {
		matters[m.number] = true
	}
}

// testsFor are the tests to which a mutant matters.
func (s *step) testsFor(m mutant) []string {
	return slices.DeleteFunc(slices.Clone(s.tests), func(t string) bool { return !s.matters[t][m.number] })
}

// trialsFor are the runs of tests that a mutant has to survive.
func (s *step) trialsFor(m mutant, binary string) []trial {
	tests := s.testsFor(m)
	if len(tests) == 0 {
		return nil
	}

	// Costly tests run one by one, the others in one process.
	together := [][]string{tests}
	if s.isCostly() {
		together = nil
		for _, t := range tests {
			together = append(together, []string{t})
		}
	}

	var out []trial
	for _, tests := range together {
		t := s.newTrial(binary, tests)
		t.env = []string{chosenVariable + "=" + strconv.Itoa(m.number)}
		out = append(out, t)
	}
	return out
}

// newTrial is a run of some tests of the step.
func (s *step) newTrial(binary string, tests []string) trial {
	t := trial{binary: binary, dir: s.dir, tests: tests, limit: s.limit}

	if s.short {
		t.flags = append(t.flags, "-test.short")
	}

	if s.draws {
		// The same draws for each mutant, and in each run. Without the second, rapid writes failing cases
		// into the tree.
		t.flags = append(t.flags, "-rapid.seed=1", "-rapid.nofailfile")
	}

	return t
}

// drawsAtRandom reports whether the tests in a directory use rapid, and so have its flags.
func drawsAtRandom(dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))

	return err == nil && slices.ContainsFunc(files, func(path string) bool {
		b, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(b), `"pgregory.net/rapid"`)
	})
}

// inParallel calls f for each of all, several at once.
func inParallel[T any](parallel int, all []T, f func(T)) {
	work := make(chan T)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			for x := range work {
				f(x)
			}
		})
	}

	for _, x := range all {
		work <- x
	}

	close(work)
	wg.Wait()
}
