package engine

import (
	"errors"
	"fmt"

	"talkingstick/stick"
)

// A database whose whole data directory was replaced by an older copy has nothing to compare itself with. Its
// callers may know more: a lease that it has made and doesn't know or, see package eventlog, the number of an
// event that it hasn't given out.

// lostGrant is why a command of an owner is refused whose grant the database has forgotten.
type lostGrant struct{ stick.Fence }

func (g *lostGrant) Error() string { return fmt.Sprintf("the grant of turn %d is lost", g.Turn) }

// requireKnown fails with a [lostGrant] if the room has made the lease of the fence, and its log doesn't know
// it. A number alone proves nothing: whoever takes another number for the turn's mustn't end the turn of
// somebody else.
func (o *op) requireKnown(given stick.Fence) error {
	now := o.Room.Turn
	isCurrent := now.ID == given.Turn && now.Lease == given.Lease

	// What may have been lost up to there was noticed before.
	isBelow := given.Turn <= o.Tx.Generation().Above
	if isCurrent || isBelow || !o.Room.ID.HasMade(given.Lease) {
		return nil
	}

	known, err := o.Tx.HasGrant(o.Room.ID, given.Turn, stick.LeaseSum(given.Lease))
	if err != nil || known {
		return err
	}

	return &lostGrant{given}
}

// noticeOlder is a rule that begins a generation when its caller shows that the database is older than what
// it has given out.
func noticeOlder(rule func(*op) error) func(*op) error {
	return func(o *op) error {
		err := rule(o)
		lost, ok := errors.AsType[*lostGrant](err)
		if !ok {
			return err
		}

		if err := o.Tx.BeginAfterCopy(lost.Turn); err != nil {
			return err
		}
		o.Apply(o.Room.Restore(o.Tx.Generation(), o.Probes.Probed, o.Tx.Now()))

		r := o.Room
		o.Refused = stick.Errorf(stick.CodeTurnMismatch, "turn %d is over: "+
			"the database has granted it and no longer knows it, so it is an older copy. "+
			"All turns and reservations end, and handoffs stay", lost.Turn).
			With("current_turn_id", r.Turn.ID).With("room_state", r.State(o.Probes.Probed, o.Tx.Now())).
			With("current_owner", nil).
			Hintf("%s", r.FencedStep(o.Me.Agent))
		return nil
	}
}
