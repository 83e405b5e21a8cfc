package sqlite

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/schema"
	"talkingstick/stick"
)

// CheckIntegrity asks SQLite whether the file and the references between its tables are whole. If they
// aren't, it stops writers.
func (s *DB) CheckIntegrity(report func(format string, args ...any)) error {
	first := ""
	found := func(what string) {
		first = cmp.Or(first, what)
		report("%s", what)
	}

	// Writers stop once all findings are reported, with the first of them as the reason.
	defer func() {
		if first != "" {
			s.leaveMark(first)
		}
	}()

	if err := s.CheckFile(found); err != nil {
		return err
	}

	err := s.scanRows("PRAGMA foreign_key_check", nil, func(scan dialect.RowScan) error {
		var table, parent string
		var row, key any
		if err := scan(&table, &row, &parent, &key); err != nil {
			return err
		}

		found(fmt.Sprintf("a row of %s names something that isn't in %s", table, parent))
		return nil
	})
	if err != nil {
		return err
	}

	// The next check names columns, so all of them have to be there.
	if missing, err := s.checkTables(found); missing || err != nil {
		return err
	}

	return s.checkTypes(found)
}

// CheckFile reports what is wrong with the file itself, whatever its tables say.
func (s *DB) CheckFile(found func(what string)) error {
	return s.scanRows("PRAGMA integrity_check", nil, func(scan dialect.RowScan) error {
		var line string
		err := scan(&line)
		if err == nil && line != "ok" {
			found("the database file: " + line)
		}
		return err
	})
}

// scanRows is scan whose failures say if a row can't be read.
func (s *DB) scanRows(text string, args []any, row dialect.RowReader) error {
	return s.Scan(text, args, dialect.MarkRowErrors(row))
}

// allColumns lists the columns of all tables.
const allColumns = `SELECT t.name || ' ' || c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
	WHERE t.type = 'table' ORDER BY 1`

// checkTables looks for tables and columns that the migrations have made, and that are gone, and for what
// they never make.
func (s *DB) checkTables(found func(string)) (missing bool, err error) {
	made, err := columnsMade(s.migrations)
	if err != nil {
		return false, err
	}

	has := map[string]bool{}
	err = s.scanRows(allColumns, nil, func(scan dialect.RowScan) error {
		var name string
		err := scan(&name)
		has[name] = true
		return err
	})
	if err != nil {
		return false, err
	}

	for _, name := range made {
		if !has[name] {
			table, column, _ := strings.Cut(name, " ")
			found(fmt.Sprintf("table %s lacks its column %s", table, column))
			missing = true
		}
	}

	query := "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index') ORDER BY 1, 2"
	return missing, s.scanRows(query, nil, func(scan dialect.RowScan) error {
		var kind, name string
		err := scan(&kind, &name)
		found(fmt.Sprintf("there is a %s %s, which tt hasn't made", kind, stick.Clip(name, 100)))
		return err
	})
}

// madeColumns remembers what [columnsMade] returns, by the text of the last migration.
var madeColumns sync.Map

// columnsMade lists the columns that a new database has after these migrations.
func columnsMade(migrations []schema.Migration) (columns []string, err error) {
	last := migrations[len(migrations)-1].Text

	// Making all tables takes a while, so what they have is kept.
	if known, ok := madeColumns.Load(last); ok {
		return known.([]string), nil
	}

	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()

	// Each connection would have a database of its own.
	db.SetMaxOpenConns(1)

	if _, err := db.ExecContext(background, dialect.MetaTable+"\n"+schemaScript(migrations)); err != nil {
		return nil, err
	}

	rows, err := db.QueryContext(background, allColumns)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}

		columns = append(columns, name)
	}

	madeColumns.Store(last, columns)
	return columns, rows.Err()
}

// schemaScript makes what a new database has after these migrations: at once if that is written down, because
// each column that is added to a table has SQLite parse every table again.
func schemaScript(migrations []schema.Migration) (script string) {
	if last := migrations[len(migrations)-1]; last.Schema != "" {
		return last.Schema
	}

	for _, m := range migrations {
		script += m.UpgradeScript(m.Text) + "\n"
	}
	return script
}

// replayedTables are the tables whose rows are all read by a check that replays the logs.
var replayedTables = []string{"events", "receipts", "notes"}

// jsonColumns are the columns that hold JSON, or nothing, and that no check reads that replays the logs.
var jsonColumns = map[string]string{"edits": "editors", "commits": "made_by", "stashes": "made_by", "drafts": "handoff"}

// checkTypes looks for values that aren't of the type of their column. SQLite stores any value in any column,
// and only reading such a row would tell.
func (s *DB) checkTypes(found func(string)) error {
	var tables []string
	err := s.scanRows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", nil, func(scan dialect.RowScan) error {
		var name string
		err := scan(&name)
		tables = append(tables, name)
		return err
	})
	if err != nil {
		return err
	}

	for _, table := range tables {
		// The replay reads each of their rows.
		if slices.Contains(replayedTables, table) {
			continue
		}

		wrong, err := s.wrongValue(table)
		if err != nil {
			return err
		}

		n := 0
		if _, err := s.QueryOne("SELECT count(*) FROM "+quoteName(table)+" WHERE "+wrong, nil, []any{&n}); err != nil {
			return err
		}
		if n > 0 {
			found(fmt.Sprintf("%s of %s can't be read: a value isn't of the type of its column", stick.Count(n, "row"), table))
		}
	}

	return nil
}

// wrongValue returns the condition for rows of a table that have a value which can't be read.
func (s *DB) wrongValue(table string) (string, error) {
	// Without a column that can be wrong, no row is.
	conditions := []string{"0"}
	query := "SELECT name, lower(type) FROM pragma_table_info(?) ORDER BY cid"
	err := s.scanRows(query, []any{table}, func(scan dialect.RowScan) error {
		var name, kind string
		err := scan(&name, &kind)
		conditions = append(conditions, fmt.Sprintf("typeof(%s) <> '%s'", quoteName(name), kind))
		return err
	})

	if c, ok := jsonColumns[table]; ok {
		conditions = append(conditions, c+" <> '' AND NOT json_valid("+c+")")
	}

	return strings.Join(conditions, " OR "), err
}

// quoteName makes a name part of a statement.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
