//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// The repository in which tasks are merged, and how many tasks are listed.
const (
	manyFiles   = 10_000
	manyCommits = 5_000
	manyTasks   = 200
)

// measureWorker measures a merge, and a list of many tasks.
func (b *bench) measureWorker() error {
	if err := b.measureMerges(); err != nil {
		return err
	}
	if err := b.measureTaskList(); err != nil {
		return err
	}
	return b.measureLogs()
}

// measureLogs measures how long after a worker's command has written a line somebody who follows its output
// reads that.
func (b *bench) measureLogs() error {
	p := b.newRepositoryPlace()
	if err := p.makeIntegrationBranch(); err != nil {
		return err
	}

	// The command prints the time at which it writes each line.
	err := p.runAs("bench:boss", "worker", "spawn", "ui-7", "--run", "while sleep 0.05; do date +%s%N; done")
	if err != nil {
		return err
	}

	c := p.commandAs("bench:boss", "worker", "logs", "ui-7", "-f")
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}

	s := series{}
	const warm = 3
	for i, lines := 0, bufio.NewScanner(out); i < warm+b.sampleCount(100, 30) && lines.Scan(); i++ {
		shown := time.Now()
		written, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			return fmt.Errorf("the output has %q: %w", lines.Text(), err)
		}

		if i >= warm {
			s.addSample("line", shown.Sub(time.Unix(0, written)))
		}
	}

	if err := p.runAs("bench:boss", "worker", "stop", "ui-7"); err != nil {
		return err
	}

	// The output ends with the process, of which c.Wait reports the status.
	_, _ = io.Copy(io.Discard, out)
	if err := c.Wait(); err != nil {
		return err
	}

	b.addRow(s.medianRow("line", "worker logs -f: a line of the command, written → shown", "≤ 50 ms", 50))
	return nil
}

// measureMerges measures merges without a gate. A process in each worktree prevents the cleanup, which would
// cost as much as removing ten thousand files.
func (b *bench) measureMerges() error {
	p := b.newRepositoryPlace()
	if err := p.makeHistory(manyFiles, manyCommits); err != nil {
		return err
	}

	s := series{}
	const warm = 1
	for i := range warm + b.sampleCount(10, 4) {
		id := fmt.Sprintf("t%d", i)
		if err := p.makeApprovedTask(id); err != nil {
			return err
		}

		// A process in the worktree keeps the cleanup from removing it.
		stay := p.command("sleep", "600")
		stay.Dir = filepath.Join(p.dir, "worktrees", id)
		if err := stay.Start(); err != nil {
			return err
		}

		took, err := timeCommand(p.commandAs("bench:boss", "worker", "merge", id), 0)
		_ = stay.Process.Kill()
		_ = stay.Wait()
		if err != nil {
			return err
		}

		if i >= warm {
			s.addSample("merge", took)
		}
	}

	what := fmt.Sprintf("merge of a task in %d files and %d commits, without gate and cleanup",
		manyFiles, manyCommits)
	b.addRow(s.medianRow("merge", what, "≤ 150 ms", 150))
	return nil
}

// makeHistory makes a repository with git fast-import, and the integration branch.
func (p place) makeHistory(files, commits int) error {
	if err := p.runScript("git init -q -b main; git config gc.auto 0; " +
		"git config user.name bench; git config user.email bench@example.com"); err != nil {
		return err
	}

	c := p.shellCommand("git fast-import --quiet")
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}

	if err := c.Start(); err != nil {
		return err
	}

	// Git reads a stream of all commits; a commit by git each would take minutes.
	w := bufio.NewWriter(in)
	file := func(n, text int) {
		body := fmt.Sprintf("file %d as of %d\n", n, text)
		fmt.Fprintf(w, "M 100644 inline dir%d/sub%d/file%d\ndata %d\n%s\n", n%50, n/50%20, n, len(body), body)
	}

	// The first commit adds all files, and each later one changes a file.
	for i := range commits {
		fmt.Fprintf(w, "commit refs/heads/main\n"+
			"committer bench <bench@example.com> %d +0000\ndata 6\ncommit\n", 1_600_000_000+i)
		if i == 0 {
			for n := range files {
				file(n, 0)
			}
		}
		file(i%files, i)
	}

	must(w.Flush())
	must(in.Close())
	if err := c.Wait(); err != nil {
		return fmt.Errorf("git fast-import: %w", err)
	}

	// A packed repository is what projects have.
	if err := p.runScript("git reset -q --hard main && git repack -q -a -d"); err != nil {
		return err
	}
	if err := p.runAs("bench:boss", "join"); err != nil {
		return err
	}
	return p.runAs("bench:boss", "worker", "init")
}

