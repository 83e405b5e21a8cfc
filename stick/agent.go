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

// MaxAgentBytes bounds the name of an agent.
const MaxAgentBytes = 64

// reservedNames can't be names of agents: where a command takes an agent, they mean something else.
var reservedNames = []string{"next", "any", "self", "room", "broadcast", "system", "role"}

// misleadingNames can't begin the names of agents either: in a sentence of tt they would be tt itself, git, a
// person, the reader, or nobody in particular.
var misleadingNames = []string{
	"tt", "talking-stick", "talkingstick", "git", "hint", "next", "note", "error", "warning", "message", "event",
	"you", "your", "me", "it", "they", "we", "he", "she", "this", "that", "the",
	"nobody", "somebody", "anybody", "everybody", "someone", "anyone", "everyone", "no-one", "none", "all",
	"user", "users", "person", "people", "owner", "operator", "admin", "root", "system", "developer",
	"assistant", "tool",
}

// isMisleading reports whether a name reads as somebody else than an agent: by its part before the colon, up
// to what isn't a letter. Only persons are called human.
func isMisleading(name string) bool {
	name, _, isFull := strings.Cut(name, ":")
	first := name
	if i := strings.IndexAny(name, "._-0123456789"); i > 0 {
		first = name[:i]
	}

	isHuman := first == "human" && (name != first || !isFull)
	return isHuman || slices.Contains(misleadingNames, first) || slices.Contains(misleadingNames, name)
}

// ParseAgentID checks s as the name of an agent. It fails with [CodeUsage].
func ParseAgentID(s string) (AgentID, error) {
	isWellFormed := len(s) <= MaxAgentBytes && agentPattern().MatchString(s)
	if isWellFormed && isMisleading(s) {
		return "", Errorf(CodeUsage, "%q can't be an agent's name: in a sentence it would read as somebody else", s).
			Hintf("to see who is here: %s; room means all of them; a new name begins with another word, such as reviewer",
				Cmd("tt status"))
	}

	if !isWellFormed || slices.Contains(reservedNames, s) || strings.HasPrefix(s, ToRole) {
		return "", Errorf(CodeUsage, "%q can't be an agent's name", Clip(s, 80)).
			Hintf("use a name like claude or claude:3f9a12bc, in lower case before the colon; see who is here: %s",
				Cmd("tt status"))
	}

	return AgentID(s), nil
}
