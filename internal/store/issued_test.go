package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// filesLeft copies the files of a database to a new directory, as processes leave them that end without
// closing it: the log beside the file.
func filesLeft(t *testing.T, in string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	copyFiles(t, in, dir, store.FileName, store.FileName+"-wal", store.IssuedName)
	return dir
}

func copyFiles(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// life is a database that was used for a while, with copies of its files.
type life struct {
	room        stick.RoomID
	event, turn int64 // the highest that were issued

	old, now, other string // directories: before the end, at the end, and another database's
}

// live uses a database for a while. Its log begins anew in the middle.
func live(t *testing.T, db *store.DB) life {
	t.Helper()
	l := life{room: played(t, db)}
	storetest.Exec(t, db, "PRAGMA wal_checkpoint(TRUNCATE); SELECT 1")
	l.old = filesLeft(t, db.Dir())

	for range 4 {
		claim(t, db, l.room, "claude:a")
		release(t, db, l.room, "claude:a")
		read := load(t, db, l.room).Turn.HandoffSeq
		// which makes no event
		update(t, db, func(tx *store.Tx) error { return tx.AdvanceCursor(l.room, "claude:a", "wait", read) })
	}

	last := claim(t, db, l.room, "claude:a")
	l.event, l.turn, l.now = last.Seq, last.Turn, filesLeft(t, db.Dir())

	another, err := store.Open(ctx, store.Options{Dir: t.TempDir()}, true)
	if err != nil {
		t.Fatal(err)
	}
	room := played(t, another) // whose log has grown so large that it was moved into the file
	claim(t, another, room, "claude:a")
	release(t, another, room, "claude:a")
	l.other = filesLeft(t, another.Dir())
	if err := another.Close(); err != nil {
		t.Fatal(err)
	}

	return l
}

// spoiling is a way to damage the files of a database.
type spoiling struct {
	name  string
	spoil func(t *testing.T, l life, dir string)
	other bool // what is there then is another database

	flipped int64 // the byte of the log whose bit it flips; 0 for none
}

// spoilings are the ways, of which flips are one for each 4 KiB of the log.
func spoilings(t *testing.T, l life) (all []spoiling) {
	t.Helper()
	info, err := os.Stat(filepath.Join(l.now, store.FileName+"-wal"))
	if err != nil {
		t.Fatal(err)
	}

	for at := int64(0); at < info.Size(); at += 4096 {
		at := at + 1 + rand.Int64N(min(4096, info.Size()-at)-1)
		all = append(all, spoiling{name: fmt.Sprintf("a bit flipped in byte %d of the log", at), flipped: at, spoil: func(t *testing.T, _ life, dir string) {
			flipBit(t, filepath.Join(dir, store.FileName+"-wal"), at)
		}})
	}

	remove := func(names ...string) func(*testing.T, life, string) {
		return func(t *testing.T, _ life, dir string) {
			for _, name := range names {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}

	return append(
		all,
		spoiling{name: "no log", spoil: remove(store.FileName + "-wal")},
		spoiling{name: "no database", spoil: remove(store.FileName, store.FileName+"-wal")},
		spoiling{name: "an older copy", spoil: func(t *testing.T, l life, dir string) {
			copyFiles(t, l.old, dir, store.FileName, store.FileName+"-wal")
		}},
		spoiling{name: "the log of another database", other: true, spoil: func(t *testing.T, l life, dir string) {
			copyFiles(t, l.other, dir, store.FileName+"-wal")
		}},
		spoiling{name: "another database", other: true, spoil: func(t *testing.T, l life, dir string) {
			copyFiles(t, l.other, dir, store.FileName, store.FileName+"-wal")
		}},
	)
}

func flipBit(t *testing.T, file string, at int64) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 1 << rand.IntN(8)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLostChangesAreSaid: whatever happens to the files, the first transaction says what is gone, whether it
// reads or writes. The first that writes ends what was granted, and no number is issued twice.
func TestLostChangesAreSaid(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		l := live(t, db)
		few := testenv.Leaves(t, testenv.Every, "a bit flipped in eight of nine pages of the write-ahead log")
		for i, s := range spoilings(t, l) {
			if few && i%9 != 0 && s.flipped != 0 {
				continue
			}
			dir := filesLeft(t, l.now)
			s.spoil(t, l, dir)

			if s.other {
				requireAnother(t, s.name, dir)
			} else {
				requireSettled(t, s.name, dir, l)
			}
		}
	})
}

// requireAnother fails the test unless nobody reads or writes what is in dir.
func requireAnother(t *testing.T, name, dir string) {
	t.Helper()
	db, err := store.Open(ctx, store.Options{Dir: dir}, true)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer db.Close()

	for how, run := range map[string]func(context.Context, func(*store.Tx) error) error{
		"reading": db.View, "writing": db.Update,
	} {
		if err := run(ctx, func(*store.Tx) error { return nil }); stick.CodeOf(err) != stick.CodeDatabaseCorrupt {
			t.Errorf("%s: %s: %v", name, how, err)
		}
	}
}

// requireSettled opens what is left of a database, and fails the test unless it says so and goes on above all
// that it has issued.
func requireSettled(t *testing.T, name, dir string, l life) {
	t.Helper()
	said := 0
	opt := store.Options{Dir: dir, Lost: func(store.Loss) { said++ }}
	open := func() *store.DB {
		db, err := store.Open(ctx, opt, true)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return db
	}

	for range 2 { // reading changes nothing, so the next one says it again
		db := open()
		view(t, db, func(*store.Tx) error { return nil })
		view(t, db, func(*store.Tx) error { return nil })
		losses, err := db.Losses(ctx)
		if err != nil || losses.Open == nil || !losses.LastAt.IsZero() {
			t.Errorf("%s: the losses are %+v (%v)", name, losses, err)
		}

		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}

	if said != 2 {
		t.Errorf("%s: two that read have said it %d times", name, said)
	}

	db := open()
	defer db.Close()
	failed := errors.New("it failed")
	if err := db.Update(ctx, func(*store.Tx) error { return failed }); err != failed {
		t.Errorf("%s: %v", name, err)
	}

	r := newRoom(t, db, "/new")
	if first := join(t, db, r.ID, "claude:a"); first.Seq <= l.event {
		t.Errorf("%s: event %d comes after event %d", name, first.Seq, l.event)
	}
	if grant := claim(t, db, r.ID, "claude:a"); grant.Turn <= l.turn {
		t.Errorf("%s: turn %d of a new room comes after turn %d", name, grant.Turn, l.turn)
	}
	requireAbove(t, name, db, l)

	losses, err := db.Losses(ctx)
	if err != nil || losses.Open != nil || losses.LastAt.IsZero() || losses.Last == (store.Loss{}) {
		t.Errorf("%s: after it was settled, the losses are %+v (%v)", name, losses, err)
	}
	if said != 3 {
		t.Errorf("%s: it was said %d times", name, said)
	}
	if found, err := db.Check(ctx); err != nil || len(found) > 0 {
		t.Errorf("%s: the check found %q (%v)", name, found, err)
	}
}

// requireAbove brings the room of a life to the generation of its database, if it is still there, and fails
// the test unless its turn has ended and the next one is above all that were granted.
func requireAbove(t *testing.T, name string, db *store.DB, l life) {
	t.Helper()
	var is bool
	var g stick.Generation
	view(t, db, func(tx *store.Tx) error {
		_, err := tx.Room(l.room)
		is, g = err == nil, tx.Generation()
		return nil
	})

	if g.Number != 2 || g.Cause != stick.LossCause {
		t.Errorf("%s: the generation is %+v", name, g)
	}
	if !is {
		return
	}

	r, events := play(t, db, l.room, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		return r.Restore(g, blind(), now)
	})
	if len(events) == 0 || events[0].Type != stick.EventRestored || r.Turn.State == stick.Owned || r.Turn.ID < l.turn {
		t.Errorf("%s: the room is at %+v after %+v", name, r.Turn, events)
	}
}

