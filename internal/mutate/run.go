package main

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

type run struct {
	dir, list          string
	n, parallel        int
	seed               uint64
	short, names       bool
	limit              time.Duration
	only, phases       *regexp.Regexp
	namesFrom, against string
	record             record

	scratch  string
	all      []mutant
	drawn    []mutant
	packages []goPackage // that have mutants, and the one in whose folder all are
	exports  types.Importer
	mutated  *rewritten // with all mutants drawn
	binaries *builds    // of that
}

func (r *run) runAll(ctx context.Context) error {
	all, err := mutantsBelow(r.dir)
	if err != nil {
		return err
	}
	r.all = all

	known := map[string]bool{}
	for _, m := range all {
		known[m.name] = true
	}

	if r.drawn, err = r.chooseMutants(all); err != nil {
		return err
	}
	if r.names {
		for _, m := range r.drawn {
			fmt.Println(m.name)
		}
		return nil
	}

	// These are read before the run, so that a mistake in them shows at once.
	allowed, err := readSurvivors(r.list)
	if err != nil {
		return err
	}

	var before []result
	if r.against != "" {
		if before, err = readRecord(r.against); err != nil {
			return err
		}
	}

	fmt.Printf("%d mutants of %d, seed %d\n", len(r.drawn), len(all), r.seed)
	if err := r.tryAll(ctx, allowed); err != nil {
		return err
	}

	err = r.record.findUnexpected(allowed, known, r.list)
	if r.against != "" {
		err = errors.Join(err, r.record.compareWith(before, known))
	}
	return err
}

// chooseMutants draws the mutants that are run from all.
func (r *run) chooseMutants(all []mutant) ([]mutant, error) {
	var named map[string]bool
	if r.namesFrom != "" {
		list, err := readRecord(r.namesFrom)
		if err != nil {
			return nil, err
		}
		named = map[string]bool{}
		for _, l := range list {
			named[l.name] = true
		}
	}

	matching := slices.DeleteFunc(slices.Clone(all), func(m mutant) bool {
		return !r.only.MatchString(m.name) || named != nil && !named[m.name]
	})
	return drawMutants(matching, r.n, r.seed), nil
}

