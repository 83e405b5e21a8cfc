package confedit

import (
	"bytes"
	"maps"
	"slices"
)

// tomlEdit is an edit of a TOML file. ours removes from the file's meaning what the edit is about.
type tomlEdit struct {
	*tomlDoc
	next func(d *tomlDoc) ([]splice, error)
	path []string
	ours func(value any) (rest any, keep bool)
}

func (e tomlEdit) planChange() ([]splice, error) { return e.next(e.tomlDoc) }
func (e tomlEdit) restOfFile() any               { return removeOurs(e.tree, e.path, e.ours) }

// removeOurs copies a table, less what ours removes at the path and what is empty on the way to it.
func removeOurs(tree map[string]any, path []string, ours func(any) (any, bool)) map[string]any {
	out := maps.Clone(tree)
	v, ok := out[path[0]]
	if !ok {
		return out
	}

	if len(path) == 1 {
		rest, keep := ours(v)
		if keep {
			out[path[0]] = rest
		} else {
			delete(out, path[0])
		}
		return out
	}

	if sub, ok := v.(map[string]any); ok {
		if sub = removeOurs(sub, path[1:], ours); len(sub) == 0 {
			delete(out, path[0])
		} else {
			out[path[0]] = sub
		}
	}
	return out
}

// editTOML makes an edit of what is at a path, which has at least so many parts: a table may stand at the
// root of the file, an array only in a table.
func editTOML(path []string, parts int, next func(d *tomlDoc) ([]splice, error), ours func(any) (any, bool)) Edit {
	if len(path) < parts {
		return failingEdit(&PathError{Path: path, Why: "isn't below a table"})
	}

	parse := func(src []byte) (document, error) {
		d, err := parseTOML(src)
		return tomlEdit{d, next, path, ours}, err
	}
	return func(src []byte) ([]byte, bool, error) { return runEdit(src, parse, sameTOML) }
}

// TOMLSetTable sets keys of the table at a path. A new table is added at the end of the file, as a block
// [path] and a block for each subtable, or inside the inline table that it belongs to. In an existing table,
// however it is written, values that differ are replaced in their place, missing keys are added, and other
// keys stay.
func TOMLSetTable(path []string, table TOMLTable) Edit {
	// What can't be written at all is refused before any file is read.
	all := table.collectLeaves(path)
	for _, l := range all {
		if _, err := tomlText(l.value); err != nil {
			return failingEdit(err)
		}
	}

	return editTOML(path, 1, func(d *tomlDoc) ([]splice, error) {
		v, found, err := d.valueAt(path)
		switch {
		case err != nil:
			return nil, err
		case !found && len(all) > 0:
			return d.newTable(path, table)
		case !found:
			return nil, nil
		}

		if _, ok := v.(map[string]any); !ok {
			return nil, &PathError{Path: path, Why: "is " + tomlKind(v) + ", not a table"}
		}

		// One value changes in each round.
		for _, l := range all {
			if s, err := d.setLeaf(l, len(path)); err != nil || s != nil {
				return s, err
			}
		}
		return nil, nil
	}, func(v any) (any, bool) {
		t, ok := v.(map[string]any)
		if !ok {
			return v, true
		}

		for _, l := range all {
			t = removeOurs(t, l.path[len(path):], func(any) (any, bool) { return nil, false })
		}
		return t, len(t) > 0
	})
}

// newTable adds a table.
func (d *tomlDoc) newTable(path []string, table TOMLTable) ([]splice, error) {
	if v, rest, ok := d.inlineTableAround(path); ok {
		text, err := tomlText(table)
		return d.addMember(v, rest, text), err
	}

	lines, err := table.blockLines(path)
	if err != nil {
		return nil, err
	}
	return appendBlock(d.src, lines), nil
}

