// Package room has the commands about rooms, their members and their rules, and the overview that tt alone prints.
package room

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/setup"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// ListCmd makes tt list.
func ListCmd(a *app.Run) *cobra.Command {
	var all bool
	var limit int
	c := &cobra.Command{
		Use: "list [path]", Aliases: []string{"ls"}, Short: "List the rooms around a path",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "List the rooms from a path up to its workspace root, and those below it. " +
			"It joins nothing and writes nothing.",
	}

	c.Flags().BoolVar(&all, "all", false, "list every room on this machine")
	c.Flags().IntVar(&limit, "limit", 50, "list at most this many rooms")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (engine.ListRoomsResult, error) {
			return e.ListRooms(c.Context(), engine.ListRoomsParams{
				Caller: by, RoomID: w.RoomID, Path: w.Path, All: all, Limit: limit,
			})
		}, func(p *term.Page, res engine.ListRoomsResult) {
			if len(res.Rooms) == 0 {
				p.Linef("there is no room here")
				p.Linef("to make one at %s and join it: %s", res.Root, p.Next(stick.Cmd("tt join")))

				// tt init works on the working directory only.
				if w.Path == "" && setup.SetsUp(a) {
					p.Linef("to set the repository up as well, with hooks: %s", p.Next(stick.Cmd("tt init")))
				}
			}

			var t term.Table
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

				row := t.Add(r.Relation, term.Cell{Text: term.FileName(cmp.Or(r.Path, r.Key)), Hue: "1"},
					term.Wordsf("%s%s, turn %d", r.State, who, r.TurnID))
				if r.PathGone {
					row.Below = append(row.Below, term.Cell{Text: gonePath(p, r.RoomID)})
				}
			}

			p.ShowTable(t)
			if res.Hidden > 0 {
				p.Linef("%d more are hidden: --limit %d", res.Hidden, res.Hidden+len(res.Rooms))
			}
		})
	}

	return c
}

// gonePath says of a room that its directory is gone, and how to name the room.
func gonePath(p *term.Page, id stick.RoomID) term.Text {
	return term.Wordsf("its directory is gone: use --room %s, or move the room to where its files are now: %s",
		id, p.Next(stick.Cmd("tt join --room <room>", id)))
}

// JoinCmd makes tt join.
func JoinCmd(a *app.Run) *cobra.Command {
	var forceNew bool
	c := &cobra.Command{
		Use: "join [path]", Short: "Join the room of a workspace; if there is none, make it",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Join the nearest room between a path and its workspace root. " +
			"If there is none, tt makes one at the root. In a\n" +
			"directory without git and without a marker such as AGENTS.md, the nearest room above counts. " +
			"Only tt join makes a room of a whole\n" +
			"home directory or disk. Joining reopens a closed room, and lets a removed member back in. " +
			"If the directory of a room is gone, because it was renamed for example,\n" +
			"tt join --room moves the room to the workspace in which you run it.",
	}

	c.Flags().BoolVar(&forceNew, "force-new", false, "make a room at the path itself, even inside another room")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.JoinPathResult, error) {
			return e.JoinPath(c.Context(), engine.JoinPathParams{
				Caller: by, RoomID: w.RoomID, Path: w.Path, ForceNew: forceNew,
			})
		}, func(p *term.Page, res engine.JoinPathResult) {
			verb := stick.Words("you are in")
			if res.Moved != "" {
				p.Linef("the room of %s is now at %s", res.Moved, res.Path)
			}

			switch {
			case res.Created:
				verb = "you made and joined"
			case res.Joined:
				verb = "you joined"
			}

			p.Linef("%s the room of %s as %s", verb, p.Strong(term.Wordsf("%s", res.Path)), res.AgentID)
			if res.Created && res.Key != "" {
				p.Linef("other machines find it as %s", res.Key)
			}
			if res.Warning != "" {
				p.Linef("warning: %s", res.Warning)
			}

			showRoomStatus(p, res.Room)
			switch {
			case res.Room.Owner != nil && *res.Room.Owner == res.AgentID:
				p.Linef("next: %s", p.Next(stick.Cmd("tt release --status … --next-action …")))
			case res.AgentID.Human():
				// A person needs no stick.
				p.Linef("next: start your agents here, and see what they do: %s", p.Next(stick.Cmd("tt watch")))
			default:
				p.Linef("next: %s", p.Next(stick.Cmd("tt wait")))
			}
		})
	}

	return c
}

