package harness

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// AgentEnv is the variable in which harnesses say who they are, also such as have no row in [Rows]: crush,
// pi, claude-code_2-1-330_agent.
const AgentEnv = "AI_AGENT"

// agentVersion matches what may follow the name in it: a version, and which part of the harness has set it.
var agentVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`_[0-9][0-9A-Za-z.-]*(_[a-z]+)?$`)
})

// agentName returns the name in AgentEnv, or "".
func agentName(getenv func(string) string) string {
	name := strings.TrimSpace(getenv(AgentEnv))
	if name == "" {
		return ""
	}
	return agentVersion().ReplaceAllString(name, "")
}

// knownAs returns the row of the harness that calls itself so.
func knownAs(name string) (Row, bool) {
	i := slices.IndexFunc(Rows, func(r Row) bool {
		return name != "" && (name == r.Name || slices.Contains(r.Clients, name))
	})
	if i < 0 {
		return Row{}, false
	}
	return Rows[i], true
}

// genericRow returns a row for the harness that AgentEnv names, if it has none of its own. Its program is the
// one with that name; what the life of its process proves isn't known.
func genericRow(getenv func(string) string) (Row, bool) {
	name := agentName(getenv)
	if _, known := knownAs(name); known || strings.Trim(slugOf(name, slugLimit), "-._") == "" {
		return Row{}, false
	}

	program := []string{strings.ToLower(name)}
	return Row{
		Name: clientName(name), Title: stick.Wordsf("%s", stick.Name(name).Cut(80)),
		Programs: program, Scripts: program, Markers: []string{AgentEnv},
		Proves: stick.ProvesCarrier,
	}, true
}

// recogniseCaller finds the harness that p belongs to, also one that only the caller's environment knows.
func (r *resolver) recogniseCaller(p proc.Info) (match, bool) {
	if m, ok := recogniseProcess(p); ok {
		return m, true
	}
	if row, ok := genericRow(r.in.Getenv); ok && row.runsProcess(p) {
		return match{row: row, proof: row.Proves}, true
	}
	return match{}, false
}

// belowGeneric reports whether the caller runs below a harness that has no row in [Rows].
func (r *resolver) belowGeneric() bool {
	row, ok := genericRow(r.in.Getenv)
	return r.seen && (ok && r.near.row.Name == row.Name || r.near.row.isProgramRow())
}