// makeApprovedTask makes a task that is approved and ready to merge.
func (p place) makeApprovedTask(id string) error {
	worker := "bench:" + id
	for _, args := range [][]string{
		{"bench:boss", "worker", "spawn", id}, {worker, "worker", "start", "--task", id},
	} {
		if err := p.runAs(args[0], args[1:]...); err != nil {
			return err
		}
	}

	if err := p.runScript(fmt.Sprintf("cd worktrees/%s; echo %s >dir0/%s; git add .; git commit -q -m %s",
		id, id, id, id)); err != nil {
		return err
	}

	// The owner reads the diff before the approval, as a reviewer does.
	for _, args := range [][]string{
		{worker, "worker", "done", "--task", id},
		{"bench:boss", "worker", "diff", id},
		{"bench:boss", "worker", "approve", id},
	} {
		if err := p.runAs(args[0], args[1:]...); err != nil {
			return err
		}
	}

	return nil
}

// measureTaskList measures the list of many tasks in progress.
func (b *bench) measureTaskList() error {
	p := b.newRepositoryPlace()
	if err := p.makeIntegrationBranch(); err != nil {
		return err
	}
	if err := p.addTasks(manyTasks); err != nil {
		return err
	}

	s := series{}
	const warm = 3
	for i := range warm + b.sampleCount(60, 20) {
		took, err := timeCommand(p.commandAs("bench:boss", "worker", "status"), 0)
		if err != nil {
			return err
		}
		if i >= warm {
			s.addSample("status", took)
		}
	}

	b.addRow(s.medianRow("status",
		fmt.Sprintf("worker status with %d tasks, whole process", manyTasks), "≤ 30 ms", 30))
	return nil
}

// addTasks adds tasks and their branches to a room, without worktrees. It uses the rules and the store
// directly.
func (p place) addTasks(n int) error {
	db, err := store.Open(context.Background(), store.Options{Dir: p.data}, false)
	if err != nil {
		return err
	}
	defer db.Close()

	err = db.Update(context.Background(), func(tx *store.Tx) error {
		rooms, err := tx.Rooms(nil, "")
		if err != nil {
			return err
		}

		r, err := tx.Room(rooms[0].ID)
		if err != nil {
			return err
		}

		for i := range n {
			id := fmt.Sprintf("task-%d", i)
			made, err := tasks.Spawn(stick.Task{}, tasks.Spawning{
				By:          "bench:boss",
				ID:          id,
				Description: "one of many",
				Branch:      "feat/" + id,
				Worktree:    "worktrees/" + id,
				Integration: "integration",
			})
			if err != nil {
				return err
			}

			if _, _, err := tx.Save(r, r, []stick.Event{r.About(made)}); err != nil {
				return err
			}

			task, _, err := tx.Task(r.ID, id)
			if err != nil {
				return err
			}

			started, err := tasks.Start(task, tasks.Call{By: stick.AgentID("bench:" + id)}, false)
			if err != nil {
				return err
			}

			if _, _, err := tx.Save(r, r, []stick.Event{r.About(*started)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}

	// The tasks have branches, but no worktrees.
	script := fmt.Sprintf("for n in $(seq 0 %d); do echo create refs/heads/feat/task-$n HEAD; done | "+
		"git update-ref --stdin", n-1)
	if err := p.runScript(script); err != nil {
		return err
	}

	must(os.MkdirAll(filepath.Join(p.dir, "worktrees"), 0o700))
	return nil
}
