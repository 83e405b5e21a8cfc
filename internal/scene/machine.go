package scene

import (
	"io/fs"
	"slices"
	"strconv"
	"sync"

	"talkingstick/internal/proc"
	"talkingstick/internal/proc/proctest"
)

// machine is the process table of a story. It may change while programs read it.
type machine struct {
	mu    sync.Mutex
	name  string // its id; empty for the usual one
	next  int
	boots int
	all   []proctest.Process
	views map[int]fs.ReadLinkFS // /proc as it is now, by the pid of the process that reads it
}

// firstPID is higher than any pid that a kernel assigns. So code that watches or kills a process of a story
// finds none on the real machine.
const firstPID = 5_000_000

func newMachine() *machine { return &machine{next: firstPID, views: map[int]fs.ReadLinkFS{}} }

// startProcess adds a process and returns its pid.
func (m *machine) startProcess(p proctest.Process) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.PID == 0 {
		m.next++
		p.PID = m.next
	}
	if p.PPID == 0 {
		p.PPID = 1
	}
	m.all = append(m.all, p)
	clear(m.views)
	return p.PID
}

// endProcess removes a process.
func (m *machine) endProcess(pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = slices.DeleteFunc(m.all, func(p proctest.Process) bool { return p.PID == pid })
	clear(m.views)
}

// tableSeenBy returns the process table as the process self sees it. In another pid namespace it can't interpret the
// pids of the others.
func (m *machine) tableSeenBy(self int, namespace string) *proc.Table {
	t := proctest.Machine(self)
	t.FS, t.PIDSpace.Machine, t.PIDSpace.Boot = view{m, self}, m.name, m.bootID()
	if namespace != "" {
		t.PIDSpace.PIDNS, t.Initial = namespace, false
	}
	return t
}

// bootID returns the id of the machine's current boot.
func (m *machine) bootID() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.name + "boot" + strconv.Itoa(m.boots)
}

// reboot ends all processes and starts another boot.
func (m *machine) reboot() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all, m.boots = nil, m.boots+1
	clear(m.views)
}

// view is /proc as the process self sees it. Each call reads the current processes.
type view struct {
	m    *machine
	self int
}

// currentProc returns /proc with the current processes.
func (v view) currentProc() fs.ReadLinkFS {
	v.m.mu.Lock()
	defer v.m.mu.Unlock()
	if v.m.views[v.self] == nil {
		v.m.views[v.self] = proctest.Machine(v.self, slices.Clone(v.m.all)...).FS.(fs.ReadLinkFS)
	}
	return v.m.views[v.self]
}

func (v view) Open(name string) (fs.File, error)          { return v.currentProc().Open(name) }
func (v view) ReadLink(name string) (string, error)       { return v.currentProc().ReadLink(name) }
func (v view) Lstat(name string) (fs.FileInfo, error)     { return v.currentProc().Lstat(name) }
func (v view) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(v.currentProc(), name) }
