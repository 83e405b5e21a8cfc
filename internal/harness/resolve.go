package harness

import (
	"fmt"
	"strings"

	"talkingstick/internal/proc"
	"talkingstick/internal/shell"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// Input is everything that identity is resolved from.
type Input struct {
	Getenv   func(string) string
	Chain    []proc.Info // the caller's ancestors, the nearest first
	Complete bool        // Chain goes to the top

	As       string // the name that the caller asks for, if any
	AsSource string // where it asks for it: "--as", "TT_HARNESS_AGENT_ID", …

	SessionID      string // given with the call, in a hook's input or an MCP call's _meta; else empty
	SessionHarness string // whose session that is; empty if the call doesn't say

	// the call came through a server, in whose environment Getenv reads; nil for a command or hook
	Connection *Connection

	User string
	Host string

	Alias shell.Alias // git's aliases, which a command in a hook's input may use; nil for none
}

// Caller is who calls, as far as that is known without the database.
type Caller struct {
	// Behalf is the agent or person for whom a process of tt goes on with what that one has asked for. Then
	// nothing else is set. No environment and no flag says it.
	Behalf stick.AgentID

	As        string // the name that the caller asks for; nothing else follows from it
	AsSource  string // where it asks for it; empty without As
	Harness   string // the name of a row, or [Human]
	SessionID string // empty when it isn't known

	// the sub-agent of the session, as the harness's hook names it; empty for the agent itself, and outside
	// of hooks
	Helper string

	// SessionID may be an older one of the process: a newer one in the database comes first
	Earlier  bool
	Process  stick.Process // the harness's, or the person's outermost in the terminal; zero if it can't be seen
	Proof    stick.Proof   // what the life of Process proves; empty without a Process
	OnDaemon bool          // Process is a daemon, and another process is the agent's terminal

	// harnesses in whose tool calls the caller's was started, if they prove their sessions
	Above []stick.Process

	// seeds of the sessions that the environment names, of such harnesses as no process shows
	AboveIn  []string
	Task     edits.TaskMark // of the command of a task that it runs below; zero for none
	Detached bool           // only its environment names the harness, which isn't among its ancestors

	// the session that the environment of a Detached caller names, if that isn't known to run; then SessionID
	// is empty
	Stray  string
	Client bool          // it was found by the name of an MCP client, and Process is that client's
	Server stick.Process // of a Client without Process: the server of its connection; else zero

	// of a Client with Process: which of the live connections of Process this is, from 1; 0 as 1
	Number   int
	Terminal string // a person's terminal; empty without one
	Person   bool
	User     string        // fit for an agent id: a person is human:<User>
	Host     string        // as given
	Explain  []stick.Words // how all this was found, in sentences
}

// ActsAsPerson reports whether the caller is a person who acts under no name of an agent.
func (c Caller) ActsAsPerson() bool {
	return c.Person && (c.As == "" || stick.AgentID(c.As).Human())
}

// Flag returns the name that the caller asks for by the flag --as, which each of its further commands needs
// as well. It is empty for a name from the environment, which stays.
func (f Caller) AssumedByFlag() string {
	if f.AsSource == "--as" {
		return f.As
	}
	return ""
}

// Seed is the text from which an agent's id is made: the same for the same agent. It is empty for a person,
// who has a name. Without a session, callers that share a process are one agent, except that each live
// connection of an MCP client is another. Without a process too, those with the same harness, user and host
// are one, except that those whose environments name different sessions are several, and none of them is the
// agent of such a session.
func (f Caller) Seed() string {
	switch {
	case f.Person:
		return ""
	case f.SessionID != "":
		return f.Harness + " session " + f.SessionID
	case f.Number > 1:
		return fmt.Sprintf("%s process %s connection %d", f.Harness, f.Process.Key(), f.Number)
	case !f.Process.IsZero():
		return f.Harness + " process " + f.Process.Key()
	case !f.Server.IsZero():
		return f.Harness + " server " + f.Server.Key()
	case f.Stray != "":
		return f.unseenSeed() + " session " + f.Stray
	}

	return f.unseenSeed()
}

func (f Caller) unseenSeed() string { return f.Harness + " unseen " + f.Host + " " + f.User }

// WithoutSession is the caller where the session that only its environment names isn't known to run.
func (f Caller) WithoutSession() Caller {
	f.Stray, f.SessionID = f.SessionID, ""
	return f
}

// StrayAgent is the agent of the session that the environment of a Stray caller names.
func (f Caller) StrayAgent() Caller {
	f.Stray, f.SessionID = "", f.Stray
	return f
}

// Resolve finds out who calls. It fails with [stick.CodeUsage] if the caller asks for an impossible name, if
// an agent asks for a person's name, and if the call names an unknown harness.
// See docs/decisions/process-identity-and-roster.md#who-calls.
func Resolve(in Input) (Caller, error) {
	r := resolver{in: in, caller: Caller{As: in.As, User: userName(in.User), Host: in.Host}}
	if err := checkName(in.As, in.AsSource); err != nil {
		return Caller{}, err
	}
	if in.As != "" {
		r.caller.AsSource = in.AsSource
	}

	row, err := r.findHarness()
	if err != nil {
		return Caller{}, err
	}
	if row == nil {
		r.fillPerson()
		return r.caller, nil
	}

	// An agent must not pass for a person, whom no rule binds.
	if strings.HasPrefix(in.As, Human+":") || in.As == Human {
		return Caller{}, stick.Errorf(stick.CodeUsage, "%s %q is a person's name, but this is %s %s",
			in.AsSource, in.As, in.callKind(), row.Title).With("field", in.AsSource)
	}

	r.fillAgent(*row)
	r.findTask()
	return r.caller, nil
}

// resolver collects what is known about the caller.
type resolver struct {
	in      Input
	caller  Caller
	near    match // the nearest harness among the ancestors
	process proc.Info
	seen    bool        // near and process are set
	above   []proc.Info // the ancestors of process
}

func (r *resolver) say(format string, args ...any) {
	r.caller.Explain = append(r.caller.Explain, stick.Wordsf(format, args...))
}

// firstSet returns the first of names that is set, and its value. Empty, 0 and false count as not set.
func (r *resolver) firstSet(names []string) (name, value string) {
	for _, name := range names {
		switch value := r.in.Getenv(name); strings.ToLower(value) {
		case "", "0", "false":
		default:
			return name, value
		}
	}

	return "", ""
}