// TestKilledBetweenAnnouncementAndCommit: who is killed when it commits has lost nothing. What it would have
// issued isn't issued again.
func TestKilledBetweenAnnouncementAndCommit(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		owned := claim(t, db, id, "claude:a")
		if err := start(t, storetest.Options(db), "kill", "announced").Wait(); err == nil {
			t.Fatal("it wasn't killed")
		}

		losses, err := storetest.Again(t, db).Losses(ctx)
		if err != nil || losses.Open != nil {
			t.Errorf("the losses are %+v (%v)", losses, err)
		}

		next := release(t, storetest.Again(t, db), id, "claude:a")
		if r := load(t, db, id); r.Generation != 1 || next.Turn != owned.Turn {
			t.Errorf("the room is %+v after turn %d", r.Turn, owned.Turn)
		}
	})
}

// TestAFileThatSaysNothing: a database whose numbers nobody has kept, because an older program has made it or
// the file is gone, has lost nothing. They are kept from the next change on.
func TestAFileThatSaysNothing(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"gone":    os.Remove,
		"emptied": func(file string) error { return os.Truncate(file, 0) },
		"damaged": func(file string) error { return os.WriteFile(file, []byte("no numbers"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
				l := live(t, db)
				if err := spoil(filepath.Join(l.now, store.IssuedName)); err != nil {
					t.Fatal(err)
				}
				again, err := store.Open(ctx,
					store.Options{
						Dir:  l.now,
						Lost: func(l store.Loss) { t.Errorf("it says that it lost %s", l.Words()) },
					},
					false)
				if err != nil {
					t.Fatal(err)
				}
				defer again.Close()
				if next := release(t, again, l.room, "claude:a"); next.Turn != l.turn || next.Seq != l.event+1 {
					t.Errorf("after turn %d and event %d comes %+v", l.turn, l.event, next)
				}

				left := filesLeft(t, l.now)
				if err := os.Remove(filepath.Join(left, store.FileName+"-wal")); err != nil {
					t.Fatal(err)
				}
				requireTold(t, left)
			})
		})
	}
}

