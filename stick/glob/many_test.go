package glob

import "testing"

// TestOverlapOfManySets: the 65th character, or set of characters, is told from the first.
func TestOverlapOfManySets(t *testing.T) {
	name := func(n int, last string) string {
		var out []rune
		for i := range n {
			out = append(out, 'а'+rune(i))
		}
		return string(out) + last
	}

	for _, c := range []struct {
		a, b string
		want Overlap
	}{
		{name(100, "x"), name(100, "?"), Partial},
		{name(100, "x"), name(100, "[!x]"), None},
		{name(99, "[xy]") + "z", name(99, "?z"), Partial},
		{name(100, "x"), name(100, "y"), None},
		{name(100, ""), name(100, ""), Exact},
	} {
		kind, witness := parsed(t, c.a).Overlap(parsed(t, c.b), false)
		equal(t, "the overlap of "+c.a+" and "+c.b, kind, c.want)
		if c.want == Exact || c.b == name(100, "?") {
			equal(t, "the path in both", witness, c.a)
		}
	}
}
