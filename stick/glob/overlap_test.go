package glob

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var long = flag.Bool("glob.long", false, "compare a million pairs of patterns with enumeration")

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		want    Overlap
		witness string
	}{
		{"src/lib", "src/lib", Exact, "src/lib"},
		{"src/lib", "./src//lib/", Exact, "src/lib"},
		{"src", "src/**", Exact, "src"},
		{"src/lib", "src/lib/*", Partial, "src/lib/a"},
		{"src", "src/lib", Partial, "src/lib"},
		{"src/lib", "src/lib2", None, ""},
		{"src/**", "src/*.ts", Partial, "src/a.ts"},
		{"src/lib", "src/*.ts", None, ""},
		{"src/lib.ts", "src/*.ts", Partial, "src/lib.ts"},
		{"src", "src/**/*", Partial, "src/a"}, // src itself is in one of them only
		{"src/*/**", "src/**/*", Exact, "src/a"},
		{"*/**", "**", Exact, "a"},
		{"a/*", "a/b", Partial, "a/b"},
		{"a/*", "b/*", None, ""},
		{"*/a", "b/*", Partial, "b/a"},
		{"*.go", "*.ts", None, ""},
		{"*.go", "a*", Partial, "a.go"},
		{"*a", "a*", Partial, "aa"},
		{"**/*_test.go", "stick", Partial, "stick/a_test.go"},
		{"[a-c]x", "[d-f]x", None, ""},
		{"[a-d]x", "[d-f]x", Partial, "dx"},
		{"[ab]/x", "[ba]/x", Exact, "a/x"},
		{"[ab]", "[!a]", Partial, "b"},
		{"a?", "a[!b]", Partial, "aa"},
		{"**", "x/y", Partial, "x/y"},
		{"**", "**/z*/a", Partial, "za/a"},
		{"**", "**", Exact, "a"},
		{"**/a", "**/b", Partial, "b/a"}, // what lies below a is meant by a pattern that names a
		{"**/?a", "**/?b", None, ""},
		{"**/?a/", "**/?b/", Partial, "ab/aa"},
		{"a**b", "a*b", Exact, "aab"},
		{"a*a", "a", None, ""},
		{"a*a", "aa", Partial, "aa"}, // a star must stand for nothing here
		{".?", "?.", None, ""},       // .. is no name
		{".g*", ".?it", None, ""},
		{".g*/x", "*/.?it", None, ""},
		{"wor*", "?orktrees", None, ""},
		{"wor*/x", "?orktrees?/x", Partial, "worktreesa/x"},
		{"a/wor*", "a/?orktrees", Partial, "a/worktrees"},
		{"[!a-z]", "[!A-Z]", Partial, "0"},
		{"SRC", "src", None, ""},
	} {
		p, q := parsed(t, c.a), parsed(t, c.b)
		kind, witness := p.Overlap(q, false)
		equal(t, c.a+" and "+c.b, kind, c.want)
		equal(t, c.a+" and "+c.b, witness, c.witness)
		kind, _ = q.Overlap(p, false)
		equal(t, c.b+" and "+c.a, kind, c.want)
	}

	kind, witness := Pattern("src").Overlap("/src", false)
	equal(t, "what wasn't parsed", kind, None)
	equal(t, "what wasn't parsed", witness, "")
}

func TestOverlapFoldsCase(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		want    Overlap
		witness string
	}{
		{"SRC", "src", Exact, "src"},
		{"SRC/*.TS", "src/lib*", Partial, "src/lib.ts"},
		{"GRÖẞE", "größe", Exact, "größe"},
		{"K", "\u212A", Exact, "k"},
		{"[a-z]x", "[A-Z]x", Exact, "ax"},
		{"[!a-z]x", "[!A-Z]x", Exact, "0x"},
		{"[!a-z]x", "Kx", None, ""},
		{"[Ā-ɏ]", "S", Partial, "s"}, // ſ is in the range
		{".[!a]it*", ".G*", Partial, ".gita"},
	} {
		p, q := parsed(t, c.a), parsed(t, c.b)
		kind, witness := p.Overlap(q, true)
		equal(t, c.a+" and "+c.b, kind, c.want)
		equal(t, c.a+" and "+c.b, witness, c.witness)
	}

	kind, _ := parsed(t, ".[gG][iI]t").Overlap("**", true)
	equal(t, "only names that are kept out", kind, None)
}