// tryAll builds the mutants and takes them through the steps.
func (r *run) tryAll(ctx context.Context, allowed map[string]string) (err error) {
	if r.scratch, err = os.MkdirTemp("", "mutate-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.scratch)

	began := time.Now()
	steps, err := r.prepareSteps(ctx)
	if err != nil {
		return err
	}

	// What doesn't build shows nothing about the tests.
	var alive []mutant
	for _, m := range r.drawn {
		sentence, refused := r.mutated.unbuilt[m.number]
		if !refused {
			alive = append(alive, m)
		} else if err := r.record.addResult(result{name: m.name, end: unbuilt, by: sentence}); err != nil {
			return err
		}
	}

	for _, s := range steps {
		if alive, err = r.runStep(ctx, s, alive); err != nil {
			return err
		}
	}

	for _, m := range alive {
		if err := r.record.addResult(result{name: m.name, end: lives}); err != nil {
			return err
		}
		if allowed[m.name] == "" {
			fmt.Printf("lives: %s\n  %s:%d\n", m.name, m.file, m.line)
		}
	}

	n := func(ends ...string) int { return len(r.record.namesOf(ends...)) }
	fmt.Printf("killed %d, %d of them by the limit of time; %d live; %d don't build; %s\n",
		n(killed, late), n(late), n(lives), n(unbuilt), time.Since(began).Round(time.Second))
	return r.record.writeSorted()
}

// prepareSteps puts the mutants into their packages, and plans the steps.
func (r *run) prepareSteps(ctx context.Context) ([]*step, error) {
	dirs := []string{r.dir}

	// The tests of all packages count, also of those that have no mutant in this run.
	for _, m := range r.all {
		if dir := filepath.Dir(m.file); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}

	// Those below come first.
	slices.SortFunc(dirs, func(a, b string) int { return strings.Compare(b, a) })

	for _, dir := range dirs {
		p, err := listPackages(ctx, "./"+filepath.ToSlash(dir))
		if err != nil {
			return nil, err
		}
		r.packages = append(r.packages, p...)
	}

	var err error
	if r.exports, err = exportData(ctx, r.packages); err != nil {
		return nil, err
	}

	if r.binaries, err = r.newBuilds("mutated"); err != nil {
		return nil, err
	}

	if r.mutated, err = copyRewriting.rewritePackages(r.binaries.scratch, r.packages, r.drawn, r.exports); err != nil {
		return nil, err
	}

	r.binaries.replace = r.mutated.replace
	fmt.Printf("%d don't build, %d have builds of their own\n", len(r.mutated.unbuilt), r.countAlone())

	return planSteps(dirs, r.short, r.phases), nil
}

// countAlone is the number of mutants that have builds of their own.
func (r *run) countAlone() int { return len(r.drawn) - len(r.mutated.placed) - len(r.mutated.unbuilt) }

// runStep runs the tests of a step for the mutants that are alive, and returns those that stay so.
func (r *run) runStep(ctx context.Context, s *step, alive []mutant) ([]mutant, error) {
	concerned := slices.DeleteFunc(slices.Clone(alive), func(m mutant) bool { return !s.appliesTo(m, r.dir) })
	if len(concerned) == 0 {
		return alive, nil
	}
	if err := r.prepareStep(ctx, s, concerned); err != nil || len(s.tests) == 0 {
		return alive, err
	}

	var mu sync.Mutex // guards what follows
	var failed error
	dead := map[int]bool{}
	began, done := time.Now(), 0
	inParallel(r.parallel, concerned, func(m mutant) {
		if ctx.Err() != nil {
			return
		}

		res, err := r.tryMutant(ctx, m, s)
		if ctx.Err() != nil {
			// The end of the context may have killed it.
			return
		}

		mu.Lock()
		defer mu.Unlock()
		if err == nil && res.end != lives {
			dead[m.number] = true
			err = r.record.addResult(res)
		}
		failed = errors.Join(failed, err)

		if done++; done%100 == 0 || done == len(concerned) {
			fmt.Printf("%s: %d of %d, %d killed; %s\n",
				s, done, len(concerned), len(dead), time.Since(began).Round(time.Second))
		}
	})

	still := slices.DeleteFunc(slices.Clone(alive), func(m mutant) bool { return dead[m.number] })
	return still, errors.Join(failed, ctx.Err())
}

// prepareStep builds the binaries of a step, and finds which mutants matter to its tests.
func (r *run) prepareStep(ctx context.Context, s *step, mutants []mutant) (err error) {
	if s.binary, err = r.binaries.binaryFor(ctx, s.dir); err != nil || s.binary == "" {
		// Without a binary there are no tests.
		return err
	}
	if err := s.measureTests(ctx, r.limit); err != nil || len(s.tests) == 0 {
		return err
	}

	b, err := r.newBuilds("counting")
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)

	counted, err := newCounting(mutants).rewritePackages(b.scratch, r.packages, mutants, r.exports)
	if err != nil {
		return err
	}

	b.replace = counted.replace
	binary, err := b.binaryFor(ctx, s.dir)
	if err != nil {
		return err
	}

	if err := s.countAll(ctx, binary, r.parallel); err != nil {
		return err
	}

	without := 0
	for _, m := range mutants {
		// A mutant that couldn't be counted may matter to any test.
		if !counted.placed[m.number] {
			s.mattersToAll(m)
		} else if len(s.testsFor(m)) == 0 {
			without++
		}
	}
	fmt.Printf("%s: %d mutants, of which %d matter to no test\n", s, len(mutants), without)
	return nil
}

// tryMutant runs the tests of a step to which a mutant matters.
func (r *run) tryMutant(ctx context.Context, m mutant, s *step) (result, error) {
	binary := s.binary

	// One that isn't in the binaries with all others gets a build of its own.
	if !r.mutated.placed[m.number] && len(s.testsFor(m)) > 0 {
		own, err := r.buildAlone(m)
		if err != nil {
			return result{}, err
		}

		defer os.RemoveAll(own.scratch)
		if binary, err = own.binaryFor(ctx, s.dir); err != nil {
			return result{name: m.name, end: unbuilt, by: shorten(err.Error())}, nil
		}
	}

	for _, t := range s.trialsFor(m, binary) {
		if got := t.runTests(ctx); got.end != lives {
			return result{name: m.name, end: got.end, by: s.String() + " " + got.test}, nil
		}
	}
	return result{name: m.name, end: lives}, nil
}

// buildAlone is the builds of a mutant that isn't in the binaries with all.
func (r *run) buildAlone(m mutant) (*builds, error) {
	path, err := filepath.Abs(m.file)
	if err != nil {
		return nil, err
	}

	b, err := r.newBuilds(fmt.Sprint("alone", m.number))
	if err != nil {
		return nil, err
	}

	b.replace = map[string]string{path: filepath.Join(b.scratch, "mutant.go")}
	return b, os.WriteFile(b.replace[path], m.changedSource(), 0o600)
}

func (r *run) newBuilds(name string) (*builds, error) {
	b := &builds{scratch: filepath.Join(r.scratch, name), done: map[string]string{}}
	return b, os.Mkdir(b.scratch, 0o700)
}