// showRoomStatus says who has the stick, and whether it can be taken over.
func showRoomStatus(p *term.Page, r engine.PathRoom) {
	if r.Paused != nil {
		p.Linef("%s", p.Strong(term.Wordsf("%s", r.Paused.Says(p.Now, ""))))
	}

	switch {
	case r.State == stick.StateClosed:
		p.Linef("the room is closed")
	case r.Owner != nil:
		line := stick.Holds(*r.Owner, p.Now.Sub(r.GrantedAt))
		if r.NextActionOfTurn != "" {
			line += stick.Wordsf("; its next action, from %s: ", cmp.Or(r.HandoffFrom, "somebody")) +
				stick.Quote(r.NextActionOfTurn, 80)
		}

		p.Linef("%s", line)
	case r.ReservedFor != nil:
		p.Linef("the stick is reserved for %s", *r.ReservedFor)
	case r.PendingHandoff != nil:
		p.Linef("nobody holds the stick; a handoff waits for the next holder")
	default:
		p.Linef("nobody holds the stick")
	}

	// What may be done about the holder comes after who it is.
	if r.Takeover != nil {
		var since stick.Words
		if !r.Takeover.Since.IsZero() {
			since = " (" + p.Ago(r.Takeover.Since) + ")"
		}

		p.Linef("the stick can be taken over: %s%s", app.CauseText(r.Takeover.Cause), since)
	}
}

// StateCmd makes tt state.
func StateCmd(a *app.Run) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "state [path]", Short: "Show who has the stick, who is here, and what to do next",
		Args: app.ArgsBetween(0, 1, "a path"),
	}

	c.Flags().BoolVar(&all, "all", false, "also show members that left or were removed")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}
		return answerState(c.Context(), a, w, all)
	}

	return c
}

func answerState(ctx context.Context, a *app.Run, w core.Where, all bool) error {
	return app.Show(a, func(e app.Operations, by core.Caller) (engine.GetRoomStateResult, error) {
		return e.GetRoomState(ctx, engine.GetRoomStateParams{Caller: by, Where: w, All: all})
	}, showState)
}

func showState(p *term.Page, res engine.GetRoomStateResult) {
	p.Linef("%s  %s, turn %d", p.Strong(term.Wordsf("%s", res.Path)), res.State, res.TurnID)
	if res.PathGone {
		p.Linef("%s", gonePath(p, res.RoomID))
	}

	showRoomStatus(p, res.PathRoom)
	if res.Owner != nil && res.Takeover == nil {
		lease := stick.Words("the lease lasts as long as the holder's process")
		switch {
		case res.Paused != nil:
			lease = "the holder keeps it through the pause"
		case res.LeaseKeptBy == stick.KeptByHeartbeat:
			lease = "the lease runs out " + p.Until(res.LeaseExpiresAt) + " unless the holder acts"
		case res.GuardianPID != 0:
			lease += stick.Wordsf(" (kept by the guardian, pid %d)", res.GuardianPID)
		}

		p.Linef("%s", p.Faint(term.Wordsf("%s", lease)))
	}

	if res.NoSnapshots {
		p.Linef("snapshots are off: tt keeps no copy of uncommitted work that a command destroys")
	}

	p.Linef("members:")
	t := term.Table{Indent: "  "}
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
		if !m.RestsSince.IsZero() {
			line += ", rests"
		}

		if m.Verdict == stick.Gone {
			line += ", its process has ended"
		}
		if p.Doing {
			line += memberActivity(p, m)
		}
		if m.OlderHooks {
			line += ", hooks of an older tt"
		}

		line += ", seen " + p.Ago(m.LastSeenAt)
		if m.AgentID == res.AgentID {
			line += " (you)"
		}

		t.Add(m.AgentID, line)
	}

	p.ShowTable(t)
	if res.HiddenMembers > 0 {
		p.Linef("  %d more left or were removed: %s", res.HiddenMembers, p.Next(stick.Cmd("tt state --all")))
	}
	if slices.ContainsFunc(res.Members, func(m engine.RoomMember) bool { return m.OlderHooks }) {
		p.Linef("an older tt answers hooks of members: %s (%s)", upkeep.OlderHooksRisk, p.Next(stick.Cmd("tt doctor")))
	}

	showWaiting(p, res)
	p.Linef("next: %s", res.NextAction)
}

