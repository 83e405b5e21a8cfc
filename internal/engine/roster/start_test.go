package roster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestSessionsHaveRoles: the first session leads, the others help. When the first ends, another can be
// promoted.
func TestSessionsHaveRoles(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c"), s.Person("carl")
	carl.Starts().Refused(stick.CodeUsage)
	ann.StartSession(roster.StartSessionParams{HookParams: core.HookParams{Where: core.Where{RoomID: "x"}}}).Refused(stick.CodeNoRoom)
	ann.GetSession(roster.GetSessionParams{}).That("none yet", func(r roster.GetSessionResult) bool { return r.Role == "" })
	ann.ListSessions(roster.ListSessionsParams{}).That("none yet", func(r roster.ListSessionsResult) bool { return len(r.Sessions) == 0 })
	ann.Starts().As(stick.RolePrimary, stick.StartFresh).That("the others", func(r roster.StartSessionResult) bool { return len(r.Others) == 2 && r.Created })
	bob.Starts().As(stick.RoleHelper, stick.StartHelper).That("who leads", func(r roster.StartSessionResult) bool { return r.Primary != nil && *r.Primary == ann.ID })
	ann.StartsByHook("resume").That("that it goes on", func(r roster.StartSessionResult) bool { return r.Already && r.Role == stick.RolePrimary })
	cyd.StartsByHook("startup").As(stick.RoleHelper, stick.StartHelper)
	s.Check(ann.Session().Role == stick.RolePrimary && bob.Session().Role == stick.RoleHelper, "roles")
	list := ann.ListSessions(roster.ListSessionsParams{}).OK()
	s.Check(len(list.Sessions) == 3 && list.Sessions[0].Self, "%+v", list)
	bob.PromoteSession(roster.PromoteSessionParams{}).Refused(stick.CodeMemberPresent)
	carl.PromoteSession(roster.PromoteSessionParams{}).Refused(stick.CodeUsage)
	ann.PromoteSession(roster.PromoteSessionParams{}).That("already", func(r roster.PromoteSessionResult) bool { return r.Already })
	ann.Dies()
	bob.PromoteSession(roster.PromoteSessionParams{}).That("ann's place", func(r roster.PromoteSessionResult) bool { return r.Replaced != nil && *r.Replaced == ann.ID })
	s.Check(bob.Session().Role == stick.RolePrimary, "bob isn't the primary")
	bob.Ends().That("that it leaves", func(r roster.EndSessionResult) bool { return len(r.Left) == 1 })
	bob.Ends().That("nothing", func(r roster.EndSessionResult) bool { return len(r.Left) == 0 })
	carl.Ends().Refused(stick.CodeUsage)
	all := cyd.ListSessions(roster.ListSessionsParams{All: true}).OK()
	s.Check(len(all.Sessions) > 1, "%+v", all)
	s.Agent("codex:z").PromoteSession(roster.PromoteSessionParams{}).Refused(stick.CodeUnknownMember)
}

// TestASessionThatCrashed: the next session recovers its context file and the room's last handoff.
func TestASessionThatCrashed(t *testing.T) {
	s := scene.New(t)
	ann := s.Agent("claude:a")
	ann.Join().OK()
	ann.Starts().As(stick.RolePrimary, stick.StartFresh)
	context := ann.Session().Context
	ann.Try().Granted(1)
	ann.Release("half", "rest").OK()
	s.Later(time.Minute)
	s.File(strings.TrimPrefix(context, s.Work+"/"), string(ann.ID)+"\nwhat it knows\n")
	ann.Dies()
	bob := s.Agent("codex:b")
	bob.Starts().As(stick.RolePrimary, stick.StartRecover).That("what ann left", func(r roster.StartSessionResult) bool {
		return r.Recovered != nil && r.Recovered.AgentID == ann.ID && r.Recovered.Path == context && r.Recovered.Handoff.Status == "half"
	})
	s.Check(bob.Session().Recovered != nil, "a second question gets another answer")
}

