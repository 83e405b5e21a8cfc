package glob

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern matches paths. Every Pattern comes from [Parse] and is in normal form; any other text matches
// nothing.
//
// A path is relative to a root, clean, and has / between its segments. In a segment of a pattern, * stands for
// any number of characters, ? for one, [a-z] for one of a class, and [!a-z] for one outside of it. None of them
// stands for a /. A segment ** stands for any number of segments, even none. Two stars inside a longer segment,
// as in a**b, are one star.
//
// A pattern whose last segment has no wildcard names a file or a directory. It matches that, and everything
// below it. So does a pattern that ends in / or /**: src, src/ and src/** are the same pattern. A pattern that
// ends in a wildcard matches nothing below: src/* matches what lies in src directly, and src/*/ that with
// everything below it.
//
// No pattern matches the directory worktrees at the root, anything named .git, or anything below these.
type Pattern string

// Limits of a pattern, both as it was written and in normal form. They keep [Pattern.Overlap] fast.
const (
	MaxBytes     = 256
	maxWildcards = 32 // each *, ?, ** and class is one
)

// anything is the segment that stands for any number of segments.
const anything = "**"

// A scope is a pattern in its parts.
type scope struct {
	segments []segment
	below    bool // the pattern also matches everything below what the segments match
}

// A segment is either deep, that is **, or consists of pieces.
type segment struct {
	deep   bool
	pieces []piece
}

// A piece stands for one character or, if it is a star, for any number of them.
type piece struct {
	star bool
	set  charset // of the one character; empty for a star
	text string  // in normal form, except that a character which needs brackets stands without them
}

// A charset is a class of characters: those that are listed, or all others. No charset has a /.
type charset struct {
	not    bool
	listed []span
}

// A span holds its bounds.
type span struct{ lo, hi rune }

// anyChar is what ? stands for.
var anyChar = charset{not: true}

// char returns the only character of s, and false if s has several.
func (s charset) char() (rune, bool) {
	if s.not || len(s.listed) == 0 {
		return 0, false
	}
	for _, p := range s.listed {
		if p.lo != s.listed[0].lo || p.hi != p.lo {
			return 0, false
		}
	}
	return s.listed[0].lo, true
}

// has reports whether r is in s. With fold, r is listed if any other case of it is.
func (s charset) has(r rune, fold bool) bool {
	if r == '/' {
		return false
	}
	in := s.lists(r)
	if fold {
		for f := unicode.SimpleFold(r); !in && f != r; f = unicode.SimpleFold(f) {
			in = s.lists(f)
		}
	}
	return in != s.not
}

func (s charset) lists(r rune) bool {
	return slices.ContainsFunc(s.listed, func(p span) bool { return p.lo <= r && r <= p.hi })
}

// Parse turns a text into a pattern in normal form. It removes empty segments, segments that are a dot, and other
// differences of spelling, so that one finds in one spelling what was reserved in another. The root itself,
// written as a dot, becomes **. Parse fails with an [*Error].
func Parse(s string) (Pattern, error) {
	c, err := parseScope(s)
	if err != nil {
		return "", err
	}
	p := c.String()
	if n := len(p); n > MaxBytes {
		return "", badPattern("the pattern has %d bytes in normal form; at most %d fit", n, MaxBytes)
	}
	if n := c.wildcards(); n > maxWildcards {
		return "", badPattern("the pattern has %d wildcards; at most %d are allowed", n, maxWildcards).
			advise("reserve the directory instead", "src")
	}
	return Pattern(p), nil
}

// Quote writes a path as a pattern in which no character is a wildcard, for a file that is named [id].ts, say.
// The pattern matches the path, and everything below it.
func Quote(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune("*?[{", r) {
			b.WriteString("[" + string(r) + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// FoldCase replaces every character of s by the one that stands for all its cases, by Unicode's simple folding.
// Paths with the same result are one path on a file system that folds case.
func FoldCase(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		if 'A' <= least && least <= 'Z' {
			least += 'a' - 'A'
		}
		return least
	}, s)
}

// Prefix returns the segments of p before the first one with a wildcard, as a path: src/lib for src/lib/*.go,
// and "" if the first segment has one. Everything that p matches is this path or lies below it. So two patterns
// can overlap only if one's prefix is the other's or lies below it. With fold, the prefix is folded by
// [FoldCase].
func (p Pattern) Prefix(fold bool) string {
	c, err := parseScope(string(p))
	if err != nil {
		return ""
	}
	var names []string
	for _, s := range c.segments {
		name, ok := s.name()
		if !ok {
			break
		}
		names = append(names, name)
	}
	prefix := strings.Join(names, "/")
	if fold {
		prefix = FoldCase(prefix)
	}
	return prefix
}

// LiteralFirst reports whether the first segment of p has no wildcard. If it has one, p could match anywhere
// below the root.
func (p Pattern) LiteralFirst() bool { return p.Prefix(false) != "" }

// Key returns p or, with fold, p with all characters folded except for those in classes. Patterns with the same
// key match the same paths.
func (p Pattern) Key(fold bool) string {
	c, err := parseScope(string(p))
	if err != nil || !fold {
		return string(p)
	}
	for i := range c.segments {
		for j, q := range c.segments[i].pieces {
			if !q.wild() {
				c.segments[i].pieces[j].text = FoldCase(q.text)
			}
		}
	}
	return c.String()
}

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
		if err := g.check(len(c.segments) == 0); err != nil {
			return scope{}, err
		}
		c.segments = append(c.segments, g)
	}
	if n := len(c.segments); n > 0 {
		if c.segments[n-1].deep {
			c.segments, c.below = c.segments[:n-1], true
		} else if _, ok := c.segments[n-1].name(); ok {
			c.below = true
		}
	}
	return c, nil
}

