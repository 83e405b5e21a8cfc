package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

func listCmd(a *app) *cobra.Command {
	var all bool
	var limit int
	c := &cobra.Command{
		Use: "list [path]", Aliases: []string{"ls"}, Short: "List the rooms around a path",
		Args: between(0, 1, "a path"),
		Long: "List the rooms from a path up to its workspace root, and those below it. " +
			"It joins nothing and writes nothing.",
	}

	c.Flags().BoolVar(&all, "all", false, "list every room on this machine")
	c.Flags().IntVar(&limit, "limit", 50, "list at most this many rooms")
	path := atPath(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.whereOf(args, 0)
		if err != nil {
			return err
		}

		return show(a, func(e operations, by core.Caller) (engine.ListRoomsResult, error) {
			return e.ListRooms(c.Context(), engine.ListRoomsParams{
				Caller: by, RoomID: w.RoomID, Path: w.Path, All: all, Limit: limit,
			})
		}, func(p *page, res engine.ListRoomsResult) {
			if len(res.Rooms) == 0 {
				p.linef("there is no room here")
				p.linef("to make one at %s and join it: %s", res.Root, p.next(stick.Cmd("tt join")))

				// tt init works on the working directory only.
				if w.Path == "" && setsUp(a) {
					p.linef("to set the repository up as well, with hooks: %s", p.next(stick.Cmd("tt init")))
				}
			}

			var t table
			for _, r := range res.Rooms {
				var who stick.Words
				switch {
				case r.State == stick.StateOwned:
					who = stick.Wordsf(" by %s", *r.Owner)
				case r.State == stick.StateReserved:
					who = stick.Wordsf(" for %s", *r.ReservedFor)
				case r.Owner != nil:
					who = stick.Wordsf(" (%s)", *r.Owner)
				case r.ReservedFor != nil:
					who = stick.Wordsf(" (%s)", *r.ReservedFor)
				}

				row := t.add(r.Relation, cell{file(cmp.Or(r.Path, r.Key)), "1"},
					term.Wordsf("%s%s, turn %d", r.State, who, r.TurnID))
				if r.PathGone {
					row.below = append(row.below, cell{text: gonePath(p, r.RoomID)})
				}
			}

			p.showTable(t)
			if res.Hidden > 0 {
				p.linef("%d more are hidden: --limit %d", res.Hidden, res.Hidden+len(res.Rooms))
			}
		})
	}

	return c
}

// gonePath says of a room that its directory is gone, and how to name the room.
func gonePath(p *page, id stick.RoomID) term.Text {
	return term.Wordsf("its directory is gone: use --room %s, or move the room to where its files are now: %s",
		id, p.next(stick.Cmd("tt join --room <room>", id)))
}

func joinCmd(a *app) *cobra.Command {
	var forceNew bool
	c := &cobra.Command{
		Use: "join [path]", Short: "Join the room of a workspace; if there is none, make it",
		Args: between(0, 1, "a path"),
		Long: "Join the nearest room between a path and its workspace root. " +
			"If there is none, tt makes one at the root. In a\n" +
			"directory without git and without a marker such as AGENTS.md, the nearest room above counts. " +
			"Only tt join makes a room of a whole\n" +
			"home directory or disk. Joining reopens a closed room, and lets a removed member back in. " +
			"If the directory of a room is gone, because it was renamed for example,\n" +
			"tt join --room moves the room to the workspace in which you run it.",
	}

	c.Flags().BoolVar(&forceNew, "force-new", false, "make a room at the path itself, even inside another room")
	path := atPath(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.whereOf(args, 0)
		if err != nil {
			return err
		}

		return answer(a, func(e operations, by core.Caller) (engine.JoinPathResult, error) {
			return e.JoinPath(c.Context(), engine.JoinPathParams{
				Caller: by, RoomID: w.RoomID, Path: w.Path, ForceNew: forceNew,
			})
		}, func(p *page, res engine.JoinPathResult) {
			verb := stick.Words("you are in")
			if res.Moved != "" {
				p.linef("the room of %s is now at %s", res.Moved, res.Path)
			}

			switch {
			case res.Created:
				verb = "you made and joined"
			case res.Joined:
				verb = "you joined"
			}

			p.linef("%s the room of %s as %s", verb, p.strong(term.Wordsf("%s", res.Path)), res.AgentID)
			if res.Created && res.Key != "" {
				p.linef("other machines find it as %s", res.Key)
			}
			if res.Warning != "" {
				p.linef("warning: %s", res.Warning)
			}

			showRoomStatus(p, res.Room)
			switch {
			case res.Room.Owner != nil && *res.Room.Owner == res.AgentID:
				p.linef("next: %s", p.next(stick.Cmd("tt release --status … --next-action …")))
			case res.AgentID.Human():
				// A person needs no stick.
				p.linef("next: start your agents here, and see what they do: %s", p.next(stick.Cmd("tt watch")))
			default:
				p.linef("next: %s", p.next(stick.Cmd("tt wait")))
			}
		})
	}

	return c
}

