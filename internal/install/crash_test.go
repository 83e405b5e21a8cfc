package install

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"talkingstick/internal/testenv"
)

// crash stands for the end of a killed process.
type crash struct{}

// An install or uninstall may end at every point between files and within one. A second run completes it, as
// if nothing had happened, and an uninstall restores what was there.
func TestCrashAndAgain(t *testing.T) {
	testenv.Alone(t)
	testenv.Leaves(t, testenv.Every, "six of seven points at which an install may end")
	for _, project := range []bool{false, true} {
		for n := 1; ; n++ {
			if !testenv.KillsAt(n - 1) {
				continue
			}

			if !endsAndGoesOn(t, project, n, (*machine).dies) {
				if n < 20 {
					t.Errorf("an install has only %d points", n-1)
				}
				break
			}
		}
	}
}

// TestKilledAndAgain: so it is when it isn't the function that ends, but a process.
func TestKilledAndAgain(t *testing.T) {
	for _, project := range []bool{false, true} {
		if !endsAndGoesOn(t, project, 8, (*machine).isKilled) {
			t.Error("the process wasn't killed")
		}
	}
}

// endsAndGoesOn ends an install, and then an uninstall, at the n-th point, and goes on after each. It reports
// whether the install had such a point.
func endsAndGoesOn(t *testing.T, project bool, n int, ends func(w *machine, n int, removing bool) bool) bool {
	t.Helper()
	w := handMadeMachine(t)
	if project {
		w.inProject()
	}
	before := w.tree()
	if !ends(w, n, false) {
		return false
	}

	w.install(allNames...)
	done := w.tree()

	ends(w, n, true)
	w.uninstall(allNames...)
	w.same(fmt.Sprintf("killed at point %d", n), before)
	w.install(allNames...)
	w.same(fmt.Sprintf("installed again, after a kill at point %d", n), done)

	return true
}

// dies ends an install or uninstall at the n-th point. It reports whether there was such a point.
func (w *machine) dies(n int, removing bool) bool {
	w.Helper()
	return w.diesIn(n, planner(removing))
}

// diesIn ends the carrying out of a plan at the n-th point. It reports whether there was such a point.
func (w *machine) diesIn(n int, plan func(Target, []string) ([]FileChange, error)) (died bool) {
	w.Helper()
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			died = true
		}
	}()

	t := w.t
	t.Kill = func(string) {
		if n--; n == 0 {
			panic(crash{})
		}
	}

	steps, err := plan(t, allNames)
	if err != nil {
		w.Fatal(err)
	}
	if err := Apply(steps); err != nil {
		w.Fatal(err)
	}

	return false
}

func planner(removing bool) func(Target, []string) ([]FileChange, error) {
	if removing {
		return Uninstall
	}
	return Install
}

// orderEnv has the test binary carry an [order] out instead of running tests.
const orderEnv = "TT_TEST_INSTALL"

// order is what a process does that is killed at its n-th point.
type order struct {
	Home, Project, TT, DataDir string
	N                          int
	Removing                   bool
}

// isKilled has a process install or uninstall, which is killed at its n-th point. It reports whether there
// was such a point.
func (w *machine) isKilled(n int, removing bool) bool {
	w.Helper()
	text, err := json.Marshal(order{w.t.Home, w.t.Project, w.t.TT, w.t.DataDir, n, removing})
	if err != nil {
		w.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}

	c := exec.Command(program)
	c.Env = append(os.Environ(), orderEnv+"="+string(text))
	out, err := c.CombinedOutput()
	if len(out) > 0 {
		w.Fatalf("%v\n%s", err, out)
	}
	return err != nil
}

// obey carries an order out, and returns the exit status of one that came to its end.
func obey(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Println(err)
		return 1
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		fmt.Println(err)
		return 1
	}

	t := Target{
		Home: o.Home, Project: o.Project, TT: o.TT, DataDir: o.DataDir, Default: o.DataDir,
		Getenv: func(string) string { return "" },
	}
	t.Kill = func(string) {
		if o.N--; o.N == 0 {
			_ = self.Kill()
			select {}
		}
	}

	steps, err := planner(o.Removing)(t, allNames)
	if err == nil {
		err = Apply(steps)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}

	return 0
}
