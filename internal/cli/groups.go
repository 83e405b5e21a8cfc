package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/care"
	"talkingstick/internal/cli/demo"
	"talkingstick/internal/cli/doctor"
	"talkingstick/internal/cli/events"
	"talkingstick/internal/cli/hook"
	"talkingstick/internal/cli/msg"
	"talkingstick/internal/cli/rescue"
	"talkingstick/internal/cli/room"
	"talkingstick/internal/cli/scope"
	"talkingstick/internal/cli/session"
	"talkingstick/internal/cli/setup"
	"talkingstick/internal/cli/task"
	"talkingstick/internal/cli/turn"
)

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []app.Command
}

// commandGroups returns all commands, or those of the name under which the program was called.
func commandGroups(a *app.Run) []group {
	care := group{"care", "The program:", careCommands()}
	switch a.Name {
	case "bb":
		return []group{{"talk", "Talk:", []app.Command{{Name: "agent", Make: msg.AgentCmd}}}, care}
	case "worker":
		tasks := group{"worker", "Tasks:", task.Commands()}

		// Under this name, init is that of tt task.
		care.commands = slices.DeleteFunc(care.commands, func(c app.Command) bool { return c.Name == "init" })
		return []group{tasks, care}
	case "review-gate":
		return []group{{"worker", "Review:", task.ReviewGateCommands()}, care}
	}

	care.title = "Set up and look after:"
	return ofAgents(withFull(a.Full, []group{
		care,
		{"stick", "The stick:", turnCommands()},
		{"room", "The room:", append(roomCommands(), append(memberCommands(), eventCommands()...)...)},
		{"scope", "Who changes what:", scopeCommands()},
		{"talk", "Talk:", messageCommands()},
		{"task", "Tasks:", []app.Command{{Name: "task", Make: task.Cmd}}},
		{"agents", "Your agents and their harnesses run these:", append(sessionCommands(), harnessCommands()...)},
	}))
}

// withFull puts the commands of tt-full, if this is tt-full, in the places of those that tt hands over.
func withFull(full []app.Command, groups []group) []group {
	for _, g := range groups {
		for i, c := range g.commands {
			if at := slices.IndexFunc(full, func(f app.Command) bool { return f.Name == c.Name }); at >= 0 {
				g.commands[i] = full[at]
			}
		}
	}
	return groups
}

// ofAgents moves the commands that agents and harnesses run to the last group.
func ofAgents(groups []group) []group {
	last := &groups[len(groups)-1]
	for i := range groups[:len(groups)-1] {
		g := &groups[i]
		var people []app.Command
		for _, c := range g.commands {
			if slices.Contains(agentCommands, c.Name) {
				last.commands = append(last.commands, c)
			} else {
				people = append(people, c)
			}
		}

		g.commands = people
	}

	return groups
}

// careCommands are the commands about the program itself.
func careCommands() []app.Command {
	return []app.Command{
		{Name: "init", Make: setup.InitCmd},
		{Name: "config", Make: doctor.ConfigCmd},
		{Name: "doctor", Make: doctor.Cmd},
		{Name: "backup", Make: care.BackupCmd},
		{Name: "restore", Make: care.RestoreCmd},
		{Name: "export", Make: care.ExportCmd},
		{Name: "import", Make: care.ImportCmd},
		{Name: "prune", Make: care.PruneCmd},
		{Name: "install", Make: setup.InstallCmd},
		{Name: "uninstall", Make: setup.UninstallCmd},
		{Name: "migrate-db", Make: doctor.MigrateDBCmd},
		{Name: "version", Make: app.VersionCmd},
		{Name: "self-update", Make: setup.SelfUpdateCmd},
		{Name: "demo", Make: func(a *app.Run) *cobra.Command { return demo.Cmd(a, nil) }},
	}
}

// eventCommands are the commands about the log.
func eventCommands() []app.Command {
	return []app.Command{
		{Name: "log", Make: events.LogCmd},
		{Name: "timeline", Make: events.TimelineCmd},
		{Name: "events", Make: events.Cmd},
		{Name: "notes", Make: msg.NotesCmd},
	}
}

// harnessCommands are the commands that harnesses run.
func harnessCommands() []app.Command {
	return []app.Command{
		{Name: "hook", Make: hook.Cmd},
		app.HandedOver("mcp", "mcp", app.MCPShort),
	}
}

// memberCommands are the commands about members.
func memberCommands() []app.Command {
	return []app.Command{
		{Name: "leave", Make: room.LeaveCmd},
		{Name: "kick", Make: room.KickCmd},
		{Name: "whoami", Make: room.WhoamiCmd},
	}
}

// messageCommands are the commands about messages.
func messageCommands() []app.Command {
	return []app.Command{
		{Name: "msg", Make: msg.Cmd},
		{Name: "inbox", Make: msg.InboxCmd},
		{Name: "ack", Make: msg.AckCmd},
		{Name: "agent", Make: msg.AgentCmd},
	}
}

// scopeCommands are the commands about who changes what.
func scopeCommands() []app.Command {
	return []app.Command{
		{Name: "reserve", Make: scope.ReserveCmd},
		{Name: "unreserve", Make: scope.UnreserveCmd},
		{Name: "reservations", Make: scope.ReservationsCmd},
		{Name: "may-edit", Make: scope.MayEditCmd},
		{Name: "changes", Make: rescue.ChangesCmd},
		{Name: "conflicts", Make: scope.ConflictsCmd},
		{Name: "calls", Make: rescue.CallsCmd},
		{Name: "undo", Make: rescue.UndoCmd},
		{Name: "rescue", Make: rescue.Cmd},
	}
}

// roomCommands are the commands about rooms.
func roomCommands() []app.Command {
	return []app.Command{
		{Name: "list", Make: room.ListCmd},
		{Name: "join", Make: room.JoinCmd},
		{Name: "status", Make: room.StatusCmd},
		app.HandedOver("watch", "watch [path]", app.WatchShort),
		app.HandedOver("notify", "notify [path]", app.NotifyShort),
		app.HandedOver("serve", "serve [path]", app.ServeShort),
		{Name: "state", Make: room.StateCmd},
		{Name: "policy", Make: room.PolicyCmd},
		{Name: "pause", Make: room.PauseCmd},
		{Name: "resume", Make: room.ResumeCmd},
		{Name: "close", Make: room.CloseCmd},
		{Name: "reorder", Make: room.ReorderCmd},
	}
}

// sessionCommands are the commands about sessions, and about who else is at work.
func sessionCommands() []app.Command {
	return []app.Command{
		{Name: "roster", Make: session.RosterCmd},
		{Name: "session", Make: session.Cmd},
		{Name: "helper", Make: session.HelperCmd},
	}
}

// turnCommands are the commands about the stick.
func turnCommands() []app.Command {
	return []app.Command{
		{Name: "wait", Make: turn.WaitCmd},
		{Name: "try", Make: turn.TryCmd},
		{Name: "release", Make: turn.ReleaseCmd},
		{Name: "pass", Make: turn.PassCmd},
		{Name: "take", Make: turn.TakeCmd},
		{Name: "heartbeat", Make: turn.HeartbeatCmd},
		{Name: "handoff", Make: turn.HandoffCmd},
		{Name: "guard", Make: turn.GuardCmd},
	}
}
