package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
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

// Record records every statement that a database is sent from now on. The open connection stays; only a
// driver that records stands before it.
func Record(t *testing.T, db *DB) *Recording {
	t.Helper()
	s := db.dialect.(*sqliteDB)
	rec := &Recording{Statements: map[string]*Statement{}, Lines: map[string]bool{}}
	tap := tap{rec: rec}
	if err := s.conn.Raw(func(c any) error { tap.rawConn = c.(rawConn); return nil }); err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(tap)
	conn, err := pool.Conn(background)
	if err != nil {
		t.Fatal(err)
	}
	wasPool, wasConn, wasStmts := s.pool, s.conn, s.stmts
	s.pool, s.conn, s.stmts = pool, conn, map[string]*sql.Stmt{}
	t.Cleanup(func() {
		if err := errors.Join(conn.Close(), pool.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
		s.pool, s.conn, s.stmts = wasPool, wasConn, wasStmts
	})
	if err := s.prepareSchema(background, true); err != nil { // what Open asks when the schema is there already
		t.Fatal(err)
	}
	return rec
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
		if name, ours := strings.CutPrefix(f.Function, "talkingstick/internal/store."); ours {
			r.Lines[fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)] = true
			s.Scanned = s.Scanned || name == "(*Tx).scan" || name == "(*Tx).later"
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

// tap is a connection that records, and its connector.
type tap struct {
	rawConn
	rec *Recording
}

func (c tap) Connect(context.Context) (driver.Conn, error) { return c, nil }

func (c tap) Driver() driver.Driver { return nil }

// Close leaves the connection to the pool that it came from.
func (c tap) Close() error { return nil }

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
