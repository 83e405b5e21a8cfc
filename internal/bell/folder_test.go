package bell

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWatchFolder: whoever waits is woken by a new file, and by what is written to one.
func TestWatchFolder(t *testing.T) {
	dir := t.TempDir()
	f, err := WatchFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}

	<-f.C
	for range 3 {
		if _, err := file.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		<-f.C
	}

	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
