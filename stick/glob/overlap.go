package glob

import (
	"math"
	"slices"
	"strings"
)

// An Overlap says how much two patterns have in common.
type Overlap string

// The kinds of overlap, as an INCURSION names them.
const (
	None    Overlap = "none"    // no path matches both
	Partial Overlap = "partial" // some paths match both
	Exact   Overlap = "exact"   // the same paths match both
)

// overlapBudget limits the work to find out whether two patterns are the same: it is the number of edges that
// may be followed. Patterns as people write them need some hundreds.
const overlapBudget = 40_000

// clearBudget limits the search for an example that reads better: it is the number of states that may be visited.
const clearBudget = 5_000

// Overlap returns how p and q overlap, and a path that matches both: one of the shortest that read well as an
// example. With fold, upper and lower case don't count.
//
// Whether there is an overlap is always right, and so is Exact. Partial may be wrong: two patterns that match
// the same paths overlap partially if finding that out would take too much work. Such patterns have many
// wildcards each and aren't written alike.
func (p Pattern) Overlap(q Pattern, fold bool) (Overlap, string) {
	a, errA := parseScope(string(p))
	b, errB := parseScope(string(q))
	if errA != nil || errB != nil {
		return None, ""
	}

	m := newMeeting(a.buildAutomaton(false), b.buildAutomaton(false), fold)
	witness, ok := m.shortestPath(math.MaxInt)
	if !ok {
		return None, ""
	}

	visible := *m // the labels are the same if stars must match something
	visible.a, visible.b = a.buildAutomaton(true), b.buildAutomaton(true)
	if clear, ok := visible.shortestPath(clearBudget); ok {
		witness = clear
	}
	if p.Key(fold) == q.Key(fold) || m.acceptsSame(overlapBudget) {
		return Exact, witness
	}

	return Partial, witness
}

// Meets reports whether the directory dir, or anything that could lie below it, matches p. dir is a path as for
// [Pattern.Match].
func (p Pattern) Meets(dir string, fold bool) bool {
	if !Matchable(dir, fold) {
		return false
	}

	at, as := p.Prefix(fold), dir
	if fold {
		as = FoldCase(dir)
	}
	if Apart(at, as) {
		return false
	}

	if len(at) >= len(as) { // everything that matches p lies there
		return true
	}

	a, errA := parseScope(string(p))
	b, errB := parseScope(Quote(dir))
	if errA != nil || errB != nil { // no pattern can name such a path
		return p.Match(dir, fold)
	}

	_, ok := newMeeting(a.buildAutomaton(false), b.buildAutomaton(false), fold).shortestPath(math.MaxInt)
	return ok
}

// Covers reports whether the directory dir and everything that could lie below it match p. It is false if
// finding that out would take too much work.
func (p Pattern) Covers(dir string, fold bool) bool {
	a, errA := parseScope(string(p))
	if errA != nil || !p.Match(dir, fold) {
		return false
	}

	b, errB := parseScope(Quote(dir))
	return a.below || errB == nil && newMeeting(a.buildAutomaton(false), b.buildAutomaton(false),
		fold).firstCovers(overlapBudget)
}

// Apart reports whether patterns with these prefixes can't overlap, because neither prefix is the other one or
// lies below it. See [Pattern.Prefix].
func Apart(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return !ok || a != "" && rest != "" && rest[0] != '/'
}

// A meeting is the product of two automata and [borders]: it reads a path with all three at once.
type meeting struct {
	a, b  *automaton
	alpha *alphabet
	// common holds, for each label of a and label of b, which border letters are among the characters that
	// both have. The bit known is set once that was computed.
	common []uint16
	others []uint64         // the symbols that aren't border letters
	letter [otherLetter]int // the symbol of each border letter
}

const known = 1 << 15

func newMeeting(a, b *automaton, fold bool) *meeting {
	m := &meeting{
		a: a, b: b, alpha: newAlphabet(append(slices.Clone(a.sets), b.sets...), fold),
		common: make([]uint16, len(a.sets)*len(b.sets)),
	}
	m.others = make([]uint64, (len(m.alpha.symbols)+63)/64)
	for i, s := range m.alpha.symbols {
		if s.letter == otherLetter {
			m.others[i/64] |= 1 << (i % 64)
		} else {
			m.letter[s.letter] = i
		}
	}

	return m
}

// inA and inB return the symbols of a label.
func (m *meeting) inA(label int) []uint64 { return m.alpha.has[label] }
func (m *meeting) inB(label int) []uint64 { return m.alpha.has[len(m.a.sets)+label] }

// sharedLetters returns the set of border letters among the characters that two labels share.
func (m *meeting) sharedLetters(la, lb int) uint16 {
	at := &m.common[la*len(m.b.sets)+lb]
	if *at == 0 {
		*at = known
		x, y := m.inA(la), m.inB(lb)
		for w := range m.others {
			if x[w]&y[w]&m.others[w] != 0 {
				*at |= 1 << otherLetter
			}
		}

		for l, s := range m.letter {
			if x[s/64]&y[s/64]>>(s%64)&1 != 0 {
				*at |= 1 << l
			}
		}
	}

	return *at &^ known
}

// A step is a state of a meeting, and how it was first reached.
type step struct {
	at   int32 // the number of the state, see [meeting.stateNumber]
	from int32 // the step before; -1 at the start
}

