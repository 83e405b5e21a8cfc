package proc

import (
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// The first namespaces of a machine have fixed inodes.
const (
	initialPIDNS  = "4026531836"
	initialTimeNS = "4026531834"
)

// Host returns the processes of this machine. It never fails.
func Host() (*Table, error) {
	return hostOf(os.DirFS("/proc")), nil
}

func hostOf(proc fs.FS) *Table {
	t := &Table{FS: proc}
	t.PIDSpace, t.Initial = readPIDSpace(proc, os.DirFS("/etc"))

	s, err := readStatus(proc, "self/stat")

	// Without /proc nothing is known of processes, not even of this one. Who calls is what the environment
	// says then.
	t.foreign = err != nil || s.pid != os.Getpid()

	return t
}

// readPIDSpace reads the PIDSpace of proc, and reports whether it is the machine's first pid namespace.
// What can't be read stays empty. Without a boot id, nothing is comparable.
func readPIDSpace(proc, etc fs.FS) (w PIDSpace, initial bool) {
	w.Machine = readLine(etc, "machine-id")
	w.PIDNS = readNamespace(proc, "pid")
	if w.PIDNS == "" {
		return w, false
	}

	initial = w.PIDNS == initialPIDNS

	// A time namespace shifts start times, so that they can't be compared with those outside.
	if ns := readNamespace(proc, "time"); ns != "" && ns != initialTimeNS {
		w.PIDNS += "+" + ns
	}

	w.Boot = readLine(proc, "sys/kernel/random/boot_id")
	return w, initial
}

// readNamespace returns the inode in a link such as "pid:[4026531836]".
func readNamespace(proc fs.FS, kind string) string {
	link, err := fs.ReadLink(proc, "self/ns/"+kind)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(link, kind+":["), "]")
}

func readLine(fsys fs.FS, name string) string {
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func signalZero(pid int) error { return unix.Kill(pid, 0) }
