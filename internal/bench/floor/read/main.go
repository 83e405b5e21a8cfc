// Command read opens the database at the path in its argument and reads one row. It shows the least that a Go
// process costs that uses the same database.
package main

import (
	"database/sql"
	"fmt"
	"os"

	_ "modernc.org/sqlite"
)

func main() {
	db, err := sql.Open("sqlite", "file:"+os.Args[1])
	if err == nil {
		var n int
		err = db.QueryRow("SELECT turn_id FROM rooms LIMIT 1").Scan(&n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