// stateNumber returns the number of a state of a meeting: the states that the three automata are in, as one number.
func (m *meeting) stateNumber(a, b int, border uint8) int32 {
	return int32((int(border)*len(m.a.edges)+a)*len(m.b.edges) + b)
}

// stateOf returns the state that has a number.
func (m *meeting) stateOf(n int32) (a, b int, border uint8) {
	pair := int(n) / len(m.b.edges)
	return pair % len(m.a.edges), int(n) % len(m.b.edges), uint8(pair / len(m.a.edges))
}

// shortestPath returns a shortest path that all three accept. It is false if there is none, or if the search would
// visit more than limit states. The search is breadth first. It visits at most as many states as the product
// of the three sizes, and mostly far fewer, because the borders matter at the start of a name only.
func (m *meeting) shortestPath(limit int) (string, bool) {
	land := borders()
	steps := make([]step, 1, 64)
	steps[0] = step{m.stateNumber(0, 0, land.root), -1}
	seen := make([]uint64, len(land.at)*len(m.a.edges)*len(m.b.edges)/64+1)

	for i := 0; i < len(steps) && i < limit; i++ {
		a, b, at := m.stateOf(steps[i].at)
		here := &land.at[at]
		if here.open && m.a.accepts[a] && m.b.accepts[b] {
			return m.pathTo(steps, i), true
		}

		for _, ea := range m.a.edges[a] {
			for _, eb := range m.b.edges[b] {
				if ea.label == labelSlash || eb.label == labelSlash {
					if ea.label == eb.label && here.open {
						steps = visitState(steps, seen, m.stateNumber(ea.to, eb.to, nameStart), i)
					}
					continue
				}

				letters := m.sharedLetters(ea.label, eb.label)
				for _, way := range here.ways {
					if letters&way.letters != 0 {
						steps = visitState(steps, seen, m.stateNumber(ea.to, eb.to, way.to), i)
					}
				}
			}
		}
	}

	return "", false
}

// visitState adds a step to a state, unless the state was visited before.
func visitState(steps []step, seen []uint64, n int32, from int) []step {
	if seen[n/64]>>(n%64)&1 != 0 {
		return steps
	}

	seen[n/64] |= 1 << (n % 64)
	if len(steps) == cap(steps) {
		steps = slices.Grow(steps, len(steps)) // append would grow it by less and copy more often
	}

	return append(steps, step{n, int32(from)})
}

// pathTo returns a path that leads to a step, in characters that read well.
func (m *meeting) pathTo(steps []step, last int) string {
	var out []rune
	for i := int32(last); steps[i].from >= 0; i = steps[i].from {
		out = append(out, m.bestExample(steps[steps[i].from].at, steps[i].at))
	}

	slices.Reverse(out)
	return string(out)
}

// bestExample returns the character that reads best of those that lead from one state to another.
func (m *meeting) bestExample(from, to int32) rune {
	fromA, fromB, before := m.stateOf(from)
	toA, toB, after := m.stateOf(to)
	land, best := borders(), len(m.alpha.symbols)

	for _, ea := range m.a.edges[fromA] {
		for _, eb := range m.b.edges[fromB] {
			if ea.to != toA || eb.to != toB || ea.label == labelSlash || eb.label == labelSlash {
				continue
			}

			x, y := m.inA(ea.label), m.inB(eb.label)
			for i, s := range m.alpha.symbols[:best] {
				if x[i/64]&y[i/64]>>(i%64)&1 != 0 && land.at[before].next[s.letter] == after {
					best = i
					break
				}
			}
		}
	}

	if best == len(m.alpha.symbols) {
		return '/'
	}

	return m.alpha.symbols[best].example
}

// acceptsSame reports whether both automata accept the same paths.
func (m *meeting) acceptsSame(budget int) bool {
	return m.holdsAlways(budget, func(a, b bool) bool { return a == b })
}

// firstCovers reports whether the first automaton accepts all that the second one does.
func (m *meeting) firstCovers(budget int) bool {
	return m.holdsAlways(budget, func(a, b bool) bool { return a || !b })
}

// holdsAlways reports whether holds is true for every path, given which of the two automata accept it. It isn't
// asked for paths that neither can ever accept. The search is breadth first over sets of states, of which an
// automaton can have very many: once the budget is used up, always returns false.
func (m *meeting) holdsAlways(budget int, holds func(a, b bool) bool) bool {
	land := borders()
	end := len(m.alpha.symbols) // stands for /, after all symbols
	a, b := newSubsets(m.a, end+1, m.inA), newSubsets(m.b, end+1, m.inB)
	type state struct {
		a, b   int32
		border uint8
	}
	states := []state{{a.setNumber([]int{0}), b.setNumber([]int{0}), land.root}}
	seen := map[state]bool{states[0]: true}
	for i := 0; i < len(states); i++ {
		at := states[i]
		open := land.at[at.border].open
		if open && !holds(a.ends[at.a], b.ends[at.b]) {
			return false
		}

		for s := range end + 1 {
			next := state{border: nameStart}
			switch {
			case s < end:
				next.border = land.at[at.border].next[m.alpha.symbols[s].letter]
			case !open:
				continue
			}
			next.a, next.b = a.nextSet(at.a, s), b.nextSet(at.b, s)
			if (next.a != noStates || next.b != noStates) && !seen[next] {
				seen[next] = true
				states = append(states, next)
			}
		}

		if len(states)*(end+1)+a.work+b.work > budget {
			return false
		}
	}

	return true
}
