package postgres

import "testing"

func TestPostgresTexts(t *testing.T) {
	for _, c := range []struct{ name, text, schema, query string }{
		{
			"types",
			"a INTEGER, b TEXT PRIMARY KEY",
			`a BIGINT, b TEXT COLLATE "C" PRIMARY KEY`,
			"a BIGINT, b TEXT PRIMARY KEY",
		},
		{
			"names that hold a type",
			"INTEGERS CONTEXT TEXT_ID integer",
			"INTEGERS CONTEXT TEXT_ID integer",
			"INTEGERS CONTEXT TEXT_ID integer",
		},
		{"parameters", "a = ? AND b IN (?, ?)", "a = ? AND b IN (?, ?)", "a = $1 AND b IN ($2, $3)"},
		{
			"literals",
			"a = 'why? it''s TEXT?' AND b = ?",
			"a = 'why? it''s TEXT?' AND b = ?",
			"a = 'why? it''s TEXT?' AND b = $1",
		},
		{"quoted names", `"a?" = ?`, `"a?" = ?`, `"a?" = $1`},
		{
			"comments",
			"a = ? -- TEXT? it's\nAND b = ?",
			"a = ? -- TEXT? it's\nAND b = ?",
			"a = $1 -- TEXT? it's\nAND b = $2",
		},
		{"a type in a query", "CAST(? AS INTEGER)", "CAST(? AS BIGINT)", "CAST($1 AS BIGINT)"},
		{"an index", "a INDEXED BY a_few WHERE b = ?", "a INDEXED BY a_few WHERE b = ?", "a WHERE b = $1"},
	} {
		if got := translateSchema(c.text); got != c.schema {
			t.Errorf("%s: as a schema it reads %s, want %s", c.name, got, c.schema)
		}
		if got := TranslateQuery(c.text); got != c.query {
			t.Errorf("%s: as a query it reads %s, want %s", c.name, got, c.query)
		}
	}
}
