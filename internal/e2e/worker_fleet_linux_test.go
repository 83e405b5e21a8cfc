package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/pty"
)

// fleetTask is a task of a fleet.
type fleetTask struct {
	id, after, label, priority string
}

// fleetTasks are twenty tasks in four layers: each waits for one of the layer above it.
func fleetTasks() (all []fleetTask) {
	for i := 1; i <= 20; i++ {
		t := fleetTask{id: fmt.Sprintf("t%d", i), label: []string{"ui", "api"}[i%2], priority: "normal"}
		if i > 5 {
			t.after = fmt.Sprintf("t%d", i-5)
		}
		switch i % 5 {
		case 4:
			t.priority = "low"
		case 0:
			t.priority = "high"
		}
		all = append(all, t)
	}

	return all
}

// fleet is a project whose lead does nothing but approve: tt merges by itself, up to four tasks at once.
type fleet struct {
	*project
	tasks   []fleetTask
	gates   string // the gate writes here on which commits it begins
	signal  string // while this file is there, the gate is ended by a signal, and removes it
	crashed bool   // everything was killed
}

// newFleet makes the repository, its gate and its tasks.
func newFleet(t *testing.T, harnesses ...*realharness.Harness) *fleet {
	s := newStage(t)
	home := func(name string) string { return filepath.Join(s.place.Home, name) }
	f := &fleet{
		tasks: fleetTasks(), gates: home("gates"), signal: home("signal"),
		project: &project{
			stage: s, judged: home("judged"), hold: home("hold"), gating: home("gating"),
			stopped: make(chan struct{}), said: map[string]bool{}, red: []string{"t9"}, fails: "t2",
		},
	}
	t.Cleanup(s.place.KillAll)

	commands := make([]string, len(harnesses))
	for i, h := range harnesses {
		a, _ := s.prepare(h, f.model)
		o := s.options(h)
		o.Sandbox = "" // a worker commits into the repository that has its worktree
		commands[i] = s.asWorker(a, o)
	}

	f.write("gate.sh", fmt.Sprintf(`git rev-parse HEAD >>'%s'
while test -e '%s'; do touch '%s'; sleep 0.1; done
if test -e '%s'; then rm '%[4]s'; kill -KILL $$; fi
! grep -q bad f-* && git rev-parse HEAD >>'%s'
`, f.gates, f.hold, f.gating, f.signal, f.judged))
	f.write("../repo/.talking-stick.toml", fmt.Sprintf(
		"[gate]\ncommand = \"sh '%s'\"\n\n[merge]\nauto = true\nbatch = 4\n\n[worker]\nmax_running = 3\n", home("gate.sh"),
	))

	// The shell of Gemini CLI reads no configuration of the home.
	s.git("config", "user.name", "Ann")
	s.git("config", "user.email", "ann@example.invalid")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "first")
	s.run("worker", "init")
	s.run("join")

	for i, task := range f.tasks {
		args := []string{
			"worker", "spawn", task.id, "--description", "Write f-" + task.id, "--later", "--label", task.label,
			"--priority", task.priority, "--restart", "on-return:5,on-failure:5", "--run", commands[i%len(commands)],
		}
		if task.after != "" {
			args = append(args, "--after", task.after)
		}
		s.run(args...)
	}

	return f
}

// write writes a file, named from the home.
func (f *fleet) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.place.Home, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// isQuiet reports whether everything waits for the lead: nobody works, nothing is merged, and what isn't begun
// waits for other tasks.
func (f *fleet) isQuiet(states map[string]string) bool {
	for _, task := range f.tasks {
		switch states[task.id] {
		case "WORKING", "CONFLICTED":
			return false
		case "APPROVED":
			// After a crash the next approval has its merge begin again.
			if !f.crashed {
				return false
			}
		case "ASSIGNED":
			if task.after == "" || states[task.after] == "COMPLETED" {
				return false
			}
		}
	}

	return true
}

// approve has a person approve a task in a terminal, and close that.
func (f *fleet) approve(id string) {
	f.t.Helper()
	f.run("worker", "diff", id)
	terminal, err := pty.Open(80, 24)
	if err != nil {
		f.t.Fatal(err)
	}

	c := f.command(watcher, "worker", "approve", id)
	if err := terminal.Start(c); err != nil {
		f.t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(terminal) // ends when the terminal is closed
		said <- string(b)
	}()

	err = c.Wait()
	terminal.Close()
	if text := <-said; err != nil {
		f.t.Fatalf("approve %s: %v\n%s", id, err, text)
	}
}

// reviewed names the tasks that wait for a review, one label after the other, as the lead asks for them.
func (f *fleet) reviewed(states map[string]string) (ids []string) {
	for _, label := range []string{"api", "ui"} {
		for _, task := range f.tasks {
			if task.label == label && states[task.id] == "IN_REVIEW" {
				ids = append(ids, task.id)
			}
		}
	}
	return ids
}

// lead approves what waits, whenever everything waits for that, until done says so. The gate stands still
// meanwhile: a person is faster than a gate.
func (f *fleet) lead(what string, done func(states map[string]string) bool) {
	f.t.Helper()
	for deadline := time.Now().Add(8 * time.Minute); ; {
		states := f.states()
		if done(states) {
			return
		}
		if time.Now().After(deadline) {
			f.logOutputs(states)
			f.t.Fatalf("%s: it doesn't go on: %v\n%s", what, states, f.run("worker", "status"))
		}

		ids := f.reviewed(states)
		if len(ids) == 0 || !f.isQuiet(states) {
			f.run("wait", "--park", "--timeout", "300ms") // until something happens
			continue
		}

		f.write("hold", "")
		for _, id := range ids {
			f.approve(id)
		}
		f.crashed = false
		if err := os.Remove(f.hold); err != nil {
			f.t.Fatal(err)
		}
	}
}

