package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/store/schema"
)

// Recording holds every statement that a database was sent, with the lines of this package that sent it.
type Recording struct {
	Statements map[string]*Statement // by text
	Lines      map[string]bool       // file:line of the calls that led to a statement
}

// Statement is what the recording knows about one statement.
type Statement struct {
	Scanned bool     // it was run for any number of rows
	Args    []string // the kind of each argument, of each run
}

// Record opens the database of db once more, and records every statement that is sent over the new connection.
func Record(t *testing.T, db *DB) (*Recording, *DB) {
	t.Helper()
	migrations, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	rec := &Recording{Statements: map[string]*Statement{}, Lines: map[string]bool{}}
	opt := db.opt.dialectOptions()
	opt.Through = func(c driver.Conn) driver.Conn { return tap{c.(rawConn), rec} }
	d, err := openDialect(t.Context(), opt, true, migrations)
	if err != nil {
		t.Fatal(err)
	}

	recorded := newDB(db.opt, db.Bell, d, migrations)
	t.Cleanup(func() {
		if err := recorded.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})

	return rec, recorded
}

func (r *Recording) note(text string, args []driver.NamedValue) {
	s := r.Statements[text]
	if s == nil {
		s = &Statement{}
		r.Statements[text] = s
	}

	kinds := make([]string, len(args))
	for i, a := range args {
		kinds[i] = fmt.Sprintf("%T", a.Value)
	}
	if all := strings.Join(kinds, ","); !slices.Contains(s.Args, all) {
		s.Args = append(s.Args, all)
	}
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if name, ours := strings.CutPrefix(f.Function, "talkingstick/internal/store"); ours {
			r.Lines[fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(f.File)), filepath.Base(f.File), f.Line)] = true
			s.Scanned = s.Scanned || name == ".(*Tx).scan"
		}
	}
}

// rawConn and rawStmt are the parts of the recorded driver that are used.
type rawConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type rawStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// tap is a connection that records.
type tap struct {
	rawConn
	rec *Recording
}

func (c tap) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.rawConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return tapStmt{s.(rawStmt), text, c.rec}, nil
}

func (c tap) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.rec.note(text, args)
	return c.rawConn.ExecContext(ctx, text, args)
}

func (c tap) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.rec.note(text, args)
	return c.rawConn.QueryContext(ctx, text, args)
}

type tapStmt struct {
	rawStmt
	text string
	rec  *Recording
}

func (s tapStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.rec.note(s.text, args)
	return s.rawStmt.ExecContext(ctx, args)
}

func (s tapStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.rec.note(s.text, args)
	return s.rawStmt.QueryContext(ctx, args)
}
