package app

import (
	"context"

	"talkingstick/stick"
	"talkingstick/stick/names"
)

// nameReader returns what tells the names of agents. It is nil for a command that has performed no operation.
func (a *Run) nameReader() func(stick.AgentID) string {
	if a.Caller == nil {
		return nil
	}
	return a.nameOf
}

// nameOf returns what people call an agent. Each is asked for once: a text names few of all that there have been.
func (a *Run) nameOf(id stick.AgentID) string {
	a.naming.Lock()
	defer a.naming.Unlock()

	name, known := a.names[id]
	if !known {
		// Without names, ids are shown.
		name, _ = a.Operations.AgentName(context.Background(), id)
		if a.names == nil {
			a.names = map[stick.AgentID]string{}
		}
		a.names[id] = name
	}

	return name
}

// showNames returns a text of ours with the names of agents in place of their ids.
func (a *Run) showNames(text string) string {
	nameOf := a.nameReader()
	if nameOf == nil {
		return text
	}
	return names.Show(text, nameOf)
}