// requireTold fails the test unless whoever opens the database says that it has lost something.
func requireTold(t *testing.T, dir string) {
	t.Helper()
	said := false
	db, err := store.Open(ctx, store.Options{Dir: dir, Lost: func(store.Loss) { said = true }}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	view(t, db, func(*store.Tx) error { return nil })
	if !said {
		t.Error("nobody says that something is lost")
	}
}

// TestWritingNothingCountsNothing: a transaction without a change writes nothing at all.
func TestWritingNothingCountsNothing(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		played(t, db)
		before := files(t, db.Dir())
		update(t, db, func(tx *store.Tx) error { return tx.DropListener("nobody") })

		after := files(t, db.Dir())
		for _, name := range []string{store.FileName, store.FileName + "-wal", store.IssuedName} {
			if path := filepath.Join(db.Dir(), name); before[path] != after[path] {
				t.Errorf("%s has changed", name)
			}
		}
	})
}

// TestALogThatWasRemoved: a process that has the log open notices that it was removed, and commits nothing
// into it that nobody would see.
func TestALogThatWasRemoved(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("Windows removes no file that is open")
	}

	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		played(t, db)
		dir := db.Dir()
		if err := os.Rename(filepath.Join(dir, store.FileName+"-wal"), filepath.Join(dir, "wal")); err != nil {
			t.Fatal(err)
		}
		nothing := func(*store.Tx) error { return nil }
		refused(t, db.Update(ctx, nothing), stick.CodeDatabaseMoved)
		refused(t, db.View(ctx, nothing), stick.CodeDatabaseMoved)

		if err := os.Rename(filepath.Join(dir, "wal"), filepath.Join(dir, store.FileName+"-wal")); err != nil {
			t.Fatal(err)
		}
	})
}
