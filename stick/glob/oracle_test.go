package glob

import (
	"fmt"
	"regexp"
	"strings"

	"pgregory.net/rapid"
)

// An oracle decides what a pattern matches. It follows the documentation of [Pattern] and shares no code with the
// package: segments become regular expressions, and ** is tried at every length.
type oracle struct {
	fold  bool
	below bool
	parts []*regexp.Regexp // nil for **
}

// newOracle reads a pattern that [Parse] accepts.
func newOracle(t rapid.TB, raw string, fold bool) oracle {
	t.Helper()
	o := oracle{fold: fold}
	for s := range strings.SplitSeq(raw, "/") {
		o.below = true
		switch s {
		case "", ".":
		case "**":
			o.parts = append(o.parts, nil)

		default:
			expr, flags := oracleName(s), ""
			if fold {
				flags = "(?i)"
			}
			re, err := regexp.Compile(flags + `\A` + expr + `\z`)
			if err != nil {
				t.Fatalf("%q: %v", raw, err)
			}
			o.parts = append(o.parts, re)
			_, o.below = regexp.MustCompile(expr).LiteralPrefix()
		}
	}

	return o
}

// oracleName writes a segment as a regular expression.
func oracleName(s string) string {
	var b strings.Builder
	r := []rune(s)
	for i := 0; i < len(r); i++ {
		switch r[i] {
		case '*':
			b.WriteString("[^/]*")
		case '?':
			b.WriteString("[^/]")

		case '[':
			end := i + 1
			if r[end] == '!' || r[end] == '^' {
				end++
			}

			for end++; r[end] != ']'; end++ {
				if r[end] == '-' && r[end+1] != ']' {
					end++
				}
			}

			b.WriteString(oracleClass(r[i+1 : end]))
			i = end

		default:
			fmt.Fprintf(&b, `\x{%x}`, r[i])
		}
	}

	return b.String()
}

// oracleClass writes what stands between brackets as a class of a regular expression.
func oracleClass(r []rune) string {
	not := r[0] == '!' || r[0] == '^'
	if not {
		r = r[1:]
	}
	out := "["
	add := func(lo, hi rune) {
		if lo <= hi {
			out += fmt.Sprintf(`\x{%x}-\x{%x}`, lo, hi)
		}
	}

	for len(r) > 0 {
		lo, hi := r[0], r[0]
		if len(r) > 2 && r[1] == '-' {
			hi, r = r[2], r[2:]
		}
		r = r[1:]

		if lo <= '/' && '/' <= hi {
			add(lo, '/'-1)
			lo = '/' + 1
		}
		add(lo, hi)
	}

	if not {
		return strings.Replace(out, "[", "[^/", 1) + "]"
	}
	return out + "]"
}

func (o oracle) match(path string) bool {
	names := strings.Split(path, "/")
	for i, n := range names {
		same := func(s string) bool { return n == s || o.fold && strings.EqualFold(n, s) }
		if n == "" || n == "." || n == ".." || same(".git") || i == 0 && same("worktrees") {
			return false
		}
	}

	return o.matchNames(names)
}

// matchNames is match for the segments of a path that no border keeps out.
func (o oracle) matchNames(names []string) bool {
	failed := make([]bool, (len(o.parts)+1)*(len(names)+1))
	var try func(i, j int) bool
	try = func(i, j int) bool {
		at := i*(len(names)+1) + j
		ok := false
		switch {
		case failed[at]:
		case i == len(o.parts):
			ok = j == len(names) || o.below
		case o.parts[i] == nil:
			ok = try(i+1, j) || j < len(names) && try(i, j+1)
		default:
			ok = j < len(names) && o.parts[i].MatchString(names[j]) && try(i+1, j+1)
		}

		failed[at] = !ok
		return ok
	}

	return try(0, 0)
}
