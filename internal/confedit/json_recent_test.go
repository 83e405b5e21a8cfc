package confedit

import (
	"fmt"
	"slices"
	"testing"
)

// TestKeep: while somebody keeps them, the last files are parsed once, however often they are asked about.
func TestKeep(t *testing.T) {
	text := func(n int) []byte { return fmt.Appendf(nil, `{"a": %d}`, n) }
	parse := func(n int) *jsonDoc {
		t.Helper()
		d, err := parseJSON(text(n))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}

	if unkept := parse(1); parse(1) == unkept {
		t.Error("a document is kept although nobody keeps it")
	}

	release, releaseInner := CacheParsed(), CacheParsed()
	first := parse(1)
	for _, n := range []int{2, 3, 1, 4, 1} {
		parse(n)
	}
	if parse(1) != first {
		t.Error("a file that is asked about again and again is parsed again")
	}

	src := text(1)
	kept := parse(1)
	src[6] = '7'
	if !slices.Equal(kept.src, text(1)) {
		t.Error("a document changes with the bytes of its caller")
	}
	if second := parse(2); second == first || string(second.src) != string(text(2)) {
		t.Error("another file's document was found")
	}

	releaseInner()
	if parse(1) != first {
		t.Error("the outer one still keeps it")
	}

	release()
	if parse(1) == first || recentJSON.docs != [3]*jsonDoc{} {
		t.Error("a document is kept after its release")
	}
}
