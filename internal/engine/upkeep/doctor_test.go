package upkeep_test

import (
	"os"
	"runtime"
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

// TestDoctor_Fix: only a person repairs, and only what is agreed to. What is repaired isn't found again.
func TestDoctor_Fix(t *testing.T) {
	s := scene.InGit(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	ann.Try().Granted(1)
	agreed := false
	p := upkeep.DoctorParams{Fix: true, Confirm: func(upkeep.Repair) (bool, error) { return agreed, nil }}
	ann.Doctor(p).Refused(stick.CodePersonOnly)
	if storetest.OnServer(t) {
		pat.Doctor(p).Refused(stick.CodeUsage)
		return
	}

	pat.Doctor(p).That("nothing", func(r upkeep.DoctorResult) bool { return r.Healthy && len(r.Repairs) == 0 })
	if runtime.GOOS == "windows" {
		return // its modes say nothing
	}

	data := ann.Doctor(upkeep.DoctorParams{}).OK().DataDir
	if err := os.Chmod(data, 0o755); err != nil {
		t.Fatal(err)
	}
	pat.Doctor(p).That("no", func(r upkeep.DoctorResult) bool { return len(r.Repairs) == 1 && !r.Repairs[0].Done })
	agreed = true
	pat.Doctor(p).That("yes", func(r upkeep.DoctorResult) bool { return r.Repairs[0].Done })
	pat.Doctor(p).That("again", func(r upkeep.DoctorResult) bool { return len(r.Repairs) == 0 })
}
