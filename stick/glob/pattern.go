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

// onlyChar returns the only character of s, and false if s has several.
func (s charset) onlyChar() (rune, bool) {
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

	in := s.hasListed(r)
	if fold {
		for f := unicode.SimpleFold(r); !in && f != r; f = unicode.SimpleFold(f) {
			in = s.hasListed(f)
		}
	}

	return in != s.not
}

func (s charset) hasListed(r rune) bool {
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
		return "", badPattern("the pattern is %d bytes long in normal form; the limit is %d", n, MaxBytes)
	}

	if n := c.countWildcards(); n > maxWildcards {
		return "", badPattern("the pattern has %d wildcards; at most %d are allowed", n, maxWildcards).
			withAdvice("reserve the directory instead", "src")
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
		name, ok := s.onlyName()
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
			if !q.isWildcard() {
				c.segments[i].pieces[j].text = FoldCase(q.text)
			}
		}
	}

	return c.String()
}

// onlyName returns the only name that g matches, and false if g has a wildcard.
func (g segment) onlyName() (string, bool) {
	if g.deep {
		return "", false
	}

	var b strings.Builder
	for _, p := range g.pieces {
		r, ok := p.set.onlyChar()
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

		if _, ok := c.segments[n-1].onlyName(); !ok {
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
		if strings.ContainsAny(p.text, "*?[{") && utf8.RuneCountInString(p.text) == 1 && !p.isWildcard() {
			b.WriteString("[" + p.text + "]")
		} else {
			b.WriteString(p.text)
		}
	}

	return b.String()
}

// isWildcard reports whether p is a wildcard.
func (p piece) isWildcard() bool {
	_, one := p.set.onlyChar()
	return !one
}

// countWildcards counts the wildcards of the normal form.
func (c scope) countWildcards() int {
	n := strings.Count("/"+c.String()+"/", "/"+anything+"/")
	for _, g := range c.segments {
		for _, p := range g.pieces {
			if p.isWildcard() {
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

func (e *Error) withAdvice(advice string, example Pattern) *Error {
	e.Advice, e.Example = advice, example
	return e
}
