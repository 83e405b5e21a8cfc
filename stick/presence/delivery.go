package presence

import (
	"talkingstick/stick"
)

// Delivery says how a message reaches a recipient.
type Delivery string

// How a message reaches a recipient, the best first.
const (
	DeliveryListening   Delivery = "listening"      // the recipient's wait returns with it now, or its idle harness gets it
	DeliveryDelayed     Delivery = "delayed"        // the recipient is idle and is woken later, because the two have woken each other several times
	DeliveryNextTool    Delivery = "next_tool_call" // the recipient is working, and a hook shows it after its next tool call
	DeliveryNextPrompt  Delivery = "next_prompt"    // the recipient is present, and gets it with its next wait or check
	DeliveryNeedsPerson Delivery = "needs_a_person" // nothing wakes the recipient: a person has to prompt it, or is the recipient
)

// Reaches returns how a message sent now reaches a. wake is when it may wake a if a is idle; see [talk.WakeAt]. in
// is the inbox of its harness.
func Reaches(r stick.Room, a stick.AgentID, wake stick.Deadline, in Inbox, s *stick.Probed, now stick.Time) Delivery {
	m, _ := r.Member(a)

	// A hook shows the agent what is new while it works.
	works := m.HooksSeen && m.IdleAt.IsZero()
	delayed := false

	// A live wait that hears events is the quickest way, except for the harness's own before its time.
	for _, l := range r.Listeners {
		if l.Agent != a || l.Deaf || s.ListenerVerdict(l.ID) != stick.Alive {
			continue
		}
		if l.Purpose != stick.Wake || !works && wake.Due(now) {
			return DeliveryListening
		}

		delayed = !works
	}

	// Without such a wait, the harness's inbox takes the text, as soon as the agent may be woken.
	if !in.Process.IsZero() && WokenByInbox(r, a, in.Signs, s, now) {
		if wake.Due(now) {
			return DeliveryListening
		}
		delayed, works = Attended(r, a, in.Process, s), false
	}

	switch {
	case delayed:
		return DeliveryDelayed
	case a.Human() || !r.Active(a, now, s):
		return DeliveryNeedsPerson
	case works:
		return DeliveryNextTool
	}
	return DeliveryNextPrompt
}
