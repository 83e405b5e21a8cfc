package repository

import (
	"strings"
	"testing"
)

// TestSettingsFile_keeps_what_a_commit_has: it knows the file of the last commit, and none of a ref, which may
// move.
func TestSettingsFile_keeps_what_a_commit_has(t *testing.T) {
	var f settingsFile
	if _, known := f.textIn(""); known {
		t.Error("it knows a file before any was read")
	}

	first, second := strings.Repeat("1", shortestID), strings.Repeat("2", shortestID)
	f.keep(first, []byte("first"))
	f.keep("HEAD", []byte("moves"))
	if text, known := f.textIn(first); !known || string(text) != "first" {
		t.Errorf("of the first commit it knows %q, %v", text, known)
	}

	f.keep(second, nil)
	for commit, want := range map[string]bool{first: false, second: true, "HEAD": false} {
		if _, known := f.textIn(commit); known != want {
			t.Errorf("it knows the file of %s: %v", commit, known)
		}
	}
}
