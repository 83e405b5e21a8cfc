package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"talkingstick/stick"
)

// InsideProcess is a process that a scan found at work.
type InsideProcess struct {
	Info
	Dir string // its working directory, without the mark of one that was deleted
}

// ScanResult is what a scan found.
type ScanResult struct {
	// Blind says that the processes of this machine can't be seen from here, so that nothing is known.
	Blind      bool
	Inside     []InsideProcess // those that work where it was asked about, in the order of their pids
	Hidden     []Info          // those that fit by name, and whose working directory may not be read
	Unreadable int             // of how many not even the name may be read
}

// Scan looks through all processes for those whose working directory is inside. What it costs is one
// link read for each process, and more only for those inside, and for those whose link may not be
// read and whose short name is named. It forks nothing.
func (t *Table) Scan(inside func(dir string) bool, named func(comm string) bool) (ScanResult, error) {
	if !t.Initial || t.foreign {
		return ScanResult{Blind: true}, nil
	}
	if t.native != nil {
		return t.scanNative(inside, named)
	}
	pids, err := t.pids()
	if err != nil {
		return ScanResult{}, err
	}
	var out ScanResult
	for _, pid := range pids {
		dir, err := fs.ReadLink(t.FS, pid+"/cwd")
		switch {
		case err == nil:
			if dir = trimDeleted(dir); !inside(dir) {
				continue
			}
			s, err := readStatus(t.FS, pid+"/stat")
			if err != nil || s.ended() {
				continue // it has just ended
			}
			// The link again: in between the pid may have become another's.
			if again, err := fs.ReadLink(t.FS, pid+"/cwd"); err != nil || !inside(trimDeleted(again)) {
				continue
			}
			out.Inside = append(out.Inside, InsideProcess{t.info(s), dir})
		case errors.Is(err, fs.ErrPermission):
			t.readHidden(pid, named, &out)
		}
	}
	slices.SortFunc(out.Inside, func(a, b InsideProcess) int { return a.ID.PID - b.ID.PID })
	return out, nil
}

// readHidden looks at a process whose working directory may not be read.
func (t *Table) readHidden(pid string, named func(string) bool, out *ScanResult) {
	var buf [64]byte
	b, err := readSome(t.FS, pid+"/comm", buf[:])
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			out.Unreadable++
		}
		return
	}
	if !named(strings.TrimSuffix(string(b), "\n")) {
		return
	}
	if s, err := readStatus(t.FS, pid+"/stat"); err == nil && !s.ended() {
		out.Hidden = append(out.Hidden, t.info(s))
	}
}

// WorkingDir is where a process works, without the mark of a directory that was deleted; ok is false where nobody
// can tell, and when the process has ended.
func (t *Table) WorkingDir(p stick.Process) (dir string, ok bool) {
	var err error
	switch {
	case t.native != nil:
		dir, err = t.native.dir(p.PID)
	case t.foreign:
		return "", false
	default:
		if dir, err = fs.ReadLink(t.FS, strconv.Itoa(p.PID)+"/cwd"); err == nil {
			dir = trimDeleted(dir)
		}
	}
	if err != nil || dir == "" {
		return "", false
	}
	s, err := t.status(p.PID) // afterwards: the pid may have been another's
	return dir, err == nil && !s.ended() && t.identity(s) == p
}

// trimDeleted is a directory's path without Linux's mark for one that was deleted.
func trimDeleted(dir string) string { return strings.TrimSuffix(dir, " (deleted)") }

// pids lists the entries of processes.
func (t *Table) pids() ([]string, error) {
	d, err := t.FS.Open(".")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer d.Close()
	list, ok := d.(fs.ReadDirFile)
	if !ok {
		return nil, fmt.Errorf("list processes: %w", errors.ErrUnsupported)
	}
	var pids []string
	if n, ok := d.(interface{ Readdirnames(int) ([]string, error) }); ok { // a real directory, without a look at each entry
		names, err := n.Readdirnames(-1)
		if err != nil {
			return nil, fmt.Errorf("list processes: %w", err)
		}
		for _, name := range names {
			if isPID(name) {
				pids = append(pids, name)
			}
		}
		return pids, nil
	}
	entries, err := list.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	for _, e := range entries {
		if isPID(e.Name()) {
			pids = append(pids, e.Name())
		}
	}
	return pids, nil
}

func isPID(name string) bool {
	_, err := strconv.ParseUint(name, 10, 31)
	return err == nil
}

// scanNative is Scan where there is no /proc.
func (t *Table) scanNative(inside func(string) bool, named func(string) bool) (ScanResult, error) {
	all, err := t.native.all()
	if err != nil {
		return ScanResult{}, fmt.Errorf("list processes: %w", err)
	}
	var out ScanResult
	for _, s := range all {
		if s.ended() || s.pid == 0 {
			continue
		}
		dir, err := t.native.dir(s.pid)
		switch {
		case err == nil && dir != "":
			if inside(dir) {
				out.Inside = append(out.Inside, InsideProcess{t.info(s), dir})
			}
		case err != nil && !isNotExist(err) && named(s.comm):
			out.Hidden = append(out.Hidden, t.info(s))
		}
	}
	return out, nil
}
