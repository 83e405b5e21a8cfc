package confedit

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlDoc is a parsed TOML file: what it means, and where each expression is.
type tomlDoc struct {
	src   []byte
	tree  map[string]any
	exprs []tomlExpr
}

// tomlExpr is a header or a line with a key and a value.
type tomlExpr struct {
	header bool     // [table]
	array  bool     // [[table]], a header too
	key    []string // from the root of the file
	table  int      // how many parts of key come from the header above
	start  int      // of its first line
	end    int      // after its last line's end
	body   span     // key = value, without indentation and comment; of a header, the key
	value  tomlValue
}

// tomlValue is where a value is.
type tomlValue struct {
	span
	kind    unstable.Kind
	elems   []tomlValue  // of an array
	members []tomlMember // of an inline table
}

// tomlMember is key = value in an inline table.
type tomlMember struct {
	span
	key   []string
	value tomlValue
}

// parseTOML parses a file. It refuses what every reader of TOML refuses, such as a key that is there twice.
func parseTOML(src []byte) (*tomlDoc, error) {
	d := &tomlDoc{src: src, tree: map[string]any{}}
	if err := toml.Unmarshal(src, &d.tree); err != nil {
		return nil, tomlError(err)
	}

	p := unstable.Parser{}
	p.Reset(src)
	// under is the header that counts for the lines below it.
	var under []string

	for p.NextExpression() {
		n := p.Expression()
		isArray := n.Kind == unstable.ArrayTable
		x := tomlExpr{header: n.Kind == unstable.Table || isArray, array: isArray}

		keys, first, last := tomlKey(n)
		if x.header {
			under, x.key = keys, keys
			x.start, x.end = lineStart(src, first), lineAfter(src, last)
			x.body = span{first, last}
		} else {
			x.key, x.table = slices.Concat(under, keys), len(under)
			x.body = span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
			x.start, x.end = lineStart(src, x.body.start), lineAfter(src, x.body.end)
			x.value = d.readValue(n.Value(), d.valueStart(last, x.body.end))

			// The parser knows the end of the line's value, and this package has found it by itself: they
			// must agree.
			if x.value.end != x.body.end {
				return nil, &unsafeError{"the places of a TOML value don't agree"}
			}
		}

		d.exprs = append(d.exprs, x)
	}

	if err := p.Error(); err != nil {
		return nil, tomlError(err)
	}
	return d, nil
}

// tomlError takes the place from the parser's error, and leaves out numbers that it quotes.
func tomlError(err error) error {
	m := &MalformedError{Line: 1, Col: 1, Why: strings.TrimPrefix(err.Error(), "toml: ")}
	var e *toml.DecodeError
	if errors.As(err, &e) {
		m.Line, m.Col = e.Position()
	}
	if strings.Contains(m.Why, "strconv.") {
		m.Why = "a number that can't be read"
	}
	return m
}

// tomlKey returns the parts of a key, and where it begins and ends.
func tomlKey(n *unstable.Node) (parts []string, start, end int) {
	for it := n.Key(); it.Next(); {
		k := it.Node()
		if len(parts) == 0 {
			start = int(k.Raw.Offset)
		}
		parts, end = append(parts, string(k.Data)), int(k.Raw.Offset+k.Raw.Length)
	}
	return parts, start, end
}

