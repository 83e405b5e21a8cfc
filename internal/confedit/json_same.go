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
	return err == nil && meaningOf(v) == meaningOf(&other)
}

// trail leads to a value: a key for each object, and "" with elem for each array.
type trail []step

type step struct {
	key  string
	elem bool
}

// isPath reports whether t is the path of keys.
func (t trail) isPath(path []string) bool {
	return slices.EqualFunc(t, path, func(s step, k string) bool { return !s.elem && s.key == k })
}

// meaningOf writes what a value means, the same for all notations of it.
func meaningOf(v *hujson.Value) string {
	var parts []string
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			parts = append(parts, strconv.Quote(keyOf(&c.Members[i]))+":"+meaningOf(&c.Members[i].Value))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case *hujson.Array:
		for i := range c.Elements {
			parts = append(parts, meaningOf(&c.Elements[i]))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}

	lit := v.Value.(hujson.Literal)
	switch lit.Kind() {
	case '"':
		return strconv.Quote(lit.String())
	case '0':
		return numberText(string(lit))
	}
	return string(lit)
}

// keyOf returns the key of a member.
func keyOf(m *hujson.ObjectMember) string {
	name := m.Name.Value.(hujson.Literal)
	if bytes.IndexByte(name, '\\') < 0 {
		return string(name[1 : len(name)-1])
	}
	return name.String()
}

// numberText writes a number in one notation. It keeps digits that don't fit into a float.
func numberText(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -1<<53 {
		// Whole numbers beyond 2^53 aren't exact in a float.
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

func (e jsonEdit) planChange() ([]splice, error) { return e.next(e.jsonDoc) }

func (e jsonEdit) restOfFile() any {
	w := restWriter{ours: e.ours}
	w.writeValue(&e.root)
	return restOfJSON{e.root.IsStandard(), w.out}
}

// restOfJSON is what must not change: the values as they are written, and that a plain file is plain.
type restOfJSON struct {
	plain  bool
	values []byte
}

// restWriter writes the values of a file without white space, comments and what is ours: what ours accepts,
// the objects and arrays that this empties, and the empty ones that ours accepts.
type restWriter struct {
	ours func(at trail, v *hujson.Value, empty bool) bool
	at   trail // of the value that is being written
	out  []byte
}

func (w *restWriter) writeValue(v *hujson.Value) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		w.out = append(w.out, '{')
		for i := range c.Members {
			w.writeItem(c.Members[i].Name.Value.(hujson.Literal), &c.Members[i].Value, step{key: keyOf(&c.Members[i])})
		}
		w.out = append(w.out, '}')
	case *hujson.Array:
		w.out = append(w.out, '[')
		for i := range c.Elements {
			w.writeItem(nil, &c.Elements[i], step{elem: true})
		}
		w.out = append(w.out, ']')
	case hujson.Literal:
		w.out = append(w.out, c...)
	}
}

// writeItem writes an item of an object or array, unless it is ours.
func (w *restWriter) writeItem(name hujson.Literal, v *hujson.Value, s step) {
	outside, before := len(w.at), len(w.out)
	w.at = append(w.at, s)
	defer func() { w.at = w.at[:outside] }()
	if w.ours(w.at, v, false) {
		return
	}

	if name != nil {
		w.out = append(append(w.out, name...), ':')
	}

	from := len(w.out)
	w.writeValue(v)

	// What stands around something of ours, and is empty without it, is left out, too.
	text := string(w.out[from:min(from+3, len(w.out))])
	if (text == "{}" || text == "[]") && w.ours(w.at, v, true) {
		w.out = w.out[:before]
		return
	}
	w.out = append(w.out, ',')
}

// editJSON makes an Edit. It takes a blank file for {} if something has to go into it.
func editJSON(next func(d *jsonDoc) ([]splice, error), ours func(at trail, v *hujson.Value, empty bool) bool) Edit {
	parse := func(src []byte) (document, error) {
		d, err := parseJSON(src)
		return jsonEdit{d, next, ours}, err
	}
	same := func(a, b any) bool {
		before, after := a.(restOfJSON), b.(restOfJSON)
		return bytes.Equal(before.values, after.values) && (after.plain || !before.plain)
	}

	return func(src []byte) ([]byte, bool, error) {
		from := src
		if isBlank(src) {
			from = []byte("{}" + newlineOf(src))
			if bytes.HasPrefix(src, []byte(bom)) {
				from = append([]byte(bom), from...)
			}
		}

		out, changed, err := runEdit(from, parse, same)
		if err != nil || !changed {
			return src, false, err
		}
		return out, true, nil
	}
}

// failingEdit is an edit that always fails.
func failingEdit(err error) Edit {
	return func(src []byte) ([]byte, bool, error) { return src, false, err }
}

// Ours reports whether an element of an array is ours.
type Ours func(element json.RawMessage) bool
