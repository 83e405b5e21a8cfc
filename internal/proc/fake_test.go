package proc

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing/fstest"

	"talkingstick/stick"
)

const (
	boot  = "7e6a1d0c-52cf-4d5c-8f43-0f7f7e9d2f10"
	pidns = "4026531836"
)

// fake is a process in a faked /proc.
type fake struct {
	pid, ppid int
	comm      string
	args      []string
	state     byte // 'S' if not given
	session   int  // its own if not given
	tty       int
	threads   int // 1 if not given
	start     int64
}

func (f fake) stat() string {
	if f.state == 0 {
		f.state = 'S'
	}
	if f.session == 0 {
		f.session = f.pid
	}
	f.threads = max(f.threads, 1)
	return fmt.Sprintf("%d (%s) %c %d %d %d %d -1 4194304 101 0 0 0 0 0 0 0 20 0 %d 0 %d 3133440 412 0\n",
		f.pid, f.comm, f.state, f.ppid, f.session, f.session, f.tty, f.threads, f.start)
}

// fakeTable is a machine with some processes, in its first pid namespace.
func fakeTable(processes ...fake) *Table {
	m := fstest.MapFS{}
	for _, f := range processes {
		dir := fmt.Sprint(f.pid)
		m[dir+"/stat"] = &fstest.MapFile{Data: []byte(f.stat())}
		var line string
		if len(f.args) > 0 {
			line = strings.Join(f.args, "\x00") + "\x00"
		}
		m[dir+"/cmdline"] = &fstest.MapFile{Data: []byte(line)}
	}

	return &Table{
		FS:       m,
		PIDSpace: PIDSpace{Boot: boot, PIDNS: pidns},
		Initial:  true,
		Signal:   func(int) error { return syscall.ESRCH },
	}
}

func process(pid int, start int64) stick.Process {
	return stick.Process{Boot: boot, PIDNS: pidns, PID: pid, Start: start}
}

// failing is a /proc whose entries can't be read.
type failing struct{ err error }

func (f failing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
}
