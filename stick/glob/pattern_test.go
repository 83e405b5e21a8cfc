package glob

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]Pattern{
		"src":            "src",
		"src/":           "src",
		"./src":          "src",
		"src//lib/./x/.": "src/lib/x",
		".//./src/":      "src",
		"src/**":         "src",
		"src/**/":        "src",
		"src/**/**":      "src",
		".":              "**",
		"./":             "**",
		"**":             "**",
		"**/**/":         "**",
		"src/*":          "src/*",
		"src/*/":         "src/*/**",
		"src/*/**":       "src/*/**",
		"**/**/x":        "**/x",
		"**/*":           "**/*",
		"a**b":           "a*b",
		"***":            "*",
		"a/***":          "a/*",
		"*?*?a":          "??*a",
		"?*":             "*",
		"a?*":            "a?*",
		"[^a-c]x":        "[!a-c]x",
		"[a]b[c-c]":      "abc",
		"[aa]":           "a",
		"[*][?][[]":      "[*][?][[]",
		"a]b":            "a]b",
		"[]]":            "]",
		"[]a]":           "[]a]",
		"[!]a]":          "[!]a]",
		"[-a]":           "[-a]",
		"[a-]":           "[a-]",
		"[+--]":          "[+--]",
		"{x}":            "[{]x}",
		"a{b":            "a[{]b",
		"{[,]}":          "[{],}",
		"...":            "...",
		".gitignore":     ".gitignore",
		".git*":          ".git*",
		"src/worktrees":  "src/worktrees",
		"worktrees.md":   "worktrees.md",
		"**/worktrees":   "**/worktrees",
		"größe/日本":       "größe/日本",
		"with blank":     "with blank",
	} {
		p, err := Parse(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		}
		equal(t, in, p, want)
	}

	for _, in := range []string{
		"", "/src", "/", "//src", "..", "../src", "src/../..", "src/..", "[.][.]/x", "[.]", "C:/src", "c:", "C[:]/x",
		`src\lib`, `[\]`, "a\x00b", "a\nb", "a\u0085b", "a\x7f", "a\xff", "[", "[]", "[!]", "[a/b]", "src/[a", "[b-a]",
		".git", "./.git/config", "src/.git", ".GIT/x", "[.]git", "worktrees", "worktrees/", "./worktrees/x",
		"Worktrees", "worktree[s]/**",
		"*.{ts,tsx}", "{a[b],c}", strings.Repeat("x", 257), strings.Repeat("x", 253) + "*/",
		strings.Repeat("a*", 33), strings.Repeat("*/", 32),
		strings.Repeat("{", 90),
	} {
		p, err := Parse(in)
		refused(t, err)
		equal(t, in, p, "")
	}

	for _, in := range []string{
		strings.Repeat("x", 256),
		strings.Repeat("a*", 32),
		strings.Repeat("*/", 31),
		strings.Repeat("*", 256),
		strings.Repeat("./", 127) + "x",
	} {
		if _, err := Parse(in); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern       string
		match, differ string // paths, with a blank between
	}{
		{"src", "src src/a src/a/b", "sr srcs a/src lib SRC"},
		{"src/*", "src/a src/.a", "src src/a/b"},
		{"src/*/", "src/a src/a/b src/a/b/c", "src"},
		{"src/**", "src src/a src/a/b", "srcs"},
		{"src/**/*", "src/a src/a/b", "src"},
		{"src/**/x", "src/x src/a/x src/a/b/x src/x/y", "src src/ax src/a"},
		{"**/x", "x a/x a/b/x x/y", "ax a/bx"},
		{"**", "a a/b .x", ""},
		{"*.go", "a.go .go", "a/b.go a.go/b a.gox"},
		{"a*b*c", "abc axbxc abbcc", "ab acb abcd"},
		{"a**b", "ab axb", "a/b a/x/b"},
		{"?", "a 日 \xff", "ab a/b"},
		{"[a-c]x", "ax cx", "dx x ax/y"},
		{"[!a-c]x", "dx .x", "ax /x"},
		{"[+-9]", "+ 0 9", "/ :"},
		{"a[+-9]b", "a+b", "a/b"},
		{"[!x]*", "a", "xa"},
		{"[?][*]", "?*", "a* ab"},
		{"[[]id]", "[id] [id]/x", "i d"},
		{"*", "a .gitx worktree", ".git worktrees"},
		{"**", "x/worktrees/y", ".git/config x/.git/y worktrees/x . .. a/../b a/./b a// /a a/ a//b"},
		{".g*", ".gi .gitx", ".git .git/x"},
		{"w*/x", "w/x worktree/x worktreesx/x", "worktrees/x"},
	} {
		p, err := Parse(c.pattern)
		if err != nil {
			t.Fatalf("%q: %v", c.pattern, err)
		}
		for _, path := range strings.Fields(c.match) {
			equal(t, c.pattern+" at "+path, p.Match(path, false), true)
		}
		for _, path := range append(strings.Fields(c.differ), "") {
			equal(t, c.pattern+" at "+path, p.Match(path, false), false)
		}
	}

	equal(t, "what wasn't parsed", Pattern("../x").Match("../x", false), false)
	long := Pattern(strings.Repeat("a*", 32) + "b")
	equal(t, "many stars", long.Match(strings.Repeat("a", 4096), false), false)
}

