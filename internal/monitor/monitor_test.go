package monitor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/monitor"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// operations are those of a person's program.
type operations struct {
	*engine.Engine
	*eventlog.Log
	*scopes.Scopes
	*task.Tasks
	*restore.Restorer
}

func watchedBy(a *scene.Actor) monitor.Options {
	return monitor.Options{
		Operations: operations{a.Engine, a.Engine.Log, a.Engine.Scopes, a.Tasks, a.Engine.Guard.Restorer},
		Caller:     a.By,
	}
}

// look takes a picture for a person, of all rooms.
func look(a *scene.Actor) *monitor.Room {
	a.Helper()
	o := watchedBy(a)
	o.Where = a.ByID()
	p, err := monitor.TakeRoomPicture(a.Context(), o)
	if err != nil {
		a.Fatal(err)
	}

	return p.Rooms[0]
}

// needs are the kinds of what a person is needed for.
func needs(a *scene.Actor) (kinds []presence.NeedKind) {
	a.Helper()
	for _, n := range look(a).Needs {
		kinds = append(kinds, n.Kind)
	}
	return kinds
}

func TestWhatNeedsAPerson(t *testing.T) {
	s := scene.InGit(t)
	s.Queue("true")
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob, carl)

	expect := func(what string, want ...presence.NeedKind) {
		t.Helper()
		if got := needs(carl); !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v\n%+v", what, got, want, look(carl).Needs)
		}
	}

	expect("nothing has happened")

	id := ann.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{carl.ID}, Body: "which database?", Category: string(stick.Blocked),
	}).OK().MessageID
	expect("an agent is blocked", presence.NeedMessage)
	carl.AckMessage(engine.MessagesParams{MessageIDs: []int64{id}}).OK()
	expect("the person has answered")

	ann.StartsByHook("startup").OK()
	if err := ann.Engine.Roster.AskedPerson(t.Context(), ann.Hook()); err != nil {
		t.Fatal(err)
	}
	expect("an agent asks for a permission", presence.NeedAnswer)

	first := look(carl).Needs[0]
	s.Later(time.Minute)
	if again := look(carl).Needs[0]; again != first {
		t.Errorf("a need that lasts is told anew: %+v, %+v", first, again)
	}

	ann.Works()
	expect("it works on")

	w := s.ReadyToMerge("login", bob, ann)
	expect("a task is approved", presence.NeedMerge)
	if n := look(carl).Needs[0]; n.Task != w.Task || n.NextAction != "tt task merge login" {
		t.Errorf("%+v", n)
	}
	if c := look(carl).Task("LOGIN").Changed; c == nil || c.Files != 1 || c.Added == 0 {
		t.Errorf("its worker has changed %+v", c)
	}

	ann.Try().Granted(1)
	ann.Dies()
	expect("the holder has died", presence.NeedTakeover, presence.NeedMerge)
}

