package install

import (
	"fmt"
	"testing"
)

// crash is what a killed process does here.
type crash struct{}

// At every point between and within the files an install and an uninstall may end; doing it again
// completes it, as if nothing had been, and gives back what was there.
func TestCrashAndAgain(t *testing.T) {
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

// dies has the process of an install or uninstall end at the n-th point; it reports whether there was one.
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
