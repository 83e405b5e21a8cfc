package core

import (
	"context"
	"testing"

	"talkingstick/internal/proc/proctest"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestWitness_EndsBeforeItsFirstReport: a guardian that begins after its holder's death ends at once. Its witness
// still tells the other hosts.
func TestWitness_EndsBeforeItsFirstReport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		procs := proctest.Machine(7, proctest.Process{PID: 7, Comm: "tt"})
		dead := stick.Process{Boot: procs.PIDSpace.Boot, PIDNS: procs.PIDSpace.PIDNS, PID: 9, Start: 9}
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			return tx.PutProcess("claude:a", "", stick.Evidence{Process: dead, Proof: stick.ProvesSession})
		})
		if err != nil {
			t.Fatal(err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		New(Config{Procs: procs}).runWitness(ctx, db, nil)

		err = db.View(t.Context(), func(tx *store.Tx) error {
			all, err := tx.Processes("claude:a")
			if err == nil && (len(all) != 1 || !all[0].Gone) {
				t.Errorf("other hosts know this of it: %+v", all)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
