package harness

import (
	"slices"
	"strings"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// Running is an agent's process that a scan found.
type Running struct {
	Harness        string
	Process        stick.Process // the outermost of its run, as in [Caller]
	Dir            string        // where it works; empty where that may not be read
	DaemonTerminal bool          // it may be the terminal of a daemon's session
}

// Roster is what a scan found.
type Roster struct {
	Blind  bool      // nothing can be seen from here
	Agents []Running // those that work inside, without the caller, its ancestors and what it started
	Hidden []Running // those whose directory can't be read
	Closed int       // the number of processes whose name can't be read either

	Related []stick.Process // the caller, its ancestors, and the agents that it started
}

// Scan finds the agents that work inside. self is the calling process, and agent the process of its harness,
// zero if it has none. Daemons aren't agents, and a launcher and its program are one.
// See docs/decisions/process-identity-and-roster.md#what-a-scan-reads.
func Scan(t *proc.Table, inside func(dir string) bool, self int, agent stick.Process) (Roster, error) {
	sweep, err := t.Scan(inside, IsProgramName)
	if err != nil || sweep.Blind {
		return Roster{Blind: sweep.Blind}, err
	}

	out := Roster{Closed: sweep.Unreadable}
	above, _ := t.Ancestry(self)
	for _, a := range above {
		out.Related = append(out.Related, a.ID)
	}

	skip := func(p proc.Info, chain []proc.Info) bool {
		is := func(other proc.Info) bool { return other.ID.PID == self || other.ID == agent }
		return is(p) || slices.ContainsFunc(chain, is) || slices.ContainsFunc(above, func(a proc.Info) bool {
			return a.ID == p.ID
		})
	}

	add := func(to []Running, p proc.Info, dir string) []Running {
		near, ok := recogniseProcess(p)
		if !ok || near.sandbox || startedWith(p, near.row.Daemons) {
			return to
		}

		chain, _ := t.Ancestry(p.ID.PID)
		if skip(p, chain) {
			out.Related = append(out.Related, p.ID)
			return to
		}

		outer := p
		if n := launchedBy(p, near, chain); n > 0 {
			outer = chain[n-1]
		}
		if skip(outer, nil) || slices.ContainsFunc(to, func(r Running) bool { return r.Process == outer.ID }) {
			return to
		}

		return append(to, Running{near.row.Name, outer.ID, dir, near.row.showsDaemon(p)})
	}

	for _, s := range sweep.Inside {
		out.Agents = add(out.Agents, s.Info, s.Dir)
	}

	for _, p := range sweep.Hidden {
		out.Hidden = add(out.Hidden, p, "")
	}

	slices.SortFunc(out.Agents, func(a, b Running) int {
		switch {
		case a.Process.Before(b.Process):
			return -1
		case b.Process.Before(a.Process):
			return 1
		}

		return 0
	})
	return out, nil
}

// IsProgramName reports whether a process with that short name may be a harness's.
func IsProgramName(comm string) bool {
	name := programName(comm)
	fits := func(program string) bool { return name == program[:min(len(program), commLimit)] }
	runs := func(r Row) bool { return slices.ContainsFunc(r.Programs, fits) }

	return slices.ContainsFunc(Rows, runs) || slices.ContainsFunc(programRows, runs) ||
		slices.ContainsFunc(interpreters, func(i string) bool {
			return name == i || strings.HasPrefix(name, i+"-")
		}) ||
		name == "mainthread" // as newer versions of node call themselves
}
