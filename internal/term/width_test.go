package term

import "testing"

func TestWidth(t *testing.T) {
	for line, want := range map[string]int{
		"": 0, "abc": 3, "über": 4, "e\u0301t\u00e9": 3, "漢字": 4, "한글": 4, "\u1112\u1161\u11ab": 2, "👍 ok": 5,
		"…—×": 3, "ﾊﾝ": 2, "Ａ": 2,
	} {
		if got := Width(line); got != want {
			t.Errorf("%q takes %d columns, want %d", line, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"lexer", 5, "lexer"},
		{"lexers", 5, "lexe…"},
		{"漢字漢字", 8, "漢字漢字"},
		{"漢字漢字", 7, "漢字漢…"},
		{"漢字漢字", 6, "漢字…"},
		{"two words", 5, "two…"},
		{"ab", 1, "…"},
		{"ab", 0, ""},
		{"👍👍", 3, "👍…"},
	} {
		if got := CutLine(c.line, c.columns); got != c.want {
			t.Errorf("Fit(%q, %d) is %q, want %q", c.line, c.columns, got, c.want)
		}
	}
}
