package scene

import (
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/stick"
)

// Hook is what a hook of the actor's harness knows.
func (a *Actor) Hook() core.HookParams {
	return core.HookParams{Caller: a.By, Where: core.Where{Path: a.dir}, Inbox: a.inbox}
}

// Started is the answer to an agent that starts a session.
type Started struct {
	Answer[roster.StartSessionResult]
}

// As expects this role of the session, and this kind of start.
func (x Started) As(role stick.Role, how stick.StartKind) Started {
	x.by.Helper()
	if x.Err != nil || x.Res.Role != role || x.Res.Start != how {
		x.failStory("%s, %s", role, how)
	}
	return x
}

// Silent expects that the start did nothing.
func (x Started) Silent() Started {
	x.by.Helper()
	if x.Err != nil || x.Res.RoomID != "" {
		x.failStory("a start that does nothing")
	}
	return x
}

// Starts starts a session, as the agent itself does.
func (a *Actor) Starts() Started { return Started{a.StartSession(roster.StartSessionParams{})} }

// StartsByHook starts a session, as the harness's hook does.
func (a *Actor) StartsByHook(source string) Started {
	return Started{a.StartSession(roster.StartSessionParams{HookParams: a.Hook(), Auto: true, Source: source})}
}

// StartsAsHelper starts a session that is to be a helper.
func (a *Actor) StartsAsHelper() Started {
	return Started{a.StartSession(roster.StartSessionParams{Helper: true})}
}

// Ends ends the session, as the harness's hook does.
func (a *Actor) Ends() Answer[roster.EndSessionResult] {
	return a.EndSession(roster.EndSessionParams{Why: "exit"})
}

// WrapsUp ends the session, as the agent itself does.
func (a *Actor) WrapsUp() Answer[roster.EndSessionResult] {
	return a.EndSession(roster.EndSessionParams{Wrapped: true})
}

// Session returns the actor's session.
func (a *Actor) Session() roster.GetSessionResult {
	a.Helper()
	return a.GetSession(roster.GetSessionParams{}).OK()
}

// Works plays the hook after a tool call. It returns the events that the hook shows, and records them as
// shown.
func (a *Actor) Works() (shown []string, more bool) {
	a.Helper()
	x := a.ReadNews(core.HookParams{})
	res := x.OK()
	if err := a.Engine.RecordShownByHook(a.Context(), a.Hook(), res); err != nil {
		a.failStory("recording what %s was shown: %v", a.Name, err)
	}
	return Bodies(res.Events), res.More
}

// Stops plays the hook of an agent that wants to stop.
func (a *Actor) Stops() Answer[roster.CheckStopResult] {
	return a.CheckStop(roster.CheckStopParams{HookParams: a.Hook()})
}

// Idle plays an agent that stops, and fails the story if something keeps it from that.
func (a *Actor) Idle() {
	a.Helper()
	if res := a.Stops().OK(); res.Block {
		a.failStory("%s is kept from stopping: %s", a.Name, res.Reason)
	}
}
