package glob

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// An automaton is a pattern as a machine: it reads a path character by character, is in several
// states at once, the first of them at the start, and matches if one of those at the end accepts. It may
// run through texts that aren't clean paths; those are kept out by [borders].
type automaton struct {
	sets    []charset // what labels stand for; that of a / isn't used
	edges   [][]edge  // from each state
	accepts []bool
}

// An edge leads to a state by any character of a set.
type edge struct{ label, to int }

// Labels that every automaton has.
const (
	labelSlash = iota // the character /
	labelName         // every other one
)

// automaton builds the automaton of c. With visible, a star stands for at least one character, so that
// what is found with it reads as an example: a.go for *.go.
func (c scope) automaton(visible bool) *automaton {
	b := builder{automaton: &automaton{sets: []charset{labelSlash: {}, labelName: anyChar}}, labels: map[string]int{}}
	at := b.state()
	for i, g := range c.segments {
		if g.deep {
			// The state from which segments are skipped isn't the one that goes on to the next
			// segment: that one is reached at the start of segments only.
			skip, next := b.state(), b.state()
			b.free(at, skip)
			b.free(at, next)
			b.any(skip, skip)
			b.edge(skip, labelSlash, next)
			at = next
			continue
		}
		for _, p := range g.pieces {
			if !p.star {
				at = b.to(at, b.label(p))
				continue
			}
			if visible {
				at = b.to(at, labelName)
			}
			b.edge(at, labelName, at)
			next := b.state()
			b.free(at, next)
			at = next
		}
		if i < len(c.segments)-1 {
			at = b.to(at, labelSlash)
		}
	}
	b.accepts[at] = true
	if c.below {
		if len(c.segments) > 0 {
			at = b.to(at, labelSlash)
			b.accepts[at] = true
		}
		b.any(at, at)
	}
	b.finish()
	return b.automaton
}

// A builder makes an automaton whose states may also be left for others without reading a character, and
// gets rid of that in the end.
type builder struct {
	*automaton
	frees  [][]int // where each state leads without a character
	labels map[string]int
}

func (b *builder) state() int {
	b.edges, b.accepts, b.frees = append(b.edges, nil), append(b.accepts, false), append(b.frees, nil)
	return len(b.edges) - 1
}

func (b *builder) free(from, to int) { b.frees[from] = append(b.frees[from], to) }

func (b *builder) edge(from, label, to int) {
	b.edges[from] = append(b.edges[from], edge{label, to})
}

// any leads from one state to another by every character.
func (b *builder) any(from, to int) {
	b.edge(from, labelName, to)
	b.edge(from, labelSlash, to)
}

// to makes a new state after from.
func (b *builder) to(from, label int) int {
	s := b.state()
	b.edge(from, label, s)
	return s
}

// label returns the one of p. Equal texts have one label.
func (b *builder) label(p piece) int {
	if p.set.not && len(p.set.listed) == 0 {
		return labelName
	}
	l, ok := b.labels[p.text]
	if !ok {
		l = len(b.sets)
		b.labels[p.text] = l
		b.sets = append(b.sets, p.set)
	}
	return l
}

// finish gives every state the edges of those to which it leads without a character, so that nobody
// has to go there, and lets it accept if one of them does.
func (b *builder) finish() {
	edges, accepts := make([][]edge, len(b.edges)), make([]bool, len(b.edges))
	var add func(from, s int)
	add = func(from, s int) {
		edges[from] = append(edges[from], b.edges[s]...)
		accepts[from] = accepts[from] || b.accepts[s]
		for _, next := range b.frees[s] {
			add(from, next)
		}
	}
	for s := range b.edges {
		add(s, s)
	}
	b.edges, b.accepts = edges, accepts
}

// Match reports whether p means the path, which is relative to the root and clean; one
// that isn't is meant by no pattern. With fold, letters that differ in case only are the same. It
// takes time in proportion to the product of the two lengths at most, whatever they are.
//
// A directory, and with it everything below, is asked for by [Pattern.Meets] and [Pattern.Covers].
func (p Pattern) Match(path string, fold bool) bool {
	c, err := parseScope(string(p))
	return err == nil && Matchable(path, fold) && c.automaton(false).match(path, fold)
}

