package upkeep_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

const day = 24 * time.Hour

// TestPrune_ClosedRoom: a room goes with its log once it is closed and old. A dry run changes nothing, and only a
// person removes.
func TestPrune_ClosedRoom(t *testing.T) {
	storetest.NeedsFile(t)
	s := scene.InGit(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	pat.Prune(upkeep.PruneParams{}).That("there is nothing so far", func(r upkeep.PruneResult) bool {
		return len(r.Items) == 0 && len(r.Parts) == 0
	})
	ann.Try().Granted(1)
	ann.Note("the parser is slow")
	ann.Release("wrote it", "review it").OK()

	stays := func(r upkeep.PruneResult) bool { return len(r.Items) == 0 && !r.Pruned }
	s.Later(100 * day)
	ann.Prune(upkeep.PruneParams{}).That("an open room stays", stays)
	pat.CloseRoom(engine.CloseRoomParams{}).OK()
	ann.Prune(upkeep.PruneParams{}).That("one that was used lately stays", stays)
	e := pat.Prune(upkeep.PruneParams{OneRoom: true}).Refused(stick.CodeUsage)
	s.Check(e.Hint.String() != "", "there is no hint")

	s.Later(91 * day)
	ann.Prune(upkeep.PruneParams{Remove: true}).Refused(stick.CodePersonOnly)
	goes := func(r upkeep.PruneResult) bool {
		return len(r.Items) == 1 && r.Items[0].What == upkeep.PruneRoom && r.Items[0].Events > 3 && r.Bytes > 0
	}
	ann.Prune(upkeep.PruneParams{}).That("an old one can go", goes)
	ann.Prune(upkeep.PruneParams{OneRoom: true}).That("it is still there", goes)
	pat.Prune(upkeep.PruneParams{Remove: true}).That("it went", func(r upkeep.PruneResult) bool {
		return goes(r) && r.Pruned
	})
	ann.ListReservations(scopes.ListReservationsParams{}).Refused(stick.CodeNoRoom)
	pat.Prune(upkeep.PruneParams{Remove: true}).That("nothing is left to remove", func(r upkeep.PruneResult) bool {
		return len(r.Items) == 0
	})
	ann.Try().Granted(1)
}

// TestPrune_WorkspaceIsGone: a room whose directory was removed goes, and another one stays.
func TestPrune_WorkspaceIsGone(t *testing.T) {
	storetest.NeedsFile(t)
	s := scene.New(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	dir := s.Dir("scratch")
	bob := s.AgentIn("codex:b", dir)
	ann.Join().OK()
	bob.Join().OK()
	s.Later(100 * day)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}

	pat.Prune(upkeep.PruneParams{Remove: true}).That("it went", func(r upkeep.PruneResult) bool {
		return len(r.Items) == 1 && filepath.Base(r.Items[0].Path) == "scratch"
	})
	ann.State()
}

// TestPrune_OpenTask: a closed room with a task that isn't finished stays.
func TestPrune_OpenTask(t *testing.T) {
	storetest.NeedsFile(t)
	s := scene.InGit(t)
	pat := s.Person("pat")
	s.Queue("")
	pat.Spawn("ui-1").OK()
	pat.CloseRoom(engine.CloseRoomParams{}).OK()
	s.Later(100 * day)
	pat.Prune(upkeep.PruneParams{Remove: true}).That("it stays", func(r upkeep.PruneResult) bool {
		return len(r.Items) == 0
	})
	pat.State()
}

// TestPrune_Killed: wherever it is killed, the database is sound, and the next one removes the rest.
func TestPrune_Killed(t *testing.T) {
	storetest.NeedsFile(t)
	for _, point := range []string{"before commit", "prune: rooms removed", "prune: outputs removed"} {
		t.Run(strings.ReplaceAll(point, " ", "_"), func(t *testing.T) {
			s := scene.InGit(t)
			ann, pat := s.Agent("claude:a"), s.Person("pat")
			ann.Join().OK()
			pat.CloseRoom(engine.CloseRoomParams{}).OK()
			s.Later(100 * day)
			data := pat.Prune(upkeep.PruneParams{}).OK().DataDir
			output := writeAt(t, filepath.Join(data, "blobs", "ab", "cd"), s.Now().Add(-2*day).Go())

			killed := pat.Killed(point, 1, func(a *scene.Actor) { a.Prune(upkeep.PruneParams{Remove: true}) })
			s.Check(killed, "it never gets there")
			pat.Doctor(upkeep.DoctorParams{}).That("it is sound", func(r upkeep.DoctorResult) bool { return r.Healthy })
			pat.Prune(upkeep.PruneParams{Remove: true}).OK()
			pat.Prune(upkeep.PruneParams{}).That("all went", func(r upkeep.PruneResult) bool { return len(r.Items) == 0 })
			if _, err := os.Stat(output); err == nil {
				t.Error("the output is still there")
			}
		})
	}
}

// TestPrune_Files: contents that no row names go once they are a day old, and so do databases that were put aside
// long ago. Those of killed commands are among them.
func TestPrune_Files(t *testing.T) {
	storetest.NeedsFile(t)
	s := scene.New(t)
	pat := s.Person("pat")
	pat.Join().OK()
	data := pat.Prune(upkeep.PruneParams{}).OK().DataDir

	old, young := s.Now().Add(-2*day).Go(), s.Now().Go()
	left := writeAt(t, filepath.Join(data, "blobs", "ab", "new-1"), old)
	unnamed := writeAt(t, filepath.Join(data, "blobs", "ab", "cd"), old)
	fresh := writeAt(t, filepath.Join(data, "blobs", "ab", "ef"), young)
	aside := filepath.Join(data, "replaced-1")
	writeAt(t, filepath.Join(aside, "rooms.sqlite"), old)
	if err := os.Chtimes(aside, old, old); err != nil {
		t.Fatal(err)
	}

	pat.Prune(upkeep.PruneParams{Remove: true}).That("files went", func(r upkeep.PruneResult) bool {
		return len(r.Items) == 1 && r.Items[0].What == upkeep.PruneOutputs && r.Items[0].Files == 2
	})
	week := (1 * day).Milliseconds()
	pat.Prune(upkeep.PruneParams{Remove: true, OlderThanMS: &week}).That("the database went", func(r upkeep.PruneResult) bool {
		return len(r.Items) == 1 && r.Items[0].What == upkeep.PruneDatabase && r.Items[0].Path == aside
	})
	for path, stays := range map[string]bool{left: false, unnamed: false, fresh: true, aside: false} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v, and stays should be %v", path, err, stays)
		}
	}
}