// checkPattern refuses a text that can't be a pattern, before its segments are parsed.
func checkPattern(s string) error {
	switch {
	case s == "":
		return badPattern("the pattern is empty").advise("name what you want to change", "src/lib")
	case len(s) > MaxBytes:
		return badPattern("the pattern has %d bytes; at most %d fit", len(s), MaxBytes)
	case !utf8.ValidString(s):
		return badPattern("the pattern holds bytes that aren't UTF-8 text")
	case strings.ContainsFunc(s, unicode.IsControl):
		return badPattern("the pattern holds control characters")
	case strings.Contains(s, `\`):
		return badPattern(`the pattern holds a \`).
			advise("write / between directories, and a character that isn't meant as a wildcard as a class of its own", "app/[[]id]")
	case s[0] == '/':
		return badPattern("the pattern is an absolute path").advise(fromRoot, "src/lib")
	}
	return nil
}

// fromRoot is the advice for a path that isn't relative to the root.
const fromRoot = "write it as seen from the root of the workspace"

// check refuses a segment that no path can have. It ignores upper and lower case, because the same pattern may
// be used with fold.
func (g segment) check(first bool) error {
	name, ok := g.name()
	switch {
	case !ok:
	case name == "..":
		return badPattern("the pattern leads out of the workspace").advise(fromRoot, "src/lib")
	case name == ".":
		return badPattern("no path has a . as a segment").advise(fromRoot, "src/lib")
	case first && len(name) == 2 && name[1] == ':' && unicode.IsLetter(rune(name[0])):
		return badPattern("the pattern is an absolute path").advise(fromRoot, "src/lib")
	case strings.EqualFold(name, ".git"):
		return badPattern("the pattern leads into .git, which is outside of all scopes")
	case first && strings.EqualFold(name, "worktrees"):
		return badPattern("the pattern leads into worktrees/, which is outside of all scopes").
			advise("write the path as it is inside of the worktree", "src/lib")
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
			if r, ok := set.char(); ok {
				p.text = string(r)
			}
		default:
			if r == rune("{,}"[braces]) {
				braces++
			}
			if braces == len("{,}") {
				return nil, badPattern("braces don't list alternatives in a pattern").
					advise("reserve each of them; a brace that is meant as such is written [{]", "")
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
				advise("write the lower character first", "")
		}
		set.listed = append(set.listed, p)
	}
	return set, "", badPattern("the [ isn't closed before the next / or the end").advise("a [ that stands for itself is written [[]", "")
}

// name returns the only name that g matches, and false if g has a wildcard.
func (g segment) name() (string, bool) {
	if g.deep {
		return "", false
	}
	var b strings.Builder
	for _, p := range g.pieces {
		r, ok := p.set.char()
		if !ok {
			return "", false
		}
		b.WriteRune(r)
	}
	return b.String(), true
}

// String writes c in normal form.
func (c scope) String() string {
	var parts []string
	for _, g := range c.segments {
		parts = append(parts, g.String())
	}
	if n := len(c.segments); c.below {
		if n == 0 {
			return anything
		}
		if _, ok := c.segments[n-1].name(); !ok {
			parts = append(parts, anything)
		}
	}
	return strings.Join(parts, "/")
}

func (g segment) String() string {
	if g.deep {
		return anything
	}
	var b strings.Builder
	for _, p := range g.pieces {
		if strings.ContainsAny(p.text, "*?[{") && utf8.RuneCountInString(p.text) == 1 && !p.wild() {
			b.WriteString("[" + p.text + "]")
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// wild reports whether p is a wildcard.
func (p piece) wild() bool {
	_, one := p.set.char()
	return !one
}

// wildcards counts the wildcards of the normal form.
func (c scope) wildcards() int {
	n := strings.Count("/"+c.String()+"/", "/"+anything+"/")
	for _, g := range c.segments {
		for _, p := range g.pieces {
			if p.wild() {
				n++
			}
		}
	}
	return n
}

// Error says why a text isn't a pattern.
type Error struct {
	Message string
	Advice  string  // what to write instead, if anything
	Example Pattern // a pattern that follows the advice, if one helps
}

func (e *Error) Error() string { return e.Message }

func badPattern(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

func (e *Error) advise(advice string, example Pattern) *Error {
	e.Advice, e.Example = advice, example
	return e
}