func TestFoldsCase(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"src", "SRC/x", true},
		{"SRC/*.Go", "src/A.gO", true},
		{"größe", "GRÖẞE", true},
		{"größe", "GRÖSSE", false}, // simple folding: one character for one
		{"σ", "ς", true},
		{"k", "\u212A", true}, // the Kelvin sign
		{"[a-z]x", "Kx", true},
		{"[!a-z]x", "Kx", false},
		{"[!a-z]x", "0X", true},
		{"**", ".Git/x", false},
		{"**", "WorkTrees/x", false},
		{"**", "wor\u212Atrees/x", false},
	} {
		p, err := Parse(c.pattern)
		if err != nil {
			t.Fatalf("%q: %v", c.pattern, err)
		}
		equal(t, c.pattern+" at "+c.path, p.Match(c.path, true), c.want)

		if c.want {
			equal(t, c.pattern+" at "+c.path+", without folding", p.Match(c.path, false), false)
		}
	}

	equal(t, "folded", FoldCase("ÄÖ/KſΣ\u212A-x"), FoldCase("äö/ksς\u006b-X"))
	equal(t, "ASCII", FoldCase("SRC/Lib_1"), "src/lib_1")
	equal(t, "key", Pattern("SRC/[A-c]?.Go").Key(true), "src/[A-c]?.go")
	equal(t, "key without folding", Pattern("SRC/*").Key(false), "SRC/*")
}

