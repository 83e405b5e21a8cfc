package install

import (
	"fmt"
	"testing"

	"talkingstick/internal/testenv"
)

// crash stands for the end of a killed process.
type crash struct{}

// An install or uninstall may end at every point between files and within one. A second run completes it, as if nothing
// had happened, and an uninstall restores what was there.
func TestCrashAndAgain(t *testing.T) {
	testenv.Alone(t)

	for _, project := range []bool{false, true} {
		for n := 1; ; n++ {
			w := handMadeMachine(t)
			if project {
				w.inProject()
			}
			before := w.tree()
			if !w.dies(n, Install) {
				if n < 20 {
					t.Errorf("an install has only %d points", n-1)
				}
				break
			}
			w.install(allNames...)
			done := w.tree()
			w.dies(n, Uninstall)
			w.uninstall(allNames...)
			w.same(fmt.Sprintf("killed at point %d", n), before)
			w.install(allNames...)
			w.same(fmt.Sprintf("installed again, after a kill at point %d", n), done)
		}
	}
}

// dies ends the process of an install or uninstall at the n-th point. It reports whether there was such a point.
func (w *machine) dies(n int, planner func(Target, []string) ([]FileChange, error)) (died bool) {
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
	steps, err := planner(t, allNames)
	if err != nil {
		w.Fatal(err)
	}
	if err := Apply(steps); err != nil {
		w.Fatal(err)
	}
	return false
}
