package core

import (
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/workspace"
)

func TestLocated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	k := New(Config{Workspace: workspace.Env{Dir: dir}})

	w := k.Located(Where{Path: dir})
	first, err := k.Place(w)
	if err != nil {
		t.Fatal(err)
	}

	// One step completes what it got, and the next one finds no directory.
	root := first.Root
	first.Root = "completed"
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if again, err := k.Place(w); err != nil || again.Root != root {
		t.Errorf("the second step: %+v, %v", again, err)
	}

	for name, w := range map[string]Where{
		"a path that isn't there": {Path: dir},
		"a room and a path":       {RoomID: "r", Path: "."},
	} {
		if _, err := k.Place(k.Located(w)); err == nil {
			t.Errorf("%s has a place", name)
		}
	}
	if place, err := k.Place(k.Located(Where{RoomID: "r"})); place != nil || err != nil {
		t.Errorf("a room by its id: %v, %v", place, err)
	}
}
