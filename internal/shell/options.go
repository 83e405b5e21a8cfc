package shell

import "strings"

// options are a command's arguments, as getopt would parse them.
type options struct {
	given map[string]word // by letter or long name; empty without a value
	count map[string]int  // how often each is given
	rest  []word
	dash  int // how many of rest are before "--"; -1 without it
}

// parseOptions parses arguments. short is written as for getopt: "e:" takes a value, "i::" takes one only in
// the same argument, and after a "+" at the front the first other argument ends the options. long lists the
// long options that take a value from the next argument.
func parseOptions(args []word, short string, long ...string) options {
	o := options{given: map[string]word{}, count: map[string]int{}, dash: -1}
	ordered := strings.HasPrefix(short, "+")

	for i := 0; i < len(args); i++ {
		// next is the value of an option that takes one from the next argument.
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
			o.count[name]++
			o.given[name] = word{text: value, ok: a.ok}
			for _, l := range long {
				if l == name && !has {
					o.given[name] = next()
				}
			}
		case len(a.text) > 1 && a.text[0] == '-':
			o.parseCluster(a, short, next)
		case ordered:
			o.rest = args[i:]
			return o
		default:
			o.rest = append(o.rest, a)
		}
	}
	return o
}

// parseCluster parses short options in one argument.
func (o *options) parseCluster(a word, short string, next func() word) {
	for j := 1; j < len(a.text); j++ {
		letter := a.text[j : j+1]
		takes := ""
		if at := strings.Index(short, letter); at >= 0 && letter != ":" && letter != "+" {
			takes = short[at+1:]
		}

		value := word{text: a.text[j+1:], ok: a.ok}
		o.count[letter]++

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

// has reports whether any of names is given.
func (o options) has(names ...string) bool {
	for _, n := range names {
		if _, ok := o.given[n]; ok {
			return true
		}
	}
	return false
}

// value returns the value of the first of names that is given.
func (o options) value(names ...string) (word, bool) {
	for _, n := range names {
		if v, ok := o.given[n]; ok {
			return v, true
		}
	}
	return word{}, false
}

// times returns how often any of names is given.
func (o options) times(names ...string) (n int) {
	for _, name := range names {
		n += o.count[name]
	}
	return n
}
