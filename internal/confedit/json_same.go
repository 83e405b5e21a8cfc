package confedit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// sameJSON reports whether a value means the same as compact JSON, whatever the order of keys, the escapes of
// strings and the notation of numbers.
func sameJSON(v *hujson.Value, compact []byte) bool {
	other, err := hujson.Parse(compact)
	return err == nil && meaning(v, nil, nil, true) == meaning(&other, nil, nil, true)
}

// trail leads to a value: a key for each object, and "" with elem for each array.
type trail []step

type step struct {
	key  string
	elem bool
}

// is reports whether t is the path of keys.
func (t trail) is(path []string) bool {
	return slices.EqualFunc(t, path, func(s step, k string) bool { return !s.elem && s.key == k })
}

// meaning writes what a value means, the same for all notations of it. It leaves out what drop accepts, the
// objects and arrays that this empties, and the empty ones that drop accepts.
func meaning(v *hujson.Value, at trail, drop func(at trail, v *hujson.Value, empty bool) bool, sorted bool) string {
	var parts []string
	add := func(prefix string, child *hujson.Value, s step) {
		here := append(slices.Clip(at), s)
		if drop != nil && drop(here, child, false) {
			return
		}
		text := meaning(child, here, drop, sorted)
		if drop != nil && (text == "{}" || text == "[]") && drop(here, child, true) {
			return
		}
		parts = append(parts, prefix+text)
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			key := c.Members[i].Name.Value.(hujson.Literal).String()
			add(strconv.Quote(key)+":", &c.Members[i].Value, step{key: key})
		}
		if sorted {
			slices.Sort(parts)
		}
		return "{" + strings.Join(parts, ",") + "}"
	case *hujson.Array:
		for i := range c.Elements {
			add("", &c.Elements[i], step{elem: true})
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	lit := v.Value.(hujson.Literal)
	switch lit.Kind() {
	case '"':
		return strconv.Quote(lit.String())
	case '0':
		return number(string(lit))
	}
	return string(lit)
}

// number writes a number in one notation. It keeps digits that don't fit into a float.
func number(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -1<<53 {
		return s
	}
	return strconv.FormatInt(int64(f), 10)
}

// jsonEdit is an edit of a JSON file: how it finds its next change, and what is ours, which the comparison
// leaves out.
type jsonEdit struct {
	*jsonDoc
	next func(d *jsonDoc) ([]splice, error)
	ours func(at trail, v *hujson.Value, empty bool) bool
}

func (e jsonEdit) plan() ([]splice, error) { return e.next(e.jsonDoc) }
func (e jsonEdit) rest() any               { return restOfJSON{e.plain, meaning(&e.root, nil, e.ours, false)} }

// restOfJSON is what must not change: the meaning, and that a plain file is plain.
type restOfJSON struct {
	plain   bool
	meaning string
}

// editJSON makes an Edit. It takes a blank file for {} if something has to go into it.
func editJSON(next func(d *jsonDoc) ([]splice, error), ours func(at trail, v *hujson.Value, empty bool) bool) Edit {
	parse := func(src []byte) (document, error) {
		d, err := parseJSON(src)
		return jsonEdit{d, next, ours}, err
	}
	same := func(a, b any) bool {
		before, after := a.(restOfJSON), b.(restOfJSON)
		return before.meaning == after.meaning && (after.plain || !before.plain)
	}
	return func(src []byte) ([]byte, bool, error) {
		from := src
		if blank(src) {
			from = []byte("{}" + newline(src))
			if bytes.HasPrefix(src, []byte(bom)) {
				from = append([]byte(bom), from...)
			}
		}
		out, changed, err := run(from, parse, same)
		if err != nil || !changed {
			return src, false, err
		}
		return out, true, nil
	}
}

// failing is an edit that always fails.
func failing(err error) Edit {
	return func(src []byte) ([]byte, bool, error) { return src, false, err }
}

// Ours reports whether an element of an array is ours.
type Ours func(element json.RawMessage) bool
