package harness

import (
	"slices"
	"strings"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// Connection is what an MCP server knows of the client that it serves.
type Connection struct {
	Client string        // the name by which the client introduced itself; may be empty
	Server stick.Process // the server, which serves no other connection
}

// callKind says what a call is, for a sentence that names its harness.
func (in Input) callKind() stick.Words {
	if in.Connection != nil {
		return "a call through MCP from"
	}
	return "a shell inside"
}

// clientRow makes the row of an MCP client below no harness, so that it is an agent, never a person. It fills
// in the client's process, or its connection where no process can be seen.
func (r *resolver) clientRow(c Connection) *Row {
	r.caller.Client = true

	// The commands of that harness have its name, too.
	if r.belowGeneric() {
		r.caller.Process, r.caller.Proof = r.process.ID, stick.ProvesCarrier
		return &r.near.row
	}

	// A client may be a known harness whose process can't be seen.
	if row, ok := knownAs(c.Client); ok {
		r.caller.Server = c.Server
		r.say("The MCP client calls itself %s, which is %s.", stick.Name(c.Client).Cut(80), row.Title)
		return &row
	}

	row := Row{Name: clientName(c.Client), Title: clientTitle(c.Client)}
	r.say("The MCP client is %s.", row.Title)
	for _, p := range r.in.Chain {
		// A relay only starts programs for others, so the client is above it.
		if isRelay(p) {
			continue
		}
		if p.ID.PID != initPID {
			r.caller.Process, r.caller.Proof = p.ID, stick.ProvesCarrier
			r.say("Its process is %d (%s).", p.ID.PID, p.Comm)
			return &row
		}

		break
	}

	r.caller.Server = c.Server
	return &row
}

// First is the first connection of the caller's client.
func (f Caller) First() Caller {
	f.Number = 1
	return f
}

// initPID is the process that the kernel makes the parent of those whose parent has ended.
const initPID = 1

// sayClient explains what the client's process proves.
func (r *resolver) sayClient() {
	if r.caller.Process.IsZero() {
		r.say("Its process can't be seen, so its name is that of the connection, and no process vouches for it.")
		return
	}
	r.say("%s", proofText[r.caller.Proof])
}

// isRelay reports whether p only starts programs for others: a shell, npx and its like, or tt.
func isRelay(p proc.Info) bool {
	program := programName(p.Comm)
	if len(p.Args) > 0 {
		program = programName(p.Args[0])
	}
	if slices.Contains(shells, program) || slices.Contains(runners, program) {
		return true
	}

	script := scriptOf(p)
	return script != "" && slices.Contains(runners, strings.TrimSuffix(scriptName(script), "-cli"))
}

// runners are programs that fetch and start others.
var runners = []string{"npx", "npm", "uvx", "uv", "tt"}

// slugLimit is the longest part of an agent's name that comes from a client's.
const slugLimit = 32

// clientName makes the part of an agent's name that stands before the colon from a client's name. It is never
// a harness's, nor a person's.
func clientName(client string) string {
	name := strings.Trim(slugOf(client, slugLimit), "-._")
	_, known := ByName(name)
	_, misleading := stick.ParseAgentID(name + ":0")
	switch {
	case name == "":
		return "mcp"
	case known, name == Human, name == workerRow.Name, misleading != nil:
		return "mcp-" + name
	}

	return name
}

// clientTitle returns the name that an MCP client gives itself, for people.
func clientTitle(name string) stick.Words {
	if strings.TrimSpace(name) == "" {
		return "an MCP client without a name"
	}
	return stick.Wordsf("%s", stick.Name(name).Cut(80))
}
