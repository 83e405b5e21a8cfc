// Package proc identifies processes exactly and says whether they live. It starts no process, and it reads
// /proc through an fs.FS, so that tests can fake a machine with data.
package proc

import (
	"errors"
	"io/fs"
	"os"

	"talkingstick/stick"
)

// PIDSpace is the machine, boot and pid namespace in which a pid identifies a process. Pids of different
// spaces can't be compared.
type PIDSpace struct{ Machine, Boot, PIDNS string }

// Info describes a process as it was when it was read.
type Info struct {
	ID    stick.Process
	PPID  int    // 0 if its parent is outside the PIDSpace, or if it has none
	Comm  string // the kernel's short name for it; Linux cuts it after 15 bytes
	Args  []string
	SID   int    // the pid of its session's leader; 0 when unknown
	TTY   string // its controlling terminal, such as "pts/3"; empty if it has none
	State byte   // the kernel's letter: 'R', 'S', 'Z', …
}

// Table is a machine's processes. [Host] returns the real one; a test fills in the exported fields. It is
// safe for concurrent use while nobody changes its fields.
type Table struct {
	FS       fs.FS // /proc
	PIDSpace PIDSpace

	// Initial means that this pid namespace is the machine's first: a process without a parent here
	// has none at all.
	Initial bool

	// OneHost means that all processes in question are of this machine. So another boot id is an
	// earlier boot, and its processes are gone.
	OneHost bool

	// Top ends every ancestry: an ancestry that reaches this process is complete, without it and those
	// above. 0 is no limit. Tests that run inside a harness need it.
	Top int

	// Signal sends signal 0 to a process. Nil uses the operating system.
	Signal func(pid int) error

	// foreign means that FS has the pids of another pid namespace than ours, so that only our own
	// entry is useful.
	foreign bool

	// native looks processes up on systems without /proc. Nil reads FS.
	native *native
}

// native reads processes on a system without /proc.
type native struct {
	status func(pid int) (status, error) // fs.ErrNotExist when absent
	args   func(pid int) []string
	all    func() ([]status, error)
	dir    func(pid int) (string, error) // the working directory; fs.ErrNotExist when there is none, or no process

	// orphans means that a process keeps the pid of a parent that has ended, so that a missing parent
	// is the top of an ancestry. Elsewhere the kernel gives an orphan another parent.
	orphans bool
}

// Self returns the identity of this process.
func (t *Table) Self() (stick.Process, error) {
	s, err := t.selfStatus()
	if err != nil {
		return stick.Process{}, err
	}
	return t.identityOf(s), nil
}

func (t *Table) infoOf(s status) Info {
	return Info{
		ID:    t.identityOf(s),
		PPID:  s.ppid,
		Comm:  s.comm,
		Args:  t.argsOf(s.pid),
		SID:   s.session,
		TTY:   s.tty,
		State: s.state,
	}
}

func (t *Table) identityOf(s status) stick.Process {
	return stick.Process{
		Machine: t.PIDSpace.Machine,
		Boot:    t.PIDSpace.Boot,
		PIDNS:   t.PIDSpace.PIDNS,
		PID:     s.pid,
		Start:   s.start,
	}
}

// selfStatus reads the status of this process. The pid is that of its own namespace, whichever namespace
// /proc shows.
func (t *Table) selfStatus() (status, error) {
	if t.native != nil {
		return t.native.status(os.Getpid())
	}
	s, err := readStatus(t.FS, "self/stat")
	if t.foreign {
		s.pid = os.Getpid()
	}
	return s, err
}

func (t *Table) statusOfPID(pid int) (status, error) {
	switch {
	case t.native != nil:
		return t.native.status(pid)
	case t.foreign:
		return status{}, &fs.PathError{Op: "read", Path: statPath(pid), Err: fs.ErrPermission}
	}
	return readStatus(t.FS, statPath(pid))
}

// argsOf returns the command line of pid, as far as it can be seen.
func (t *Table) argsOf(pid int) []string {
	if t.native != nil {
		return t.native.args(pid)
	}
	return readArgs(t.FS, pid)
}

// isNotExist reports whether err says that there is no such process. Reading the entry of a process that is
// just ending fails with ESRCH.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoProcess)
}
