package store

// dialect is all that differs between the databases that the store can use. The queries and migrations are written
// once, in SQL that SQLite reads; each database has one file, which holds its dialect and is the only one that knows
// the database. Everything else in this package works on any of them.
type dialect struct {
	// schema and query translate a migration and a query. nil leaves them as they are written.
	schema, query func(text string) string
	// read and write begin a transaction.
	read, write string
	// classify gives the failures of the driver their codes.
	classify func(error) error
	// check reports damage that the database itself can find.
	check func(tx *Tx, report func(format string, args ...any)) error
	// limitWait limits how long the next transaction waits for programs that aren't ours.
	limitWait func(*DB)
	// inPlace fails if the database that is open isn't the one that [Open] would open now.
	inPlace func(*DB) error
	// committed runs after each commit, under the write lock.
	committed func(*DB)
}

func (d dialect) schemaText(text string) string {
	if d.schema == nil {
		return text
	}
	return d.schema(text)
}

func (d dialect) queryText(text string) string {
	if d.query == nil {
		return text
	}
	return d.query(text)
}

// metaTable is older than the migrations, because they are counted in it.
const metaTable = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);\n" +
	"INSERT INTO meta (key, value) VALUES ('schema', '0'), ('min_reader', '0'), ('generation', '1');"
