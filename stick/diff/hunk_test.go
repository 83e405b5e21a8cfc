package diff_test

import (
	"fmt"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/diff"
	"talkingstick/stick/sticktest"
)

// TestFollow: a range of lines is found again behind additions and removals, unless one of its own lines was
// changed or removed.
func TestFollow(t *testing.T) {
	// Lines 1 and 2 are added at the top, 5 and 6 become one line, two lines are added after 9, and 12 is
	// removed.
	hs := diff.Hunks{
		{First: 0, Count: 0, NewFirst: 1, NewCount: 2},
		{First: 5, Count: 2, NewFirst: 7, NewCount: 1},
		{First: 9, Count: 0, NewFirst: 11, NewCount: 2},
		{First: 12, Count: 1, NewFirst: 14, NewCount: 0},
	}
	for _, c := range []struct{ from, want string }{
		{"1", "3"},
		{"4", "6"},
		{"5", ""},
		{"6", ""},
		{"4-5", ""},
		{"6-7", ""},
		{"7", "8"},
		{"9", "10"},
		{"10", "13"},
		{"8-11", "9-14"}, // two lines were added among them
		{"11", "14"},
		{"12", ""},
		{"11-13", ""},
		{"13", "15"},
		{"1-3", "3-5"},
	} {
		l, _ := diff.ParseLines(c.from)
		to, ok := hs.Follow(l)
		got := ""
		if ok {
			got = to.String()
		}
		sticktest.Equal(t, "where "+c.from+" is", got, c.want)
	}

	to, ok := diff.Hunks(nil).Follow(stick.Lines{7, 8})
	sticktest.Equal(t, "without changes", fmt.Sprint(to, ok), "7-8 true")
}

// TestHunks_Show: a diff shows what it changes and three lines on each side, of the version before and of the one
// after.
func TestHunks_Show(t *testing.T) {
	// Two lines are added after 10, 20 is changed, 30 and 31 are removed; all in a file of 33 lines.
	hs := diff.Hunks{
		{First: 10, Count: 0, NewFirst: 11, NewCount: 2},
		{First: 20, Count: 1, NewFirst: 22, NewCount: 1},
		{First: 30, Count: 2, NewFirst: 31, NewCount: 0},
	}
	for _, c := range []struct {
		lines    string
		old, new bool
		near     int // the nearest line of the new version
	}{
		{"1", false, false, 8},
		{"7", false, false, 8},
		{"8", true, true, 8},
		{"13", true, true, 13},
		{"14", false, true, 14},
		{"15", false, true, 15},
		{"16", false, false, 15},
		{"17", true, false, 15},
		{"8-13", true, true, 8},
		{"13-17", false, false, 13},
		{"13-20", false, false, 13},
		{"23", true, true, 23},
		{"26", false, false, 25},
		{"27", true, false, 25},
		{"28", true, false, 29},
		{"31", true, true, 31},
		{"34", true, true, 33},
		{"99", false, false, 33},
	} {
		l, _ := diff.ParseLines(c.lines)
		sticktest.Equal(t, c.lines+" before", hs.Shows(l, true), c.old)
		sticktest.Equal(t, c.lines+" after", hs.Shows(l, false), c.new)
		sticktest.Equal(t, "the nearest to "+c.lines, hs.Nearest(l[0], 33, false), c.near)
	}

	sticktest.Equal(t, "a line of a diff that shows none", diff.Hunks(nil).Nearest(3, 9, false), 0)
	sticktest.Equal(t, "the first line, beside a change", diff.Hunks{{First: 2, Count: 1, NewFirst: 2, NewCount: 1}}.Nearest(1, 9, false), 1)
	gone := diff.Hunks{{First: 1, Count: 3, NewFirst: 0, NewCount: 0}}
	sticktest.Equal(t, "a line of a file that was emptied", gone.Nearest(1, 0, false), 0)
	sticktest.Equal(t, "a line that it had", gone.Shows(stick.Lines{1, 3}, true), true)
	sticktest.Equal(t, "a changed line", hs.Changes(20, true), true)
	sticktest.Equal(t, "a line beside it", hs.Changes(21, true), false)
	sticktest.Equal(t, "an added line", hs.Changes(12, false), true)
	sticktest.Equal(t, "the line after it", hs.Changes(13, false), false)
}

func TestParseLines(t *testing.T) {
	for s, want := range map[string]stick.Lines{"1": {1, 1}, "7-9": {7, 9}, "7-7": {7, 7}} {
		l, ok := diff.ParseLines(s)
		sticktest.Equal(t, s, l, want)
		sticktest.Equal(t, "whether "+s+" is read", ok, true)
	}

	for _, s := range []string{
		"", "0", "-1", "1-", "-", "3-2", "a", "1,2", "+1", "1-2-3", " 1", "1.5", "99999999999", "2000000000",
	} {
		_, ok := diff.ParseLines(s)
		sticktest.Equal(t, fmt.Sprintf("whether %q is read", s), ok, false)
	}
}

func TestParseHunk(t *testing.T) {
	for s, want := range map[string]diff.Hunk{
		"@@ -1 +1 @@":                   {First: 1, Count: 1, NewFirst: 1, NewCount: 1},
		"@@ -12,2 +14,3 @@ func main()": {First: 12, Count: 2, NewFirst: 14, NewCount: 3},
		"@@ -0,0 +1,7 @@":               {First: 0, Count: 0, NewFirst: 1, NewCount: 7},
	} {
		h, err := diff.ParseHunk(s)
		sticktest.Equal(t, s, h, want)
		sticktest.Equal(t, s, err, nil)
	}

	for _, s := range []string{
		"", "@@", "@@ -1 +1", "-1 +1 @@ x", "@@ +1 -1 @@", "@@ -a +1 @@", "@@ -1,-2 +1 @@",
		"@@ -1 +99999999999999999999 @@", "@@@ -1 -1 +1 @@@",
	} {
		if h, err := diff.ParseHunk(s); err == nil {
			t.Errorf("%q is read as %v", s, h)
		}
	}
}
