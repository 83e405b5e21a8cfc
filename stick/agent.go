package stick

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The ids. Each is a type of its own so that two of them can't be swapped silently.
type (
	// AgentID names a participant: "<harness>:<hex>", "human:<name>" or "human:<name>@<host>".
	AgentID string
	// RoomID names a room.
	RoomID string
	// LeaseID is the fencing token of one grant of the stick. It is never reused, and only its
	// owner sees it.
	LeaseID string
	// ListenerID names one blocked wait of a member.
	ListenerID string
)

// Human reports whether a is a person.
func (a AgentID) Human() bool { return strings.HasPrefix(string(a), "human:") }

// hasShortName reports whether a is called name for short: the part before the colon or, for a person, before the
// host.
func (a AgentID) hasShortName(name AgentID) bool {
	return strings.HasPrefix(string(a), string(name)+":") || a.Human() && strings.HasPrefix(string(a), string(name)+"@")
}

var agentPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(:[A-Za-z0-9._@-]+)?$`) })

const maxAgentBytes = 64

// reservedNames can't be names of agents: where a command takes an agent, they mean something else.
var reservedNames = []string{"next", "any", "self", "room", "broadcast", "system", "role"}

// ParseAgentID checks s as the name of an agent. It fails with [CodeUsage].
func ParseAgentID(s string) (AgentID, error) {
	if len(s) > maxAgentBytes || !agentPattern().MatchString(s) || slices.Contains(reservedNames, s) ||
		strings.HasPrefix(s, toRole) {
		return "", Errorf(CodeUsage, "%q can't be the name of an agent", clip(s, 80)).
			Hintf("an agent is named like claude or claude:3f9a12bc: lower case, then perhaps a colon and a name of its own; %s shows who is here",
				Cmd("tt status"))
	}

	return AgentID(s), nil
}