// TestVisit: a state of a meeting is visited once, whatever its number is and whichever states came before.
func TestVisit(t *testing.T) {
	const states = 300
	for name, number := range map[string]func(i int) int{
		"from the first state": func(i int) int { return i % states },
		"from the last state":  func(i int) int { return states - 1 - i%states },
	} {
		var steps []step
		seen := make([]uint64, states/64+1)
		for i := range 2 * states {
			steps = visitState(steps, seen, int32(number(i)), 0)
			equal(t, fmt.Sprintf("%s: the steps after %d visits", name, i+1), len(steps), min(i+1, states))
		}
	}
}

// TestOverlapBudget shows the one answer that isn't exact.
func TestOverlapBudget(t *testing.T) {
	p := parsed(t, "**/*[ab]"+strings.Repeat("?", 20))
	q := parsed(t, "**/*[ba]"+strings.Repeat("?", 20))
	kind, _ := p.Overlap(q, false)
	equal(t, "the same, but too hard to see", kind, Partial)
	kind, _ = p.Overlap(p, false)
	equal(t, "written alike", kind, Exact)
}

// TestOverlapEnumerated compares random pairs with all paths of up to 6 characters of a small
// alphabet, in which c stands for what no pattern names: there is an overlap if and only if some path
// is in both, and it is exact if and only if no path is in one of them only. The patterns are small
// enough for both to show in such paths, nearly always: a longer path that proves an overlap counts.
func TestOverlapEnumerated(t *testing.T) {
	pairs := 20_000
	if *long {
		pairs = 1_000_000
	}

	for _, c := range []struct {
		fold     bool
		alphabet string
		tokens   string
	}{
		{false, "abc./", "a b . * ? [ab] [!a] [!b.] [a-b.] / / ** /**/ a/ *."},
		{true, "aAbc/", "a b A * ? [ab] [!a] [!B] [A-B] / / ** /**/ A/ *b"},
	} {
		compareEnumerated(t, pairs/2, c.fold, c.alphabet, strings.Fields(c.tokens))
	}
}

func compareEnumerated(t *testing.T, pairs int, fold bool, alphabet string, tokens []string) {
	var paths [][]string
	var grow func(path string)
	grow = func(path string) {
		for _, r := range alphabet {
			path := path + string(r)
			if strings.HasPrefix(path, "/") || strings.Contains(path, "//") {
				continue
			}

			if (oracle{below: true}).match(path) {
				paths = append(paths, strings.Split(path, "/"))
			}
			if len(path) < 6 {
				grow(path)
			}
		}
	}

	grow("")
	slices.SortStableFunc(paths, func(a, b []string) int {
		return len(strings.Join(a, "/")) - len(strings.Join(b, "/"))
	})
	type known struct {
		Pattern
		oracle
		means []uint64 // the paths that it means
	}

	random := rand.New(rand.NewPCG(1, 2))
	pool := make([]known, 0, min(pairs/100, 1500))
	for len(pool) < cap(pool) {
		raw := ""
		for range 1 + random.IntN(5) {
			raw += tokens[random.IntN(len(tokens))]
		}
		p, err := Parse(raw)
		if err != nil {
			continue
		}

		k := known{p, newOracle(t, raw, fold), make([]uint64, len(paths)/64+1)}
		short := false
		for i, names := range paths {
			if k.matchNames(names) {
				k.means[i/64] |= 1 << (i % 64)
				short = short || len(strings.Join(names, "/")) <= 3
			}
		}

		if short {
			pool = append(pool, k)
		}
	}

	count, longer := map[Overlap]int{}, 0
	for range pairs {
		p, q := &pool[random.IntN(len(pool))], &pool[random.IntN(len(pool))]
		kind, witness := p.Overlap(q.Pattern, fold)
		count[kind]++
		if kind != None && !(p.match(witness) && q.match(witness)) {
			t.Fatalf("%s and %s, fold %v: %q isn't in both", p.Pattern, q.Pattern, fold, witness)
		}

		want := None
		for w := range p.means {
			if p.means[w]&q.means[w] != 0 {
				want = Partial
			}
		}

		if slices.Equal(p.means, q.means) {
			want = Exact
		}

		if kind == Partial && want == None && len(witness) > 6 {
			longer++ // and yet proved, by the witness
			continue
		}

		if kind != want {
			t.Errorf("%s and %s, fold %v: %s (%q), want %s", p.Pattern, q.Pattern, fold, kind, witness, want)
		}
	}
	t.Logf("fold %v: %d pairs of %d patterns at %d paths: %v, %d of them at longer paths only",
		fold, pairs, len(pool), len(paths), count, longer)
}