// setLeaf sets one value of an existing table; nil when it has that value. top is how many parts of the
// leaf's path lead to the table.
func (d *tomlDoc) setLeaf(l leaf, top int) ([]splice, error) {
	text, err := tomlText(l.value)
	if err != nil {
		return nil, err
	}

	v, found, err := d.valueAt(l.path)
	switch {
	case err != nil:
		return nil, err
	case found && sameTOML(v, plainValue(l.value)):
		return nil, nil
	case found:
		p, ok := d.findValue(l.path)
		if _, table := v.(map[string]any); !ok || table {
			return nil, &PathError{Path: l.path, Why: "is " + tomlKind(v) + " in a form that can't be replaced by a value"}
		}
		return []splice{{p.value.start, p.value.end, text}}, nil
	}

	// The innermost table that is written somewhere gets the key.
	for n := len(l.path) - 1; n >= top; n-- {
		if s := d.addKey(l.path[:n], l.path[n:], text); s != nil {
			return s, nil
		}
	}

	// The table exists only by its subtables.
	return appendBlock(d.src, []string{"[" + tomlPath(l.path[:top]) + "]", tomlPath(l.path[top:]) + " = " + text}), nil
}

// addKey adds a key to the table at a path, as that table is written: in the inline table, under the header,
// or after the last line with a dotted key. nil when there is no such table.
func (d *tomlDoc) addKey(table, key []string, text string) []splice {
	if v, rest, ok := d.inlineTableAround(table); ok {
		return d.addMember(v, slices.Concat(rest, key), text)
	}

	if i := d.findHeader(table); i >= 0 {
		return d.addLineAfter(d.sectionEnd(i)-1, tomlPath(key)+" = "+text)
	}

	for i, x := range slices.Backward(d.exprs) {
		isDotted := x.table < len(table) && len(x.key) > len(table)
		if !x.header && isDotted && hasPrefix(x.key, table) {
			return d.addLineAfter(i, tomlPath(slices.Concat(table[x.table:], key))+" = "+text)
		}
	}
	return nil
}

// findHeader finds the header of a table, -1 if it has none.
func (d *tomlDoc) findHeader(table []string) int {
	return slices.IndexFunc(d.exprs, func(x tomlExpr) bool {
		return x.header && !x.array && slices.Equal(x.key, table)
	})
}

// addLineAfter adds a line after an expression, with the same indentation.
func (d *tomlDoc) addLineAfter(i int, line string) []splice {
	x := d.exprs[i]
	line = lineIndent(d.src, x.body.start) + line

	if n := newlineBefore(d.src, x.end); n > 0 {
		return []splice{{x.end, x.end, line + string(d.src[x.end-n:x.end])}}
	}
	return []splice{{x.end, x.end, newlineOf(d.src) + line}}
}

// addMember adds a key to an inline table.
func (d *tomlDoc) addMember(v tomlValue, key []string, text string) []splice {
	return d.listOf(v).addItem(tomlPath(key)+" = "+text, d.layoutOf(v))
}

// layoutOf returns how the items of an array or inline table are laid out.
func (d *tomlDoc) layoutOf(v tomlValue) layout {
	l := d.listOf(v)
	outer := lineIndent(d.src, v.start)
	lay := layout{newline: newlineOf(d.src), closeIndent: outer, indent: outer + "  ", space: " "}

	for i, it := range slices.Backward(l.items) {
		if l.beginsLine(i) {
			lay.indent = lineIndent(d.src, it.start)
			break
		}
	}

	if n := len(l.items); n > 1 && d.src[l.items[n-1].start-1] == ',' {
		lay.space = ""
	}
	return lay
}

// TOMLGet returns what a TOML file means at a path: map[string]any, []any, string, int64, float64, bool or a
// date. found is false if there is nothing. Its errors are those of an [Edit].
func TOMLGet(src []byte, path []string) (value any, found bool, err error) {
	d, err := parseTOML(bytes.TrimPrefix(src, []byte(bom)))
	if err != nil {
		return nil, false, err
	}
	return d.valueAt(path)
}
