package glob

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseScope parses a pattern in any spelling.
func parseScope(s string) (scope, error) {
	if err := checkPattern(s); err != nil {
		return scope{}, err
	}

	var c scope
	for raw := range strings.SplitSeq(s, "/") {
		c.below = raw == "" || raw == "."
		if c.below {
			continue
		}

		if raw == anything {
			if n := len(c.segments); n == 0 || !c.segments[n-1].deep {
				c.segments = append(c.segments, segment{deep: true})
			}
			continue
		}

		pieces, err := parsePieces(raw)
		if err != nil {
			return scope{}, err
		}

		g := segment{pieces: pieces}
		if err := g.checkSegment(len(c.segments) == 0); err != nil {
			return scope{}, err
		}

		c.segments = append(c.segments, g)
	}

	if n := len(c.segments); n > 0 {
		if c.segments[n-1].deep {
			c.segments, c.below = c.segments[:n-1], true
		} else if _, ok := c.segments[n-1].onlyName(); ok {
			c.below = true
		}
	}

	return c, nil
}

// checkPattern refuses a text that can't be a pattern, before its segments are parsed.
func checkPattern(s string) error {
	switch {
	case s == "":
		return badPattern("the pattern is empty").withAdvice("name what you want to change", "src/lib")
	case len(s) > MaxBytes:
		return badPattern("the pattern is %d bytes long; the limit is %d", len(s), MaxBytes)
	case !utf8.ValidString(s):
		return badPattern("the pattern holds bytes that aren't UTF-8 text")
	case strings.ContainsFunc(s, unicode.IsControl):
		return badPattern("the pattern holds control characters")
	case strings.Contains(s, `\`):
		return badPattern(`the pattern holds a \`).
			withAdvice("write / between directories, and a character that isn't meant as a wildcard as a class of its own", "app/[[]id]")
	case s[0] == '/':
		return badPattern("the pattern is an absolute path").withAdvice(fromRoot, "src/lib")
	}
	return nil
}

// fromRoot is the advice for a path that isn't relative to the root.
const fromRoot = "write it relative to the root of the workspace"

// checkSegment refuses a segment that no path can have. It ignores upper and lower case, because the same pattern may
// be used with fold.
func (g segment) checkSegment(first bool) error {
	name, ok := g.onlyName()
	switch {
	case !ok:
	case name == "..":
		return badPattern("the pattern is outside the workspace").withAdvice(fromRoot, "src/lib")
	case name == ".":
		return badPattern("no path has a . as a segment").withAdvice(fromRoot, "src/lib")
	case first && len(name) == 2 && name[1] == ':' && unicode.IsLetter(rune(name[0])):
		return badPattern("the pattern is an absolute path").withAdvice(fromRoot, "src/lib")
	case strings.EqualFold(name, ".git"):
		return badPattern("the pattern leads into .git, which is outside of all scopes")
	case first && strings.EqualFold(name, "worktrees"):
		return badPattern("the pattern leads into worktrees/, which is outside of all scopes").
			withAdvice("write the path as it is inside of the worktree", "src/lib")
	}
	return nil
}

// parsePieces parses a segment.
func parsePieces(s string) ([]piece, error) {
	var out []piece
	braces := 0            // how many characters of {,} were there, in this order
	ones, star := 0, false // the ? and * since the last piece
	flush := func() {
		for range ones {
			out = append(out, piece{set: anyChar, text: "?"})
		}

		if star {
			out = append(out, piece{star: true, text: "*"})
		}

		ones, star = 0, false
	}

	for s != "" {
		var p piece
		switch r, n := utf8.DecodeRuneInString(s); r {
		case '*':
			star, s = true, s[1:]
			continue
		case '?':
			ones, s = ones+1, s[1:]
			continue
		case '[':
			set, rest, err := parseClass(s)
			if err != nil {
				return nil, err
			}

			p.set, p.text, s = set, s[:len(s)-len(rest)], rest
			if set.not {
				p.text = "[!" + p.text[2:]
			}

			if r, ok := set.onlyChar(); ok {
				p.text = string(r)
			}
		default:
			if r == rune("{,}"[braces]) {
				braces++
			}

			if braces == len("{,}") {
				return nil, badPattern("braces don't list alternatives in a pattern").
					withAdvice("reserve each of them; a brace that is meant as such is written [{]", "")
			}

			p.set, p.text, s = charset{listed: []span{{r, r}}}, s[:n], s[n:]
		}
		flush()
		out = append(out, p)
	}

	if len(out) == 0 && ones == 1 && star {
		ones = 0 // no segment is empty, so ?* means the same
	}

	flush()
	return out, nil
}

// parseClass parses the class at the start of s, and returns the rest of s. As in other glob languages, a ] that
// comes first stands for itself, and so does a - that comes first or last.
func parseClass(s string) (set charset, rest string, err error) {
	rest = s[1:]
	if rest != "" && (rest[0] == '!' || rest[0] == '^') {
		set.not, rest = true, rest[1:]
	}

	next := func() rune {
		r, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
		return r
	}

	for rest != "" {
		if rest[0] == ']' && len(set.listed) > 0 {
			return set, rest[1:], nil
		}

		p := span{lo: next()}
		p.hi = p.lo
		if len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			rest = rest[1:]
			p.hi = next()
		}

		if p.hi < p.lo {
			return set, "", badPattern("the class has the range %q to %q, which is empty", p.lo, p.hi).
				withAdvice("write the lower character first", "")
		}

		set.listed = append(set.listed, p)
	}

	return set, "", badPattern("the [ has no ] before the next / or the end").withAdvice("to match a [ itself, write [[]", "")
}
