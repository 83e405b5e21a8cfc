package store_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestRemoveRoom_EveryTable: nothing of a room is left in any table that has rows of rooms, and what is left is
// sound. The other room stays.
func TestRemoveRoom_EveryTable(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		other := newRoom(t, db, "/other").ID
		join(t, db, other, "claude:a")
		if err := db.Update(ctx, func(tx *store.Tx) error { return tx.RemoveRoom(id) }); err != nil {
			t.Fatal(err)
		}

		file := filepath.Join(db.Dir(), store.FileName)
		tables := rowsAt(t, file, `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
			WHERE m.type = 'table' AND c.name = 'room_id' ORDER BY m.name`)
		if len(tables) < 20 {
			t.Fatalf("only %d tables have rows of rooms", len(tables))
		}

		for _, table := range tables {
			if !store.RemovesRowsOf(table) {
				t.Errorf("the rows of a room stay in %s", table)
			}
			if left := rowsAt(t, file, "SELECT room_id FROM "+table+" WHERE room_id = '"+string(id)+"'"); len(left) > 0 {
				t.Errorf("%d rows are left in %s", len(left), table)
			}
		}
		storetest.Check(t, db)
	})
}

// TestUnnamedOutputs: an output stays while a room that stays names it, and as long as it is young.
func TestUnnamedOutputs(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		named, _ := db.WriteBlob([]byte("named"))
		unnamed, _ := db.WriteBlob([]byte("unnamed"))
		var later stick.Time
		err := db.Update(ctx, func(tx *store.Tx) error {
			later = tx.Now().Add(time.Hour)
			data := []byte(`{"report":"` + named.Sum + `"}`)
			return errors.Join(tx.AddBlob(named), tx.AddBlob(unnamed),
				tx.PutIntent(store.Intent{ID: "i", Room: id, Kind: "pause", Data: data}))
		})
		if err != nil {
			t.Fatal(err)
		}

		for name, c := range map[string]struct {
			before stick.Time
			going  []stick.RoomID
			want   []string
		}{
			"old":                     {later, nil, []string{unnamed.Sum}},
			"young":                   {later.Add(-2 * time.Hour), nil, nil},
			"of a room that goes too": {later, []stick.RoomID{id}, []string{named.Sum, unnamed.Sum}},
		} {
			var got map[string]int64
			err := db.View(ctx, func(tx *store.Tx) (err error) {
				got, err = tx.UnnamedOutputs(c.before, c.going)
				return err
			})
			slices.Sort(c.want)
			if sums := slices.Sorted(maps.Keys(got)); err != nil || !slices.Equal(sums, c.want) {
				t.Errorf("%s: %v, want %v; %v", name, sums, c.want, err)
			}
		}
	})
}

// TestSweepOutputs: an old content that no row names goes, unless a command has just written it again and is about
// to name it.
func TestSweepOutputs(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		limit := time.Now().Add(-24 * time.Hour)
		age := func(sum string) {
			t.Helper()
			old := limit.Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(db.Dir(), "blobs", sum[:2], sum[2:]), old, old); err != nil {
				t.Fatal(err)
			}
		}
		var sums []string
		for _, content := range []string{"named", "written again", "left"} {
			b, err := db.WriteBlob([]byte(content))
			if err != nil {
				t.Fatal(err)
			}
			age(b.Sum)
			sums = append(sums, b.Sum)
			if content == "named" {
				if err := db.Update(ctx, func(tx *store.Tx) error { return tx.AddBlob(b) }); err != nil {
					t.Fatal(err)
				}
			}
		}

		if _, err := db.WriteBlob([]byte("written again")); err != nil {
			t.Fatal(err)
		}
		for _, remove := range []bool{false, true} {
			n, bytes, err := db.SweepOutputs(ctx, limit, remove)
			if err != nil || n != 1 || bytes != int64(len("left")) {
				t.Errorf("%d contents with %d bytes went, and %v", n, bytes, err)
			}
		}
		for i, stays := range []bool{true, true, false} {
			if _, err := db.ReadBlob(sums[i]); (err == nil) != stays {
				t.Errorf("content %d: %v", i, err)
			}
		}
	})
}
