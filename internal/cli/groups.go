package cli

import "slices"

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []command
}

// commandGroups returns all commands, or those of the name under which the program was called.
func (a *app) commandGroups() []group {
	care := group{"care", "The program:", careCommands()}
	switch a.Name {
	case "bb":
		return []group{{"talk", "Talk:", []command{{"agent", (*app).agentCmd}}}, care}
	case "worker":
		tasks := group{"worker", "Tasks:", workerCommands()}

		// Under this name, init is that of tt task.
		care.commands = slices.DeleteFunc(care.commands, func(c command) bool { return c.name == "init" })
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
		{"task", "Tasks:", []command{{"task", (*app).taskCmd}}},
		{"agents", "Your agents and their harnesses run these:", append(sessionCommands(), harnessCommands()...)},
	})
}

// ofAgents moves the commands that agents and harnesses run to the last group.
func ofAgents(groups []group) []group {
	last := &groups[len(groups)-1]
	for i := range groups[:len(groups)-1] {
		g := &groups[i]
		var people []command
		for _, c := range g.commands {
			if slices.Contains(agentCommands, c.name) {
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
func careCommands() []command {
	return []command{
		{"init", (*app).initCmd},
		{"config", (*app).configCmd},
		{"doctor", (*app).doctorCmd},
		{"install", (*app).installCmd},
		{"uninstall", (*app).uninstallCmd},
		{"migrate-db", (*app).migrateDBCmd},
		{"version", (*app).versionCmd},
		{"self-update", (*app).selfUpdateCmd},
		{"demo", (*app).demoCmd},
	}
}

// eventCommands are the commands about the log.
func eventCommands() []command {
	return []command{{"log", (*app).logCmd}, {"timeline", (*app).timelineCmd}, {"events", (*app).eventsCmd}, {"notes", (*app).notesCmd}}
}

// harnessCommands are the commands that harnesses run.
func harnessCommands() []command {
	return []command{{"hook", (*app).hookCmd}, {"mcp", (*app).mcpCmd}}
}

// memberCommands are the commands about members.
func memberCommands() []command {
	return []command{{"leave", (*app).leaveCmd}, {"kick", (*app).kickCmd}, {"whoami", (*app).whoamiCmd}}
}

// messageCommands are the commands about messages.
func messageCommands() []command {
	return []command{{"msg", (*app).msgCmd}, {"inbox", (*app).inboxCmd}, {"ack", (*app).ackCmd}, {"agent", (*app).agentCmd}}
}

// scopeCommands are the commands about who changes what.
func scopeCommands() []command {
	return []command{
		{"reserve", (*app).reserveCmd},
		{"unreserve", (*app).unreserveCmd},
		{"reservations", (*app).reservationsCmd},
		{"may-edit", (*app).mayEditCmd},
		{"changes", (*app).changesCmd},
		{"conflicts", (*app).conflictsCmd},
		{"calls", (*app).callsCmd},
		{"undo", (*app).undoCmd},
		{"rescue", (*app).rescueCmd},
	}
}

// roomCommands are the commands about rooms.
func roomCommands() []command {
	return []command{
		{"list", (*app).listCmd},
		{"join", (*app).joinCmd},
		{"status", (*app).statusCmd},
		{"watch", (*app).watchCmd},
		{"notify", (*app).notifyCmd},
		{"serve", (*app).serveCmd},
		{"state", (*app).stateCmd},
		{"policy", (*app).policyCmd},
		{"pause", (*app).pauseCmd},
		{"resume", (*app).resumeCmd},
		{"close", (*app).closeCmd},
		{"reorder", (*app).reorderCmd},
	}
}

// sessionCommands are the commands about sessions, and about who else is at work.
func sessionCommands() []command {
	return []command{{"roster", (*app).rosterCmd}, {"session", (*app).sessionCmd}, {"helper", (*app).helperCmd}}
}

// turnCommands are the commands about the stick.
func turnCommands() []command {
	return []command{
		{"wait", (*app).waitCmd},
		{"try", (*app).tryCmd},
		{"release", (*app).releaseCmd},
		{"pass", (*app).passCmd},
		{"take", (*app).takeCmd},
		{"heartbeat", (*app).heartbeatCmd},
		{"handoff", (*app).handoffCmd},
		{"guard", (*app).guardCmd},
	}
}
