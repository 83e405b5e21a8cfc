package core

import (
	"os"
	"testing"

	"talkingstick/internal/proc/proctest"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m)) }

// TestWaitsOfAnotherHost: where hosts share a database, a wait without a lock here has ended only if its
// process has. The others may have another data directory.
func TestWaitsOfAnotherHost(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		procs := proctest.Machine(7, proctest.Process{PID: 7, Comm: "tt"}, proctest.Process{PID: 8, Comm: "tt"})
		procs.OneHost = !db.ManyHosts()
		p := &Probes{Procs: procs, db: db}
		elsewhere := stick.Gone // on SQLite all waits are in this data directory
		if db.ManyHosts() {
			elsewhere = stick.Unknown
		}

		for process, want := range map[stick.Process]stick.Verdict{
			{Boot: "b", PIDNS: "n", PID: 9, Start: 9}:       stick.Gone,
			{Boot: "b", PIDNS: "n", PID: 8, Start: 8}:       elsewhere,
			{Boot: "another", PIDNS: "n", PID: 9, Start: 9}: elsewhere,
			{}: elsewhere,
		} {
			if got := p.probeListener(stick.Listener{ID: "l", Process: process}); got != want {
				t.Errorf("a wait of %+v is %s, want %s", process, got, want)
			}
		}
	})
}
