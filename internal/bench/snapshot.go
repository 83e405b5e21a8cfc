//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// The places whose hooks are measured in turn, in the same tree: each has a data directory of its own. The
// names of its samples end so.
const (
	freshSuffix  = ""
	dayOldSuffix = ", after a working day"
	offSuffix    = ", without snapshots"
)

// measureSnapshots measures the hooks around tool calls in a tree of many files, some of them dirty, each as
// a whole process beside git status of the same tree: where they keep snapshots for the first time, where
// they have kept those of a working day, and where they keep none.
func (b *bench) measureSnapshots() error {
	fresh, err := b.changedTree(rescuedAmong, rescuedChanged)
	if err != nil {
		return err
	}

	// The three places share the tree, and each has a data directory of its own.
	old, off := fresh, fresh
	old.data, off.data = fresh.data+"-old", fresh.data+"-off"
	for _, p := range []place{old, off} {
		if err := p.runAs("bench:one", "join"); err != nil {
			return err
		}
	}

	// The command runs as a person, not as an agent.
	if out, err := off.command(b.tt, "policy", "set", "snapshots=off").CombinedOutput(); err != nil {
		return fmt.Errorf("tt policy set: %w: %s", err, out)
	}

	day, err := old.playDay(b.sampleCount(dayOfCalls, 500))
	if err != nil {
		return err
	}

	s, err := fresh.snapshotHooks(old, off)
	if err != nil {
		return err
	}

	b.addSnapshotRows(s)
	b.addDayRow(day, s)
	return nil
}

// snapshotHooks runs the hooks around an edit, a command that changes nothing, one that changes many files,
// and one that only reads: in a round once with the data directory of each place.
func (p place) snapshotHooks(old, off place) (series, error) {
	plan := hookPlan{Warm: 4, Rounds: p.b.sampleCount(60, 10), WithCPUTime: true}
	for _, of := range []struct{ suffix, data, edited string }{
		// Nobody else changes these files.
		{freshSuffix, p.data, "f1.txt"},
		{dayOldSuffix, old.data, "f301.txt"},
		{offSuffix, off.data, "f601.txt"},
	} {
		env := []string{"TALKING_STICK_DATA_DIR=" + of.data}
		plan.Setup = append(plan.Setup, hookVariant{Args: []string{p.b.tt, "try"}, Dir: p.dir, Env: env})
		calls := p.snapshotCalls(of.suffix, filepath.Join(p.dir, "d1", "e1", of.edited), env)
		plan.GroupSize = len(calls)
		plan.Variants = append(plan.Variants, calls...)
	}
	return p.runHookPlan(plan)
}

// snapshotCalls returns the calls of a round with one data directory. What the calls with the others have
// changed is seen by the first hook, which isn't measured.
func (p place) snapshotCalls(suffix, edited string, env []string) []hookVariant {
	edit := map[string]any{"file_path": edited, "old_string": "a", "new_string": "b"}
	shell := func(command string) map[string]any { return map[string]any{"command": command} }

	hook := func(name, event, tool string, input map[string]any) hookVariant {
		return hookVariant{
			Name:      name + suffix,
			Args:      []string{p.b.tt, "hook"},
			Dir:       p.dir,
			Env:       env,
			AnyOutput: true,
			Stdin:     p.b.toolInput(event, p.dir, tool, input),
		}
	}
	around := func(name, tool string, input map[string]any, change string) []hookVariant {
		return []hookVariant{
			hook("before "+name, "PreToolUse", tool, input),
			{Args: []string{"/bin/sh", "-c", change}, Dir: p.dir},
			hook("after "+name, "PostToolUse", tool, input),
		}
	}

	// The first call sees what those with the other data directories have changed, and isn't measured. It ends:
	// a call that seems to run still would be looked for in each later hook.
	seen, ended := hook("", "PreToolUse", "Bash", shell("make")), hook("", "PostToolUse", "Bash", shell("make"))
	seen.Name, ended.Name = "", ""
	const changesMany = `n=$(date +%N); ` +
		`for f in d[0-9]*/e[0-9]*/f*00.txt d[0-9]*/e[0-9]*/f*50.txt; do echo $n >"$f"; done`
	return slices.Concat(
		[]hookVariant{
			seen,
			ended,
			{Name: "git status" + suffix, Args: []string{"git", "status", "--porcelain=v2", "-uall"}, Dir: p.dir},
		},
		around("an edit", "Edit", edit, "date +%N >"+edited),
		around("a command", "Bash", shell("make"), ":"),
		around("many", "Bash", shell("make all"), changesMany),
		around("ls", "Bash", shell("ls"), ":"),
	)
}

