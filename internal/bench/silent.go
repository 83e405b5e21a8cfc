//go:build linux

package main

import (
	"fmt"
	"net"
)

// measureSilentServer measures hooks whose PostgreSQL doesn't answer: the kernel takes the connection, and
// nobody reads it. A stopped server looks like that.
func (b *bench) measureSilentServer() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()

	p := b.newPlace("")
	if err := p.fillHookRoom(); err != nil {
		return err
	}

	env := []string{fmt.Sprintf("TALKING_STICK_DATABASE_URL=postgres://tt@%s/tt?sslmode=disable", l.Addr())}
	plan := hookPlan{Warm: 1, Rounds: b.sampleCount(20, 5)}

	// All events are measured, because each has its own way to give up.
	for _, event := range []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart"} {
		plan.Variants = append(plan.Variants, hookVariant{
			Name:         event,
			Args:         []string{b.tt, "hook"},
			Dir:          p.dir,
			Env:          env,
			Stdin:        b.hookInput(event, p.dir),
			MustBeSilent: true,
		})
	}

	s, err := p.runHookPlan(plan)
	if err != nil {
		return err
	}

	// The slowest event decides.
	worst := plan.Variants[0].Name
	for _, v := range plan.Variants {
		if s.p99(v.Name) > s.p99(worst) {
			worst = v.Name
		}
	}

	b.addRow(row{
		What: "hook whose PostgreSQL doesn't answer, whole process",
		Goal: "≤ 250 ms p99, of each event",
		Measured: fmt.Sprintf("before an edit %s; the slowest, %s, %s",
			s.formatTimes("PreToolUse"), worst, s.formatTimes(worst)),
		Met:     s.p99(worst) <= 250,
		Figures: s.figures(),
		Samples: s,
	})
	return nil
}
