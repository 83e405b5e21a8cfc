package app

import (
	"context"
	"sync"

	"talkingstick/stick"
)

// nameReader returns what tells the names of agents. They are read when the first id is about to be shown. It is nil
// for a command that has performed no operation.
func (a *Run) nameReader() func(stick.AgentID) string {
	if a.Caller == nil {
		return nil
	}

	names := sync.OnceValue(func() map[stick.AgentID]string {
		// Without names, ids are shown.
		read, _ := a.Operations.AgentNames(context.Background())
		return read
	})
	return func(id stick.AgentID) string { return names()[id] }
}

// showNames returns a text of ours with the names of agents in place of their ids.
func (a *Run) showNames(text string) string {
	nameOf := a.nameReader()
	if nameOf == nil {
		return text
	}
	return stick.ShowNames(text, nameOf)
}