// killAll kills everything while a gate runs and workers work.
func (f *fleet) killAll() {
	f.t.Helper()
	f.write("hold", "")
	os.Remove(f.gating)

	f.lead("until one waits", func(states map[string]string) bool {
		i := slices.IndexFunc(f.tasks, func(t fleetTask) bool { return states[t.id] == "IN_REVIEW" })
		if i >= 0 {
			f.approve(f.tasks[i].id)
		}
		return i >= 0
	})
	soon(f.t, "the gate runs", func() bool { _, err := os.Stat(f.gating); return err == nil })

	f.place.KillAll()
	f.t.Logf("killed at %v", f.states())
	if err := os.Remove(f.hold); err != nil {
		f.t.Fatal(err)
	}
	f.crashed = true
}

// trains lists what each move of the branch brought, the first one first.
func (f *fleet) trains() (all [][]string) {
	f.t.Helper()
	values := strings.Fields(f.git("reflog", "show", "--format=%H", "integration"))
	slices.Reverse(values)
	judged, err := os.ReadFile(f.judged)
	if err != nil {
		f.t.Fatal(err)
	}

	for i := 1; i < len(values); i++ {
		if !strings.Contains(string(judged), values[i]) {
			f.t.Errorf("the branch was at %s, which no gate has seen", values[i])
		}

		var train []string
		for _, line := range strings.Split(
			f.git("log", "--reverse", "--first-parent", "--format=%s", values[i-1]+".."+values[i]), "\n",
		) {
			id, _, _ := strings.Cut(strings.TrimPrefix(line, "Merge task "), ":")
			train = append(train, id)
		}
		all = append(all, train)
	}

	return all
}

// TestFleet: three harness programs work on twenty tasks with dependencies, two labels and priorities. Of the lead
// there is nothing but approvals, in terminals that are closed. One worker meets an error of its API, one task is
// guilty of a red gate, one gate is ended by a signal, and once everything is killed, in the middle of a gate. Each
// task lands once, each value of the branch was gated, and few gates have run.
func TestFleet(t *testing.T) {
	harnesses := []*realharness.Harness{realharness.Claude, realharness.Codex, realharness.Gemini}
	onlyInPairs(t, harnesses...)

	f := newFleet(t, harnesses...)
	f.write("signal", "")
	f.lead("until the guilty task came back", func(states map[string]string) bool {
		return landings(states) >= 9 && states["t9"] != "APPROVED"
	})
	f.killAll()

	// One command brings the workers back. The approval that comes next has the merges go on.
	t.Logf("%s", f.run("worker", "run", "--all"))
	f.lead("after the crash", func(states map[string]string) bool { return landings(states) == len(f.tasks) })

	trains := f.trains()
	f.requireEachOnce(trains)

	// Of the train with the guilty task, the branch is gated once more, and the halves are. One gate was ended by
	// a signal, and one was killed; both are run again.
	b, err := os.ReadFile(f.gates)
	if err != nil {
		t.Fatal(err)
	}
	const layers, guilty, ended = 4, 2*2 + 2, 2
	most := len(f.tasks)/4 + layers + guilty + ended
	var gated []string
	for _, commit := range strings.Fields(string(b)) {
		gated = append(gated, f.git("log", "-1", "--format=%s", commit))
	}
	t.Logf("%d gates, at most %d; trains %v", len(gated), most, trains)
	if len(gated) > most {
		t.Errorf("too many gates, on the tips\n%s", strings.Join(gated, "\n"))
	}

	f.requireAllMet()
}

// requireEachOnce fails the test unless each task has landed once, and in each train the urgent ones first.
func (f *fleet) requireEachOnce(trains [][]string) {
	f.t.Helper()
	rank := func(id string) int {
		i := slices.IndexFunc(f.tasks, func(t fleetTask) bool { return t.id == id })
		return slices.Index([]string{"high", "normal", "low"}, f.tasks[i].priority)
	}

	landed := map[string]int{}
	for _, train := range trains {
		for _, id := range train {
			landed[id]++
		}
		if !slices.IsSortedFunc(train, func(a, b string) int { return rank(a) - rank(b) }) {
			f.t.Errorf("the tasks of %v aren't in the order of their priorities", train)
		}
	}

	for _, task := range f.tasks {
		if landed[task.id] != 1 {
			f.t.Errorf("%s has landed %d times: %v", task.id, landed[task.id], trains)
		}
	}
}

// requireAllMet fails the test unless everything has happened that a fleet has to survive, and nothing is left of it.
func (f *fleet) requireAllMet() {
	f.t.Helper()
	if _, err := os.Stat(f.signal); !errors.Is(err, os.ErrNotExist) {
		f.t.Error("no gate was ended by a signal")
	}
	if !f.failed.Load() {
		f.t.Error("no worker has met an error of its API")
	}
	if got := f.git("show", "integration:f-t9"); got != "mended\nsecond" {
		f.t.Errorf("the guilty task has landed with %q", got)
	}
	if said := f.run("doctor"); !strings.Contains(said, "every room agrees with its log") {
		f.t.Errorf("the doctor says\n%s", said)
	}

	// The last merge is recorded before its worktree is removed.
	soon(f.t, "no worktree is left", func() bool { return !strings.Contains(f.git("worktree", "list"), "\n") })
}
