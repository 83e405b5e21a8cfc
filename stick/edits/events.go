package edits

import (
	"slices"

	"talkingstick/stick"
)

// Denied makes the event that a hook stopped an edit. One event in a turn is enough.
func Denied(r stick.Room, by stick.AgentID, paths []string) stick.Event {
	return r.NewEvent(stick.EventStickDenied, by, "").WithPayload(stick.StickDeniedPayload{Paths: clipPaths(paths)})
}

// DeniedCommand makes the event that a hook stopped a command, see [NotKept]. The sum tells the command
// from others, see [AskedAgain].
func DeniedCommand(r stick.Room, by stick.AgentID, form, sum string) stick.Event {
	return r.NewEvent(stick.EventStickDenied, by, "").WithPayload(stick.StickDeniedPayload{
		Command: stick.Clip(form, maxCommand), Sum: sum,
	})
}

// EditTold makes the event that an agent was told of an edit against the rules. It is for the holder of the
// stick, if there is one; in a pause, for the person who paused the room, if that is a member. One event in a
// turn is enough, see [Told].
func EditTold(r stick.Room, by stick.AgentID, paths []string) stick.Event {
	to := stick.AgentID("")

	// In a pause the person who paused it is told; else the holder.
	switch {
	case r.IsJoined(r.Paused.By):
		to = r.Paused.By
	case !r.Paused.On() && r.Turn.State == stick.Owned:
		to = r.Turn.Owner
	}

	return r.NewEvent(stick.EventEditTold, by, to).WithPayload(stick.EditToldPayload{
		Paths: clipPaths(paths), Count: len(paths), Paused: r.Paused.On(),
	})
}

// PushTold is [EditTold] for a push to a branch that the members share.
func PushTold(r stick.Room, by stick.AgentID, branch string) stick.Event {
	return r.NewEvent(stick.EventEditTold, by, r.Turn.Owner).
		WithPayload(stick.EditToldPayload{Pushed: stick.Clip(branch, 256)})
}

// UnkeptTold makes the event that an agent was told that no copies can be kept of a checkout or a file.
// It concerns nobody else, and one event in a session is enough, see [ToldUnkept].
func UnkeptTold(r stick.Room, by stick.AgentID, path string) stick.Event {
	return r.NewEvent(stick.EventEditTold, by, "").WithPayload(stick.EditToldPayload{Unkept: stick.Clip(path, 256)})
}

// ToldUnkept reports whether an agent was told in its session that no copies can be kept, by its last events
// [stick.EventEditTold].
func ToldUnkept(r stick.Room, by stick.AgentID, last []stick.Event) bool {
	m, _ := r.Member(by)

	return slices.ContainsFunc(last, func(e stick.Event) bool {
		p, _ := stick.PayloadOf[stick.EditToldPayload](e)
		return p.Unkept != "" && e.CreatedAt >= m.Session.Since
	})
}

// Told reports whether an agent doesn't have to be told again, because of its last events [stick.EventEditTold]: in
// a turn once is enough, in a pause too, and while nobody holds the stick once in a session.
func Told(r stick.Room, by stick.AgentID, last []stick.Event) bool {
	m, _ := r.Member(by)
	return slices.ContainsFunc(last, func(e stick.Event) bool {
		p, _ := stick.PayloadOf[stick.EditToldPayload](e)

		// Once in a turn, a pause or a session is enough; that no copy is kept is told on its own.
		switch {
		case p.Unkept != "":
			return false
		case p.Paused || r.Paused.On():
			return p.Paused && r.Paused.On() && e.CreatedAt >= r.Paused.Since
		case r.Turn.State == stick.Owned:
			return e.Turn == r.Turn.ID && e.To == r.Turn.Owner
		}
		return e.To == "" && e.CreatedAt >= m.Session.Since
	})
}

// LateEdit makes the event that an agent edited without the right to, or finished an edit after it had lost
// that right. It is for the agent, and for the holder of the stick if there is one.
func LateEdit(r stick.Room, by stick.AgentID, paths []string, tool string) stick.Event {
	to := stick.AgentID("")
	if r.Turn.State == stick.Owned {
		to = r.Turn.Owner
	}

	m, _ := r.Member(by)
	return r.NewEvent(stick.EventLateEdit, by, to).WithPayload(stick.LateEditPayload{
		Paths: clipPaths(paths), Tool: stick.Clip(tool, 60), NeverHeld: m.HeldSeq == 0,
	})
}
