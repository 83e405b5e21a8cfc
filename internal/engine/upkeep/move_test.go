package upkeep_test

import (
	"strings"
	"testing"

	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestMigrateDB_ToServer: a person moves the rooms of a machine. The agents go on with what they had;
// persons have other names.
func TestMigrateDB_ToServer(t *testing.T) {
	s := scene.InGit(t)
	if s.Shared() {
		return // it has no file
	}

	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob, pat)
	ann.Try().Granted(1)
	bob.Send(ann, "ask me first")
	pat.MigrateDB(upkeep.MigrateDBParams{}).Refused(stick.CodeUsage) // nobody has said where to

	s.TellsServer()
	ann.Again().MigrateDB(upkeep.MigrateDBParams{}).Refused(stick.CodePersonOnly)
	m := pat.Again().MigrateDB(upkeep.MigrateDBParams{}).OK()
	s.Check(
		len(m.Rooms) == 1 &&
			m.Rooms[0].Path == s.Work &&
			!m.Rooms[0].Alone &&
			m.Persons["human:pat"] == "human:pat@host" &&
			m.Events > 3,
		"%+v", m,
	)
	ann.Try().Refused(stick.CodeDatabaseMoved) // its program was started before

	pat.Again().MigrateDB(upkeep.MigrateDBParams{}).
		That("again", func(r upkeep.MigrateDBResult) bool { return r.Already && strings.Contains(r.To, "PostgreSQL") })

	ann = ann.Again()
	ann.Release("half", "go on").ForNobody()
	bob.Again().Try().Granted(2).Handoff("half")
	s.Has(stick.EventMessageSent)
}

// TestMigrateDB_NothingToMove: a machine without a database has nothing to move.
func TestMigrateDB_NothingToMove(t *testing.T) {
	s := scene.New(t)
	s.TellsServer()
	s.Person("pat").MigrateDB(upkeep.MigrateDBParams{}).Refused(stick.CodeNotFound)
}
