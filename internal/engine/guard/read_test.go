package guard

import "testing"

func TestChangedLines(t *testing.T) {
	const head = "diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n"
	for _, c := range []struct {
		name, diff     string
		added, removed int
	}{
		{"one hunk", head + "@@ -1,3 +1,4 @@\n one\n-two\n+2\n+3\n four\n", 2, 1},
		{"two hunks", head + "@@ -1 +1 @@ func x()\n-a\n+b\n@@ -9,2 +9 @@\n-c\n d\n", 1, 2},
		{"lines that look like headers", head + "@@ -1,2 +1,2 @@\n--- a\n+++ b\n", 1, 1},
		{"no newline at the end", head + "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", 1, 1},
		{"only its mode", "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n", 0, 0},
		{"nothing", "", 0, 0},
	} {
		if added, removed := changedLines(c.diff); added != c.added || removed != c.removed {
			t.Errorf("%s: +%d −%d, want +%d −%d", c.name, added, removed, c.added, c.removed)
		}
	}
}
