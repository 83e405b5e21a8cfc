package upkeep_test

import (
	"strings"
	"testing"

	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestDoctor_SetAside: only a person moves a database aside, and only a file that is damaged: one on a server
// isn't here.
func TestDoctor_SetAside(t *testing.T) {
	s := scene.InGit(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	ann.Try().Granted(1)
	for _, p := range []upkeep.DoctorParams{{SetAside: true}, {Adopt: true}} {
		ann.Doctor(p).Refused(stick.CodePersonOnly)
	}

	e := pat.Doctor(upkeep.DoctorParams{SetAside: true}).Refused(stick.CodeUsage)
	want := "there is no damaged database"
	if storetest.OnServer(t) {
		want = "the rooms are in a database on a server"
	}
	s.Check(strings.Contains(e.Message, want), "it says %q", e.Message)
	ann.Try().Granted(1)
}

// TestDoctor finds what is wrong, and moves another program's database aside.
func TestDoctor(t *testing.T) {
	s := scene.New(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	ann.Doctor(upkeep.DoctorParams{}).That("healthy", func(r upkeep.DoctorResult) bool { return r.Healthy })
	pat.Doctor(upkeep.DoctorParams{Adopt: true}).Refused(stick.CodeUsage)

	s.Foreign()
	ann.Doctor(upkeep.DoctorParams{}).That("ill", func(r upkeep.DoctorResult) bool { return !r.Healthy })
	ann.Join().Refused(stick.CodeForeignDatabase)
	ann.Doctor(upkeep.DoctorParams{Adopt: true}).Refused(stick.CodePersonOnly)

	pat.Doctor(upkeep.DoctorParams{Adopt: true}).That("healthy", func(r upkeep.DoctorResult) bool { return r.Healthy })
	ann.Join().OK()
	ann.StartsByHook("startup").OK()
	ann.Doctor(upkeep.DoctorParams{}).That("when hooks ran", func(r upkeep.DoctorResult) bool {
		return !r.Hooks["claude"].IsZero()
	})
}
