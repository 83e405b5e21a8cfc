package glob

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// An automaton is a pattern as a machine. It starts in state 0, reads a path character by character, and can be
// in several states at once. The path matches if one of the states at its end accepts. An automaton also
// accepts texts that aren't clean paths; [borders] keeps these out.
type automaton struct {
	sets    []charset // the characters of each label; labelSlash has none
	edges   [][]edge  // by the state that they lead from
	accepts []bool
}

// An edge leads to a state by any character of its label.
type edge struct{ label, to int }

// Labels that every automaton has.
const (
	labelSlash = iota // the character /
	labelName         // every other character
)

// buildAutomaton builds the automaton of c. With visible, a star matches at least one character, so that a path that
// is found with it reads well as an example: a.go for *.go.
func (c scope) buildAutomaton(visible bool) *automaton {
	b := builder{automaton: &automaton{sets: []charset{labelSlash: {}, labelName: anyChar}}, labels: map[string]int{}}
	at := b.addState()
	for i, g := range c.segments {
		if g.deep {
			// Two states: in skip the machine is inside a skipped segment, and it reaches next only at
			// the start of a segment.
			skip, next := b.addState(), b.addState()
			b.addFreeEdge(at, skip)
			b.addFreeEdge(at, next)
			b.addAnyEdges(skip, skip)
			b.addEdge(skip, labelSlash, next)
			at = next
			continue
		}

		for _, p := range g.pieces {
			if !p.star {
				at = b.addStateAfter(at, b.labelOf(p))
				continue
			}

			if visible {
				at = b.addStateAfter(at, labelName)
			}

			b.addEdge(at, labelName, at)
			next := b.addState()
			b.addFreeEdge(at, next)
			at = next
		}

		if i < len(c.segments)-1 {
			at = b.addStateAfter(at, labelSlash)
		}
	}

	b.accepts[at] = true
	if c.below {
		if len(c.segments) > 0 {
			at = b.addStateAfter(at, labelSlash)
			b.accepts[at] = true
		}
		b.addAnyEdges(at, at)
	}

	b.closeFreeEdges()
	return b.automaton
}

// A builder makes an automaton. While it does, an edge may also lead to a state without a character; finish
// removes such edges.
type builder struct {
	*automaton
	frees  [][]int // by state, the states that it leads to without a character
	labels map[string]int
}

func (b *builder) addState() int {
	b.edges, b.accepts, b.frees = append(b.edges, nil), append(b.accepts, false), append(b.frees, nil)
	return len(b.edges) - 1
}

func (b *builder) addFreeEdge(from, to int) { b.frees[from] = append(b.frees[from], to) }

func (b *builder) addEdge(from, label, to int) {
	b.edges[from] = append(b.edges[from], edge{label, to})
}

// addAnyEdges adds edges for every character from one state to another.
func (b *builder) addAnyEdges(from, to int) {
	b.addEdge(from, labelName, to)
	b.addEdge(from, labelSlash, to)
}

// addStateAfter adds a state that from leads to, and returns it.
func (b *builder) addStateAfter(from, label int) int {
	s := b.addState()
	b.addEdge(from, label, s)
	return s
}

// labelOf returns the label of p. Pieces with the same text have the same label.
func (b *builder) labelOf(p piece) int {
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

// closeFreeEdges removes the edges without a character. Every state gets the edges of the states that it reaches by
// them, and accepts if one of those does.
func (b *builder) closeFreeEdges() {
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

// Match reports whether the path matches p. A path is relative to the root and clean; others match no pattern.
// With fold, upper and lower case don't count. Match takes at most time in proportion to the product of the two
// lengths.
//
// For a directory with everything below it, see [Pattern.Meets] and [Pattern.Covers].
func (p Pattern) Match(path string, fold bool) bool {
	c, err := parseScope(string(p))
	return err == nil && Matchable(path, fold) && c.buildAutomaton(false).matchPath(path, fold)
}

// Matcher returns a function that does the same as [Pattern.Match], and is faster for many paths.
func (p Pattern) Matcher(fold bool) func(path string) bool {
	c, err := parseScope(string(p))
	if err != nil {
		return func(string) bool { return false }
	}

	prefix := p.Prefix(fold)
	literal := strings.Count(prefix, "/")+1 == len(c.segments) && prefix != "" // so it matches everything below, too
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
			g = c.buildAutomaton(false)
		}
		return g.matchPath(path, fold)
	}
}

func (g *automaton) matchPath(path string, fold bool) bool {
	now, next := []int{0}, []int(nil)
	seen := make([]int, len(g.edges)) // by state, the last position, from 1, at which it was reached
	for i, r := range path {
		next = next[:0]
		for _, s := range now {
			for _, e := range g.edges[s] {
				if seen[e.to] != i+1 && g.isRead(e.label, r, fold) {
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

func (g *automaton) isRead(label int, r rune, fold bool) bool {
	if label == labelSlash {
		return r == '/'
	}
	return g.sets[label].has(r, fold)
}

// A border is a state of the automaton that accepts the paths that patterns are about: clean paths that lie
// neither in worktrees at the root nor in anything named .git.
type border struct {
	open bool                          // the path may end here, or go on with a /
	next [len(borderLetters) + 1]uint8 // the border after each letter, and after every other character except for /
	ways []way                         // the same by where it leads; inName comes first, so that examples are plain
}

// A way holds all letters that lead from one border to another.
type way struct {
	letters uint16 // a bit for each index of a letter
	to      uint8
}

// borderLetters are the characters of the names that are kept out.
const borderLetters = ".gitworkes"

// otherLetter is the index of all characters that no such name has.
const otherLetter = len(borderLetters)

// Borders with a fixed number.
const (
	inName    = iota // in a name that can't become one that is kept out any more
	nameStart        // after a /
)

// A borderland is the automaton of borders: its states, and the number of the one in which a path begins.
type borderland struct {
	at   []border
	root uint8
}

// borders returns the automaton of borders. It is built on first use, because most commands never need it.
var borders = sync.OnceValue(newBorders)

// newBorders builds the automaton of borders. At the start of a name it follows the names that are kept out, as
// long as the path does.
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

// borderLetter returns the index of r in borderLetters, or otherLetter.
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

// Matchable reports whether any pattern can match the path: it is clean, and lies neither in worktrees at the
// root nor in anything named .git.
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
