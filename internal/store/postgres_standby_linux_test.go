package store_test

import (
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestACommitThatACrashShows: the server crashes while a commit waits for the standby. When it is back, it
// shows the change that the standby hasn't got. Nobody may be told then that it was made: the standby may
// take over.
func TestACommitThatACrashShows(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, some *store.DB) {
		server, opt := storetest.NewServer(t), storetest.Options(some)
		opt.URL = server.URL()
		db := storetest.With(t, some, opt)
		id := newRoom(t, db, "/work").ID
		server.StandbyLeaves()
		wrote := make(chan error, 1)
		go func() {
			wrote <- db.Update(ctx, func(tx *store.Tx) error {
				r, err := tx.Room(id)
				if err != nil {
					return err
				}
				after, events, _, err := r.Join("claude:a", "", true, tx.Now())
				if err == nil {
					_, _, err = tx.Save(r, after, events)
				}
				return err
			})
		}()

		server.AwaitsStandby()
		server.Restart()
		server.AwaitsStandby() // what asks whether it was committed

		select {
		case err := <-wrote:
			t.Fatalf("it is told that the change was made, which the standby hasn't got (%v)", err)
		default:
		}

		server.StandbyComes()
		if err := <-wrote; stick.CodeOf(err) == stick.CodeDatabaseUnavailable {
			return // the standby took too long, and nobody is told anything
		} else if err != nil {
			t.Fatal(err)
		}

		server.FailOver()
		r := load(t, db, id)
		if m, ok := r.Member("claude:a"); !ok || m.State != stick.Joined {
			t.Errorf("the standby has %+v", r.Members)
		}
	})
}
