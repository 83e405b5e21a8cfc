package confedit

import (
	"bytes"
	"slices"
)

// TOMLRemoveTable removes the table at a path and its subtables, however they are written: under headers,
// with dotted keys, inline. Tables around it stay. Everything from a header to the last key under it goes.
// Comments after that stay, since they mostly belong to what follows. path has at least two parts.
func TOMLRemoveTable(path []string) Edit {
	return editTOML(path, 2, func(d *tomlDoc) ([]splice, error) {
		if _, found, err := d.valueAt(path); err != nil || !found {
			return nil, err
		}
		return d.removeLast(path), nil
	}, func(any) (any, bool) { return nil, false })
}

// removeLast removes the last piece of what is written about a path.
func (d *tomlDoc) removeLast(path []string) []splice {
	for i, x := range slices.Backward(d.exprs) {
		goesWithHeader := !x.header && x.table >= len(path)
		if !hasPrefix(x.key, path) || goesWithHeader {
			continue
		}

		if x.header {
			return d.removeSection(i)
		}
		return d.removeLine(i)
	}

	// What remains are members of inline tables.
	for n := len(path) - 1; n > 0; n-- {
		v, rest, ok := d.inlineTableAround(path[:n])
		if !ok {
			break
		}

		rest = slices.Concat(rest, path[n:])
		for i, m := range slices.Backward(v.members) {
			if hasPrefix(m.key, rest) {
				return d.listOf(v).removeItem(i)
			}
		}
	}
	return nil
}

// removeSection removes a header, what is under it, and the blank line before.
func (d *tomlDoc) removeSection(header int) []splice {
	return removeLines(d.src, d.exprs[header].start, d.exprs[d.sectionEnd(header)-1].end, true)
}

// removeLine removes a line with a key, but keeps a comment at its end.
func (d *tomlDoc) removeLine(i int) []splice {
	x := d.exprs[i]
	if at := skipBlanks(d.src, x.body.end, x.end); at < x.end && d.src[at] == '#' {
		return []splice{{x.body.start, at, ""}}
	}
	return removeLines(d.src, x.start, x.end, false)
}

// TOMLAddElement adds an element to the array at a path, unless it is there: a string, bool or number. It
// follows the layout of the array. A missing array is made in its table, and a missing table at the end of
// the file. path has at least two parts.
func TOMLAddElement(path []string, element any) Edit {
	text, err := tomlText(element)
	if err != nil {
		return failingEdit(err)
	}

	return editTOML(path, 2, func(d *tomlDoc) ([]splice, error) {
		v, found, err := d.valueAt(path)
		if err != nil {
			return nil, err
		}

		n := len(path) - 1
		if !found {
			if _, table, _ := d.valueAt(path[:n]); table {
				return d.setLeaf(leaf{path, []any{element}}, n)
			}
			return d.newTable(path[:n], TOMLTable{{path[n], []any{element}}})
		}

		p, arr, err := d.arrayAt(path, v)
		if err != nil || slices.ContainsFunc(arr, isElement(element)) {
			return nil, err
		}

		return d.listOf(p.value).addItem(text, d.layoutOf(p.value)), nil
	}, removeElement(element))
}

// TOMLRemoveElement removes an element from the array at a path. With prune, an array that becomes empty goes
// too, and so does its header if nothing else is under it, not even a comment.
func TOMLRemoveElement(path []string, element any, prune bool) Edit {
	return editTOML(path, 2, func(d *tomlDoc) ([]splice, error) {
		v, found, err := d.valueAt(path)
		if err != nil || !found {
			return nil, err
		}

		p, arr, err := d.arrayAt(path, v)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(arr, isElement(element))
		if i < 0 {
			return nil, nil
		}

		l := d.listOf(p.value)
		if len(arr) > 1 || !prune || l.hasComment() {
			return l.removeItem(i), nil
		}

		// The empty array goes, too: out of its inline table, with its header, or with its line.
		if len(p.inline) > 0 {
			return d.listOf(p.inline[len(p.inline)-1]).removeItem(p.member), nil
		}
		if h := p.expr - 1; h >= 0 && d.loneHeader(h) {
			return d.removeSection(h), nil
		}
		return d.removeLine(p.expr), nil
	}, removeElement(element))
}

// loneHeader reports whether a header has just one line under it, no subtable, and no comment on either line.
func (d *tomlDoc) loneHeader(h int) bool {
	x := d.exprs[h]
	if !x.header || x.array || d.sectionEnd(h) != h+2 || d.exprs[h+1].start != x.end {
		return false
	}

	line := d.exprs[h+1]
	if bytes.ContainsRune(d.src[x.start:x.end], '#') || bytes.ContainsRune(d.src[line.body.end:line.end], '#') {
		return false
	}

	v, _, _ := d.valueAt(x.key)
	t, ok := v.(map[string]any)
	return ok && len(t) == 1 && len(line.key) == len(x.key)+1
}

// arrayAt returns the elements of an array, and its place. It fails for an array of tables.
func (d *tomlDoc) arrayAt(path []string, v any) (place, []any, error) {
	arr, ok := v.([]any)
	if !ok {
		return place{}, nil, &PathError{Path: path, Why: "is " + tomlKind(v) + ", not an array"}
	}

	p, ok := d.findValue(path)
	if !ok {
		return place{}, nil, &PathError{Path: path, Why: "is an array of tables"}
	}
	return p, arr, nil
}

func isElement(element any) func(any) bool {
	want := plainValue(element)
	return func(v any) bool { return sameTOML(v, want) }
}

// removeElement removes an element from an array, and the array if nothing remains.
func removeElement(element any) func(any) (any, bool) {
	return func(v any) (any, bool) {
		arr, ok := v.([]any)
		if !ok {
			return v, true
		}
		arr = slices.DeleteFunc(slices.Clone(arr), isElement(element))
		return arr, len(arr) > 0
	}
}
