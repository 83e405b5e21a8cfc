package glob

import (
	"strings"
	"testing"
)

// BenchmarkOverlap measures what a new reservation costs for each one that is there.
func BenchmarkOverlap(b *testing.B) {
	for _, c := range [][2]string{
		{"src/lib", "docs"},
		{"src/lib", "src/lib/*.go"},
		{"internal/**/*_test.go", "internal/engine/*.go"},
		{"[ab]*/**/x", "[ba]*/**/x"},
	} {
		for _, fold := range []bool{false, true} {
			b.Run(c[0]+" "+c[1]+map[bool]string{true: " folded"}[fold], func(b *testing.B) {
				p, q := parsed(b, c[0]), parsed(b, c[1])
				for b.Loop() {
					p.Overlap(q, fold)
				}
			})
		}
	}
}

// BenchmarkMatch measures what a path costs for each pattern.
func BenchmarkMatch(b *testing.B) {
	for _, s := range []string{"src/lib", "internal/**/*_test.go", "**/*" + strings.Repeat("a*", 30)} {
		b.Run(s, func(b *testing.B) {
			p := parsed(b, s)
			for b.Loop() {
				p.Match("internal/engine/reservation_test.go", false)
			}
		})
	}
}

// BenchmarkOverlapHostile measures pairs that are made to be slow, one for each kind of cost. Each should
// stay under 5 ms.
func BenchmarkOverlapHostile(b *testing.B) {
	fill := func(before, s, after string) string {
		return before + strings.Repeat(s, (MaxBytes-len(before)-len(after))/len(s)) + after
	}

	stars := func(before, s, after string) string { return before + strings.Repeat(s, 29) + after }
	for _, c := range []struct{ name, a, b string }{
		{"all pairs of states", fill("*", "a", "b"), fill("*", "a", "c")},
		{"many stars", stars("**/", "*ab", "/**/x*"), stars("**/", "*ba", "/**/y*")},
		{"many stars and long", stars("**/", "*aaaaaa", "b?"), stars("**/", "*aaaaaa", "c?")},
		{"many segments", fill("**/", "a/", "b?"), fill("**/", "a/", "c?")},
		{"deep segments", strings.Repeat("**/a/", 31) + "b?", strings.Repeat("**/a/", 31) + "c?"},
		{"many sets of states", "**/*[ab]" + strings.Repeat("?", 20), "**/*[ba]" + strings.Repeat("?", 20)},
		{"many classes", strings.Repeat("[!-ab-z]*", 16) + "x", strings.Repeat("[!-bc-z]*", 16) + "y"},
		{"classes of all languages", strings.Repeat("[!-ꭰ]", 31) + "x?", strings.Repeat("[!-ꭱ]", 31) + "y?"},
	} {
		for _, fold := range []bool{false, true} {
			b.Run(c.name+map[bool]string{true: " folded"}[fold], func(b *testing.B) {
				p, err := Parse(c.a)
				if err != nil {
					b.Fatalf("%q: %v", c.a, err)
				}
				q := parsed(b, c.b)
				for b.Loop() {
					p.Overlap(q, fold)
				}
			})
		}
	}
}
