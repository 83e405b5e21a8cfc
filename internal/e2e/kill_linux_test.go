package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"talkingstick/internal/clitest"
	"talkingstick/internal/store"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// scene is a room with three agents. The first may have the stick.
type scene struct {
	*testing.T
	w       *world
	a, b, c *agent
	names   [3]stick.AgentID
	db      *store.DB
	room    stick.RoomID
}

func newScene(t *testing.T) *scene {
	w := newWorld(t)
	s := &scene{
		T: t, w: w, a: w.start("claude", "runner", nil), b: w.start("codex", "runner", nil),
		c: w.start("opencode", "runner", nil),
	}
	for i, h := range []*agent{s.a, s.b, s.c} {
		j := said(t, ok(t, h.tt("join")))
		s.names[i], s.room = j.Agent, j.Room
	}

	db, err := store.Open(t.Context(), w.database(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s.db = db
	return s
}

// look returns the room as it is stored, and its log.
func (s *scene) look() (r stick.Room, log []stick.Event) {
	s.Helper()
	err := s.db.View(s.Context(), func(tx *store.Tx) (err error) {
		if r, err = tx.Room(s.room); err != nil {
			return err
		}
		log, _, err = tx.Events(store.EventQuery{Room: s.room, Limit: 500})
		return err
	})
	if err != nil {
		s.Fatal(err)
	}

	return r, log
}

// TestKilledOperations kills the process of every operation right before and right after its commit. Before
// the commit, nothing has happened. After it, everything has, and the death itself wakes those who listen. In
// both cases the same command again is right.
func TestKilledOperations(t *testing.T) {
	testenv.Leaves(t, testenv.Every, "six of seven kills of each operation before and after its commit")

	handoff := []string{"--status", "what was done", "--next-action", "what is next"}
	with := func(args ...string) []string { return append(args, handoff...) }
	kills := 0
	for _, c := range []struct {
		name  string
		owned bool         // the first agent has the stick
		setup func(*scene) // what happens before the command
		args  func(*scene) []string
		wrote []stick.EventType // what is in the log afterwards
		again int               // exit status of the same command, once it has happened
		twice bool              // the same command again does it a second time
		check func(*scene, answer)
	}{
		{
			name: "join", args: func(*scene) []string { return []string{"join", "--as", "claude:new"} },
			wrote: []stick.EventType{stick.EventJoin},
		},
		{
			name: "try", args: func(*scene) []string { return []string{"try"} },
			wrote: []stick.EventType{stick.EventClaim},
			check: func(s *scene, a answer) {
				if a.Turn != 1 || a.Lease == "" {
					s.Errorf("asked again: %+v", a)
				}
			},
		},
		{
			name: "wait", args: func(*scene) []string { return []string{"wait"} },
			wrote: []stick.EventType{stick.EventClaim},
			setup: func(s *scene) { own(s.T, s.b); release(s.T, s.b, "for whoever comes") },
			check: func(s *scene, a answer) {
				if a.Turn != 2 || a.Handoff == nil || a.Handoff.Status != "for whoever comes" {
					s.Errorf("asked again: %+v", a)
				}
			},
		},
		{
			name: "release", owned: true, args: func(*scene) []string { return with("release") },
			wrote: []stick.EventType{stick.EventRelease},
			check: func(s *scene, a answer) {
				_, log := s.look()
				if e := last(log, stick.EventRelease); !a.Already ||
					a.Seq != e.Seq ||
					a.Turn != 1 ||
					e.Handoff.Status != "what was done" {
					s.Errorf("released again: %+v, and the log says %+v", a, e)
				}
			},
		},
		{
			name: "pass", owned: true,
			args:  func(s *scene) []string { return with("pass", string(s.names[1])) },
			wrote: []stick.EventType{stick.EventPass},
			check: func(s *scene, a answer) {
				if !a.Already || a.Reserved == nil || *a.Reserved != s.names[1] {
					s.Errorf("passed again: %+v", a)
				}
			},
		},
		{
			name: "take", args: func(*scene) []string { return []string{"take", "--reason", "it is gone"} },
			wrote: []stick.EventType{stick.EventTakeover},
			setup: func(s *scene) { own(s.T, s.b); s.b.kill() },
			check: func(s *scene, a answer) {
				if !a.Already || a.Turn != 2 {
					s.Errorf("taken again: %+v", a)
				}
			},
		},
		{
			name: "handoff-save", owned: true,
			args:  func(*scene) []string { return []string{"handoff", "save", "half", "--next-action", "the rest"} },
			wrote: []stick.EventType{stick.EventDraftSaved},
			check: func(s *scene, a answer) {
				if !a.Already || a.Turn != 1 {
					s.Errorf("saved again: %+v", a)
				}
			},
		},
		{name: "heartbeat", owned: true, args: func(*scene) []string { return []string{"heartbeat"} }},
		{
			name: "leave", args: func(*scene) []string { return []string{"leave"} },
			wrote: []stick.EventType{stick.EventLeave},
		},
		{
			name: "leave-with-a-handoff", owned: true, args: func(*scene) []string { return with("leave") },
			wrote: []stick.EventType{stick.EventRelease, stick.EventLeave},
		},
		{
			name: "leave-abandoning", owned: true,
			args:  func(*scene) []string { return []string{"leave", "--abandon", "no more"} },
			wrote: []stick.EventType{stick.EventLeave},
		},
		{
			name: "kick", args: func(s *scene) []string { return []string{"kick", string(s.names[1])} },
			wrote: []stick.EventType{stick.EventKick},
			setup: func(s *scene) { own(s.T, s.b); s.b.kill() },
		},
		{
			name: "close", owned: true, args: func(*scene) []string { return with("close") },
			wrote: []stick.EventType{stick.EventRelease, stick.EventClose},
		},
		{
			name: "policy", args: func(*scene) []string { return []string{"policy", "set", "claim_ttl=7m"} },
			wrote: []stick.EventType{stick.EventPolicyChanged},
		},
		{
			name:  "reorder",
			args:  func(s *scene) []string { return []string{"reorder", string(s.names[2]), string(s.names[0])} },
			wrote: []stick.EventType{stick.EventPolicyChanged},
		},
		{
			name: "send", args: func(s *scene) []string { return []string{"msg", "send", "room", "hello"} },
			twice: true,
			wrote: []stick.EventType{stick.EventMessageSent},
		},
		{
			name: "read", setup: question,
			args:  func(*scene) []string { return []string{"msg", "read", "4"} },
			wrote: []stick.EventType{stick.EventMessageRead},
		},
		{
			name: "ack", setup: question, args: func(*scene) []string { return []string{"ack", "4"} },
			wrote: []stick.EventType{stick.EventMessageAcked},
		},
		{
			name: "withdraw", args: func(*scene) []string { return []string{"msg", "withdraw", "4"} },
			wrote: []stick.EventType{stick.EventMessageWithdrawn},
			setup: func(s *scene) { ok(s.T, s.a.tt("msg", "send", "room", "wait with it")) },
		},
		{
			name: "note", args: func(*scene) []string { return []string{"notes", "add", "mind the gap"} }, twice: true,
			wrote: []stick.EventType{stick.EventNoteAdded},
		},
		{
			name: "resolve", args: func(*scene) []string { return []string{"notes", "resolve", "4"} },
			wrote: []stick.EventType{stick.EventNoteResolved},
			setup: func(s *scene) { ok(s.T, s.b.tt("notes", "add", "mind the gap")) },
		},
		{
			name: "session-start", args: func(*scene) []string { return []string{"session", "start"} },
			wrote: []stick.EventType{stick.EventSessionStarted},
			check: func(s *scene, a answer) {
				if file := filepath.Join(s.w.work, ".talking-stick", "session.md"); !a.Already || !exists(file) {
					s.Errorf("started again: %+v, and the context file is there: %v", a, exists(file))
				}
			},
		},
		{
			name: "session-end", args: func(*scene) []string { return []string{"session", "end"} },
			wrote: []stick.EventType{stick.EventSessionEnded, stick.EventLeave},
			setup: func(s *scene) { ok(s.T, s.a.tt("session", "start")) },
		},
		{
			name: "session-promote", args: func(*scene) []string { return []string{"session", "promote"} },
			wrote: []stick.EventType{stick.EventSessionStarted},
			setup: func(s *scene) { ok(s.T, s.a.tt("session", "start", "--helper")) },
			check: func(s *scene, a answer) {
				if !a.Already {
					s.Errorf("promoted again: %+v", a)
				}
			},
		},
	} {
		for _, point := range []string{"before commit", "after commit"} {
			kills++
			if !testenv.KillsAt(kills - 1) {
				continue
			}

			t.Run(c.name+"/"+strings.ReplaceAll(point, " ", "-"), func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				if c.owned {
					own(t, s.a)
				}
				if c.setup != nil {
					c.setup(s)
				}
				before, log := s.look()
				follow := s.c.begin("events", "--wait", "--target", "any", "--after", lastSeq(log))
				means := s.listens(follow)
				killed := s.a.do(request{Args: c.args(s), Env: []string{clitest.Kill + "=" + point}}).wait()
				if !killed.Killed || killed.Out != "" {
					t.Fatalf("it wasn't killed: %+v", killed)
				}

				after, more := s.look()
				more = more[len(log):]
				if point == "before commit" {
					if diff := cmp.Diff(before, after, cmpopts.IgnoreFields(stick.Evidence{}, "Gone")); diff != "" ||
						len(more) > 0 {
						t.Errorf("killed before its commit, it changed the room; events %v\n%s", more, diff)
					}
				} else {
					var types []stick.EventType
					for _, e := range more {
						types = append(types, e.Type)
					}
					if diff := cmp.Diff(c.wrote, types, cmpopts.EquateEmpty()); diff != "" {
						t.Errorf("killed after its commit, it left these events:\n%s", diff)
					}

					// A killed process rings by dying only where that makes the kernel ring.
					if len(c.wrote) > 0 && means == "inotify" && !follow.within(promptly) {
						t.Error("nobody was woken by the death")
					}
				}

				again := s.a.tt(c.args(s)...)
				if again.Exit != c.again {
					t.Fatalf("done again: exit %d, want %d\n%s%s", again.Exit, c.again, again.Out, again.Err)
				}

				final, whole := s.look()
				wrote := c.wrote
				if c.twice && point == "after commit" {
					wrote = slices.Concat(wrote, wrote)
				}
				var types []stick.EventType
				for _, e := range whole[len(log):] {
					types = append(types, e.Type)
				}
				if diff := cmp.Diff(wrote, types, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("done again, the log has something else than once:\n%s", diff)
				}

				if point == "after commit" && !c.twice {
					ignore := cmpopts.IgnoreFields(stick.Member{}, "LastSeenAt") // each act is seen
					if diff := cmp.Diff(after, final, ignore, cmpopts.IgnoreFields(stick.Turn{}, "Acked", "RenewedAt", "HeartbeatAt")); diff != "" {
						t.Errorf("done again, it changed something:\n%s", diff)
					}

					if c.check != nil {
						c.check(s, said(t, again))
					}
				}

				if len(c.wrote) > 0 && !follow.within(patience) {
					t.Error("nobody was woken")
				}
				s.w.healthy()
			})
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// question is a message to the first agent, event 4, that asks to be accepted.
func question(s *scene) {
	ok(s.T, s.b.tt("msg", "send", string(s.names[0]), "may I?", "--requires-ack"))
}

func lastSeq(log []stick.Event) string {
	b, _ := json.Marshal(log[len(log)-1].Seq)
	return string(b)
}

// listens waits until a process that follows events listens for the bell, and returns by which means.
func (s *scene) listens(r *run) (means string) {
	s.Helper()
	soon(s, "the log is watched", func() bool {
		means = hears(r.pid)
		return means != "" || r.over()
	})
	return means
}
