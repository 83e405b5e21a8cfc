package core

import (
	"context"
	"errors"
	"sync"
	"time"

	"talkingstick/internal/wake"
	"talkingstick/stick"
)

// ErrUnseenInbox ends a transaction that needs to know whether something can be written to an inbox. See
// [Inboxes.RetryUnseen].
var ErrUnseenInbox = errors.New("look at the inbox and run again")

// inboxOpens is how long it may take to find out whether something can be written to inboxes.
const inboxOpens = 50 * time.Millisecond

// Inboxes are the inboxes of this host's sessions whose harnesses run. They are read outside of transactions.
type Inboxes struct {
	byAgent map[stick.AgentID]wake.Kept
	peer    wake.PeerOf
	limit   time.Duration

	open   map[stick.AgentID]bool // what was found out
	wanted []stick.AgentID        // whose has to be found out before the next transaction
}

// Inboxes reads which inboxes there are. Those of harnesses that have ended are removed.
func (k *Kernel) Inboxes() *Inboxes {
	in := &Inboxes{peer: k.Config.InboxPeer, limit: k.ExtendLimit(inboxOpens), open: map[stick.AgentID]bool{}}
	for _, b := range wake.FolderOf(k.Config.Dir).All() {
		// An inbox without its process is a file that nobody reads.
		switch k.Config.Procs.Verdict(b.Process) {
		case stick.Gone:
			// If it fails, whoever reads the folder next tries again.
			_ = b.Drop()
		case stick.Alive:
			if in.byAgent == nil {
				in.byAgent = map[stick.AgentID]wake.Kept{}
			}
			in.byAgent[b.Agent] = b
		}
	}

	return in
}

// InboxOf returns the inbox of an agent.
func (in *Inboxes) InboxOf(a stick.AgentID) (wake.Inbox, bool) {
	b, ok := in.byAgent[a]
	return b.Inbox, ok
}

// Empty reports whether there are none.
func (in *Inboxes) Empty() bool { return len(in.byAgent) == 0 }

// Listens returns the process that listens on the inbox of an agent, zero if nothing can be written to it.
// missed says that this has to be found out first, by Probe, outside of the transaction.
func (in *Inboxes) Listens(a stick.AgentID) (p stick.Process, missed bool) {
	b, ok := in.byAgent[a]
	if !ok {
		return stick.Process{}, false
	}

	open, known := in.open[a]

	if !known {
		in.wanted = append(in.wanted, a)
	}
	if !open {
		return stick.Process{}, !known
	}

	return b.Process, false
}

// Probe finds out what Listens has missed.
func (in *Inboxes) Probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, in.limit)
	defer cancel()

	var mu sync.Mutex
	var all sync.WaitGroup
	for _, a := range in.wanted {
		// A socket that hangs holds up no other.
		all.Go(func() {
			open := in.byAgent[a].Open(ctx, in.peer)
			mu.Lock()
			defer mu.Unlock()
			in.open[a] = open
		})
	}

	all.Wait()
	in.wanted = nil
}

// RetryUnseen runs a transaction, and runs it again after Probe if it failed with [ErrUnseenInbox].
func (in *Inboxes) RetryUnseen(ctx context.Context, transaction func() error) error {
	err := transaction()
	if err == ErrUnseenInbox {
		in.Probe(ctx)
		err = transaction()
	}

	return err
}

// KeepInbox writes down where a session can be woken, for those who commit. A session that has no inbox now
// has none any more.
func (k *Kernel) KeepInbox(p HookParams, me Identity) {
	all := wake.FolderOf(k.Config.Dir)
	if p.Inbox.Socket == "" || p.Caller.Proof != stick.ProvesSession || p.Caller.As != "" {
		if me.Session.Key != "" {
			_ = all.Drop(me.Session.Key)
		}
		return
	}

	// Without the file, the agent is woken as one without an inbox.
	_ = all.Keep(me.Session.Key, wake.Inbox{
		Agent: me.Agent, Harness: p.Caller.Harness, Process: p.Caller.Process, Socket: p.Inbox.Socket,
		Token: p.Inbox.Token,
	})
}
