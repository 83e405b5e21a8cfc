package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/testenv"
)

// killedCommand changes, removes and makes files. Where KILLED is set, it dies in the middle.
const killedCommand = `echo 'by ann' >>a.txt; rm d/c.txt; test -z "$KILLED" || kill -9 $$; echo 'by ann, too' >made.txt`

// killing says where a call of ann's is killed.
type killing struct {
	what  string // before or after, for a hook; command; or harness, which dies with the command
	point string // of a hook, as [clitest.Kill] takes it
}

func (k killing) String() string { return strings.TrimSpace(k.what + " " + k.point) }

// TestNothingIsLost_Killed kills a hook at each of its steps, or the command between the hooks, or the
// harness. The next calls of others, and of the same agent, are right: each file is said to be of who changed
// it, and every byte is in the tree or in a snapshot.
func TestNothingIsLost_Killed(t *testing.T) {
	testenv.Alone(t)
	skipOnServer(t)

	w := newWard(t, "ann", "bob", "cy")
	w.buildForPrograms()
	w.write(filepath.Join(w.app, "d/c.txt"), "by bob\n", 0o644)
	w.wrote("bob", "app/d/c.txt")
	w.keepAs("killed")

	cases := []killing{{what: "command"}}
	for _, when := range []string{"before", "after"} {
		for _, point := range w.pointsOf(when) {
			cases = append(cases, killing{when, point})
		}
	}

	if len(cases) < 20 {
		t.Fatalf("a call passes only %q", cases)
	}
	cases = append(cases, killing{what: "harness"}) // after which there is another one in its place
	cases = testenv.Some(t, testenv.Every, "kills around a command beside others' work", cases,
		testenv.EveryNth[killing](len(cases)/2))
	for _, k := range cases {
		t.Run(k.String(), func(t *testing.T) {
			(&ward{t, w.dir, w.work, w.app, w.bin, w.agents, w.copies, w.roomID}).isKilled(k)
		})
	}
}

// beginKilled makes the state before a case: what bob has written by a tool, and a person without one.
func (w *ward) beginKilled() {
	w.Helper()
	w.putBack("killed")
	w.write(filepath.Join(w.app, "p.txt"), "by a person\n", 0o644)
}

// pointsOf lists the steps of a hook around ann's command, as [clitest.Kill] takes them.
func (w *ward) pointsOf(when string) (points []string) {
	w.Helper()
	w.beginKilled()
	list := filepath.Join(w.dir, "io", "points")
	w.dies(killing{what: when}, clitest.Points+"="+list)
	passed, err := os.ReadFile(list)
	if err != nil {
		w.Fatal(err)
	}

	if err := os.Remove(list); err != nil {
		w.Fatal(err)
	}

	count := map[string]int{}
	for _, point := range strings.Fields(strings.ReplaceAll(string(passed), " ", "_")) {
		count[point]++
		points = append(points, fmt.Sprintf("%s#%d", strings.ReplaceAll(point, "_", " "), count[point]))
	}

	slices.Sort(points) // checkouts are copied at the same time
	return points
}

// dies has ann call its command, and what is to be killed die.
func (w *ward) dies(k killing, knob string) {
	w.Helper()
	for file, event := range map[string]string{"before": "PreToolUse", "after": "PostToolUse"} {
		w.give("ann."+file+".json", hook{
			Session: w.agents["ann"].session, Dir: w.app, Name: event, Tool: "Bash",
			Input: map[string]any{"command": killedCommand}, Call: "killed",
		})
	}

	w.write(filepath.Join(w.dir, "io", "killed.command"), killedCommand+"\n", 0o600)
	knobs := map[string]string{k.what: clitest.CopyPoints + "=1 " + knob}
	script := fmt.Sprintf(`
		cd "$WORK/app" || exit 4
		env %s tt hook <"$IO/ann.before.json"
		env %s bash "$IO/killed.command"`, knobs["before"], map[bool]string{true: "KILLED=1"}[k.what == "command" || k.what == "harness"])

	if k.what != "harness" {
		script += fmt.Sprintf(`
		env %s tt hook <"$IO/ann.after.json"`, knobs["after"])
	}

	if out, status := w.as("ann", script); status == 4 {
		w.Fatal(out)
	}

	if k.what == "harness" {
		ann := w.agents["ann"]
		if err := ann.cmd.Process.Kill(); err != nil {
			w.Fatal(err)
		}
		ann.cmd.Wait() // it was killed
	}
}

// isKilled plays one case.
func (w *ward) isKilled(k killing) {
	w.Helper()
	w.beginKilled()
	p := &program{
		ward: w,
		seen: map[string]string{"by bob\n": "d/c.txt", "by a person\n": "p.txt", "a\nby ann\n": "a.txt"},
	}
	if k.what == "before" || k.what == "after" {
		p.seen["by ann, too\n"] = "made.txt"
	}

	knob := ""
	if k.point != "" {
		knob = "'" + clitest.Kill + "=" + k.point + "'"
	}
	w.dies(k, knob)
	if k.what == "harness" {
		w.begin("ann", "5f0c2b9e-again"+fmt.Sprint(len(w.copies)))
	}

	if k.what == "after" { // nobody can tell that her call is over until she goes on
		w.calls("ann", `echo 'by ann, later' >anns.txt; git checkout -q a.txt`)
		w.calls("ann", `echo 'by ann, at last' >anns.txt`)
	}

	bobs := w.calls("bob", `echo 'by bob, later' >bobs.txt; rm p.txt`)
	w.calls("cy", `echo 'by cy' >cys.txt`)
	w.calls("ann", `echo 'by ann, at the end' >anns.txt`)
	if bobs.denied != "" || !strings.Contains(bobs.after, "took p.txt") {
		w.Errorf("bob's next call is denied (%q), or isn't told what it took: %q", bobs.denied, bobs.after)
	}

	if lost := p.lost(); len(lost) > 0 {
		w.Errorf("lost: %s", strings.Join(lost, "; "))
	}
	w.checkEditors(map[string]string{"bobs.txt": "bob", "cys.txt": "cy"}, true)
	// else nobody may have noted when it began, or that she has joined
	w.checkEditors(map[string]string{"made.txt": "ann", "anns.txt": "ann"}, k.what == "after")

	if out := w.person("tt doctor"); strings.Contains(out, "can't be read") {
		w.Errorf("the doctor finds %s", out)
	}
}

// checkEditors checks who is said to have edited uncommitted files: that agent, or where that isn't sure,
// somebody, and nobody else.
func (w *ward) checkEditors(want map[string]string, sure bool) {
	w.Helper()
	var changes struct {
		Changes []struct {
			Path    string
			Editors []struct{ Agent string }
		}
	}

	if err := json.Unmarshal([]byte(w.person("tt changes --json")), &changes); err != nil {
		w.Fatal(err)
	}

	for _, c := range changes.Changes {
		of, isWanted := want[c.Path]
		if !isWanted {
			continue
		}

		isRight := len(c.Editors) == 1 && (c.Editors[0].Agent == w.idOf(of) || c.Editors[0].Agent == "" && !sure)
		if !isRight {
			w.Errorf("%s is said to be edited by %v", c.Path, c.Editors)
		}
	}
}

// idOf is the name of an agent in its room.
func (w *ward) idOf(name string) string {
	w.Helper()
	out, _ := w.as(name, `cd "$WORK/app" && tt whoami --json`)
	var res struct {
		ID string `json:"agent_id"`
	}
	if err := json.Unmarshal([]byte(out), &res); err != nil || res.ID == "" {
		w.Fatalf("%s: %v", out, err)
	}
	return res.ID
}
