package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

func TestPlanSteps(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"stick/glob", "internal/model"} {
		if err := os.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}

	plan := func(short bool, phases string) (out []string) {
		for _, s := range planSteps([]string{"stick/glob", "stick"}, short, regexp.MustCompile(phases)) {
			out = append(out, s.String())
		}
		return out
	}

	all := []string{
		"tables, stick/glob", "tables, stick", "further tests, internal/model",
		"short explorations, stick/glob", "short explorations, stick",
		"explorations, stick/glob", "explorations, stick",
	}

	if got := plan(false, ""); !slices.Equal(got, all) {
		t.Errorf("%q", got)
	}
	if got := plan(true, ""); !slices.Equal(got, all[:5]) {
		t.Errorf("in short: %q", got)
	}
	if got := plan(false, "^expl"); !slices.Equal(got, all[5:]) {
		t.Errorf("of one phase: %q", got)
	}
}

// TestStep_AppliesTo: a room's tests meet the mutants of the room, and of what it imports.
func TestStep_AppliesTo(t *testing.T) {
	t.Chdir(t.TempDir())
	folder := filepath.FromSlash("stick/tasks")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	code := "package tasks\n\nimport \"example/stick\"\n\nvar _ stick.Task\n"
	if err := os.WriteFile(filepath.Join(folder, "tasks.go"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}

	s := &step{phase: tables, dir: folder, imports: listImports(folder)}
	for file, want := range map[string]bool{
		"stick/tasks/tasks.go": true, "stick/room.go": true, "stick/glob/glob.go": false,
	} {
		if got := s.appliesTo(mutant{file: filepath.FromSlash(file)}, "stick"); got != want {
			t.Errorf("a mutant of %s meets the tests of %s: %v", file, s.dir, got)
		}
	}
}

func TestPartsOf(t *testing.T) {
	said := "=== RUN   TestA\n=== RUN   TestA/one,_two\n=== RUN   TestA/one,_two/deep\n=== RUN   TestA/a.b\n=== RUN   TestB\n"
	got := partsOf(said, []string{"^TestA$", "^TestB$"})
	if want := []string{`^TestA$/^one,_two$`, `^TestA$/^a\.b$`, "^TestB$"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
