package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/schema"
	"talkingstick/stick"
)

// listedTable is a table, whatever its rows are.
type listedTable interface {
	test(t *testing.T, db *sql.DB, unlisted unlisted)
}

// unlisted is what the list of a table lacks, each with the reason.
type unlisted struct {
	fields  map[string]string // of its rows
	columns map[string]string // of the database
}

// listed are the tables with a list of their columns.
var listed = map[listedTable]unlisted{
	taskTable():    {},
	attemptTable(): {},
	reviewTable():  {},
	commentTable(): {},
	intentTable():  {},
	runTable():     {},
	setupTable():   {},
	callTable():    {},
	editTable():    {},
	readTable():    {},
	roomTable(): {
		fields: map[string]string{
			"ID": "the key", "Path": "from the checkouts of this host",
			"Key":     "the path of a row where hosts share rooms",
			"Members": "rows of their own", "Listeners": "rows of their own",
		},
	},
	memberTable(): {
		fields: map[string]string{
			"Processes": "rows of their own", "HooksSeen": "from its sessions", "BusySince": "from its sessions",
			"IdleAt": "from its sessions",
		},
	},
	listenerTable(): {},
	sessionTable(): {
		columns: map[string]string{
			"idle_at": "hooks", "active_since": "hooks", "asked_at": "hooks", "tool": "hooks", "file": "hooks",
			"hooks_schema": "hooks", "hooks_noted_at": "hooks",
		},
	},
	processTable():     {fields: map[string]string{"Gone": "from when it was found gone"}},
	acceptanceTable():  {fields: map[string]string{"Key": "the key, without the clone"}},
	eventTable():       {fields: map[string]string{"For": "it follows from earlier events"}},
	receiptTable():     {},
	noteTable():        {},
	reservationTable(): {},
	draftTable():       {},
}

// TestColumns finds, by name, a field of a row that no column has, a column of the database that no list has, and
// a column that isn't stored, not read, or not stored again.
func TestColumns(t *testing.T) {
	all, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { db.Close() })

	// Each connection would have a database of its own. References between tables aren't checked in it.
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), dialect.MetaTable+"\n"+all[len(all)-1].Schema); err != nil {
		t.Fatal(err)
	}

	for table, lacks := range listed {
		table.test(t, db, lacks)
	}
}

func (table *table[T]) test(t *testing.T, db *sql.DB, lacks unlisted) {
	t.Run(table.name, func(t *testing.T) {
		var row T
		table.testFields(t, reflect.ValueOf(&row).Elem(), &row, "", lacks.fields)
		table.testDatabase(t, db, lacks.columns)
		table.testRows(t, db)
	})
}

// testFields fails for each field that no column has.
func (table *table[T]) testFields(t *testing.T, v reflect.Value, row *T, path string, lacks map[string]string) {
	for i := range v.NumField() {
		f, name := v.Field(i), path+v.Type().Field(i).Name
		has := slices.ContainsFunc(table.columns, func(c column[T]) bool { return pointsTo(c.at(row), f) })
		_, isUnlisted := lacks[name]
		switch {
		case has && isUnlisted:
			t.Errorf("%s has a column, and is said to have none", name)
		case has || isUnlisted:
		case f.Kind() == reflect.Struct:
			table.testFields(t, f, row, name+".", lacks)

		case f.Kind() == reflect.Array:
			for j := range f.Len() {
				if !slices.ContainsFunc(table.columns, func(c column[T]) bool {
					return pointsTo(c.at(row), f.Index(j))
				}) {
					t.Errorf("no column has %s[%d]", name, j)
				}
			}

		default:
			t.Errorf("no column has %s", name)
		}
	}
}

// pointsTo reports whether at, which a column has returned, is of a field.
func pointsTo(at any, field reflect.Value) bool {
	switch c := at.(type) {
	case *jsonText:
		at = c.of
	case *rawText:
		at = c.of
	case *wideNumber:
		at = c.of
	case *policyText:
		at = c.of
	}

	v := reflect.ValueOf(at)
	return v.Pointer() == field.Addr().Pointer() && v.Type().Elem() == field.Type()
}

