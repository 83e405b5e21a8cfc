//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// rebasedCommits is how many commits each rebase moves.
const rebasedCommits = 5

// measureGitHooks measures what our git hooks cost in a rebase. The agent has the stick and its room enforces
// turns, so that the hooks do all their work.
func (b *bench) measureGitHooks() error {
	with, without, empty := b.newRepositoryPlace(), b.newRepositoryPlace(), b.newRepositoryPlace()
	for _, p := range []place{with, without, empty} {
		if err := p.makeBranches(); err != nil {
			return err
		}
	}

	// A hook that does nothing shows what git itself spends on running one.
	emptyHook := filepath.Join(empty.dir, ".git", "hooks", "reference-transaction")
	must(os.WriteFile(emptyHook, []byte("#!/bin/sh\n"), 0o755))

	for _, c := range []*exec.Cmd{
		with.command(b.tt, "install", "git"), with.commandAs("bench:holder", "join"),
		with.commandAs("bench:holder", "policy", "set", "enforce=stick"),
		with.commandAs("bench:holder", "wait", "--turn"),
	} {
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("tt %s: %w: %s", strings.Join(c.Args[1:], " "), err, out)
		}
	}

	s := series{}
	const warm = 2

	// The three run in turn, so that other load on the machine affects them alike.
	for i := range warm + b.sampleCount(40, 10) {
		for name, p := range map[string]place{"without": without, "with": with, "empty": empty} {
			took, err := p.timeRebase()
			if err != nil {
				return err
			}
			if i >= warm {
				s.addSample(name, took)
			}
		}
	}

	slower := s.p50("with") - s.p50("without")
	b.addRow(row{
		What: fmt.Sprintf("rebase of %d commits with our git hooks, by the holder", rebasedCommits),
		Goal: "≤ 300 ms slower than without",
		Measured: fmt.Sprintf("%.0f ms slower: %s, without %s",
			slower, s.formatTimes("with"), s.formatTimes("without")),
		Met:     slower <= 300,
		Figures: s.figures(),
		Samples: s,
		Notes: []string{fmt.Sprintf("with a hook that does nothing, which git runs as often: %.0f ms slower",
			s.p50("empty")-s.p50("without"))},
	})
	return nil
}

// newRepositoryPlace returns a place in which the caller makes a git repository.
func (b *bench) newRepositoryPlace() place {
	p := b.newPlace("")

	// AGENTS.md would mark a workspace that needs no git. Without it the repository is the workspace.
	must(os.Remove(filepath.Join(p.dir, "AGENTS.md")))
	return p
}

// shellCommand returns the command that runs a shell script in the place, as the holder.
func (p place) shellCommand(script string) *exec.Cmd {
	c := p.command("/bin/sh", "-e", "-c", script)

	// Git reads no configuration of whoever runs this.
	c.Env = append(c.Env,
		"TT_HARNESS_AGENT_ID=bench:holder",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.com",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.com",
	)

	return c
}

// runScript runs a shell script of git commands in the place, as the holder. The error has what it printed.
func (p place) runScript(script string) error {
	if out, err := p.shellCommand(script).CombinedOutput(); err != nil {
		return fmt.Errorf("git: %w: %s", err, out)
	}
	return nil
}

// makeIntegrationBranch makes a repository with an integration branch, and a member that spawns tasks there.
func (p place) makeIntegrationBranch() error {
	const script = "git init -q -b integration; git config user.name bench; " +
		"git config user.email bench@example.com; git commit -q --allow-empty -m begin"
	if err := p.runScript(script); err != nil {
		return err
	}
	return p.runAs("bench:boss", "join")
}

// makeBranches makes a repository with two branches, main and work, that have their first commit in common.
func (p place) makeBranches() error {
	return p.runScript(fmt.Sprintf(`git init -q -b main; git config gc.auto 0
		echo 0 >0; git add .; git commit -q -m begin
		git checkout -q -b work
		for n in $(seq %d); do echo $n >w$n; git add .; git commit -q -m "work $n"; done
		git tag before
		git checkout -q main; for n in 1 2 3; do echo $n >m$n; git add .; git commit -q -m "main $n"; done
		git checkout -q work`, rebasedCommits))
}

// timeRebase sets the branch work back to where it was, and returns how long its rebase takes.
func (p place) timeRebase() (time.Duration, error) {
	if out, err := p.shellCommand("git reset -q --hard before").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("git reset: %w: %s", err, out)
	}

	// The rebase is timed without a shell, but has the environment of the scripts.
	rebase := p.command("git", "rebase", "-q", "main")
	rebase.Env = p.shellCommand("").Env
	took, err := timeCommand(rebase, 0)
	if err != nil {
		return took, err
	}

	out, err := p.shellCommand("git rev-list --count main..work").Output()
	if n := strings.TrimSpace(string(out)); err != nil || n != fmt.Sprint(rebasedCommits) {
		return took, fmt.Errorf("the rebase left %s commits: %w", n, err)
	}

	return took, nil
}
