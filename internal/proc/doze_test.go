package proc

import (
	"runtime/debug"
	"testing"
)

func TestDoze(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(73))
	wake := PauseCollection()
	if now := debug.SetGCPercent(-1); now != -1 {
		t.Errorf("while the process sleeps garbage is collected at %d %%", now)
	}

	wake()
	if now := debug.SetGCPercent(73); now != 73 {
		t.Errorf("awake, garbage is collected at %d %%, before it was at 73", now)
	}
}
