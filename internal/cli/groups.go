package cli

import "slices"

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []Command
}

// commandGroups returns all commands, or those of the name under which the program was called.
func commandGroups(a *Run) []group {
	care := group{"care", "The program:", careCommands()}
	switch a.Name {
	case "bb":
		return []group{{"talk", "Talk:", []Command{{"agent", agentCmd}}}, care}
	case "worker":
		tasks := group{"worker", "Tasks:", workerCommands()}

		// Under this name, init is that of tt task.
		care.commands = slices.DeleteFunc(care.commands, func(c Command) bool { return c.Name == "init" })
		return []group{tasks, care}
	case "review-gate":
		return []group{{"worker", "Review:", reviewGateCommands()}, care}
	}

	care.title = "Set up and look after:"
	return ofAgents([]group{
		care,
		{"stick", "The stick:", turnCommands()},
		{"room", "The room:", append(roomCommands(), append(memberCommands(), eventCommands()...)...)},
		{"scope", "Who changes what:", scopeCommands()},
		{"talk", "Talk:", messageCommands()},
		{"task", "Tasks:", []Command{{"task", taskCmd}}},
		{"agents", "Your agents and their harnesses run these:", append(sessionCommands(), harnessCommands()...)},
	})
}

// ofAgents moves the commands that agents and harnesses run to the last group.
func ofAgents(groups []group) []group {
	last := &groups[len(groups)-1]
	for i := range groups[:len(groups)-1] {
		g := &groups[i]
		var people []Command
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
func careCommands() []Command {
	return []Command{
		{"init", initCmd},
		{"config", configCmd},
		{"doctor", doctorCmd},
		{"install", installCmd},
		{"uninstall", uninstallCmd},
		{"migrate-db", migrateDBCmd},
		{"version", (*Run).versionCmd},
		{"self-update", selfUpdateCmd},
		{"demo", demoCmd},
	}
}

// eventCommands are the commands about the log.
func eventCommands() []Command {
	return []Command{{"log", logCmd}, {"timeline", timelineCmd}, {"events", eventsCmd}, {"notes", notesCmd}}
}

// harnessCommands are the commands that harnesses run.
func harnessCommands() []Command {
	return []Command{{"hook", hookCmd}, {"mcp", mcpCmd}}
}

// memberCommands are the commands about members.
func memberCommands() []Command {
	return []Command{{"leave", leaveCmd}, {"kick", kickCmd}, {"whoami", whoamiCmd}}
}

// messageCommands are the commands about messages.
func messageCommands() []Command {
	return []Command{{"msg", msgCmd}, {"inbox", inboxCmd}, {"ack", ackCmd}, {"agent", agentCmd}}
}

// scopeCommands are the commands about who changes what.
func scopeCommands() []Command {
	return []Command{
		{"reserve", reserveCmd},
		{"unreserve", unreserveCmd},
		{"reservations", reservationsCmd},
		{"may-edit", mayEditCmd},
		{"changes", changesCmd},
		{"conflicts", conflictsCmd},
		{"calls", callsCmd},
		{"undo", undoCmd},
		{"rescue", rescueCmd},
	}
}

// roomCommands are the commands about rooms.
func roomCommands() []Command {
	return []Command{
		{"list", listCmd},
		{"join", joinCmd},
		{"status", statusCmd},
		{"watch", watchCmd},
		{"notify", notifyCmd},
		{"serve", serveCmd},
		{"state", stateCmd},
		{"policy", policyCmd},
		{"pause", pauseCmd},
		{"resume", resumeCmd},
		{"close", closeCmd},
		{"reorder", reorderCmd},
	}
}

// sessionCommands are the commands about sessions, and about who else is at work.
func sessionCommands() []Command {
	return []Command{{"roster", rosterCmd}, {"session", sessionCmd}, {"helper", helperCmd}}
}

// turnCommands are the commands about the stick.
func turnCommands() []Command {
	return []Command{
		{"wait", waitCmd},
		{"try", tryCmd},
		{"release", releaseCmd},
		{"pass", passCmd},
		{"take", takeCmd},
		{"heartbeat", heartbeatCmd},
		{"handoff", handoffCmd},
		{"guard", guardCmd},
	}
}
