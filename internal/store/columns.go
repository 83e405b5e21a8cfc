package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// column is a column of a table whose rows are of a type.
type column[T any] struct {
	name string
	// at returns the field of a row, as a pointer to it, or a [coder] of it.
	at   func(row *T) any
	kind columnKind
}

// columnKind says what an event, or whoever stores a row again, may change of it.
type columnKind int

const (
	changing columnKind = iota
	fixed               // it stays as it was when the row was made
	unlogged            // it changes, and the log doesn't say it
)

// coder is a field that a column has in another form.
type coder interface {
	// encode returns what is stored.
	encode() (any, error)
	// place returns where a row's value goes before it is decoded.
	place() any
	decode() error
}

// table is the one list of the columns of a type of rows: what is selected, read, stored and compared follows
// from it.
type table[T any] struct {
	name string
	// keys are the columns by which a row is found. Those that aren't in the list come first in an insert.
	keys []string
	// also are columns that no row has a field for. They come after the keys in an insert.
	also    []string
	columns []column[T]

	names, insert, upsert, update string
}

// newTable makes a table, and writes its statements.
func newTable[T any](t table[T]) *table[T] {
	var names, changes []string
	for _, c := range t.columns {
		names = append(names, c.name)
		if c.kind != fixed {
			changes = append(changes, c.name)
		}
	}

	t.names = strings.Join(names, ", ")
	first := append(t.outerKeys(names), t.also...)
	all := append(first, names...)
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(all)), ", ")

	t.insert = "INSERT INTO " + t.name + " (" + strings.Join(all, ", ") + ") VALUES (" + marks + ")"
	if len(changes) == 0 {
		return &t
	}

	t.upsert = t.insert + " ON CONFLICT (" + strings.Join(t.keys, ", ") + ") DO UPDATE SET " +
		assignments(append(t.also, changes...), func(name string) string { return "excluded." + name })
	t.update = "UPDATE " + t.name + " SET " + assignments(changes, func(string) string { return "?" }) +
		" WHERE " + strings.Join(t.keys, " = ? AND ") + " = ?"
	return &t
}

// outerKeys are the keys that aren't in the list.
func (t *table[T]) outerKeys(names []string) (outer []string) {
	in := map[string]bool{}
	for _, n := range names {
		in[n] = true
	}

	for _, k := range t.keys {
		if !in[k] {
			outer = append(outer, k)
		}
	}
	return outer
}

// assignments is what a statement sets columns to.
func assignments(names []string, value func(name string) string) string {
	sets := make([]string, len(names))
	for i, n := range names {
		sets[i] = n + " = " + value(n)
	}
	return strings.Join(sets, ", ")
}

// namesOf are the columns of a table that a query calls alias.
func (t *table[T]) namesOf(alias string) string {
	return alias + "." + strings.ReplaceAll(t.names, ", ", ", "+alias+".")
}

// read reads a row of the columns, and of further ones after them.
func (t *table[T]) read(scan rowScan, row *T, more ...any) error {
	into := make([]any, 0, len(t.columns)+len(more))
	var coded []coder
	for _, c := range t.columns {
		place := c.at(row)
		if coder, ok := place.(coder); ok {
			coded, place = append(coded, coder), coder.place()
		}
		into = append(into, place)
	}

	if err := scan(append(into, more...)...); err != nil {
		return err
	}
	for _, c := range coded {
		if err := c.decode(); err != nil {
			return fmt.Errorf("read a row of %s: %w", t.name, err)
		}
	}
	return nil
}

// readOne reads the row of a query for at most one row, and reports whether there was one.
func (t *table[T]) readOne(tx *Tx, query string, args []any, row *T) (ok bool, err error) {
	var read T
	err = t.read(func(into ...any) (err error) {
		if ok, err = tx.queryOne(query, args, into...); err == nil && !ok {
			err = errNoRow
		}
		return err
	}, &read)

	if ok && err == nil {
		*row = read
	}
	if errors.Is(err, errNoRow) {
		err = nil
	}
	return ok, err
}