// showRoomStatus says who has the stick, and whether it can be taken over.
func showRoomStatus(p *page, r engine.PathRoom) {
	if r.Paused != nil {
		p.linef("%s", p.strong(term.Wordsf("%s", r.Paused.Says(p.now, ""))))
	}

	switch {
	case r.State == stick.StateClosed:
		p.linef("the room is closed")
	case r.Owner != nil:
		line := stick.Holds(*r.Owner, p.now.Sub(r.GrantedAt))
		if r.NextActionOfTurn != "" {
			line += stick.Wordsf("; its next action, from %s: ", cmp.Or(r.HandoffFrom, "somebody")) +
				stick.Quote(r.NextActionOfTurn, 80)
		}

		p.linef("%s", line)
	case r.ReservedFor != nil:
		p.linef("the stick is reserved for %s", *r.ReservedFor)
	case r.PendingHandoff != nil:
		p.linef("nobody holds the stick; a handoff waits for the next holder")
	default:
		p.linef("nobody holds the stick")
	}

	// What may be done about the holder comes after who it is.
	if r.Takeover != nil {
		var since stick.Words
		if !r.Takeover.Since.IsZero() {
			since = " (" + p.ago(r.Takeover.Since) + ")"
		}

		p.linef("the stick can be taken over: %s%s", causeText(r.Takeover.Cause), since)
	}
}

func stateCmd(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "state [path]", Short: "Show who has the stick, who is here, and what to do next",
		Args: between(0, 1, "a path"),
	}

	c.Flags().BoolVar(&all, "all", false, "also show members that left or were removed")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.whereOf(args, 0)
		if err != nil {
			return err
		}
		return answerState(c.Context(), a, w, all)
	}

	return c
}

func answerState(ctx context.Context, a *app, w core.Where, all bool) error {
	return show(a, func(e operations, by core.Caller) (engine.GetRoomStateResult, error) {
		return e.GetRoomState(ctx, engine.GetRoomStateParams{Caller: by, Where: w, All: all})
	}, showState)
}

func showState(p *page, res engine.GetRoomStateResult) {
	p.linef("%s  %s, turn %d", p.strong(term.Wordsf("%s", res.Path)), res.State, res.TurnID)
	if res.PathGone {
		p.linef("%s", gonePath(p, res.RoomID))
	}

	showRoomStatus(p, res.PathRoom)
	if res.Owner != nil && res.Takeover == nil {
		lease := stick.Words("the lease lasts as long as the holder's process")
		switch {
		case res.Paused != nil:
			lease = "the holder keeps it through the pause"
		case res.LeaseKeptBy == stick.KeptByHeartbeat:
			lease = "the lease runs out " + p.until(res.LeaseExpiresAt) + " unless the holder acts"
		case res.GuardianPID != 0:
			lease += stick.Wordsf(" (kept by the guardian, pid %d)", res.GuardianPID)
		}

		p.linef("%s", p.faint(term.Wordsf("%s", lease)))
	}

	if res.NoSnapshots {
		p.linef("snapshots are off: no copy is kept of uncommitted work that a command takes away")
	}

	p.linef("members:")
	t := table{indent: "  "}
	for _, m := range res.Members {
		line := stick.Wordsf("%s", m.Status)
		if m.Role != "" {
			line += stick.Wordsf(", %s", m.Role)
		}

		switch m.Listening {
		case stick.Work:
			line += ", waiting for the turn"
		case stick.Listen:
			line += ", waiting for events"
		case stick.Wake:
			line += ", woken by messages"
		}

		if m.Verdict == stick.Gone {
			line += ", its process has ended"
		}
		if p.doing {
			line += memberActivity(p, m)
		}
		if m.OlderHooks {
			line += ", hooks of an older tt"
		}

		line += ", seen " + p.ago(m.LastSeenAt)
		if m.AgentID == res.AgentID {
			line += " (you)"
		}

		t.add(m.AgentID, line)
	}

	p.showTable(t)
	if res.HiddenMembers > 0 {
		p.linef("  %d more left or were removed: %s", res.HiddenMembers, p.next(stick.Cmd("tt state --all")))
	}
	if slices.ContainsFunc(res.Members, func(m engine.RoomMember) bool { return m.OlderHooks }) {
		p.linef("an older tt answers hooks of members: %s (%s)", upkeep.OlderHooksMean, p.next(stick.Cmd("tt doctor")))
	}

	showWaiting(p, res)
	p.linef("next: %s", res.NextAction)
}

