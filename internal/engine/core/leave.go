package core

import (
	"slices"

	"talkingstick/stick"
)

// DropListeners ends the waits of a member that has left or was removed.
func (o *Op) DropListeners(a stick.AgentID) error {
	for _, l := range o.Room.Listeners {
		if l.Agent == a {
			if err := o.Tx.DropListener(l.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// ListUnanswered lists the open messages of a member in the event that ends its membership, because it won't
// acknowledge them any more. It addresses the event to their senders, too.
func (o *Op) ListUnanswered(a stick.AgentID, typ stick.EventType) error {
	owed, err := o.Tx.OpenReceipts(o.Room.ID, a)
	if err != nil || len(owed) == 0 {
		return err
	}

	end := o.LastEvent(typ)
	var ids []int64
	for _, c := range owed {
		sent, err := o.Tx.Event(o.Room.ID, c.Event)
		if err != nil || sent == nil {
			return err
		}

		ids = append(ids, c.Event)
		isAddressed := slices.ContainsFunc(end.For, func(x stick.Addressee) bool { return x.Agent == sent.From })
		if sent.From != end.From && !isAddressed {
			end.For = append(end.For, stick.Addressee{Agent: sent.From})
		}
	}

	*end = end.Owing(ids)
	return nil
}