// errNoRow says that a query has found no row.
var errNoRow = errors.New("there is no row")

// insertArgs are the arguments of insert and upsert: the given ones first.
func (t *table[T]) insertArgs(row *T, first ...any) ([]any, error) {
	args := first
	for _, c := range t.columns {
		v, err := c.value(row)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return args, nil
}

// updateArgs are the arguments of update: the given ones last.
func (t *table[T]) updateArgs(row *T, last ...any) (args []any, err error) {
	for _, c := range t.columns {
		if c.kind == fixed {
			continue
		}

		v, err := c.value(row)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return append(args, last...), nil
}

// value returns what is stored of a row.
func (c column[T]) value(row *T) (any, error) {
	at := c.at(row)
	if coder, ok := at.(coder); ok {
		v, err := coder.encode()
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", c.name, err)
		}
		return v, nil
	}
	return reflect.ValueOf(at).Elem().Interface(), nil
}

// differs returns the name of a column that two rows differ in, empty for none. It ignores columns of some kinds.
func (t *table[T]) differs(a, b *T, ignored ...columnKind) string {
	for _, c := range t.columns {
		if !slices.Contains(ignored, c.kind) && !c.isSame(a, b) {
			return c.name
		}
	}
	return ""
}

// isSame reports whether two rows have the same in the column.
func (c column[T]) isSame(a, b *T) bool {
	x, y := c.at(a), c.at(b)
	if p, ok := x.(*policyText); ok {
		return *p.of == *y.(*policyText).of
	}
	if _, ok := x.(coder); !ok {
		return reflect.ValueOf(x).Elem().Equal(reflect.ValueOf(y).Elem())
	}

	one, err := c.value(a)
	other, oerr := c.value(b)
	return err == nil && oerr == nil && one == other
}

// jsonText has a value as JSON in a column of texts.
type jsonText struct {
	of         any  // a pointer to the value
	emptyIsNot bool // a text that is empty stands for no value
	text       string
}

// jsonOf is JSON in any case.
func jsonOf(field any) *jsonText { return &jsonText{of: field} }

// jsonOrEmpty is JSON, or an empty text for no value and for an empty list.
func jsonOrEmpty(field any) *jsonText { return &jsonText{of: field, emptyIsNot: true} }

func (j *jsonText) encode() (any, error) {
	b, err := json.Marshal(j.of)
	if j.emptyIsNot && (bytes.Equal(b, []byte("null")) || bytes.Equal(b, []byte("[]"))) {
		return "", err
	}
	return string(b), err
}

func (j *jsonText) place() any { return &j.text }

func (j *jsonText) decode() error {
	if j.emptyIsNot && j.text == "" {
		return nil
	}
	return json.Unmarshal([]byte(j.text), j.of)
}

// rawText has JSON that is kept as it is in a column of texts.
type rawText struct {
	of   *json.RawMessage
	text string
}

func rawOf(field *json.RawMessage) *rawText { return &rawText{of: field} }

func (r *rawText) encode() (any, error) { return string(*r.of), nil }

func (r *rawText) place() any { return &r.text }

func (r *rawText) decode() error {
	if r.text != "" {
		*r.of = json.RawMessage(r.text)
	}
	return nil
}

// wideNumber has a number without a sign in a column of numbers with one.
type wideNumber struct {
	of     *uint64
	number int64
}

func wideOf(field *uint64) *wideNumber { return &wideNumber{of: field} }

func (w *wideNumber) encode() (any, error) { return int64(*w.of), nil }

func (w *wideNumber) place() any { return &w.number }

func (w *wideNumber) decode() error {
	*w.of = uint64(w.number)
	return nil
}

// onceTable makes a table when it is first needed: each command is a process, and needs few of them.
func onceTable[T any](describe func() table[T]) func() *table[T] {
	return sync.OnceValue(func() *table[T] { return newTable(describe()) })
}
