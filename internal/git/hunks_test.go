package git

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTouches(t *testing.T) {
	tests := []struct {
		name string
		a, b hunk
		want bool
	}{
		{"the same line", hunk{first: 5, count: 1}, hunk{first: 5, count: 1}, true},
		{"side by side", hunk{first: 5, count: 1}, hunk{first: 6, count: 1}, true},
		{"one line between", hunk{first: 5, count: 1}, hunk{first: 7, count: 1}, false},
		{"put in at the same place", hunk{first: 5}, hunk{first: 5}, true},
		{"put in before a changed line", hunk{first: 4}, hunk{first: 5, count: 1}, true},
		{"put in behind a changed line", hunk{first: 5}, hunk{first: 5, count: 1}, true},
		{"put in elsewhere", hunk{first: 6}, hunk{first: 5, count: 1}, false},
		{"two new files", hunk{}, hunk{}, true},
	}

	for _, tt := range tests {
		if tt.a.touches(tt.b) != tt.want || tt.b.touches(tt.a) != tt.want {
			t.Errorf("%s: not %v", tt.name, tt.want)
		}
	}
}

func TestManyRanges(t *testing.T) {
	var d fileDiff
	for i := range 3 * maxRanges {
		d.hunks = append(d.hunks, hunk{10 * i, 1, 10 * i, 1})
	}
	got := d.changedLines(anyHunk)
	if len(got) != maxRanges || got[len(got)-1].Last != 10*(3*maxRanges-1) {
		t.Errorf("got %v", got)
	}
}

func TestParseMerge(t *testing.T) {
	const a, b = "aaaa", "bbbb"
	tests := []struct {
		name, output string
		want         conflictKinds // nil: an error
	}{
		{
			"two kinds for one file",
			"tree\nbin\n\n1\nbin\nCONFLICT (binary)\nwords\n1\nbin\nAuto-merging\nwords\n1\nbin\nCONFLICT (contents)\nwords\n",
			conflictKinds{"bin": "binary"},
		},
		{
			"put aside",
			"tree\nx~aaaa\n\n2\nx~aaaa\nx\nCONFLICT (file/directory)\nwords\n",
			conflictKinds{"x": "file/directory"},
		},
		{
			"a name with ~",
			"tree\nx~cccc\n\n1\nx~cccc\nCONFLICT (contents)\nwords\n",
			conflictKinds{"x~cccc": "contents"},
		},
		{"without messages", "tree\nx\n\n", conflictKinds{"x": ""}},
		{"nothing", "", conflictKinds{}},
		{"no number", "tree\nx\n\nx\n", nil},
		{"cut off", "tree\nx\n\n9\nx\n", nil},
		{"a number below 0", "tree\nx\n\n-3\nx\n", nil},
	}

	for _, tt := range tests {
		got, err := parseMerge(nul(tt.output), a, b)
		if (err == nil) != (tt.want != nil) {
			t.Errorf("%s: got the error %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
	}
}

func TestParseWorktrees(t *testing.T) {
	tests := []struct {
		name, output string
		want         []Worktree
	}{
		{"nothing", "", nil},
		{
			"main, linked, detached, none yet", "worktree /a b\nHEAD 12\nbranch refs/heads/main\n\nworktree /c\nHEAD 34\ndetached\nlocked because\nprunable gone\n\n" +
				"worktree /d\nHEAD 0000\nbranch refs/heads/x/y\n\n",
			[]Worktree{
				{Path: "/a b", Branch: "main", Head: "12", Main: true},
				{Path: "/c", Head: "34", Prunable: true},
				{Path: "/d", Branch: "x/y"},
			},
		},
		{
			"bare",
			"worktree /a\nbare\n\nworktree /c\nHEAD 34\nbranch refs/heads/fix\n\n",
			[]Worktree{{Path: "/c", Branch: "fix", Head: "34"}},
		},
	}

	for _, tt := range tests {
		got, err := parseWorktrees(nul(tt.output))
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", tt.name, err, diff)
		}
	}

	if _, err := parseWorktrees("worktree /a"); err == nil {
		t.Error("what is cut off isn't an error")
	}
}

func TestNames(t *testing.T) {
	got := uniqueNames([]Worktree{
		{Path: "/r/app", Branch: "main"}, {Path: "/r/fix"}, {Path: "/s/fix"}, {Path: "/r/main"},
	})
	if diff := cmp.Diff([]string{"/r/app", "/r/fix", "/s/fix", "/r/main"}, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzDiff: it doesn't matter in which pieces a diff comes, and what is no diff is no reason to fall.
func FuzzDiff(f *testing.F) {
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+@@ -1 +1 @@\n", 3)
	f.Add("diff --git \"a/\\n\\303\" \"b/\\n\\303\"\ndeleted file mode 100644\n@@ -1,3 +0,0 @@\n", 7)
	f.Add("diff --git a/x y b/x y\nold mode 100644\n", 1)
	f.Add("diff --git  \n@@ -x +y @@\n@@ @@\n", 2)

	f.Fuzz(func(t *testing.T, output string, size int) {
		read := func(size int) (map[string]fileDiff, error) {
			d := &diffParser{files: map[string]fileDiff{}}
			for part := range slices.Chunk([]byte(output), max(1, size)) {
				if n, err := d.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}

			return d.files, d.problem
		}

		whole, err := read(len(output) + 1)
		parts, perr := read(size)
		if (err == nil) != (perr == nil) || !maps.EqualFunc(whole, parts, func(a, b fileDiff) bool {
			return a.deleted == b.deleted && slices.Equal(a.hunks, b.hunks)
		}) {
			t.Fatalf("in pieces of %d: %v, %v", size, err, perr)
		}

		for _, d := range whole {
			if got := d.changedLines(anyHunk); len(got) > maxRanges {
				t.Fatalf("%d ranges", len(got))
			}
		}

		_, _ = parseMerge(output, "a", "b")
		_, _ = parseRaw(output)
		_, _ = parseWorktrees(strings.ReplaceAll(output, "\n", "\x00"))
	})
}