// testDatabase fails for each column that only the list or only the database has.
func (table *table[T]) testDatabase(t *testing.T, db *sql.DB, lacks map[string]string) {
	rows, err := db.QueryContext(t.Context(), "SELECT name FROM pragma_table_info(?) ORDER BY cid", table.name)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()

	known := slices.Concat(table.keys, table.also, strings.Split(table.names, ", "))
	var has []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		has = append(has, name)
		if lacks[name] == "" && !slices.Contains(known, name) {
			t.Errorf("the list lacks column %s", name)
		}
	}

	for _, name := range known {
		if !slices.Contains(has, name) {
			t.Errorf("there is no column %s", name)
		}
	}
}

// testRows stores a row, and stores it again with other values in every way that there is.
func (table *table[T]) testRows(t *testing.T, db *sql.DB) {
	var first, second, empty T
	fill(reflect.ValueOf(&first).Elem(), 1)
	fill(reflect.ValueOf(&second).Elem(), 2)

	for _, c := range table.columns {
		if c.isSame(&first, &second) || c.isSame(&first, &empty) {
			t.Fatalf("the rows of this test don't differ in %s", c.name)
		}

		// The second row is found by the keys of the first.
		if slices.Contains(table.keys, c.name) {
			copyField(c.at(&second), c.at(&first))
		}
	}

	outer := table.outerKeys(strings.Split(table.names, ", "))
	keys := make([]any, len(outer))
	for i := range keys {
		keys[i] = "key"
	}
	with := slices.Clone(keys)
	for range table.also {
		with = append(with, "1")
	}

	store := func(text string, args []any, err error) T {
		t.Helper()
		if err == nil {
			_, err = db.ExecContext(t.Context(), text, args...)
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}

		var got T
		query := db.QueryRowContext(t.Context(), "SELECT "+table.namesOf("x")+" FROM "+table.name+" x")
		if err := table.read(query.Scan, &got); err != nil {
			t.Fatal(err)
		}

		return got
	}

	args, err := table.insertArgs(&first, slices.Clone(with)...)
	got := store(table.insert, args, err)
	for _, c := range table.columns {
		if !c.isSame(&got, &first) {
			t.Errorf("%s isn't read as it was stored", c.name)
		}
	}

	if table.upsert == "" {
		return
	}

	args, err = table.insertArgs(&second, slices.Clone(with)...)
	got = store(table.upsert, args, err)
	for _, c := range table.columns {
		want, what := &second, "isn't stored again"
		if c.kind == fixed {
			want, what = &first, "isn't fixed"
		}
		if !c.isSame(&got, want) {
			t.Errorf("%s %s", c.name, what)
		}
	}

	// An update finds the row by all of its keys.
	var found []any
	for _, k := range table.keys {
		value := any("key")
		for _, c := range table.columns {
			if c.name == k {
				if value, err = c.value(&first); err != nil {
					t.Fatal(err)
				}
			}
		}
		found = append(found, value)
	}

	args, err = table.updateArgs(&first, found...)
	got = store(table.update, args, err)
	if d := table.differs(&got, &first); d != "" {
		t.Errorf("%s isn't updated", d)
	}
}

// copyField copies what one column returned to another.
func copyField(to, from any) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem()) }

// fill gives every field a value that differs by n, and none that is zero.
func fill(v reflect.Value, n int) {
	switch v.Addr().Interface().(type) {
	case *json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))))
		return
	case **stick.Handoff:
		v.Set(reflect.ValueOf(&stick.Handoff{Status: fmt.Sprint("status ", n)}))
		return

	case *stick.Policy:
		p := stick.DefaultPolicy()
		p.ClaimTTL += time.Duration(n) * time.Second
		v.Set(reflect.ValueOf(p))
		return
	}

	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", n))
	case reflect.Bool:
		v.SetBool(n == 1)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(n))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(n))

	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}

	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}

	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	}
}
