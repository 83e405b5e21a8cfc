package postgres

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// sqlTokens are what may have to be replaced, and what nothing is replaced in: literals, quoted names
// and comments.
var sqlTokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`'(?:[^']|'')*'|"[^"]*"|--[^\n]*|\?|\b(?:INTEGER|TEXT)\b| INDEXED BY \w+`)
})

// translateSchema translates a migration for PostgreSQL. Its INTEGER has only 32 bits, and it orders text by a
// language unless it is told to compare bytes, as SQLite does.
func translateSchema(text string) string {
	return sqlTokens().ReplaceAllStringFunc(text, func(token string) string {
		switch token {
		case "INTEGER":
			return "BIGINT"
		case "TEXT":
			return `TEXT COLLATE "C"`
		}
		return token
	})
}

// TranslateQuery translates a query for PostgreSQL, which numbers its parameters, and knows itself how many rows
// an index has.
func TranslateQuery(text string) string {
	n := 0
	return sqlTokens().ReplaceAllStringFunc(text, func(token string) string {
		switch {
		case token == "?":
			n++
			return fmt.Sprintf("$%d", n)
		case token == "INTEGER":
			return "BIGINT"
		case strings.HasPrefix(token, " INDEXED BY "):
			return ""
		}

		return token
	})
}
