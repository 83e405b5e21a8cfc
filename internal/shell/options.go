package shell

import "strings"

// options are the arguments of a command, as getopt would take them apart.
type options struct {
	given map[string]word // by letter, or by the long name; without a value it is empty
	rest  []word
	dash  int // how many of rest stand before "--"; -1 without it
}

// parse takes arguments apart. short is in getopt's words: "e:" takes a value, "i::" takes one only in
// the same argument, a "+" at the front ends the options at the first other argument. long are the
// long options that take a value in the next argument.
func parse(args []word, short string, long ...string) options {
	o := options{given: map[string]word{}, dash: -1}
	ordered := strings.HasPrefix(short, "+")
	for i := 0; i < len(args); i++ {
		next := func() word {
			if i++; i < len(args) {
				return args[i]
			}
			return word{}
		}
		switch a := args[i]; {
		case a.ok && a.text == "--":
			o.dash = len(o.rest)
			o.rest = append(o.rest, args[i+1:]...)
			return o
		case strings.HasPrefix(a.text, "--"):
			name, value, has := strings.Cut(a.text[2:], "=")
			o.given[name] = word{value, a.ok}
			for _, l := range long {
				if l == name && !has {
					o.given[name] = next()
				}
			}
		case len(a.text) > 1 && a.text[0] == '-':
			o.cluster(a, short, next)
		case ordered:
			o.rest = args[i:]
			return o
		default:
			o.rest = append(o.rest, a)
		}
	}
	return o
}

// cluster takes short options apart that stand together.
func (o *options) cluster(a word, short string, next func() word) {
	for j := 1; j < len(a.text); j++ {
		letter := a.text[j : j+1]
		takes := ""
		if at := strings.Index(short, letter); at >= 0 && letter != ":" && letter != "+" {
			takes = short[at+1:]
		}
		value := word{a.text[j+1:], a.ok}
		switch {
		case strings.HasPrefix(takes, "::"):
			o.given[letter] = value
			return
		case strings.HasPrefix(takes, ":"):
			if value.text == "" {
				value = next()
			}
			o.given[letter] = value
			return
		}
		o.given[letter] = word{ok: true}
	}
}

// has tells whether one of some options is given.
func (o options) has(names ...string) bool {
	for _, n := range names {
		if _, ok := o.given[n]; ok {
			return true
		}
	}
	return false
}

// value is that of the first of some options that is given.
func (o options) value(names ...string) (word, bool) {
	for _, n := range names {
		if v, ok := o.given[n]; ok {
			return v, true
		}
	}
	return word{}, false
}
