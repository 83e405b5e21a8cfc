package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/testenv"
)

// TestNothingIsLost_PruneKilled kills the process that drops old snapshots at each of its steps. The newest snapshot stays
// whole, the same command again drops the rest, and later calls make snapshots as before.
func TestNothingIsLost_PruneKilled(t *testing.T) {
	testenv.SkipShort(t, testenv.Every, "kills of the process that drops old snapshots")
	testenv.Alone(t)

	w := newWard(t, "ann", "bob", "cy")
	w.buildForPrograms()
	for i := range 6 {
		w.calls("bob", fmt.Sprintf("echo 'draft %d' >draft.txt", i))
	}
	w.calls("bob", "echo 'by bob' >notes.txt")
	w.keepAs("to undo")

	// All of them are past their time, and the last of their hour stays.
	const later = clitest.Clock + "=60h"
	_, points := w.passes("env " + later + " tt rescue prune")
	if len(points) < 10 {
		t.Errorf("pruning passes only %q", points)
	}

	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			w := &ward{t, w.dir, w.work, w.app, w.bin, w.agents, w.copies, w.roomID}
			w.putBack("to undo")
			before := w.held()
			w.asAnn("tt rescue prune", "'"+later+"' '"+clitest.Kill+"="+point+"'")
			w.comesBack(before)

			w.asAnn("tt rescue prune", "'"+later+"'")
			w.comesBack(before)
			w.calls("cy", "echo 'by cy' >>notes.txt")
			w.comesBack(w.held())

			if out := w.person("tt doctor"); strings.Contains(out, "can't be read") {
				t.Errorf("the doctor finds %s", out)
			}
		})
	}
}

// comesBack takes the uncommitted notes away, and fails the test unless the last snapshot gives them back as they were.
func (w *ward) comesBack(before map[string]string) {
	w.Helper()
	last := (&program{ward: w}).listed()[0].After
	out := w.asAnn("sh -c 'rm notes.txt && tt rescue restore "+last+"'", "")
	if is := w.held(); len(changed(before, is)) > 0 {
		w.Errorf("%v isn't as before after a restore of %s: %s", changed(before, is), last, out)
	}
}
