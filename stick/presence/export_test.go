package presence

import "talkingstick/stick"

// What the tests from outside of the package look at, and nobody else.

const LongCall = longCall

var (
	IsPrimary  = isPrimary
	FindElder  = findElder
	HasSession = hasSession
	ShortSum   = shortSum
)

// Registered returns the member whose running session has the process, and false if there is none.
func Registered(r stick.Room, p stick.Process) (stick.AgentID, bool) {
	for _, m := range r.Members {
		if m.State != stick.Joined || !m.Session.Running {
			continue
		}

		for _, e := range m.Processes {
			if e.Process == p {
				return m.Agent, true
			}
		}
	}

	return "", false
}
