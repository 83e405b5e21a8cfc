package sticktest

import (
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// Starts lets an agent join and starts its session.
func (f *Fixture) Starts(q presence.Starting) presence.Started {
	f.T.Helper()
	f.Acts(q.By)
	r, events, out := presence.StartSession(f.Room, q, f.Probed, f.Now)
	f.Commit(r, events)
	return out
}

// Acts lets an agent act, and join if it hasn't.
func (f *Fixture) Acts(a stick.AgentID) {
	f.T.Helper()
	r, events, _, err := f.Join(a, "", true, f.Now)
	if err != nil {
		f.T.Fatal(err)
	}
	f.Commit(r, events)
}

// RunsIn gives a member a process.
func (f *Fixture) RunsIn(a stick.AgentID, pid int, v stick.Verdict) stick.Process {
	p := stick.Process{Boot: "b", PIDNS: "n", PID: pid, Start: int64(pid)}
	f.EditMember(a, func(m *stick.Member) { m.Processes = []stick.Evidence{{Process: p, Proof: stick.ProvesSession}} })
	f.Probed.Processes[p] = v
	return p
}