func TestOverlapProperties(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(strings.Fields(
			"a b A . * ? [ab] [!a] [!b.] [a-b.] / / ** /**/ a/ *.",
		)), rapid.SampledFrom([]string{
			".git", ".g", "it", "worktrees", "wor", "k", "K", "\u212A", "trees", "[k-s]", "[!A-Z]", "ß", "ẞ",
			"[^ſ]", "/*/", "**/", "?[a-z]*",
		})), 1, 14).Draw(t, "tokens"), "")
	}).Filter(func(s string) bool { _, err := Parse(s); return err == nil })

	rapid.Check(t, func(t *rapid.T) {
		a, b, fold := text.Draw(t, "a"), text.Draw(t, "b"), rapid.Bool().Draw(t, "fold")
		p, _ := Parse(a)
		q, _ := Parse(b)
		kind, witness := p.Overlap(q, fold)
		if again, _ := q.Overlap(p, fold); again != kind {
			t.Fatalf("%s, and the other way round %s", kind, again)
		}

		if kind == None {
			if witness != "" {
				t.Fatalf("no overlap, and yet %q", witness)
			}
			return
		}

		for _, pattern := range []Pattern{p, q} {
			if !pattern.Match(witness, fold) || !newOracle(t, string(pattern), fold).match(witness) {
				t.Fatalf("%s doesn't mean %q", pattern, witness)
			}
		}

		x, y := p.Prefix(fold)+"/", q.Prefix(fold)+"/"
		if x != "/" && y != "/" && !strings.HasPrefix(x, y) && !strings.HasPrefix(y, x) {
			t.Fatalf("they overlap at %q, and the prefixes %q and %q don't", witness, x, y)
		}

		quoted, err := Parse(Quote(witness))
		if err != nil {
			t.Fatalf("%q can't be reserved: %v", witness, err)
		}
		if k, _ := quoted.Overlap(p, fold); k == None {
			t.Fatalf("%q as a pattern misses %s", witness, p)
		}
	})
}

func parsed(t testing.TB, s string) Pattern {
	t.Helper()
	p, err := Parse(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return p
}

// TestMeetsFoldsCase: whether a directory is another one, spelled in other letters, depends on the file system.
func TestMeetsFoldsCase(t *testing.T) {
	for _, c := range []struct {
		pattern, dir  string
		apart, folded bool // whether it matches where names differ by case, and where they don't
	}{
		{"src/lib/a.go", "src", true, true},
		{"src/lib/a.go", "SRC", false, true},
		{"SRC/lib/a.go", "src", false, true},
		{"src/*/a.go", "src/LIB", true, true},
		{"src/lib/*.go", "src/LIB", false, true},
		{"src/lib/*.go", "docs", false, false},
	} {
		p := parsed(t, c.pattern)
		equal(t, c.pattern+" below "+c.dir, p.Meets(c.dir, false), c.apart)
		equal(t, c.pattern+" below "+c.dir+", folded", p.Meets(c.dir, true), c.folded)
	}
}
