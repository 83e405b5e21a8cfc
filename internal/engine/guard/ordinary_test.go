package guard_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/scene"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

var updateOrdinary = flag.Bool("ordinary.update", false, "write which commands of a working day are denied into testdata/ordinary.txt")

// ordinaryCommands are the commands of a working day that the tests of the shell package read.
func ordinaryCommands(t *testing.T) (all []string) {
	t.Helper()
	b, err := os.ReadFile("../../shell/testdata/ordinary.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, text)
		} else if text, ok := strings.CutPrefix(line, "> "); ok || line == ">" {
			all[len(all)-1] += "\n" + text
		}
	}
	if len(all) < 300 {
		t.Fatalf("there are %d commands", len(all))
	}
	return all
}

// TestOrdinaryCommandsArentDenied compares which commands of a working day are denied with a table that a
// person has looked through: to the holder of the stick, who has uncommitted work beside some that nobody
// noted, and to another agent. Where the room only warns, nobody is denied anything.
func TestOrdinaryCommandsArentDenied(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	for name := range strings.FieldsSeq("main.go src/index.ts src/app.tsx docs/guide.md tests/test_app.py app/models.py config/app.yaml Makefile") {
		s.Commit(name, name)
	}
	ann.Try().Is(stick.YourTurn)
	for name := range strings.FieldsSeq("main.go src/app.tsx notes.txt dist/index.js old.go tmp/a.txt") {
		ann.Edits(func() { s.File(name, "changed by ann") }, name)
	}
	s.File("docs/guide.md", "changed by somebody")
	s.File("data/rows.csv", "made by somebody")

	commands := testenv.Some(t, testenv.Every, "commands of a working day", ordinaryCommands(t), testenv.EveryNth[string](8))
	var got strings.Builder
	for _, policy := range []string{"warn", "stick"} {
		pat.Sets("enforce=" + policy).OK()
		for _, who := range []struct {
			name string
			is   *scene.Actor
		}{{"the holder", ann}, {"another agent", bob}} {
			fmt.Fprintf(&got, "# enforce=%s: denied to %s\n\n", policy, who.name)
			for _, command := range commands {
				if res := who.is.Executes(command, func() {}); !res.Allowed {
					reason := strings.ReplaceAll(strings.ReplaceAll(string(res.Reason), s.Work, "/home/ann/app"), string(ann.ID), "ann")
					fmt.Fprintf(&got, "$ %s\n  %s\n", strings.ReplaceAll(command, "\n", "\n> "), reason)
				}
			}
			got.WriteString("\n")
		}
	}
	const file = "testdata/ordinary.txt"
	if *updateOrdinary {
		if testing.Short() {
			t.Fatal("a short run doesn't play all commands")
		}
		if err := os.WriteFile(filepath.FromSlash(file), []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rowsOf(string(b), commands), got.String()); diff != "" {
		t.Error(diff)
	}
}

// rowsOf returns a table of what is denied with the rows of some commands alone. A row begins with its
// command and ends with a reason.
func rowsOf(table string, commands []string) string {
	var kept, row strings.Builder
	for line := range strings.Lines(table) {
		if row.Len() == 0 && !strings.HasPrefix(line, "$ ") {
			kept.WriteString(line)
			continue
		}

		row.WriteString(line)
		if !strings.HasPrefix(line, "  ") {
			continue
		}
		command := strings.TrimPrefix(strings.TrimSuffix(row.String(), "\n"+line), "$ ")
		if slices.Contains(commands, strings.ReplaceAll(command, "\n> ", "\n")) {
			kept.WriteString(row.String())
		}
		row.Reset()
	}
	return kept.String()
}