func TestPrefix(t *testing.T) {
	for in, want := range map[string]string{
		"src": "src", "src/lib/*.go": "src/lib", "src/*/x": "src", "*": "", "**": "", "**/x": "", "s*/x": "",
		"[*]/a/?": "*/a",
	} {
		equal(t, in, Pattern(in).Prefix(false), want)
		equal(t, in, Pattern(in).LiteralFirst(), want != "")
	}

	equal(t, "folded", Pattern("SRC/Ä/*").Prefix(true), FoldCase("src/ä"))
	equal(t, "what wasn't parsed", Pattern("/src").Prefix(true), "")
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"app/[id]/page.tsx": "app/[[]id]/page.tsx", "a*?": "a[*][?]", "{a,b}": "[{]a,b}", "plain/x": "plain/x",
	} {
		equal(t, in, Quote(in), want)
	}

	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[a-c*?!^{},\[\].-]{1,4}(/[a-c*?!^{},\[\].-]{1,4}){0,3}`).Draw(t, "path")
		if !Matchable(path, true) {
			return
		}

		p, err := Parse(Quote(path))
		if err != nil {
			t.Fatalf("%q is refused: %v", path, err)
		}
		if string(p) != Quote(path) ||
			p.Prefix(false) != path ||
			!p.Match(path, false) ||
			!p.Match(path+"/x", false) ||
			p.Match(path+"x", false) {
			t.Fatalf("%q isn't %q", p, path)
		}
	})
}

func TestAlphabetHasEveryCharacter(t *testing.T) {
	var sets []charset
	for _, class := range []string{"[a]", "[a-m]", "[!A-Zß]", "[Ā-ɏ]", "[Ꭰ-ꭰ]", "[!k]", "[ς-ω]", "[!-.0-~]"} {
		set, _, err := parseClass(class)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}

	for _, fold := range []bool{false, true} {
		kind := func(r rune) (s string) {
			for _, set := range sets {
				s += map[bool]string{true: "1", false: "0"}[set.has(r, fold)]
			}
			return s + string(rune('a'+borderLetter(r, fold)))
		}

		a := newAlphabet(sets, fold)
		kinds := map[string]bool{}
		for i, s := range a.symbols {
			k := kind(s.example)
			if kinds[k] {
				t.Errorf("two symbols are like %q", s.example)
			}

			kinds[k] = true
			for j, set := range sets {
				equal(t, k, a.has[j][i/64]>>(i%64)&1 != 0, set.has(s.example, fold))
			}
		}

		for r, step := rune(1), rune(1); r <= unicode.MaxRune; r += step {
			if r > 0x3000 {
				step = 31
			}
			if r != '/' && utf8.ValidRune(r) && !kinds[kind(r)] {
				t.Fatalf("no symbol is like %q", r)
			}
		}
	}
}

// TestAlphabetOfManySets: sets and symbols are kept in words of 64 bits, and there are as many as one word has, or
// one more.
func TestAlphabetOfManySets(t *testing.T) {
	var sets []charset
	for r := rune(0x4e00); len(sets) < 70; r++ {
		sets = append(sets, charset{listed: []span{{r, r}}})

		a := newAlphabet(sets, false)
		if len(a.symbols) < len(sets) {
			t.Fatalf("%d symbols of %d sets", len(a.symbols), len(sets))
		}

		for i, s := range a.symbols {
			for j, set := range sets {
				if got := a.has[j][i/64]>>(i%64)&1 != 0; got != set.has(s.example, false) {
					t.Fatalf("set %d of %d has %q: %v", j, len(sets), s.example, got)
				}
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"src/**/*.go", "[!a-c]x/?", "a**b/./c//", "{a,b}", "[[]id]", "*?*", "[+-9]", "]", "[]-a]", "[?]",
		"ß/K[k-ſ]", "**/.g*/w*",
	} {
		f.Add(s, "src/a/b.go")
		f.Add(s, strings.ToUpper(s))
	}

	f.Fuzz(func(t *testing.T, raw, path string) {
		p, err := Parse(raw)
		if err != nil {
			refused(t, err)
			return
		}
		if again, err := Parse(string(p)); err != nil || again != p {
			t.Fatalf("%q is %q and then %q (%v)", raw, p, again, err)
		}

		for _, fold := range []bool{false, true} {
			o := newOracle(t, raw, fold)
			for _, path := range []string{path, raw, p.Prefix(false), p.Prefix(false) + "/" + path} {
				if got, want := p.Match(path, fold), o.match(path); got != want {
					t.Fatalf("%q (%q) at %q, fold %v: %v, want %v", raw, p, path, fold, got, want)
				}
			}

			kind, witness := p.Overlap(p, fold)
			if kind != Exact && !(fold && kind == None) || kind == Exact && !o.match(witness) {
				t.Fatalf("%q and itself: %s, %q", p, kind, witness)
			}

			key, err := Parse(p.Key(fold))
			if err == nil && key.Key(fold) != p.Key(fold) {
				t.Fatalf("the key of %q is %q, whose key is %q", p, p.Key(fold), key.Key(fold))
			}
		}
	})
}

// refused fails unless err is an [*Error] that says something.
func refused(t *testing.T, err error) {
	t.Helper()
	if e, ok := errors.AsType[*Error](err); !ok || e.Message == "" {
		t.Errorf("%v (%T) doesn't say why it is no pattern", err, err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
