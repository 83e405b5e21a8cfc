//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
)

// The tree of which a rescue is made.
const (
	rescuedAmong   = 10_000
	rescuedChanged = 200
)

// measureRescue measures a rescue of changed files among many, without the process around it. Each time
// another byte differs.
func (b *bench) measureRescue() error {
	p, err := b.changedTree(rescuedAmong, rescuedChanged)
	if err != nil {
		return err
	}

	tree, ok := workspace.FindCheckout(p.dir, workspace.Env{})
	if !ok {
		return fmt.Errorf("there is no checkout at %s", p.dir)
	}

	store := rescue.New(p.data, git.Client{})
	s := series{}
	const warm = 2

	// Another byte differs each time: the same tree would need no new copy.
	for i := range warm + b.sampleCount(40, 10) {
		must(os.WriteFile(filepath.Join(p.dir, "counter"), fmt.Append(nil, i), 0o600))

		began := time.Now()
		taken, err := store.Take(context.Background(), rescue.Request{
			Tree:      tree,
			Untracked: true,
			Nested:    true,
		})
		took := time.Since(began)

		// A rescue that lacks something would be fast.
		if err != nil || taken.Files != rescuedChanged+1 || len(taken.LeftOut) > 0 {
			return fmt.Errorf("the rescue has %d files and lacks %v: %w", taken.Files, taken.LeftOut, err)
		}

		if i >= warm {
			s.addSample("rescue", took)
		}
	}

	b.addRow(s.medianRow("rescue",
		fmt.Sprintf("a rescue in %d files, %d changed", rescuedAmong, rescuedChanged), "≤ 100 ms", 100))
	return nil
}

// changedTree makes a repository with files, some of which are changed.
func (b *bench) changedTree(among, changed int) (place, error) {
	p := b.newRepositoryPlace()

	// The files lie in many directories, as those of a real project.
	file := func(i int, text string) {
		path := filepath.Join(p.dir, fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i%300, i))
		must(os.MkdirAll(filepath.Dir(path), 0o700))
		must(os.WriteFile(path, []byte(strings.Repeat(text, 300)), 0o600))
	}

	for i := range among {
		file(i, fmt.Sprintf("line %d\n", i))
	}

	if err := p.runScript("git init -q -b main; git config gc.auto 0; git add .; git commit -q -m begin"); err != nil {
		return p, err
	}

	for i := range changed {
		file(i*among/changed, fmt.Sprintf("changed %d\n", i))
	}

	return p, nil
}
