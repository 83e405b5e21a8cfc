package stick

import "slices"

// Denied makes the event that a hook stopped an edit. One event in a turn is enough.
func (r Room) Denied(by AgentID, paths []string) Event {
	return r.newEvent(EventStickDenied, by, "").withPayload(StickDeniedPayload{Paths: clipPaths(paths)})
}

// DeniedCommand makes the event that a hook stopped a command, see [Room.NotKept]. The sum tells the command
// from others, see [Room.AskedAgain].
func (r Room) DeniedCommand(by AgentID, form, sum string) Event {
	return r.newEvent(EventStickDenied, by, "").withPayload(StickDeniedPayload{
		Command: Clip(form, maxCommand), Sum: sum,
	})
}

// EditTold makes the event that an agent was told of an edit against the rules. It is for the holder of the
// stick, if there is one; in a pause, for the person who paused the room, if that is a member. One event in a
// turn is enough, see [Room.Told].
func (r Room) EditTold(by AgentID, paths []string) Event {
	to := AgentID("")

	// In a pause the person who paused it is told; else the holder.
	switch {
	case r.isJoined(r.Paused.By):
		to = r.Paused.By
	case !r.Paused.On() && r.Turn.State == Owned:
		to = r.Turn.Owner
	}

	return r.newEvent(EventEditTold, by, to).withPayload(EditToldPayload{
		Paths: clipPaths(paths), Count: len(paths), Paused: r.Paused.On(),
	})
}

// PushTold is [Room.EditTold] for a push to a branch that the members share.
func (r Room) PushTold(by AgentID, branch string) Event {
	return r.newEvent(EventEditTold, by, r.Turn.Owner).withPayload(EditToldPayload{Pushed: Clip(branch, 256)})
}

// UnkeptTold makes the event that an agent was told that no copies can be kept of a checkout or a file. It concerns
// nobody else, and one event in a session is enough, see [Room.ToldUnkept].
func (r Room) UnkeptTold(by AgentID, path string) Event {
	return r.newEvent(EventEditTold, by, "").withPayload(EditToldPayload{Unkept: Clip(path, 256)})
}

// ToldUnkept reports whether an agent was told in its session that no copies can be kept, by its last events
// [EventEditTold].
func (r Room) ToldUnkept(by AgentID, last []Event) bool {
	m, _ := r.Member(by)

	return slices.ContainsFunc(last, func(e Event) bool {
		p, _ := PayloadOf[EditToldPayload](e)
		return p.Unkept != "" && e.CreatedAt >= m.Session.Since
	})
}

// Told reports whether an agent doesn't have to be told again, because of its last events [EventEditTold]: in
// a turn once is enough, in a pause too, and while nobody holds the stick once in a session.
func (r Room) Told(by AgentID, last []Event) bool {
	m, _ := r.Member(by)
	return slices.ContainsFunc(last, func(e Event) bool {
		p, _ := PayloadOf[EditToldPayload](e)

		// Once in a turn, a pause or a session is enough; that no copy is kept is told on its own.
		switch {
		case p.Unkept != "":
			return false
		case p.Paused || r.Paused.On():
			return p.Paused && r.Paused.On() && e.CreatedAt >= r.Paused.Since
		case r.Turn.State == Owned:
			return e.Turn == r.Turn.ID && e.To == r.Turn.Owner
		}
		return e.To == "" && e.CreatedAt >= m.Session.Since
	})
}

// LateEdit makes the event that an agent edited without the right to, or finished an edit after it had lost
// that right. It is for the agent, and for the holder of the stick if there is one.
func (r Room) LateEdit(by AgentID, paths []string, tool string) Event {
	to := AgentID("")
	if r.Turn.State == Owned {
		to = r.Turn.Owner
	}

	m, _ := r.Member(by)
	return r.newEvent(EventLateEdit, by, to).withPayload(LateEditPayload{
		Paths: clipPaths(paths), Tool: Clip(tool, 60), NeverHeld: m.HeldSeq == 0,
	})
}
