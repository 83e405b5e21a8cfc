package store_test

import (
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestSilentNetwork: where the network between a host and its server is cut, nobody says so. Whoever has a
// connection ends in bounded time all the same, has changed nothing, and goes on when the network is back, or
// over a new connection where the old one was forgotten.
func TestSilentNetwork(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		opt := storetest.Options(db)
		network := storetest.NewNetwork(t, opt.URL)
		opt.URL, opt.Dir, opt.ReadWait, opt.WriteWait = network.URL(), t.TempDir(), 500*time.Millisecond, time.Second
		far := storetest.With(t, db, opt)
		reads := func(tx *store.Tx) error { _, err := tx.Room(id); return err }

		joins := func(name stick.AgentID) func(tx *store.Tx) error {
			return func(tx *store.Tx) error {
				r, err := tx.Room(id)
				if err != nil {
					return err
				}
				after, events, _, err := r.Join(name, "", true, tx.Now())
				if err == nil {
					_, _, err = tx.Save(r, after, events)
				}
				return err
			}
		}

		bounded := func(what string, do func() error) error {
			t.Helper()
			over := make(chan error, 1)
			go func() { over <- do() }()

			select {
			case err := <-over:
				return err
			case <-time.After(20 * time.Second):
				t.Fatalf("%s hasn't ended", what)
				return nil
			}
		}

		load(t, far, id)
		for _, c := range []struct {
			what string
			do   func() error
		}{
			{"a read", func() error { return far.View(ctx, reads) }},
			{"a write", func() error { return far.Update(ctx, joins("gemini:c")) }},
			{"a new program", func() error { _, err := store.Open(ctx, opt, false); return err }},
			{"a transaction that had begun", func() error {
				network.Mend()
				return far.View(ctx, func(tx *store.Tx) error {
					network.Cut()
					return reads(tx)
				})
			}},
			{"a commit", func() error {
				network.Mend()
				return far.Update(ctx, func(tx *store.Tx) error {
					err := joins("gemini:c")(tx)
					network.Cut()
					return err
				})
			}},
		} {
			network.Cut()
			if e := refused(t, bounded(c.what, c.do), stick.CodeDatabaseUnavailable); len(e.Hint) == 0 {
				t.Errorf("%s: there is no next step", c.what)
			}
			network.Mend()
			soon(t, "after "+c.what+" the host works again", func() bool { return far.View(ctx, reads) == nil })
		}

		for _, m := range load(t, db, id).Members {
			if m.Agent == "gemini:c" {
				t.Error("what had no answer was done later")
			}
		}

		load(t, far, id)
		network.Forget()
		if err := bounded("a read", func() error { return far.View(ctx, reads) }); err != nil {
			t.Error(err)
		}
		network.Forget()
		if err := bounded("a write", func() error { return far.Update(ctx, joins("gemini:d")) }); err != nil {
			t.Error(err)
		}
	})
}