// lineAfter returns the place after the line end that follows src[i].
func lineAfter(src []byte, i int) int {
	if n := bytes.IndexByte(src[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(src)
}

// valueStart returns where the value of a key begins that ends at i.
func (d *tomlDoc) valueStart(i, end int) int {
	i = skipBlanks(d.src, i, end)
	// The value begins after the equals sign.
	return skipBlanks(d.src, min(i+1, end), end)
}

// readValue finds where a value and its parts are. The parser knows it for scalars only. Between those there
// are only brackets, commas, comments and white space.
func (d *tomlDoc) readValue(n *unstable.Node, start int) tomlValue {
	v := tomlValue{span: span{start, start}, kind: n.Kind}

	switch n.Kind {
	case unstable.Array:
		at := start + 1
		for it := n.Children(); it.Next(); {
			at = d.skipSeparators(at)
			e := d.readValue(it.Node(), at)
			v.elems, at = append(v.elems, e), e.end
		}
		v.end = min(d.skipSeparators(at)+1, len(d.src))
	case unstable.InlineTable:
		at := start + 1
		for it := n.Children(); it.Next(); {
			c := it.Node()
			key, _, last := tomlKey(c)
			m := tomlMember{span: span{int(c.Raw.Offset), int(c.Raw.Offset + c.Raw.Length)}, key: key}
			m.value = d.readValue(c.Value(), d.valueStart(last, m.end))
			v.members, at = append(v.members, m), m.end
		}
		v.end = min(d.skipSeparators(at)+1, len(d.src))
	default:
		v.start, v.end = int(n.Raw.Offset), int(n.Raw.Offset+n.Raw.Length)
	}

	return v
}

// skipSeparators passes over commas, comments and white space.
func (d *tomlDoc) skipSeparators(i int) int {
	for i < len(d.src) {
		switch d.src[i] {
		case ' ', '\t', '\r', '\n', ',':
			i++
		case '#':
			i = lineAfter(d.src, i)
		default:
			return i
		}
	}
	return i
}

// listOf returns the items of an array or inline table.
func (d *tomlDoc) listOf(v tomlValue) list {
	l := list{src: d.src, open: v.start + 1, close: v.end - 1, hash: true}
	for _, e := range v.elems {
		l.items = append(l.items, e.span)
	}
	for _, m := range v.members {
		l.items = append(l.items, m.span)
	}
	return l
}

// valueAt returns what the file means at a path. It fails if the path leads through something that isn't a
// table.
func (d *tomlDoc) valueAt(path []string) (value any, found bool, err error) {
	value = d.tree
	for i, k := range path {
		t, ok := value.(map[string]any)
		if !ok {
			return nil, false, &PathError{Path: path[:i], Why: "is " + tomlKind(value) + ", not a table"}
		}
		if value, found = t[k]; !found {
			return nil, false, nil
		}
	}
	return value, true, nil
}

// tomlKind names what a value is.
func tomlKind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "a table"
	case []any:
		return "an array"
	case string:
		return "a string"
	default:
		return "a number, date, true or false"
	}
}

// place is where a value is written as such: on a line of its own, or as a member of inline tables.
type place struct {
	expr   int
	inline []tomlValue // the inline tables around it, from outside
	member int         // in the last of them
	value  tomlValue
}

// hasPrefix reports whether a path of keys begins with another one.
func hasPrefix(path, begin []string) bool {
	return len(path) >= len(begin) && slices.Equal(path[:len(begin)], begin)
}

// findValue returns the place of the value at a path. ok is false for a table made by headers and dotted
// keys.
func (d *tomlDoc) findValue(path []string) (p place, ok bool) {
	for i, x := range d.exprs {
		if x.header || !hasPrefix(path, x.key) {
			continue
		}

		p = place{expr: i, value: x.value}
		rest := path[len(x.key):]

		for len(rest) > 0 {
			n := slices.IndexFunc(p.value.members, func(m tomlMember) bool {
				return hasPrefix(rest, m.key)
			})
			if n < 0 {
				return place{}, false
			}

			m := p.value.members[n]
			p.inline, p.member, p.value, rest = append(p.inline, p.value), n, m.value, rest[len(m.key):]
		}
		return p, true
	}
	return place{}, false
}

// inlineTableAround finds the innermost inline table at or around a path. Its keys can't be written outside
// of it. rest is the part of the path inside of it.
func (d *tomlDoc) inlineTableAround(path []string) (v tomlValue, rest []string, ok bool) {
	for n := len(path); n > 0; n-- {
		if p, found := d.findValue(path[:n]); found && p.value.kind == unstable.InlineTable {
			return p.value, path[n:], true
		}
	}
	return tomlValue{}, nil, false
}

// sectionEnd returns the end of a header's part of the file: the index after its last line with a key.
func (d *tomlDoc) sectionEnd(header int) int {
	i := header + 1
	for i < len(d.exprs) && !d.exprs[i].header {
		i++
	}
	return i
}
