//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// laterTasks is how many tasks a project has when one is taken.
const laterTasks = 1000

// What the design allows a next beyond git worktree add, in ms, and what it says of a Go process that does
// one read. Their ratio is the goal: see docs/decisions/performance-and-bench.md.
const (
	nextAllowed = 15
	readFloor   = 2.8
)

// measureNextTask measures how long it takes to get a task where there are no others, and behind 1,000 older
// ones that wait. Beside each it measures how long git takes to make such a branch and worktree, which nobody
// can save, and the floors.
func (b *bench) measureNextTask() error {
	s := series{}
	for _, size := range []struct {
		name   string
		before int
	}{{"next1", 0}, {"next", laterTasks}} {
		if err := b.measureNextBehind(s, size.name, size.before); err != nil {
			return err
		}
	}

	ours, read := s.p50("next")-s.p50("next git worktree add"), s.p50("Go + one read")
	b.addRow(row{
		What: fmt.Sprintf("worker next with %d tasks, whole process, beyond git worktree add", laterTasks),
		Goal: fmt.Sprintf("≤ %d ms where Go + one read takes %.1f: ≤ %.1f × that",
			nextAllowed, readFloor, nextAllowed/readFloor),
		Measured: fmt.Sprintf("%.1f ms of %s, %.2f × Go + one read; with one task %s",
			ours, s.formatTimes("next"), ours/read, s.formatTimes("next1")),
		Met: ours/read <= nextAllowed/readFloor,
		Notes: []string{fmt.Sprintf("beside worker next: git worktree add %s, empty Go %s, Go + one read %s",
			s.formatTimes("next git worktree add"), s.formatTimes("empty Go"), s.formatTimes("Go + one read"))},
		Figures: s.figures(),
		Samples: s,
	})

	return nil
}

// measureNextBehind measures a next behind so many tasks that have landed or wait. name begins the names of
// its samples.
func (b *bench) measureNextBehind(s series, name string, before int) error {
	p := b.newRepositoryPlace()
	if err := p.makeIntegrationBranch(); err != nil {
		return err
	}

	const warm = 2
	samples := warm + b.sampleCount(20, 6)
	if err := p.addLaterTasks(before, samples); err != nil {
		return err
	}

	for i := range samples {
		took, err := timeCommand(p.commandAs(fmt.Sprintf("bench:%d", i), "worker", "next"), 0)
		if err != nil {
			return err
		}

		// Git's own share and the floors are measured right after it, under the same load.
		branch := fmt.Sprintf("git-%d", i)
		worktree := filepath.Join(p.dir, "worktrees", branch)
		add := exec.Command("git", "worktree", "add", "--quiet", "--lock", "-b", branch, "--", worktree, "integration")
		add.Dir = p.dir
		git, err := timeCommand(add, 0)
		if err != nil {
			return err
		}

		read, err := timeCommand(p.command(b.read, filepath.Join(p.data, store.FileName)), 0)
		if err != nil {
			return err
		}
		empty, err := timeCommand(p.command(b.empty), 0)
		if err != nil {
			return err
		}

		if i >= warm {
			s.addSample(name, took)
			s.addSample(name+" git worktree add", git)
			s.addSample("Go + one read", read)
			s.addSample("empty Go", empty)
		}
	}

	// All ready tasks are taken now.
	none, err := timeCommand(p.commandAs("bench:none", "worker", "next"), stick.ExitRefused)
	if err != nil {
		return err
	}
	s.addSample(name+" none", none)
	return nil
}

// addLaterTasks adds tasks for later to a room: first so many that wait, each other one for the one before
// it, and then some that are ready.
func (p place) addLaterTasks(before, ready int) error {
	db, err := store.Open(context.Background(), store.Options{Dir: p.data}, false)
	if err != nil {
		return err
	}
	defer db.Close()

	return db.Update(context.Background(), func(tx *store.Tx) error {
		rooms, err := tx.Rooms(nil, "")
		if err != nil {
			return err
		}

		r, err := tx.Room(rooms[0].ID)
		if err != nil {
			return err
		}

		for i := range before + ready {
			id := fmt.Sprintf("task-%04d", i)
			q := tasks.Spawning{
				By:          "bench:boss",
				ID:          id,
				Description: "one of many",
				Branch:      "feat/" + id,
				Worktree:    "worktrees/" + id,
				Integration: "integration",
				Later:       true,
			}

			// Those before the ready ones can't be taken: a next has to pass them all.
			switch {
			case i < before && i%2 == 1:
				q.After = []string{fmt.Sprintf("task-%04d", i-1)}
			case i < before:
				// This is the first that is taken, and it doesn't land.
				q.After = []string{fmt.Sprintf("task-%04d", before)}
			}

			made, err := tasks.Spawn(stick.Task{}, q)
			if err != nil {
				return err
			}
			if _, _, err := tx.Save(r, r, []stick.Event{r.About(made)}); err != nil {
				return err
			}
		}

		return nil
	})
}
