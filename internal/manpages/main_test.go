package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPages: there is a page of each command that people see, with what it does and an example, and two runs
// write the same.
func TestPages(t *testing.T) {
	a, b := t.TempDir(), filepath.Join(t.TempDir(), "new", "directory")
	for _, dir := range []string{a, b} {
		if err := writePages(dir); err != nil {
			t.Fatal(err)
		}
	}

	for _, name := range []string{"tt.1", "tt-wait.1", "tt-task-merge.1"} {
		page, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		again, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(page) != string(again) {
			t.Errorf("two runs write different pages %s", name)
		}

		command := strings.ReplaceAll(strings.TrimSuffix(name, ".1"), "-", " ")
		for _, part := range []string{".SH NAME", ".SH EXAMPLE", command} {
			if !strings.Contains(strings.ReplaceAll(string(page), `\-`, "-"), part) {
				t.Errorf("page %s lacks %q", name, part)
			}
		}
	}

	if _, err := os.Stat(filepath.Join(a, "tt-guard.1")); err == nil {
		t.Error("a hidden command has a page")
	}
}
