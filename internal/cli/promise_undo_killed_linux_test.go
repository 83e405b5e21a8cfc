package cli_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/testenv"
)

// TestNothingIsLost_UndoKilled kills the commands that bring work back at each of their steps. The same command again does the rest, as if nothing
// had happened, and every byte is in the tree or in a snapshot.
func TestNothingIsLost_UndoKilled(t *testing.T) {
	testenv.Alone(t)

	w := newWard(t, "ann", "bob", "cy")
	w.buildForPrograms()
	w.write(filepath.Join(w.app, "d/c.txt"), "by bob\n", 0o644)
	w.write(filepath.Join(w.app, "d/e/f.txt"), "by bob, too\n", 0o644)
	w.wrote("bob", "app/d/c.txt", "app/d/e/f.txt")
	w.calls("ann", "echo 'by ann' >a.txt; rm -r d b.txt; echo 'by ann, too' >made.txt")
	w.keepAs("to undo")

	seen := map[string]string{
		"by bob\n": "d/c.txt", "by bob, too\n": "d/e/f.txt", "by ann\n": "a.txt", "by ann, too\n": "made.txt",
	}
	call := (&program{ward: w}).lastCall("ann", "Bash")
	for _, command := range []string{fmt.Sprintf("tt undo %d", call), "tt rescue restore " + w.beforeCall(call)} {
		want, points := w.passes(command)
		if len(points) < 4 {
			t.Errorf("%s passes only %q", command, points)
		}

		name := strings.Join(strings.Fields(command)[:2], " ")
		points = testenv.Some(t, testenv.Every, "kills of "+name, points,
			testenv.EveryNth[string](max(len(points)/3, 1)))
		for _, point := range points {
			t.Run(command+" at "+point, func(t *testing.T) {
				w := &ward{t, w.dir, w.work, w.app, w.bin, w.agents, w.copies, w.roomID}
				w.putBack("to undo")
				w.asAnn(command, "'"+clitest.Kill+"="+point+"'")
				w.asAnn(command, "")
				w.isAsWanted(want)
				w.calls("bob", "echo 'by bob, later' >bobs.txt")

				p := &program{ward: w, seen: maps.Clone(seen)}
				if lost := p.lost(); len(lost) > 0 {
					t.Errorf("lost: %s", strings.Join(lost, "; "))
				}
				if out := w.person("tt doctor"); strings.Contains(out, "can't be read") {
					t.Errorf("the doctor finds %s", out)
				}
			})
		}
	}
}

// beforeCall is the snapshot before a call.
func (w *ward) beforeCall(id int64) string {
	w.Helper()
	p := &program{ward: w}
	for _, c := range p.listed() {
		if c.ID == id {
			return c.Before
		}
	}

	w.Fatalf("call %d isn't listed", id)
	return ""
}

// asAnn has ann run a command of tt, with a variable for the program.
func (w *ward) asAnn(command, knob string) string {
	w.Helper()
	out, _ := w.as("ann", `cd "$WORK/app" && env `+clitest.CopyPoints+"=1 "+knob+" "+command)
	return out
}

// passes runs a command, and returns what the files are like after it, and the steps of it that count for tests.
func (w *ward) passes(command string) (files map[string]string, points []string) {
	w.Helper()
	w.putBack("to undo")
	list := filepath.Join(w.dir, "io", "points")
	out := w.asAnn(command, clitest.Points+"="+list)
	passed, err := os.ReadFile(list)
	if err != nil {
		w.Fatalf("%s: %v: %s", command, err, out)
	}

	if err := os.Remove(list); err != nil {
		w.Fatal(err)
	}

	count := map[string]int{}
	for point := range strings.Lines(string(passed)) {
		point = strings.TrimSpace(point)
		count[point]++
		points = append(points, fmt.Sprintf("%s#%d", point, count[point]))
	}

	slices.Sort(points)
	return w.held(), points
}

// isAsWanted compares the files with what they should be. What lies beside others may lie there twice, and never where it didn't have to.
func (w *ward) isAsWanted(want map[string]string) {
	w.Helper()
	is := w.held()
	for path := range changed(want, is) {
		text, isThere := is[path]
		isSecond := isThere &&
			slices.Contains(slices.Collect(maps.Values(want)), text) &&
			strings.Contains(path, ".rescued-")
		if !isSecond {
			w.Errorf("%s is %q instead of %q", path, text, want[path])
		}
	}
}
