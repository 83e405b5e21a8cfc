package stick

import "testing"

func TestWhatNoTextHolds(t *testing.T) {
	for text, want := range map[string]Words{"é\n": "", "a\x00b": "a NUL character", "a\xffb": "bytes that aren't UTF-8 text", "\x00\xff": "bytes that aren't UTF-8 text"} {
		if got := notText(text); got != want {
			t.Errorf("%q holds %q, want %q", text, got, want)
		}
	}
}