// writeAt writes a file that is as old as a time.
func writeAt(t *testing.T, path string, at time.Time) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPrune_OldEvents: the old events of a room in use go, whoever has the stick goes on, and a stream from before
// says that they are gone.
func TestPrune_OldEvents(t *testing.T) {
	storetest.NeedsFile(t)
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	for turn := range int64(8) {
		ann.Try().Granted(turn + 1)
		ann.Release("wrote it", "review it").OK()
	}
	ann.Note("the parser is slow")
	s.Later(100 * day)
	bob.Try().Granted(9)

	ann.Prune(upkeep.PruneParams{Remove: true}).Refused(stick.CodePersonOnly)
	went := func(r upkeep.PruneResult) bool {
		return len(r.Items) == 1 && r.Items[0].What == upkeep.PruneEvents && r.Items[0].Events > 1 &&
			r.Items[0].Of > r.Items[0].Events
	}
	pat.Prune(upkeep.PruneParams{}).That("they can go", went)
	pat.Prune(upkeep.PruneParams{OneRoom: true, Remove: true}).That("they went", went)
	pat.Prune(upkeep.PruneParams{OneRoom: true}).Refused(stick.CodeUsage)
	pat.Doctor(upkeep.DoctorParams{}).That("it is sound", func(r upkeep.DoctorResult) bool { return r.Healthy })

	bob.Release("reviewed it", "ship it").OK()
	ann.GetRoomEvents(eventlog.GetRoomEventsParams{EventFilter: eventlog.EventFilter{After: 1}}).That("it is told",
		func(r eventlog.EventsResult) bool { return r.PrunedTo > 1 })
	ann.GetRoomEvents(eventlog.GetRoomEventsParams{EventFilter: eventlog.EventFilter{Limit: 1}}).That("nothing is missing",
		func(r eventlog.EventsResult) bool { return r.PrunedTo == 0 })
	ann.Try().Granted(10)
}

// TestPrune_OldEventsKilled: wherever it is killed, the room has its whole log or the checkpoint, and the next one does
// the rest.
func TestPrune_OldEventsKilled(t *testing.T) {
	storetest.NeedsFile(t)
	for name, c := range map[string]struct {
		point string
		nth   int
	}{
		"rooms":   {"before commit", 1},
		"events":  {"before commit", 2},
		"outputs": {"before commit", 3},
		"cut":     {"prune: events removed", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene.InGit(t)
			ann, pat := s.Agent("claude:a"), s.Person("pat")
			for turn := range int64(8) {
				ann.Try().Granted(turn + 1)
				ann.Release("wrote it", "review it").OK()
			}
			s.Later(100 * day)

			killed := pat.Killed(c.point, c.nth, func(a *scene.Actor) { a.Prune(upkeep.PruneParams{Remove: true}) })
			s.Check(killed, "it never gets there")
			pat.Doctor(upkeep.DoctorParams{}).That("it is sound", func(r upkeep.DoctorResult) bool { return r.Healthy })
			pat.Prune(upkeep.PruneParams{Remove: true}).OK()
			pat.Prune(upkeep.PruneParams{}).That("all went", func(r upkeep.PruneResult) bool { return len(r.Items) == 0 })
			pat.Doctor(upkeep.DoctorParams{}).That("it is sound", func(r upkeep.DoctorResult) bool { return r.Healthy })
		})
	}
}
