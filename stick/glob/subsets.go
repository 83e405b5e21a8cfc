package glob

import "slices"

// Subsets are the sets of states that an automaton can be in at once. Each is computed when it is first needed.
type subsets struct {
	*automaton
	symbols func(label int) []uint64
	width   int // how many symbols there are, with /
	work    int // how many edges were followed and states found so far

	sets    [][]int
	numbers map[string]int32
	ends    []bool  // by set, whether it accepts
	known   []int32 // by set and symbol, the next set; -1 if it isn't known
	mark    []int   // by state, the last search that found it
	search  int     // the number of the current search
	found   []int   // the states that it has found
}

// noStates is the number of the empty set.
const noStates = 0

func newSubsets(g *automaton, width int, symbols func(label int) []uint64) *subsets {
	u := &subsets{
		automaton: g, symbols: symbols, width: width, numbers: map[string]int32{},
		mark: make([]int, len(g.edges)),
	}
	u.setNumber(nil)
	return u
}

// setNumber returns the number of a set of states.
func (u *subsets) setNumber(states []int) int32 {
	slices.Sort(states)
	key := make([]byte, 0, 2*len(states))
	for _, s := range states {
		key = append(key, byte(s), byte(s>>8))
	}

	n, ok := u.numbers[string(key)]
	if !ok {
		n = int32(len(u.sets))
		u.numbers[string(key)] = n
		u.sets = append(u.sets, slices.Clone(states))
		u.ends = append(u.ends, slices.ContainsFunc(states, func(s int) bool { return u.accepts[s] }))
		u.known = append(u.known, slices.Repeat([]int32{-1}, u.width)...)
	}

	return n
}

// nextSet returns the set that a set leads to by a symbol.
func (u *subsets) nextSet(set int32, symbol int) int32 {
	at := int(set)*u.width + symbol
	if n := u.known[at]; n >= 0 {
		return n
	}

	u.search++
	u.found = u.found[:0]
	for _, s := range u.sets[set] {
		for _, e := range u.edges[s] {
			u.work++
			reads := symbol == u.width-1
			if e.label != labelSlash {
				reads = !reads && u.symbols(e.label)[symbol/64]>>(symbol%64)&1 != 0
			}

			if reads && u.mark[e.to] != u.search {
				u.mark[e.to] = u.search
				u.found = append(u.found, e.to)
			}
		}
	}

	u.work += len(u.found)
	n := u.setNumber(u.found)
	u.known[at] = n
	return n
}
