package harness

import (
	"fmt"
	"strings"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// Input is everything from which identity is resolved.
type Input struct {
	Getenv   func(string) string
	Chain    []proc.Info // the caller's ancestors, the nearest first
	Complete bool        // Chain goes to the top

	As       string // the name the caller asked for, or ""
	AsSource string // where that was asked: "--as", "TT_HARNESS_AGENT_ID", …

	SessionID      string // given with the call: a hook's input, an MCP call's _meta; else ""
	SessionHarness string // whose session that is; "" if the call didn't say
	Spawned        bool   // Getenv tells the environment of when a server was started, not that of the call

	User string
	Host string
}

// Caller is who calls, as far as that shows without the database.
type Caller struct {
	As        string        // the name that was asked for; it changes nothing else
	AsSource  string        // where it was asked for; empty without As
	Harness   string        // the name of a row, or [Human]
	SessionID string        // empty when it isn't known
	Earlier   bool          // SessionID may be one that the process carried before: what is known of the process comes first
	Process   stick.Process // the harness's process, or the person's outermost one in the terminal; zero if unseen
	Proof     stick.Proof   // what Process proves; empty without one
	OnDaemon  bool          // Process is a daemon, and the agent is seen in a terminal's process
	Terminal  string        // a person's terminal; empty without one
	Person    bool
	User      string   // fit for an agent id: a person is human:<User>
	Host      string   // as given
	Explain   []string // how it was found, one plain sentence each
}

// Seed is the text from which an agent's id is made, equal for equal agents. It is empty for a
// person, who is called by name. Where no session is known, those that share a process are one
// agent; where no process is known either, those of a harness, user and host are.
func (f Caller) Seed() string {
	switch {
	case f.Person:
		return ""
	case f.SessionID != "":
		return f.Harness + " session " + f.SessionID
	case !f.Process.IsZero():
		return f.Harness + " process " + f.Process.Key()
	}
	return f.Harness + " unseen " + f.Host + " " + f.User
}

// Resolve tells who calls. It fails with [stick.CodeUsage] when the name that was asked for
// can't be one, when an agent asks for a person's, and when the call names a harness that isn't
// known.
func Resolve(in Input) (Caller, error) {
	r := resolver{in: in, caller: Caller{As: in.As, User: userName(in.User), Host: in.Host}}
	if err := checkName(in.As, in.AsSource); err != nil {
		return Caller{}, err
	}
	if in.As != "" {
		r.caller.AsSource = in.AsSource
	}
	row, err := r.harness()
	if err != nil {
		return Caller{}, err
	}
	if row == nil {
		r.person()
		return r.caller, nil
	}
	if strings.HasPrefix(in.As, Human+":") || in.As == Human {
		return Caller{}, stick.Errorf(stick.CodeUsage, "%s %q is a person's name, and this is a shell inside %s",
			in.AsSource, in.As, row.Title).With("field", in.AsSource)
	}
	r.agent(*row)
	return r.caller, nil
}

// resolver collects what is found.
type resolver struct {
	in      Input
	caller  Caller
	near    match // the nearest harness among the ancestors
	process proc.Info
	seen    bool // near and process are set
}

func (r *resolver) say(format string, args ...any) {
	r.caller.Explain = append(r.caller.Explain, fmt.Sprintf(format, args...))
}

// env returns the first of names that is set in the environment, and its value. Empty, 0 and
// false don't count.
func (r *resolver) env(names []string) (name, value string) {
	for _, name := range names {
		switch value := r.in.Getenv(name); strings.ToLower(value) {
		case "", "0", "false":
		default:
			return name, value
		}
	}
	return "", ""
}