// TestWhatNeedsAPerson_rescue: work that a command took away needs a person until it is back, or its copy is
// forgotten. The line names the files, and a command that ends it.
func TestWhatNeedsAPerson_rescue(t *testing.T) {
	undo := func(carl *scene.Actor, n presence.Need) {
		var call int64
		if _, err := fmt.Sscanf(string(n.NextAction), "tt undo %d", &call); err != nil {
			t.Fatalf("%s: %v", n.NextAction, err)
		}
		carl.UndoCall(restore.UndoCallParams{ID: call}).OK()
	}

	for how, ends := range map[string]func(*scene.Actor, presence.Need){
		"its call is undone": undo,
		"its rescue is restored": func(carl *scene.Actor, n presence.Need) {
			carl.RestoreRescue(restore.RestoreRescueParams{ID: n.Rescue}).OK()
		},
		"its rescue is forgotten": func(carl *scene.Actor, n presence.Need) {
			carl.ForgetRescue(restore.ForgetRescueParams{ID: n.Rescue}).OK()
		},
		"nothing is left to undo": func(carl *scene.Actor, n presence.Need) {
			if err := os.WriteFile(filepath.Join(carl.Work, "a.go"), []byte("by bob\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			undo(carl, n)
		},
	} {
		t.Run(how, func(t *testing.T) {
			s := scene.InGit(t)
			ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
			s.Joins(ann, bob, carl)
			s.Commit("a.go", "a")

			bob.Executes("echo by bob > a.go", nil)
			ann.Executes("git reset --hard", nil)
			all := look(carl).Needs
			if len(all) != 1 || all[0].Kind != presence.NeedRescue {
				t.Fatalf("%+v", all)
			}

			want := string(ann.ID) + ` ran "git reset --hard", which took a.go, work of ` + string(bob.ID) + "; a copy was kept"
			if got := string(all[0].Text); got != want {
				t.Errorf("%s, want %s", got, want)
			}

			// What is said meanwhile doesn't take its place.
			for range 40 {
				ann.SendAs(engine.SendMessageParams{To: []stick.AgentID{bob.ID}, Body: "progress: tests pass"}).OK()
			}
			if left := needs(carl); len(left) != 1 {
				t.Fatalf("after forty messages: %+v", left)
			}

			ends(carl, all[0])
			if left := needs(carl); len(left) > 0 {
				t.Errorf("%+v", left)
			}
		})
	}
}

// TestAMonitorFollows: whoever watches gets a new picture of each change, and a picture never changes.
func TestAMonitorFollows(t *testing.T) {
	s := scene.New(t)
	ann, carl := s.Agent("claude:a"), s.Person("carl")
	s.Joins(ann)
	m := monitor.New(watchedBy(carl))
	changed, stop := m.Changed()
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()

	until := func(what string, holds func(*monitor.Picture) bool) *monitor.Picture {
		t.Helper()
		for !holds(m.Picture()) {
			select {
			case <-changed:
			case <-time.After(time.Minute):
				t.Fatalf("%s: no picture shows it", what)
			}
		}

		return m.Picture()
	}

	free := until("the room", func(p *monitor.Picture) bool { return len(p.Rooms) == 1 })
	ann.Try().Granted(1)
	until("a turn", func(p *monitor.Picture) bool { o := p.Rooms[0].State.Owner; return o != nil && *o == ann.ID })
	if free.Rooms[0].State.Owner != nil {
		t.Error("an old picture has changed")
	}

	s.AgentIn("codex:b", s.Dir("other")).JoinPath(engine.JoinPathParams{}).OK()
	until("a new room", func(p *monitor.Picture) bool { return len(p.Rooms) == 2 })
	ann.Dies()
	until("an end", func(p *monitor.Picture) bool {
		return slices.ContainsFunc(p.Needs(), func(n monitor.NeedIn) bool { return n.Kind == presence.NeedTakeover })
	})
	cancel()
	if err := <-ended; stick.CodeOf(err) != stick.CodeCanceled {
		t.Error(err)
	}
}

// TestAWorkerThatHasNotReadWhy: a task that came back says whether its worker has read why, and needs a
// person if the worker is gone.
func TestAWorkerThatHasNotReadWhy(t *testing.T) {
	s := scene.InGit(t)
	s.Queue("true")
	ann, carl := s.Agent("claude:a"), s.Person("carl")
	s.Joins(ann, carl)
	ann.Spawn("login").OK()
	w := ann.WorksOn("login")
	w.Commits("a.txt", "x")
	w.Done("").OK()
	unread := func() bool { return look(carl).Unread[stick.TaskKey("login")] }
	s.Check(!unread(), "nothing has come back")
	carl.WorkerDiff(task.WorkerDiffParams{TaskID: "login"}).OK()
	carl.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "login", Reason: "almost"}).OK()
	s.Check(unread(), "its worker has read why without a call")
	ann.Works()
	s.Check(!unread(), "its worker hasn't read why, which a hook has shown")
	ann.Dies()
	r := look(carl)
	s.Check(len(r.Needs) == 1 && r.Needs[0].Text == "login came back (review), and its worker is gone", "%+v", r.Needs)
}
