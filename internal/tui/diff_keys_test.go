package tui

import (
	"strings"
	"testing"

	"talkingstick/internal/task"
	"talkingstick/stick"
	stickdiff "talkingstick/stick/diff"
)

// twoFiles is a diff of two files, and of one that was only renamed.
func twoFiles() *task.WorkerDiffResult {
	return &task.WorkerDiffResult{
		TaskID: "ui-7", State: stick.TaskInReview, Base: "cb9f4600f8aa", Head: "2dd9464f4a0c",
		Files: []stickdiff.FileStat{
			{Path: "a.go", Added: 2, Deleted: 0},
			{Path: "b.go", From: "old.go", Added: 1, Deleted: 1},
			{Path: "new", From: "was"},
			{Path: "run.sh"},
		},
		Diff: `diff --git a/a.go b/a.go
--- a/a.go
+++ b/a.go
@@ -1 +1,2 @@
 one
+two
@@ -10 +11,2 @@
 ten
+more
diff --git a/old.go b/b.go
rename from old.go
rename to b.go
--- a/old.go
+++ b/b.go
@@ -1 +1 @@
-x
+y
diff --git a/was b/new
rename from was
rename to new
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`,
	}
}

// TestDiff_Keys: keys lead through the files and hunks of a diff, and the first line says where that is.
func TestDiff_Keys(t *testing.T) {
	res := twoFiles()
	p := diffPage{room: "shop000000", id: "ui-7", res: res, lines: diffLines(*res)}
	m := opens(onScreen(pictured(shop()), 100, 40, false), p)
	performs(t, m, &recorder{})

	for _, step := range []struct{ key, at, selected string }{
		{"]", "a.go, file 1 of 4", "diff --git a/a.go"},
		{"}", "a.go, file 1 of 4", "@@ -1 "},
		{"}", "a.go, file 1 of 4", "@@ -10 "},
		{"]", "b.go, file 2 of 4", "diff --git a/old.go"},
		{"{", "a.go, file 1 of 4", "@@ -10 "},
		{"[", "a.go, file 1 of 4", "diff --git a/a.go"},
		{"]", "b.go, file 2 of 4", "diff --git a/old.go"},
		{"]", "new, file 3 of 4", "diff --git a/was"},
		{"]", "run.sh, file 4 of 4", "diff --git a/run.sh"},
		{"]", "run.sh, file 4 of 4", "diff --git a/run.sh"},
	} {
		m.presses(t, step.key)
		screen := drawn(m)
		first, _, _ := strings.Cut(screen, "\n")
		if !strings.Contains(first, step.at) {
			t.Errorf("after %s it says %q, not %q", step.key, first, step.at)
		}
		for l := range strings.Lines(screen) {
			if strings.HasPrefix(l, "> ") && !strings.Contains(l, step.selected) {
				t.Errorf("after %s it has %q, not %q", step.key, l, step.selected)
			}
		}
	}

	screen := drawn(m)
	for _, want := range []string{"   12 +more", "renamed     new  was was", "no lines    run.sh", "b.go  was old.go"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q isn't in\n%s", want, screen)
		}
	}
}