// Matcher returns [Pattern.Match] for many paths, which need be asked for one pattern.
func (p Pattern) Matcher(fold bool) func(path string) bool {
	c, err := parseScope(string(p))
	if err != nil {
		return func(string) bool { return false }
	}
	prefix := p.Prefix(fold)
	literal := strings.Count(prefix, "/")+1 == len(c.segments) && prefix != "" && c.below
	var g *automaton
	return func(path string) bool {
		as := path
		if fold {
			as = FoldCase(path)
		}
		rest, ok := strings.CutPrefix(as, prefix)
		switch {
		case !ok || prefix != "" && rest != "" && rest[0] != '/' || !Matchable(path, fold):
			return false
		case literal:
			return true
		case g == nil:
			g = c.automaton(false)
		}
		return g.match(path, fold)
	}
}

func (g *automaton) match(path string, fold bool) bool {
	now, next := []int{0}, []int(nil)
	seen := make([]int, len(g.edges)) // the last position at which a state was reached, from 1
	for i, r := range path {
		next = next[:0]
		for _, s := range now {
			for _, e := range g.edges[s] {
				if seen[e.to] != i+1 && g.reads(e.label, r, fold) {
					seen[e.to] = i + 1
					next = append(next, e.to)
				}
			}
		}
		now, next = next, now
		if len(now) == 0 {
			return false
		}
	}
	return slices.ContainsFunc(now, func(s int) bool { return g.accepts[s] })
}

func (g *automaton) reads(label int, r rune, fold bool) bool {
	if label == labelSlash {
		return r == '/'
	}
	return g.sets[label].has(r, fold)
}

// A border is a state of the automaton of the paths that patterns are about: clean ones that lie
// neither in worktrees at the root nor in anything called .git.
type border struct {
	open bool                          // the path may end here, or go on with a /
	next [len(borderLetters) + 1]uint8 // by each letter, and by every other character but /
	ways []way                         // next, by where it leads; first to inName, so that examples are plain
}

// A way is what leads from a border to another: a set of indexes of letters.
type way struct {
	letters uint16
	to      uint8
}

// borderLetters are the characters of the names that are kept out.
const borderLetters = ".gitworkes"

// otherLetter is the index of characters that no such name has.
const otherLetter = len(borderLetters)

// Borders that are known by number.
const (
	inName    = iota // in a name that no longer can become one that is kept out
	nameStart        // after a /
)

// A borderland is the automaton: its states, and the one in which a path begins.
type borderland struct {
	at   []border
	root uint8
}

// borders is built when it is first needed: most commands never ask.
var borders = sync.OnceValue(newBorders)

// newBorders builds the automaton. After a root start as after any other, it goes along the names
// that are kept out as long as the path does.
func newBorders() borderland {
	var all []border
	state := func(open bool) uint8 {
		b := border{open: open}
		for i := range b.next {
			b.next[i] = inName
		}
		all = append(all, b)
		return uint8(len(all) - 1)
	}
	names := func(start uint8, words ...string) {
		for _, word := range words {
			at := start
			for i, r := range word {
				l := borderLetter(r, false)
				next := all[at].next[l]
				if next == inName {
					next = state(true)
					all[at].next[l] = next
				}
				at = next
				if i == len(word)-1 {
					all[at].open = false
				}
			}
		}
	}
	state(true)
	names(state(false), ".", "..", ".git")
	root := state(false)
	names(root, ".", "..", ".git", "worktrees")
	for i := range all {
		b := &all[i]
		for letter, to := range b.next {
			k := slices.IndexFunc(b.ways, func(w way) bool { return w.to == to })
			if k < 0 {
				k = len(b.ways)
				b.ways = append(b.ways, way{to: to})
			}
			b.ways[k].letters |= 1 << letter
		}
		slices.SortFunc(b.ways, func(v, w way) int { return int(v.to) - int(w.to) })
	}
	return borderland{all, root}
}

// borderLetter is the index of r in the edges of a border.
func borderLetter(r rune, fold bool) int {
	for i, l := range borderLetters {
		same := r == l
		for f := unicode.SimpleFold(l); fold && !same && f != l; f = unicode.SimpleFold(f) {
			same = r == f
		}
		if same {
			return i
		}
	}
	return otherLetter
}

// Matchable reports whether a pattern may match the path at all: it is clean, and lies neither in
// worktrees at the root nor in anything called .git.
func Matchable(path string, fold bool) bool {
	land := borders()
	at := land.root
	for _, r := range path {
		if r != '/' {
			at = land.at[at].next[borderLetter(r, fold)]
			continue
		}
		if !land.at[at].open {
			return false
		}
		at = nameStart
	}
	return land.at[at].open
}
