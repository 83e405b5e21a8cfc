package store_test

import (
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

const pageSize = 4096

// longLog is a data directory whose database has all in its file, and logs of many pages.
func longLog(t *testing.T) (dir string) {
	t.Helper()
	db := rebooted(t)
	recorded(t, db)

	var rooms []stick.Room
	view(t, db, func(tx *store.Tx) (err error) {
		rooms, err = tx.Rooms(nil, "")
		return err
	})
	room := rooms[0].ID
	join(t, db, room, "pi:long")
	for range 60 {
		claim(t, db, room, "pi:long")
		release(t, db, room, "pi:long")
	}
	dir = filesLeft(t, db.Dir())
	raw := openRaw(t, dir)
	if _, err := raw.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}

	return dir
}

// events are the sums of the events of each room, in the order of its log.
func sumsOf(t *testing.T, db *store.DB) map[stick.RoomID]map[int64]string {
	t.Helper()
	all := map[stick.RoomID]map[int64]string{}
	view(t, db, func(tx *store.Tx) error {
		rooms, err := tx.Rooms(nil, "")
		if err != nil {
			return err
		}

		for _, r := range rooms {
			events, _, err := tx.Events(store.EventQuery{Room: r.ID, Limit: 10000})
			if err != nil {
				return err
			}
			all[r.ID] = map[int64]string{}
			for _, e := range events {
				all[r.ID][e.Seq] = e.Sum
			}
		}
		return nil
	})
	return all
}

// salvage saves what can be read of the database in dir into a new one in its place. It fails the test unless the
// check finds nothing there then, and each event of before is there or said to be lost.
func salvage(t *testing.T, dir string, before map[stick.RoomID]map[int64]string) (s store.Salvage, saved bool) {
	t.Helper()
	opt := store.Options{Dir: dir, Machine: "m", Boot: "the second"}
	r := store.RestoreRequest{
		File: filepath.Join(t.TempDir(), "saved.sqlite"), Close: func() error { return nil },
		Confirm: func(store.RestorePlan) error { return nil },
	}
	var err error
	if r.DB, r.OpenErr = store.Open(ctx, opt, false); r.OpenErr != nil {
		r.DB = nil
		s, err = store.ReadBroken(ctx, opt)
	} else {
		defer r.DB.Close()
		r.Close = r.DB.Close
		if err := r.DB.StopWriters(ctx, "it is being repaired"); err != nil {
			t.Fatal(err)
		}
		s, err = r.DB.ReadSalvage(ctx)
	}
	if err != nil || s.Events() == 0 {
		t.Logf("nothing can be read: %v", err)
		return s, false
	}

	if s, err = store.WriteSalvage(ctx, opt, s, r.File); err != nil {
		t.Fatal(err)
	}
	if done, err := store.Restore(ctx, opt, r); err != nil || done.Aside == "" {
		t.Fatalf("put in place: %+v (%v)", done, err)
	}

	now, err := store.Open(ctx, opt, false)
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()

	if found, err := now.Check(ctx); err != nil || len(found) > 0 {
		t.Errorf("the check finds %q (%v)", found, err)
	}
	requireAccounted(t, s, before, sumsOf(t, now))
	return s, true
}

// requireAccounted fails the test unless each event of before is there, or said to be lost.
func requireAccounted(t *testing.T, s store.Salvage, before, after map[stick.RoomID]map[int64]string) {
	t.Helper()
	said := map[stick.RoomID]store.SalvagedRoom{}
	for _, r := range s.Rooms {
		said[r.Room] = r
	}

	for room, events := range before {
		for seq, sum := range events {
			r := said[room]
			isSaid := seq > r.LastEvent && seq <= r.Lost
			for _, n := range s.Unread {
				isSaid = isSaid || n.From <= seq && seq <= n.To
			}
			if after[room][seq] != sum && !isSaid {
				t.Errorf("event %d of room %s is gone, and nobody says so: %+v %v", seq, r.Path, r, s.Unread)
				return
			}
		}
	}
}

// TestSalvage_DamagedPages: a bit is flipped in each page in turn, and each is truncated away with those behind it.
// Commands say what is wrong, or work. Where the check finds damage and the file can still be opened, what its logs
// prove is in a new database, and what isn't is said by its numbers.
func TestSalvage_DamagedPages(t *testing.T) {
	before := longLog(t)
	whole, err := os.ReadFile(filepath.Join(before, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(ctx, store.Options{Dir: before, Machine: "m", Boot: "the second"}, false)
	if err != nil {
		t.Fatal(err)
	}
	events := sumsOf(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	few := testenv.Leaves(t, testenv.Every, "damage to fifteen of sixteen pages of a database")
	found, saved, all := 0, 0, 0
	for page := range len(whole) / pageSize {
		if few && page%16 != 2 {
			continue
		}

		at := page*pageSize + rand.IntN(pageSize)
		for name, damaged := range map[string][]byte{
			fmt.Sprintf("a bit of byte %d", at):  withFlippedBit(whole, at),
			fmt.Sprintf("from page %d on", page): whole[:page*pageSize],
		} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				copyFiles(t, before, dir, store.IssuedName)
				if err := os.WriteFile(filepath.Join(dir, store.FileName), damaged, 0o600); err != nil {
					t.Fatal(err)
				}

				all++
				isFound := checked(t, dir)
				if isFound {
					found++
					if _, ok := salvage(t, dir, events); ok {
						saved++
					}
				}
				requireCodes(t, dir)
			})
		}
	}
	t.Logf("%d cases: %d found, %d saved", all, found, saved)
}

func withFlippedBit(b []byte, at int) []byte {
	out := append([]byte{}, b...)
	out[at] ^= 1 << rand.IntN(8)
	return out
}

// TestSalvage_BrokenLog: a log that was changed stays up to that event, and the other rooms stay whole.
func TestSalvage_BrokenLog(t *testing.T) {
	dir := longLog(t)
	raw := openRaw(t, dir)
	fifth := column(t, raw, `SELECT event_seq FROM events WHERE from_agent_id = 'pi:long' ORDER BY event_seq LIMIT 1 OFFSET 4`)[0]
	if _, err := raw.Exec("UPDATE events SET reason = 'another' WHERE event_seq = ?", fifth); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}

	s, saved := salvage(t, dir, nil)
	if !saved || len(s.Unread) > 0 {
		t.Fatalf("saved: %v, unread: %v", saved, s.Unread)
	}
	cut := 0
	for _, r := range s.Rooms {
		if r.Lost == 0 {
			continue
		}
		if cut++; fmt.Sprint(r.LastEvent+1) != fifth || r.Lost < r.LastEvent+100 || r.Events == 0 {
			t.Errorf("%s ends with event %d, and lost those up to %d: %s", r.Path, r.LastEvent, r.Lost, r.Why)
		}
	}
	if cut != 1 {
		t.Errorf("%d rooms lost events", cut)
	}
}

// TestSalvage_LogOfAnother: nothing is read of a database beside the log of another one, because the right log can
// still be put back.
func TestSalvage_LogOfAnother(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		l := live(t, db)
		dir := filesLeft(t, l.now)
		copyFiles(t, l.other, dir, store.FileName+"-wal")

		if s, err := store.ReadBroken(ctx, store.Options{Dir: dir}); err == nil {
			t.Errorf("of the files it reads %d events", s.Events())
		}
		opened, err := store.Open(ctx, store.Options{Dir: dir}, false)
		if err != nil {
			return
		}
		defer opened.Close()
		if s, err := opened.ReadSalvage(ctx); err == nil {
			t.Errorf("it reads %d events", s.Events())
		}
	})
}
