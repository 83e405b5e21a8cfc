package app

import (
	"context"
	"sync"

	"talkingstick/stick"
)

// nameReader returns what tells a person the names of agents. They are read when the first id is about to be
// shown. It is nil where no person reads: agents know each other by their ids.
func (a *Run) nameReader() func(stick.AgentID) string {
	if a.Caller == nil || !a.Caller.ActsAsPerson() {
		return nil
	}

	names := sync.OnceValue(func() map[stick.AgentID]string {
		// Without names, ids are shown.
		read, _ := a.Operations.AgentNames(context.Background())
		return read
	})
	return func(id stick.AgentID) string { return names()[id] }
}
