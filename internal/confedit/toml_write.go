package confedit

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// TOMLTable is a table to write, in this order.
type TOMLTable []TOMLEntry

// TOMLEntry is a key with a string, bool, int, int64, float64, []string, []any of those, or a
// TOMLTable.
type TOMLEntry struct {
	Key   string
	Value any
}

// leaf is a value at a path below a table.
type leaf struct {
	path  []string
	value any
}

// collectLeaves returns the values of a table and its subtables.
func (t TOMLTable) collectLeaves(under []string) []leaf {
	var out []leaf
	for _, e := range t {
		// The path has no room to grow, so that append copies it.
		path := append(under[:len(under):len(under)], e.Key)
		if sub, ok := e.Value.(TOMLTable); ok {
			out = append(out, sub.collectLeaves(path)...)
		} else {
			out = append(out, leaf{path, e.Value})
		}
	}
	return out
}

// tomlText writes a value on one line.
func tomlText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return tomlString(v)
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			break
		}

		s := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s, nil
	case []string:
		all := make([]any, len(v))
		for i := range v {
			all[i] = v[i]
		}
		return tomlText(all)
	case []any:
		parts, err := writeEach(v, tomlText)
		return "[" + strings.Join(parts, ", ") + "]", err
	case TOMLTable:
		parts, err := writeEach(v, func(e TOMLEntry) (string, error) {
			text, err := tomlText(e.Value)
			return tomlPath([]string{e.Key}) + " = " + text, err
		})
		if len(parts) == 0 {
			return "{}", err
		}
		return "{ " + strings.Join(parts, ", ") + " }", err
	}
	return "", fmt.Errorf("a %T can't be written as TOML", v)
}

// writeEach writes the parts of a composite value.
func writeEach[T any](from []T, text func(T) (string, error)) ([]string, error) {
	var out []string
	for _, v := range from {
		s, err := text(v)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// tomlString writes a string between double quotes.
func tomlString(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("a string that isn't UTF-8 can't be written as TOML")
	}

	var b strings.Builder
	b.WriteByte('"')

	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}

	b.WriteByte('"')
	return b.String(), nil
}

// tomlPath writes a dotted key.
func tomlPath(path []string) string {
	var parts []string
	for _, k := range path {
		if !isBareKey(k) {
			k, _ = tomlString(k)
		}
		parts = append(parts, k)
	}
	return strings.Join(parts, ".")
}

// blockLines writes a table as a block with its header, followed by a block for each subtable. A table of
// nothing but subtables gets no header of its own.
func (t TOMLTable) blockLines(path []string) ([]string, error) {
	var own, subs []string
	for _, e := range t {
		// The path has no room to grow, so that append copies it.
		here := append(path[:len(path):len(path)], e.Key)
		if sub, ok := e.Value.(TOMLTable); ok {
			more, err := sub.blockLines(here)
			if err != nil {
				return nil, err
			}

			// A blank line stands before each subtable.
			if len(more) > 0 {
				subs = append(append(subs, ""), more...)
			}
			continue
		}

		text, err := tomlText(e.Value)
		if err != nil {
			return nil, err
		}
		own = append(own, tomlPath([]string{e.Key})+" = "+text)
	}

	if len(own) == 0 && len(subs) > 0 {
		// The block begins with the first subtable, so the blank line before that goes.
		return subs[1:], nil
	}
	if len(own) == 0 {
		return nil, nil
	}
	return append(append([]string{"[" + tomlPath(path) + "]"}, own...), subs...), nil
}

// plainValue turns a value to write into what the parser would return for it.
func plainValue(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []string:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainValue(v[i])
		}
		return out
	case TOMLTable:
		out := map[string]any{}
		for _, e := range v {
			out[e.Key] = plainValue(e.Value)
		}
		return out
	}
	return v
}

// sameTOML compares what the parser returns. NaN equals itself here.
func sameTOML(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !sameTOML(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameTOML(a[i], b[i]) {
				return false
			}
		}
		return true
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	}
	return reflect.DeepEqual(a, b)
}
