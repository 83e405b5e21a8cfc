package proc

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"talkingstick/stick"
)

// Traces are what processes carry of whoever started them.
type Traces struct {
	Below    []stick.Process // they are below one of these
	Session  stick.Process   // they are in the session that this process leads or, if it has ended, has provably led
	Variable string          // it is in their environment, as in NAME=value. Only Linux shows that

	// Except means processes that aren't meant, and neither are those below them.
	Except func(Info) bool
}

// StartedProcesses lists the living processes with one of the traces, by pid. It can't see those of other
// users, and in other pid namespaces. A process that leaves its parent, its session and its environment
// behind leaves no trace.
func (t *Table) StartedProcesses(by Traces) []Info {
	all := t.allStatuses()
	children := map[int][]status{}
	for _, s := range all {
		children[s.ppid] = append(children[s.ppid], s)
	}

	// What isn't meant is skipped with all that is below it.
	found, skipped := map[int]status{}, map[int]bool{}

	var skip func(s status)
	skip = func(s status) {
		if skipped[s.pid] {
			return
		}
		skipped[s.pid] = true
		for _, c := range children[s.pid] {
			skip(c)
		}
	}

	for _, s := range all {
		if by.Except != nil && !slices.Contains(by.Below, t.identityOf(s)) && by.Except(t.infoOf(s)) {
			skip(s)
		}
	}

	// What has a trace is taken with all that is below it.
	var take func(s status)
	take = func(s status) {
		if _, known := found[s.pid]; known || skipped[s.pid] {
			return
		}
		found[s.pid] = s
		for _, c := range children[s.pid] {
			take(c)
		}
	}

	for _, root := range by.Below {
		if t.Verdict(root) == stick.Alive {
			for _, c := range children[root.PID] {
				take(c)
			}
		}
	}

	marked := map[int]bool{}
	for _, s := range all {
		marked[s.pid] = by.Variable != "" && t.hasVariable(s.pid, by.Variable)
	}

	session := t.sessionOf(by.Session, all, marked)
	for _, s := range all {
		inSession := session != 0 && s.session == session && s.pid != session && s.start >= by.Session.Start
		if marked[s.pid] || inSession {
			take(s)
		}
	}

	var out []Info
	for _, s := range found {
		if !s.hasEnded() && !slices.Contains(by.Below, t.identityOf(s)) {
			out = append(out, t.infoOf(s))
		}
	}

	slices.SortFunc(out, func(a, b Info) int { return a.ID.PID - b.ID.PID })
	return out
}

// sessionOf returns the number of the session that a process leads or has led, 0 if that isn't sure. A number
// is free for others only when nobody is in its session any more. So the session is still that of leader if
// leader is there, or if one of those in it is marked. Where no marks can be seen, nobody else must have the
// number.
func (t *Table) sessionOf(leader stick.Process, all []status, marked map[int]bool) int {
	if leader.IsZero() || !leader.Comparable(stick.Process{Boot: t.PIDSpace.Boot, PIDNS: t.PIDSpace.PIDNS}) {
		return 0
	}

	sure := t.native != nil
	for _, s := range all {
		switch {
		case s.pid == leader.PID && s.start != leader.Start:
			// Another process has the number now.
			return 0
		case s.pid == leader.PID, s.session == leader.PID && marked[s.pid]:
			sure = true
		}
	}

	if !sure {
		return 0
	}
	return leader.PID
}

// Send sends a signal to a process, and to no other one that has its pid by now. A machine of data has nobody
// to send it to.
func (t *Table) Send(p stick.Process, s os.Signal) error {
	if t.Signal != nil {
		return os.ErrInvalid
	}

	// Where the system can do that, this holds on to the process that has the pid now.
	to, err := os.FindProcess(p.PID)
	if err != nil {
		return err
	}
	defer to.Release()

	if t.Verdict(p) != stick.Alive {
		return os.ErrProcessDone
	}
	return to.Signal(s)
}

// allStatuses returns the status of all processes that it can see, also of those that have ended and that
// nobody has noticed yet.
func (t *Table) allStatuses() (all []status) {
	if t.foreign {
		return nil
	}
	if t.native != nil {
		all, _ = t.native.all()
		return all
	}

	pids, err := t.listPIDs()
	if err != nil {
		return nil
	}

	for _, pid := range pids {
		if s, err := readStatus(t.FS, pid+"/stat"); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// hasVariable reports whether a process was started with a variable in its environment, as far as that can be
// seen.
func (t *Table) hasVariable(pid int, variable string) bool {
	if t.native != nil {
		return false
	}

	b, err := fs.ReadFile(t.FS, strconv.Itoa(pid)+"/environ")
	if err != nil {
		return false
	}

	for v := range bytes.SplitSeq(b, []byte{0}) {
		if string(v) == variable {
			return true
		}
	}
	return false
}
