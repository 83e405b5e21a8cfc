package glob

import (
	"slices"
	"unicode"
)

// An alphabet is all characters except for /, in classes: two characters are of one class if neither the
// charsets of the patterns nor the borders tell them apart. So two patterns have some dozens of symbols
// instead of a million characters.
type alphabet struct {
	symbols []symbol
	has     [][]uint64 // by charset, the symbols that it has
}

// A symbol stands for all characters of one class.
type symbol struct {
	example rune     // the one that an example of a path shows
	letter  int      // its index in borderLetters, or otherLetter
	in      []uint64 // a bit for each charset that has the symbol
}

// newAlphabet finds the symbols for the charsets. It cuts the range of all characters into spans in which
// every character is in the same charsets. With fold, it takes the characters of a span that have another case
// one by one, each together with its other cases.
func newAlphabet(sets []charset, fold bool) *alphabet {
	sets = slices.Clone(sets)
	for _, l := range borderLetters {
		sets = append(sets, charset{listed: []span{{l, l}}})
	}

	f := finder{
		fold: fold, cuts: spanStarts(sets), words: (len(sets) + 63) / 64, found: map[string]int{},
		negative: make([]uint64, (len(sets)+63)/64),
	}
	f.listed = make([]uint64, len(f.cuts)*f.words)
	for i, set := range sets {
		if set.not {
			f.negative[i/64] |= 1 << (i % 64)
		}

		for _, p := range set.listed {
			for k := f.spanOf(p.lo); k < f.spanOf(p.hi+1); k++ {
				f.listed[k*f.words+i/64] |= 1 << (i % 64)
			}
		}
	}

	for k := range len(f.cuts) - 1 {
		f.findSymbols(k)
	}

	return f.sortedAlphabet(len(sets))
}

// spanStarts returns where the spans begin: at the bounds of the charsets, and of the characters that no path has.
func spanStarts(sets []charset) []rune {
	out := []rune{0, 1, '/', '/' + 1, firstSurrogate, lastSurrogate + 1, unicode.MaxRune + 1}
	for _, set := range sets {
		for _, p := range set.listed {
			out = append(out, p.lo, p.hi+1)
		}
	}

	slices.Sort(out)
	return slices.Compact(out)
}

const (
	firstSurrogate = 0xD800 // UTF-8 has no surrogates
	lastSurrogate  = 0xDFFF
)

// A finder collects symbols.
type finder struct {
	fold     bool
	cuts     []rune   // where the spans begin, and the end of the last one
	words    int      // how many words hold a bit for each charset
	listed   []uint64 // by span and word, the charsets that list its characters
	negative []uint64 // the charsets that have the characters that they don't list
	symbols  []symbol
	found    map[string]int // the symbols, by the charsets that list them
}

// spanOf returns the index of the span that has r.
func (f *finder) spanOf(r rune) int {
	k, exact := slices.BinarySearch(f.cuts, r)
	if !exact {
		k--
	}
	return k
}

// findSymbols finds the symbols of a span.
func (f *finder) findSymbols(k int) {
	lo, hi := f.cuts[k], f.cuts[k+1]-1
	if lo == 0 || lo == '/' || lo == firstSurrogate {
		return
	}

	listed := f.listed[k*f.words : (k+1)*f.words]
	if !f.fold {
		f.addSymbol(listed, clearExample(lo, hi, nil))
		return
	}

	plain := clearExample(lo, hi, func(r rune) bool { return unicode.SimpleFold(r) == r })
	if plain >= 0 {
		f.addSymbol(listed, plain)
		if !slices.ContainsFunc(listed, func(w uint64) bool { return w != 0 }) {
			return // no case of the span's characters is listed unless it is in another span, which finds these too
		}
	}

	eachCased(lo, hi, f.findCasedSymbol)
}

