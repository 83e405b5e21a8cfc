package workspace

import (
	"path/filepath"
	"testing"
)

func TestMountType(t *testing.T) {
	if got := mountType("/proc"); got != "proc" {
		t.Errorf("got %q, want proc", got)
	}
	if got := mountType(filepath.Join(t.TempDir(), "nowhere")); got != "" {
		t.Errorf("got %q for a directory that doesn't exist", got)
	}
}
