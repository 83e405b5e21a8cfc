package stick

import "testing"

// TestPatternOverlapOfManySets: the 65th character, or set of characters, is told from the first.
func TestPatternOverlapOfManySets(t *testing.T) {
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
		{name(100, "x"), name(100, "?"), OverlapPartial},
		{name(100, "x"), name(100, "[!x]"), OverlapNone},
		{name(99, "[xy]") + "z", name(99, "?z"), OverlapPartial},
		{name(100, "x"), name(100, "y"), OverlapNone},
		{name(100, ""), name(100, ""), OverlapExact},
	} {
		kind, witness := parsed(t, c.a).Overlap(parsed(t, c.b), false)
		equal(t, "the overlap of "+c.a+" and "+c.b, kind, c.want)
		if c.want == OverlapExact || c.b == name(100, "?") {
			equal(t, "the path in both", witness, c.a)
		}
	}
}
