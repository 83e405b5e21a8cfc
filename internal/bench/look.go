//go:build linux

package main

import "fmt"

// The tree that a hook reads.
const (
	hookTreeFiles   = 10_000
	hookTreeChanged = 20
)

// measureTreeHook measures the hook after a command that nobody can read: it asks git what has changed in the
// tree. Before each, a file changes once more.
func (b *bench) measureTreeHook() error {
	p, err := b.changedTree(hookTreeFiles, hookTreeChanged)
	if err != nil {
		return err
	}

	after := func(command string) hookVariant {
		return hookVariant{
			Name: command, Args: []string{b.tt, "hook"}, Dir: p.dir,
			Stdin: b.toolInput("PostToolUse", p.dir, "Bash", map[string]any{"command": command}),
		}
	}

	// The command ls changes nothing, so its hook needn't ask git: it shows the cost of the rest.
	s, err := p.runHookPlan(hookPlan{Warm: 3, Rounds: b.sampleCount(60, 15), Variants: []hookVariant{
		{Name: "change", Args: []string{"/bin/sh", "-c", "echo >>d0/e0/f0.txt"}, Dir: p.dir},
		after("ls"), after("make"),
	}})
	if err != nil {
		return err
	}

	// A hook that doesn't ask git would be fast, and measure nothing.
	if s.p50("make") < 2*s.p50("ls") {
		return fmt.Errorf("the hook didn't look at the tree: %s, and %s without a look",
			s.formatTimes("make"), s.formatTimes("ls"))
	}

	b.addRow(row{
		What: fmt.Sprintf("hook after a command that nobody can read, %d files, %d changed",
			hookTreeFiles, hookTreeChanged),
		Goal:     "≤ 100 ms p50",
		Measured: fmt.Sprintf("%s; after one that only reads %s", s.formatTimes("make"), s.formatTimes("ls")),
		Met:      s.p50("make") <= 100,
		Figures:  s.figures(),
		Samples:  s,
	})

	return nil
}
