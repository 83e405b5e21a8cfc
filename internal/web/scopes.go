package web

import (
	"net/http"
	"strings"
	"sync"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/monitor"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// scopesPage is what only the page of a room's scopes shows. git is asked for it when the page is loaded.
type scopesPage struct {
	Conflicts   scopes.GetConflictsResult
	NoConflicts string // why they aren't known
	Changes     guard.ListChangesResult
	NoChanges   string
	Calls       restore.ListCallsResult
	NoCalls     string
	Rescues     restore.ListRescuesResult
	NoRescues   string
}

// shownCalls is how many calls of tools the page lists.
const shownCalls = 30

// readScopes asks git what collides and what is uncommitted, and lists the calls of tools and the rescues.
// What can't be found out is said, and fails nothing.
func (s *Server) readScopes(r *http.Request, v *view) error {
	b, where := &scopesPage{}, core.Where{RoomID: v.Room.ID()}
	v.Body = b

	// Both run git several times, so they run beside each other and beside the rest, and end with the function.
	var asked sync.WaitGroup
	defer asked.Wait()
	asked.Go(func() {
		var err error
		b.Conflicts, err = s.ops.GetConflicts(r.Context(), scopes.GetConflictsParams{Caller: s.o.Caller, Where: where})
		if err != nil {
			b.NoConflicts = stick.AsError(err).Message
		}
	})
	asked.Go(func() {
		var err error
		b.Changes, err = s.ops.ListChanges(r.Context(), guard.ListChangesParams{Caller: s.o.Caller, Where: where})
		if err != nil {
			b.NoChanges = stick.AsError(err).Message
		}
	})

	var err error
	b.Calls, err = s.ops.ListCalls(r.Context(), restore.ListCallsParams{
		Caller: s.o.Caller, Where: where, Limit: shownCalls,
	})
	if err != nil {
		b.NoCalls = stick.AsError(err).Message
	}

	b.Rescues, err = s.ops.ListRescues(r.Context(), restore.ListRescuesParams{Where: where})
	if err != nil {
		b.NoRescues = stick.AsError(err).Message
	}

	return nil
}

// Collisions are the events about work of two agents that met: overlaps, resumed work, late edits and
// rescues. The newest comes first.
func (v *view) Collisions() (rows []eventRow) {
	for i := len(v.Room.Events) - 1; i >= 0; i-- {
		switch e := v.Room.Events[i]; e.Type {
		case stick.EventIncursion, stick.EventResume, stick.EventLateEdit, stick.EventStickDenied, stick.EventWorkTaken,
			stick.EventChangesAdopted, stick.EventCallUndone:
			rows = append(rows, rowOf(v.Root, v.Room, e))
		}
	}

	return rows
}

// ChangeOwner says whose a change is, for the person.
func (v *view) ChangeOwner(c guard.Change) string {
	switch c.Share {
	case edits.ShareOwn:
		return "yours"
	case edits.SharePassed:
		return "an earlier holder's of the stick"
	case edits.ShareOthers:
		var names []string
		for _, a := range c.Others {
			names = append(names, v.describeAgent(v.Room, a))
		}
		return strings.Join(names, " and ")
	}

	return "not known"
}

// describeAgent names an agent, and says that it holds the stick if it does.
func (v *view) describeAgent(r *monitor.Room, a stick.AgentID) string {
	switch o := r.State.Owner; {
	case a == v.Picture.Me:
		return "you"
	case o != nil && *o == a:
		return string(a) + ", who holds the stick"
	}

	return string(a)
}

// Uncommitted says how many files of a room are uncommitted, as hooks have noted it: a line for each one
// whose they are.
func (v *view) Uncommitted(r *monitor.Room) (lines []string) {
	n := r.State.Changes
	if n == nil {
		return nil
	}

	add := func(files int, whose string) {
		if files > 0 {
			lines = append(lines, string(stick.Count(files, "uncommitted file"))+" "+whose)
		}
	}

	// The holder has a line of its own, and is left out of the others.
	passed, others := n.Passed-n.Held, n.Others-n.HeldOthers
	// Those beside the holder are named.
	var names []string
	for _, of := range n.Of {
		if o := r.State.Owner; o == nil || *o != of.Agent {
			names = append(names, string(of.Agent))
		}
	}

	// Names belong to a line only if no other line may mean the same agents.
	is := func(who string, only bool) string {
		if only && len(names) > 0 {
			return who + ": " + strings.Join(names, ", ")
		}
		return who
	}

	if o := r.State.Owner; o != nil {
		add(n.Held+n.HeldOthers, "of "+v.describeAgent(r, *o))
	}

	add(n.Own, "of yours")
	add(others, is("of others", passed == 0))
	add(passed, is("of earlier holders of the stick", others == 0))
	add(n.Nobody, "that nobody is known to have edited")
	return lines
}

// isCoordination reports whether an event is of a type by which agents coordinate.
func isCoordination(e stick.Event) bool {
	switch e.Type {
	case stick.EventMessageSent, stick.EventMessageAcked, stick.EventMessageRead, stick.EventPass, stick.EventRelease,
		stick.EventIncursion, stick.EventResume,
		stick.EventTakeover, stick.EventSessionStarted, stick.EventSessionEnded:
		return true
	}

	return false
}

// Stream is how the agents of all rooms coordinate, the newest first.
func (v *view) Stream(r *monitor.Room) (rows []eventRow) {
	for i := len(r.Events) - 1; i >= 0; i-- {
		if isCoordination(r.Events[i]) {
			rows = append(rows, rowOf(v.Root, r, r.Events[i]))
		}
	}

	return rows
}