// memberActivity says what a member does, and since when, where its listener and its process don't say it
// already.
func memberActivity(p *page, m engine.RoomMember) stick.Words {
	if m.Activity == nil {
		return ""
	}

	line := ", " + m.Activity.State.Words()
	switch m.Activity.State {
	case stick.AgentWorks, stick.AgentAsks:
		if tool := strings.TrimSpace(m.Activity.Tool + " " + m.Activity.File); tool != "" {
			line += stick.Wordsf(" (%s)", stick.Name(tool).Cut(60))
		}
	case stick.AgentIdle:
		// An idle agent has no tool.
	default:
		// The other states show in the listener and the process.
		return ""
	}

	if age := p.now.Sub(m.Activity.Since); age >= time.Second {
		line += " for " + stick.Age(age)
	}

	return line
}

// showWaiting adds what waits for the reader.
func showWaiting(p *page, res engine.GetRoomStateResult) {
	if res.Unread+res.Unacked > 0 {
		p.linef("for you: %d unread, %d to accept (%s)", res.Unread, res.Unacked, p.next(stick.Cmd("tt inbox")))
	}
	if res.Notes > 0 {
		p.linef("notes: %d unresolved (%s)", res.Notes, p.next(stick.Cmd("tt notes list")))
	}
	if work := notedWork(res.Changes); work != "" {
		p.linef("%s (%s)", work, p.next(stick.Cmd("tt changes")))
	}
	if len(res.Tasks) > 0 {
		p.linef("tasks for you:")
	}

	for _, t := range res.Tasks {
		p.linef("  %s is %s: %s", t.TaskID, t.State, t.NextAction)
	}

	if res.MoreTasks > 0 {
		p.linef("  %d more: %s", res.MoreTasks, p.next(stick.Cmd("tt task list")))
	}
}

func closeCmd(a *app) *cobra.Command {
	var h handoffFlags
	var f fenceFlags
	var reason string
	c := &cobra.Command{
		Use: "close [path]", Short: "Close the room: no turns until somebody joins again",
		Args: between(0, 1, "a path"),
		Long: "Close the room. The holder of the stick closes it with a handoff. " +
			"If nobody holds the stick, only a person can close it.",
	}

	h.addFlags(c)
	f.addFlags(c)
	c.Flags().StringVar(&reason, "reason", "", "why (for the log)")
	path := atPath(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.whereOf(args, 0)
		if err != nil {
			return err
		}

		// Only a holder needs a handoff, and is refused without one.
		handoff, err := h.readHandoff(a)
		if err != nil {
			return err
		}

		return answer(a, func(e operations, by core.Caller) (engine.CloseRoomResult, error) {
			res, err := e.CloseRoom(c.Context(), engine.CloseRoomParams{
				Caller: by, Where: w, Fence: f.fence(), Handoff: handoff, Reason: reason,
			})
			return res, h.explainRefusal(err, stick.Cmd("tt close --status … --next-action …"))
		}, func(p *page, res engine.CloseRoomResult) {
			p.linef("the room of %s is closed%s; %s reopens it",
				res.Path, already(res.Already), p.next(stick.Cmd("tt join")))
		})
	}

	return c
}

func reorderCmd(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "reorder <agent>…", Short: "Set the order of turns (for policy order=sequence)",
		Args: between(1, -1, "at least one agent"),
	}

	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return answer(a, func(e operations, by core.Caller) (engine.ReorderMembersResult, error) {
			// Members may be named by their harness alone, which the operation resolves.
			order := make([]stick.AgentID, len(args))
			for i, s := range args {
				order[i] = stick.AgentID(s)
			}

			return e.ReorderMembers(c.Context(), engine.ReorderMembersParams{
				Caller: by, Where: path.where(), Order: order,
			})
		}, func(p *page, res engine.ReorderMembersResult) {
			for i, m := range res.Order {
				p.linef("%d. %s", i+1, m)
			}
		})
	}

	return c
}
