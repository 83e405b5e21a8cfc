package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/clitest"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// op is an operation of the campaign.
type op struct {
	Kind   string `json:"kind"` // try, wait, release, pass, take, heartbeat, leave, join, state, events, send
	WaitMS int64  `json:"wait_ms,omitempty"`
	Park   bool   `json:"park,omitempty"`
	Turn   int64  `json:"turn,omitempty"` // the fence; 0 for the caller's own last grant
	Lease  string `json:"lease,omitempty"`
	To     string `json:"to,omitempty"`   // of send: names, separated by commas
	Note   string `json:"note,omitempty"` // the status of a handoff, or the body of a message: unique
	After  int64  `json:"after,omitempty"`
}

func (o op) String() string { b, _ := json.Marshal(o); return string(b) }

const nextAction = "go on with the campaign"

// args is the operation as a command line.
func (o op) args() []string {
	var a []string
	fence := func() {
		if o.Turn != 0 {
			a = append(a, "--turn", strconv.FormatInt(o.Turn, 10), "--lease", o.Lease)
		}
	}

	switch o.Kind {
	case "wait":
		a = []string{"wait", "--timeout", fmt.Sprintf("%dms", o.WaitMS)}
		if o.Park {
			a = append(a, "--park")
		}

	case "release":
		a = []string{"release", "--status", o.Note, "--next-action", nextAction}
		fence()
	case "pass":
		a = []string{"pass", o.To, "--status", o.Note, "--next-action", nextAction}
		fence()
	case "take":
		a = []string{"take", "--reason", "the campaign wants it"}
	case "heartbeat":
		a = []string{"heartbeat"}
		fence()

	case "leave":
		a = []string{"leave"}
		if o.Note != "" {
			a = append(a, "--status", o.Note, "--next-action", nextAction)
			fence()
		} else {
			a = append(a, "--abandon", "the campaign leaves")
		}

	case "send":
		a = []string{"msg", "send", o.To, o.Note}
	case "events":
		a = []string{"events", "--target", "any", "--after", strconv.FormatInt(o.After, 10), "--limit", "500"}
	default:
		a = []string{o.Kind}
	}

	return a
}

// actor calls the operations in its own process, all through one engine.
type actor struct {
	engine *engine.Engine
	caller core.Caller
	path   string
}

// clientEnv makes an actor play the server of an MCP client of that name. A client introduces itself by it.
const clientEnv = "TT_TEST_CLIENT"

func newActor() *actor {
	procs, err := proc.Host()
	if err != nil {
		panic(err)
	}
	database := os.Getenv("TALKING_STICK_DATABASE_URL")
	procs.OneHost = database == ""
	if boot := os.Getenv(clitest.Boot); boot != "" {
		procs.PIDSpace.Boot = boot
	}
	procs.Top, _ = strconv.Atoi(os.Getenv(clitest.Top))
	chain, complete := procs.Ancestry(os.Getpid())
	const name = "TT_HARNESS_AGENT_ID"
	in := harness.Input{
		Getenv: os.Getenv, Chain: chain, Complete: complete, User: "ann", Host: "here", As: os.Getenv(name),
		AsSource: name,
	}
	if client := os.Getenv(clientEnv); client != "" {
		in.Connection = &harness.Connection{Client: client}
		in.Chain = slices.DeleteFunc(chain, func(p proc.Info) bool { return p.ID.PID == os.Getpid() }) // it plays tt
	}

	caller, err := harness.Resolve(in)
	if err != nil {
		panic(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}

	cfg := core.Config{
		Dir: os.Getenv("TALKING_STICK_DATA_DIR"), Database: database, Procs: procs,
		Workspace: workspace.Env{Dir: dir, Home: os.Getenv("HOME")},
	}
	if d, err := time.ParseDuration(os.Getenv(clitest.Clock)); err == nil {
		cfg.Now = func() time.Time { return time.Now().Add(d) }
	}
	return &actor{engine: engine.New(engine.Config{Kernel: core.New(cfg)}), caller: caller, path: dir}
}

func (a *actor) serve(q request, answer func(reply)) {
	res, err := a.do(context.Background(), *q.Op)
	r := reply{ID: q.ID, Done: true}
	if err != nil {
		e := stick.AsError(err)
		b, _ := json.Marshal(e)
		r.Exit, r.Err = e.Code.Info().Exit, string(b)
	} else {
		b, err := json.Marshal(res)
		if err != nil {
			panic(err)
		}
		r.Out = string(b)
	}
	answer(r)
}

func (a *actor) do(ctx context.Context, o op) (any, error) {
	e, by, at := a.engine, a.caller, core.Where{Path: a.path}
	fence := engine.Fence{Turn: o.Turn, Lease: stick.LeaseID(o.Lease)}
	handoff := stick.Handoff{Status: o.Note, NextAction: nextAction}
	switch o.Kind {
	case "try", "wait":
		res, err := e.WaitForTurn(ctx, engine.WaitForTurnParams{
			Caller: by, Where: at, MaxWaitMS: &o.WaitMS, Park: o.Park,
		})
		if err != nil {
			return res, err
		}
		return res, e.RecordShown(ctx, res)

	case "release":
		return e.ReleaseStick(ctx, engine.ReleaseStickParams{Caller: by, Where: at, Fence: fence, Handoff: handoff})
	case "pass":
		return e.PassStick(ctx, engine.PassStickParams{
			Caller: by, Where: at, Fence: fence, To: stick.AgentID(o.To), Handoff: handoff,
		})
	case "take":
		return e.TakeoverStick(ctx, engine.TakeoverStickParams{Caller: by, Where: at, Reason: "the campaign wants it"})
	case "heartbeat":
		return e.Heartbeat(ctx, engine.HeartbeatParams{Caller: by, Where: at, Fence: fence})

	case "leave":
		p := engine.LeaveRoomParams{Caller: by, Where: at, Abandon: "the campaign leaves"}
		if o.Note != "" {
			p.Abandon, p.Handoff, p.Fence = "", &handoff, fence
		}
		return e.LeaveRoom(ctx, p)

	case "send":
		p := engine.SendMessageParams{Caller: by, Where: at, Body: o.Note}
		for _, name := range strings.Split(o.To, ",") {
			p.To = append(p.To, stick.AgentID(name))
		}
		return e.SendMessage(ctx, p)

	case "join":
		return e.JoinPath(ctx, engine.JoinPathParams{Caller: by, Path: a.path})
	case "state":
		return e.GetRoomState(ctx, engine.GetRoomStateParams{Caller: by, Where: at})
	case "events":
		return e.Log.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
			Caller: by, Where: at,
			EventFilter: eventlog.EventFilter{Target: eventlog.TargetAny, After: o.After, Limit: 500},
		})
	}
	panic("unknown operation " + o.Kind)
}
