// Package proctest builds machines from data, so that tests have processes without starting any.
package proctest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing/fstest"

	"talkingstick/internal/proc"
)

// Process is a process of a [Machine].
type Process struct {
	PID, PPID int
	Comm      string
	Args      string // words; empty for comm alone
	TTY       int    // the device of its terminal; 0 for none
	Dir       string
	Start     int
	State     string
}

// Machine returns the process table of a machine with these processes and an init, as the process with
// pid self sees it.
func Machine(self int, all ...Process) *proc.Table {
	m := fstest.MapFS{}
	for _, p := range append(all, Process{PID: 1, Comm: "init", Start: 1}) {
		if p.State == "" {
			p.State = "S"
		}
		if p.Start == 0 {
			p.Start = p.PID
		}
		if p.Args == "" {
			p.Args = p.Comm
		}
		stat := &fstest.MapFile{Data: fmt.Appendf(nil, "%d (%s) %s %d %d %d %d -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", p.PID, p.Comm, p.State, p.PPID, p.PID, p.PID, p.TTY, p.Start)}
		name := fmt.Sprint(p.PID)
		m[name+"/stat"], m[name+"/comm"] = stat, &fstest.MapFile{Data: []byte(p.Comm + "\n")}
		m[name+"/cmdline"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(p.Args, " ", "\x00") + "\x00")}
		if p.Dir != "" && p.State != "Z" {
			m[name+"/cwd"] = &fstest.MapFile{Data: []byte(p.Dir), Mode: os.ModeSymlink}
		}
		if p.PID == self {
			m["self/stat"] = stat
		}
	}
	return &proc.Table{FS: m, PIDSpace: proc.PIDSpace{Boot: "b", PIDNS: "n"}, Initial: true, OneHost: true, Signal: func(int) error { return syscall.ESRCH }}
}