// TestHowASessionEnds: when the harness ends a session, the agent leaves its room and its turn. When the
// agent itself wraps up, it must say why it abandons the turn, and its context file is removed.
func TestHowASessionEnds(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Starts().OK()
	bob.Starts().OK()
	ann.Try().Granted(1)
	ann.WrapsUp().Refused(stick.CodeInvalidHandoff)
	ann.EndSession(roster.EndSessionParams{Wrapped: true, Abandon: "no time"}).That("that its file goes", func(r roster.EndSessionResult) bool { return len(r.Removed) == 1 })
	bob.Try().Granted(2)
	kept := bob.Session().Context
	if err := os.WriteFile(kept, []byte("not ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bob.EndSession(roster.EndSessionParams{Wrapped: true, Abandon: "no time"}).That("that the file of others stays", func(r roster.EndSessionResult) bool { return slices.Equal(r.Kept, []string{kept}) })
	s.Agent("gemini:c").Ends().That("nothing", func(r roster.EndSessionResult) bool { return r.AgentID == "" })
}

// TestAnotherBeginsWithTheFile: a session ends while another one begins with the same file. The new one keeps
// the file, at whichever point it begins.
func TestAnotherBeginsWithTheFile(t *testing.T) {
	for _, point := range []string{"before aside", "aside"} {
		t.Run(point, func(t *testing.T) {
			s := scene.New(t)
			ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
			s.Joins(ann, bob)
			ann.Starts().As(stick.RolePrimary, stick.StartFresh)
			file := ann.Session().Context
			s.File(strings.TrimPrefix(file, s.Work+"/"), string(ann.ID)+"\n")
			s.Later(time.Minute)
			ann.Meets(point, func() { bob.Starts().As(stick.RolePrimary, stick.StartFresh) }, func(a *scene.Actor) { a.WrapsUp().OK() })
			if _, err := os.Stat(file); err != nil || bob.Session().Context != file {
				t.Errorf("bob's file: %v; bob's path is %s", err, bob.Session().Context)
			}
		})
	}
}

// TestStartsOutsideOfRooms: an agent that is alone writes nothing. A project's file switches sessions off,
// and adds instructions.
func TestStartsOutsideOfRooms(t *testing.T) {
	s := scene.New(t)
	ann := s.Agent("claude:a")
	ann.StartsByHook("startup").Silent().That("alone", func(r roster.StartSessionResult) bool { return r.Alone != nil && *r.Alone })
	s.File(".talking-stick/instructions.md", "mind the step\n")
	scene.Started{Answer: ann.StartSession(roster.StartSessionParams{Launched: true, Context: "name"})}.As(stick.RoleHelper, stick.StartHelper).
		That("the instructions", func(r roster.StartSessionResult) bool { return r.Instructions == "mind the step" && r.Note != "" })
	s.File(".talking-stick/instructions.md", strings.Repeat("x", 5000))
	bob := s.Agent("codex:b")
	s.File(".talking-stick.toml", "[session]\nauto = false\nanchor = \"notes/lead.md\"\n")
	bob.StartsByHook("startup").Silent()
	bob.Starts().As(stick.RolePrimary, stick.StartFresh).That("no instructions", func(r roster.StartSessionResult) bool {
		return strings.Contains(r.Instructions, "left out") && strings.Contains(r.Context, "notes")
	})
	s.File(".talking-stick.toml", "nonsense")
	cyd := s.Agent("gemini:c")
	cyd.Starts().Refused(stick.CodeProjectConfig)
	cyd.GetSession(roster.GetSessionParams{}).Refused(stick.CodeProjectConfig)
	carl := s.Person("carl")
	carl.KickAnyway(bob).OK()
	s.File(".talking-stick.toml", "")
	bob.StartsByHook("startup").Silent()
	bob.Starts().Refused(stick.CodeKicked)
	ann.Leave().OK()
	ann.StartsByHook("compact").Silent()
	s.Dir("work/.ai")
	cyd.Starts().That("its place", func(r roster.StartSessionResult) bool { return strings.Contains(r.Context, ".ai/session-context") })
}

// TestWhatHooksShow: hooks show new events after tool calls. They keep an agent from stopping once, while it
// has the stick or an open message.
func TestWhatHooksShow(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann)
	bob.ReadNews(core.HookParams{}).That("that its session hasn't started", func(r engine.ReadNewsResult) bool { return r.Unstarted })
	bob.Stops().That("nothing", func(r roster.CheckStopResult) bool { return !r.Block && r.RoomID == "" })
	bob.Starts().OK()
	for i := range 25 {
		ann.Tell(fmt.Sprint(i))
	}
	shown, more := bob.Works()
	s.Check(len(shown) == 20 && more, "%d shown", len(shown))
	bob.ReadNews(core.HookParams{Sub: true}).That("nothing to a sub-agent", func(r engine.ReadNewsResult) bool { return len(r.Events) == 0 })
	shown, more = bob.Works()
	s.Check(len(shown) == 5 && !more, "%d shown", len(shown))

	bob.Try().Granted(1)
	bob.Stops().That("that it is kept from stopping", func(r roster.CheckStopResult) bool { return r.Block && strings.Contains(string(r.Reason), "--turn 1") })
	bob.Idle() // once
	id := ann.SendAs(engine.SendMessageParams{To: []stick.AgentID{bob.ID}, Body: "b", RequiresAck: new(true)}).ID()
	bob.CheckStop(roster.CheckStopParams{Held: true}).That("not twice in a row", func(r roster.CheckStopResult) bool { return !r.Block })
	bob.Stops().That("the open message", func(r roster.CheckStopResult) bool {
		return r.Block && strings.Contains(string(r.Reason), "acknowledgement")
	})
	ann.SendAs(engine.SendMessageParams{To: []stick.AgentID{bob.ID}, Body: "c", RequiresAck: new(true)}).OK()
	bob.Stops().That("both", func(r roster.CheckStopResult) bool { return strings.Contains(string(r.Reason), "2 messages") })
	bob.Accepts(id).OK()
	bob.Pass(ann, "s", "n").OK()
	ann.Stops().That("the stick that is reserved for it", func(r roster.CheckStopResult) bool { return r.Block && strings.Contains(string(r.Reason), "tt wait") })
	ann.CheckStop(roster.CheckStopParams{HookParams: core.HookParams{Where: core.Where{Path: filepath.Join(s.Work, "gone")}}}).OK()
}

// TestWhoIsAtWork: the roster lists members and processes.
func TestWhoIsAtWork(t *testing.T) {
	s := scene.New(t)
	ann, carl := s.Agent("claude:a"), s.Person("carl")
	ann.GetRoster(roster.GetRosterParams{}).That("alone", func(r roster.GetRosterResult) bool { return r.Alone != nil && *r.Alone && r.RoomID == "" })
	bob := s.Agent("codex:b")
	gone := s.Agent("gemini:c")
	far := s.AgentElsewhere("opencode:d")
	there := s.AgentIn("claude:e", s.Dir("elsewhere"))
	far.GetRoster(roster.GetRosterParams{}).That("blind, without a room", func(r roster.GetRosterResult) bool { return r.Blind && r.Alone == nil })
	far.StartsByHook("startup").Silent().That("not known to be alone", func(r roster.StartSessionResult) bool { return r.Blind && r.Alone == nil })
	s.Joins(ann, gone, far)
	gone.Dies()
	r := ann.GetRoster(roster.GetRosterParams{All: true}).OK()
	s.Check(len(r.Others) >= 2 && r.Alone != nil && !*r.Alone && len(r.More) > 0, "%+v", r)
	s.Check(slices.ContainsFunc(r.Others, func(o roster.RosterAgent) bool { return o.Harness == "codex" && !o.Registered }), "bob isn't in %+v", r.Others)
	bob.Starts().OK()
	r = carl.GetRoster(roster.GetRosterParams{}).OK()
	s.Check(slices.ContainsFunc(r.Others, func(o roster.RosterAgent) bool { return o.AgentID == bob.ID && o.Role == stick.RoleHelper }), "bob isn't in %+v", r.Others)
	far.GetRoster(roster.GetRosterParams{}).That("blind", func(r roster.GetRosterResult) bool { return r.Blind })
	there.GetRoster(roster.GetRosterParams{Where: core.Where{Path: s.Work}}).OK()
}
