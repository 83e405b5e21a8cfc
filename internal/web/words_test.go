package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMarkWords: in lines that replace each other the words that differ are marked.
func TestMarkWords(t *testing.T) {
	for _, c := range []struct {
		name, old, now string
		want           [2][3]string // before, marked and after, of the old line and of the new one
	}{
		{
			"a word", "return send(path)", "return sendAll(path)",
			[2][3]string{{"return ", "send", "(path)"}, {"return ", "sendAll", "(path)"}},
		},
		{"an insertion", "f(a)", "f(a, b)", [2][3]string{{"f(a", "", ")"}, {"f(a", ", b", ")"}}},
		{
			"letters of others", "größe = 1", "größer = 1",
			[2][3]string{{"", "größe", " = 1"}, {"", "größer", " = 1"}},
		},
		{"the end", "x := 1 // one", "x := 1 // two", [2][3]string{{"x := 1 // ", "one", ""}, {"x := 1 // ", "two", ""}}},
		{"nothing in common", "alpha beta gamma", "one, two and three", [2][3]string{}},
		{"the same", "same", "same", [2][3]string{}},
		{"empty", "", "text", [2][3]string{}},
		{"cut characters", "a \xff\xfe b c", "a \xff b c", [2][3]string{{"a \xff", "\xfe", " b c"}, {"a \xff", "", " b c"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := []diffLine{{Kind: "del", Text: c.old}, {Kind: "add", Text: c.now}}
			markWords(lines)
			got := [2][3]string{}
			for i, l := range lines {
				got[i] = [3]string{l.Before, l.Marked, l.After}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestMarkWords_Pairs: only lines of which as many were removed as added are compared, one by one.
func TestMarkWords_Pairs(t *testing.T) {
	line := func(kind, text string) diffLine { return diffLine{Kind: kind, Text: text} }
	lines := []diffLine{
		line("same", "a b"), line("del", "one = 1"), line("del", "two = 2"), line("add", "one = 3"), line("add", "two = 4"),
		line("hunk", "@@"), line("del", "three = 1"), line("add", "three = 2"), line("add", "four = 2"), line("add", "x"),
	}
	markWords(lines)

	var marked []string
	for _, l := range lines {
		marked = append(marked, l.Marked)
	}
	if diff := cmp.Diff([]string{"", "1", "2", "3", "4", "", "", "", "", ""}, marked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