// perStatus returns how often as long as git status a hook takes beyond one that only reads the database:
// what a snapshot costs.
func (s series) perStatus(name, suffix string) float64 {
	when, _, _ := strings.Cut(name, " ")
	return (s.p50(name+suffix) - s.p50(when+" ls"+suffix)) / s.p50("git status"+suffix)
}

// addSnapshotRows adds the rows of the hooks beside git status, and beside hooks without snapshots.
func (b *bench) addSnapshotRows(s series) {
	where := fmt.Sprintf("%d files, %d of them dirty, whole processes", rescuedAmong, rescuedChanged)
	span := func(name string) string {
		return fmt.Sprintf("%s, %.2f × git status", s.formatTimes(name), s.p50(name)/s.p50("git status"))
	}

	// Only the first row carries the samples.
	samples := s
	for _, r := range []struct {
		what, around string
		before, most float64 // at most so often as long as git status, beyond a hook that only reads
	}{
		{"a command that changes nothing", "a command", 1.5, 1.5},
		{fmt.Sprintf("a command that changes %d files", rescuedChanged), "many", 1.5, 3.5},
	} {
		before, after := s.perStatus("before "+r.around, freshSuffix), s.perStatus("after "+r.around, freshSuffix)
		b.addRow(row{
			What: fmt.Sprintf("hooks around %s, %s", r.what, where),
			Goal: fmt.Sprintf("beyond a hook that only reads: before ≤ %.1f × git status of the same tree, "+
				"after ≤ %.1f ×",
				r.before, r.most),
			Measured: fmt.Sprintf("before %.2f × (the whole hook %s), after %.2f × (%s); "+
				"of processor time %.2f × and %.2f ×",
				before, span("before "+r.around), after, span("after "+r.around),
				s.perStatus("before "+r.around, workedSuffix), s.perStatus("after "+r.around, workedSuffix)),
			Met:     before <= r.before && after <= r.most,
			Figures: s.figures(),
			Samples: samples,
			Notes: []string{fmt.Sprintf("git status --porcelain=v2 -uall in the tree of the snapshot rows: %s",
				s.formatTimes("git status"))},
		})
		samples = nil
	}

	for _, r := range []struct {
		what, around string
		before, most float64 // at most so often as long as without snapshots
	}{{"an edit", "an edit", 1.1, 1.3}, {"a command that only reads", "ls", 1.1, 1.1}} {
		ratio := func(name, suffix string) float64 { return s.p50(name+suffix) / s.p50(name+offSuffix+suffix) }
		before, after := ratio("before "+r.around, ""), ratio("after "+r.around, "")
		b.addRow(row{
			What: fmt.Sprintf("hooks around %s, %s", r.what, where),
			Goal: fmt.Sprintf("before ≤ %.1f × the hook without snapshots, after ≤ %.1f ×", r.before, r.most),
			Measured: fmt.Sprintf("before %.2f × (%s), after %.2f × (%s); of processor time %.2f × and %.2f ×",
				before, span("before "+r.around), after, span("after "+r.around),
				ratio("before "+r.around, workedSuffix), ratio("after "+r.around, workedSuffix)),
			Met:     before <= r.before && after <= r.most,
			Figures: s.figures(),
		})
	}
}
