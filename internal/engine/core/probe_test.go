package core

import (
	"os"
	"testing"

	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m)) }

// TestWaitsOfAnotherHost: that a wait has no lock here means that it ended, if it was here. Of another host's it says nothing.
func TestWaitsOfAnotherHost(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		p := &Probes{Procs: &proc.Table{PIDSpace: proc.PIDSpace{Machine: "m", Boot: "b"}}, db: db}
		elsewhere := stick.Gone // on SQLite there is no other host
		if db.ManyHosts() {
			elsewhere = stick.Unknown
		}
		for process, want := range map[stick.Process]stick.Verdict{
			{Machine: "m", Boot: "b", PID: 1}:       stick.Gone,
			{Machine: "m", Boot: "another", PID: 1}: elsewhere,
			{Machine: "another", Boot: "b", PID: 1}: elsewhere,
			{}:                                      elsewhere,
		} {
			if got := p.listening(stick.Listener{ID: "l", Process: process}); got != want {
				t.Errorf("a wait of %+v is %s, want %s", process, got, want)
			}
		}
	})
}
