package diff_test

import (
	"fmt"
	"strings"
	"testing"

	stickdiff "talkingstick/stick/diff"
	"talkingstick/stick/sticktest"
)

// TestPatchReader follows a diff whose lines look like headers, with odd names, a rename and a deleted file.
func TestPatchReader(t *testing.T) {
	const diff = `diff --git a/x.go b/x.go
index 1..2 100644
--- a/x.go
+++ b/x.go
@@ -3,3 +3,3 @@ func f() {
 same
--- a/evil.go
+++ b/evil.go
 @@ -1 +1 @@
\ No newline at end of file
diff --git a/one b/two blanks.txt
rename from one
rename to two blanks.txt
--- a/one
+++ b/two blanks.txt	
@@ -1 +1,2 @@
 a
+b
diff --git "a/tab\there" "b/tab\there"
deleted file mode 100644
--- "a/tab\there"
+++ /dev/null
@@ -1 +0,0 @@
-x
`

	var r stickdiff.PatchReader
	got := []string{}
	for line := range strings.Lines(diff) {
		switch l := r.Next(line); {
		case l.Hunk != nil:
			got = append(got, fmt.Sprintf("%q %q %v", r.Old, r.New, *l.Hunk))
		case l.Old+l.New > 0:
			got = append(got, fmt.Sprintf("%d/%d %s", l.Old, l.New, strings.TrimSuffix(line, "\n")))
		}
	}

	sticktest.Equal(t, "what it reads", strings.Join(got, "\n"), `"x.go" "x.go" {3 3 3 3}
3/3  same
4/0 --- a/evil.go
0/4 +++ b/evil.go
5/5  @@ -1 +1 @@
"one" "two blanks.txt" {1 1 1 2}
1/1  a
0/2 +b
"tab\there" "" {1 1 0 0}
1/0 -x`)
}

// FuzzPatchReader: whatever comes, its numbers stay positive and rise within a hunk.
func FuzzPatchReader(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n+b\n-c\n")
	f.Add("@@ -1,99 +1 @@\n\\\n\n-\n+\n")
	f.Fuzz(func(t *testing.T, diff string) {
		var r stickdiff.PatchReader
		last := stickdiff.PatchLine{}
		for line := range strings.Lines(diff) {
			l := r.Next(line)
			if l.Hunk != nil {
				last = stickdiff.PatchLine{}
			}
			if l.Old < 0 || l.New < 0 || l.Old != 0 && l.Old <= last.Old || l.New != 0 && l.New <= last.New {
				t.Fatalf("%q is %+v after %+v", line, l, last)
			}
			last.Old, last.New = max(last.Old, l.Old), max(last.New, l.New)
		}
	})
}
