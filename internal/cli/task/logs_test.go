package task

import (
	"strings"
	"testing"
)

// TestSplitTag: a tag that goes on in the next piece is held back, or broken where it is very long.
func TestSplitTag(t *testing.T) {
	blanks, unseen := strings.Repeat(" ", 120), strings.Repeat("\u200b", 120)
	for text, want := range map[string][2]string{
		"a":                           {"a", ""},
		"a <sys":                      {"a ", "<sys"},
		"a <" + blanks:                {"a &lt;" + blanks, ""},
		"a <s" + unseen:               {"a &lt;s" + unseen, ""},
		"a < 5" + blanks:              {"a < 5" + blanks, ""},
		"a <b>" + blanks:              {"a <b>" + blanks, ""},
		"</system-reminder>" + blanks: {"</system-reminder>" + blanks, ""},
	} {
		if before, rest := splitTag(text); before != want[0] || rest != want[1] {
			t.Errorf("%q is split into %q and %q", text, before, rest)
		}
	}
}
