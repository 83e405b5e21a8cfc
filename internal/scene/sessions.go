package scene

import (
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// Hook is what a hook of the actor's harness knows.
func (a *Actor) Hook() engine.HookParams {
	return engine.HookParams{Caller: a.By, Where: core.Where{Path: a.dir}}
}

// Started is the answer to a session that starts.
type Started struct {
	Answer[engine.StartSessionResult]
}

// As expects the role of the session, and how it begins.
func (x Started) As(role stick.Role, how stick.StartKind) Started {
	x.by.Helper()
	if x.Err != nil || x.Res.Role != role || x.Res.Start != how {
		x.fail("%s, %s", role, how)
	}
	return x
}

// Silent expects that nothing was done.
func (x Started) Silent() Started {
	x.by.Helper()
	if x.Err != nil || x.Res.RoomID != "" {
		x.fail("that nothing is done")
	}
	return x
}

// Starts is a session start of the agent's own.
func (a *Actor) Starts() Started { return Started{a.StartSession(engine.StartSessionParams{})} }

// StartsByHook is a session start by the harness's hook.
func (a *Actor) StartsByHook(source string) Started {
	return Started{a.StartSession(engine.StartSessionParams{Auto: true, Source: source})}
}

// StartsAsHelper is a session start of one who was told to help.
func (a *Actor) StartsAsHelper() Started {
	return Started{a.StartSession(engine.StartSessionParams{Helper: true})}
}

// Ends is the end of a session by the harness's hook.
func (a *Actor) Ends() Answer[engine.EndSessionResult] {
	return a.EndSession(engine.EndSessionParams{Why: "exit"})
}

// WrapsUp is the end of a session by the agent itself.
func (a *Actor) WrapsUp() Answer[engine.EndSessionResult] {
	return a.EndSession(engine.EndSessionParams{Wrapped: true})
}

// Session is the actor's session.
func (a *Actor) Session() engine.GetSessionResult {
	a.Helper()
	return a.GetSession(engine.GetSessionParams{}).OK()
}

// Works is a hook after a tool call: what it shows, which is noted as shown.
func (a *Actor) Works() (shown []string, more bool) {
	a.Helper()
	x := a.DeliverEvents(engine.HookParams{})
	res := x.OK()
	if err := a.Engine.HookDelivered(a.Context(), a.Hook(), res); err != nil {
		a.fail("%s is shown: %v", a.Name, err)
	}
	return Bodies(res.Events), res.More
}

// Stops is a hook when the agent wants to stop.
func (a *Actor) Stops() Answer[engine.CheckStopResult] {
	return a.CheckStop(engine.CheckStopParams{})
}

// Idle has the agent stop, which nothing keeps it from.
func (a *Actor) Idle() {
	a.Helper()
	if res := a.Stops().OK(); res.Block {
		a.fail("%s is held back: %s", a.Name, res.Reason)
	}
}
