package store_test

import (
	"strings"
	"sync"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestPooler: through a pooler in transaction mode all is right, but notices don't arrive. The server's check
// says so, and waits don't rely on them.
func TestPooler(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		opt := storetest.Options(db)
		opt.URL = storetest.Pooled(t, opt.URL)

		var all sync.WaitGroup
		for range 8 { // more than the pooler has sessions
			opt.Dir = t.TempDir()
			pooled := storetest.With(t, db, opt)
			all.Go(func() {
				for range 10 {
					err := pooled.Update(t.Context(), func(tx *store.Tx) error {
						r, err := tx.Room(id)
						if err != nil {
							return err
						}
						_, _, err = tx.Save(r, r, []stick.Event{
							r.About(stick.Event{Type: stick.EventNoteAdded, From: "claude:a", Reason: "x"}),
						})
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}

		all.Wait()
		pooled := storetest.With(t, db, opt)
		s, err := pooled.Server(t.Context())
		if err != nil || s.Delivers {
			t.Errorf("notices arrive: %+v, %v", s, err)
		}

		w, err := pooled.Watch(id)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if hears(w) {
			t.Error("a wait relies on notices")
		}
	})
}

// TestFullDisk: a server that says that its disk is full, as its answer to a row of the log, is named, and
// nothing was changed.
func TestFullDisk(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		before := load(t, db, id)
		storetest.Exec(t, db, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
			CREATE TRIGGER full_disk BEFORE INSERT ON events EXECUTE FUNCTION full_disk()`)

		err := db.Update(t.Context(), func(tx *store.Tx) error {
			r, err := tx.Room(id)
			if err != nil {
				return err
			}
			after, events, _, err := r.Join("gemini:c", "", true, tx.Now())
			if err == nil {
				_, _, err = tx.Save(r, after, events)
			}
			return err
		})

		e := refused(t, err, stick.CodeDatabaseUnavailable)
		if !strings.Contains(e.Message, "the disk of PostgreSQL at") || !strings.Contains(e.Message, "is full") {
			t.Error(e.Message)
		}
		storetest.Exec(t, db, "DROP TRIGGER full_disk ON events; DROP FUNCTION full_disk()")
		if after := load(t, db, id); len(after.Members) != len(before.Members) {
			t.Errorf("something was changed: %+v", after)
		}
		join(t, db, id, "gemini:c")
	})
}