// findCasedSymbol finds the symbol of a character together with its other cases.
func (f *finder) findCasedSymbol(r rune) {
	listed, best := make([]uint64, f.words), r
	for c := unicode.SimpleFold(r); ; c = unicode.SimpleFold(c) {
		k := f.spanOf(c)
		for w := range listed {
			listed[w] |= f.listed[k*f.words+w]
		}

		best = clearerOf(best, c)
		if c == r {
			break
		}
	}

	f.addSymbol(listed, best)
}

// addSymbol adds a symbol, or a better example to one that is there.
func (f *finder) addSymbol(listed []uint64, r rune) {
	key := make([]byte, 0, 8*len(listed))
	for _, w := range listed {
		for range 8 {
			key = append(key, byte(w))
			w >>= 8
		}
	}

	if i, ok := f.found[string(key)]; ok {
		f.symbols[i].example = clearerOf(f.symbols[i].example, r)
		return
	}

	f.found[string(key)] = len(f.symbols)
	in := make([]uint64, len(listed))
	for w := range in {
		in[w] = listed[w] ^ f.negative[w]
	}

	f.symbols = append(f.symbols, symbol{example: r, letter: borderLetter(r, f.fold), in: in})
}

// sortedAlphabet sorts the symbols by how well their examples read, the best first, and returns them with the set of
// symbols of each charset.
func (f *finder) sortedAlphabet(sets int) *alphabet {
	slices.SortFunc(f.symbols, func(a, b symbol) int {
		if clearerOf(a.example, b.example) == a.example {
			return -1
		}
		return 1
	})

	a := &alphabet{symbols: f.symbols, has: make([][]uint64, sets)}
	words := (len(a.symbols) + 63) / 64
	all := make([]uint64, sets*words)

	for i := range a.has {
		a.has[i] = all[i*words : (i+1)*words]
	}

	for i, s := range a.symbols {
		for w, bits := range s.in {
			for set := w * 64; bits != 0; set, bits = set+1, bits>>1 {
				if bits&1 != 0 {
					a.has[set][i/64] |= 1 << (i % 64)
				}
			}
		}
	}

	return a
}

// eachCased calls f for each character from lo to hi that has another case.
func eachCased(lo, hi rune, f func(rune)) {
	try := func(lo, hi rune) {
		for r := lo; r <= hi; r++ {
			if unicode.SimpleFold(r) != r {
				f(r)
			}
		}
	}

	if hi-lo < 512 {
		try(lo, hi)
		return
	}

	try(max(lo, 'ß'), min(hi, 'ß')) // missing in the table, because its upper case isn't one character
	for _, c := range unicode.CaseRanges {
		try(max(lo, rune(c.Lo)), min(hi, rune(c.Hi)))
	}
}

// examples are the characters that read well in a path, the best first.
var examples = []span{{'a', 'z'}, {'0', '9'}, {'A', 'Z'}, {'-', '.'}, {'_', '_'}, {'!', '~'}, {0xA1, 0x24F}}

// clearExample returns a character from lo to hi that reads well. If ok isn't nil, it is one that ok accepts, or -1
// if there is none.
func clearExample(lo, hi rune, ok func(rune) bool) rune {
	for _, p := range append(examples[:len(examples):len(examples)], span{lo, hi}) {
		for r := max(lo, p.lo); r <= min(hi, p.hi); r++ {
			if ok == nil || ok(r) {
				return r
			}
		}
	}

	return -1
}

// clearerOf returns the one of two characters that reads better.
func clearerOf(a, b rune) rune {
	rank := func(r rune) int {
		i := slices.IndexFunc(examples, func(p span) bool { return p.lo <= r && r <= p.hi })
		switch {
		case i >= 0:
			return i
		case unicode.IsPrint(r):
			return len(examples)
		}
		return len(examples) + 1
	}

	if i, j := rank(a), rank(b); i != j {
		if i < j {
			return a
		}
		return b
	}

	if unicode.IsUpper(a) != unicode.IsUpper(b) {
		if unicode.IsUpper(b) {
			return a
		}
		return b
	}

	return min(a, b)
}