// memberActivity says what a member does, and since when, where its listener and its process don't say it
// already.
func memberActivity(p *term.Page, m engine.RoomMember) stick.Words {
	if m.Activity == nil {
		return ""
	}

	line := ", " + m.Activity.State.Words()
	switch m.Activity.State {
	case presence.AgentWorks, presence.AgentAsks:
		if tool := strings.TrimSpace(m.Activity.Tool + " " + m.Activity.File); tool != "" {
			line += stick.Wordsf(" (%s)", stick.Name(tool).Cut(60))
		}
	case presence.AgentIdle:
		// An idle agent has no tool.
	default:
		// The other states show in the listener and the process.
		return ""
	}

	if age := p.Now.Sub(m.Activity.Since); age >= time.Second {
		line += " for " + stick.Age(age)
	}

	return line
}

// showWaiting adds what waits for the reader.
func showWaiting(p *term.Page, res engine.GetRoomStateResult) {
	if res.Unread+res.Unacked > 0 {
		p.Linef("for you: %d unread, %d to accept (%s)", res.Unread, res.Unacked, p.Next(stick.Cmd("tt inbox")))
	}
	if res.Notes > 0 {
		p.Linef("notes: %d unresolved (%s)", res.Notes, p.Next(stick.Cmd("tt notes list")))
	}
	if work := app.NotedWork(res.Changes); work != "" {
		p.Linef("%s (%s)", work, p.Next(stick.Cmd("tt changes")))
	}
	if len(res.Tasks) > 0 {
		p.Linef("tasks for you:")
	}

	for _, t := range res.Tasks {
		p.Linef("  %s is %s: %s", t.TaskID, t.State, t.NextAction)
	}

	if res.MoreTasks > 0 {
		p.Linef("  %d more: %s", res.MoreTasks, p.Next(stick.Cmd("tt task list")))
	}
}

// CloseCmd makes tt close.
func CloseCmd(a *app.Run) *cobra.Command {
	var h app.HandoffFlags
	var f app.FenceFlags
	var reason string
	c := &cobra.Command{
		Use: "close [path]", Short: "Close the room: no turns until somebody joins again",
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Close the room. The holder of the stick closes it with a handoff. " +
			"If nobody holds the stick, only a person can close it.",
	}

	h.AddFlags(c)
	f.AddFlags(c)
	c.Flags().StringVar(&reason, "reason", "", "why (for the log)")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		// Only a holder needs a handoff, and is refused without one.
		handoff, err := h.ReadHandoff(a)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.CloseRoomResult, error) {
			res, err := e.CloseRoom(c.Context(), engine.CloseRoomParams{
				Caller: by, Where: w, Fence: f.Fence(), Handoff: handoff, Reason: reason,
			})
			return res, h.ExplainRefusal(err, stick.Cmd("tt close --status … --next-action …"))
		}, func(p *term.Page, res engine.CloseRoomResult) {
			p.Linef("the room of %s is closed%s; %s reopens it",
				res.Path, app.AlreadyText(res.Already), p.Next(stick.Cmd("tt join")))
		})
	}

	return c
}

// ReorderCmd makes tt reorder.
func ReorderCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "reorder <agent>…", Short: "Set the order of turns (for policy order=sequence)",
		Args: app.ArgsBetween(1, -1, "at least one agent"),
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.ReorderMembersResult, error) {
			// Members may be named by their harness alone, which the operation resolves.
			order := make([]stick.AgentID, len(args))
			for i, s := range args {
				order[i] = stick.AgentID(s)
			}

			return e.ReorderMembers(c.Context(), engine.ReorderMembersParams{
				Caller: by, Where: path.Where(), Order: order,
			})
		}, func(p *term.Page, res engine.ReorderMembersResult) {
			for i, m := range res.Order {
				p.Linef("%d. %s", i+1, m)
			}
		})
	}

	return c
}
