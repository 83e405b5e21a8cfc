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

// InsideProcess is a process that works in the directories of a scan.
type InsideProcess struct {
	Info
	Dir string // its working directory, without Linux's mark for a deleted one
}

// ScanResult is the result of a [Table.Scan].
type ScanResult struct {
	// Blind means that the processes of this machine can't be seen from here, so that nothing is known.
	Blind      bool
	Inside     []InsideProcess // processes with a working directory inside, by pid
	Hidden     []Info          // processes with a fitting name and an unreadable working directory
	Unreadable int             // how many processes have an unreadable name
}

// Scan finds the processes whose working directory is inside. It reads one link for each process, and more
// only for those inside, and for those whose link it may not read but whose short name is named. It starts
// no process.
func (t *Table) Scan(inside func(dir string) bool, named func(comm string) bool) (ScanResult, error) {
	if !t.Initial || t.foreign {
		return ScanResult{Blind: true}, nil
	}
	if t.native != nil {
		return t.scanNative(inside, named)
	}

	pids, err := t.listPIDs()
	if err != nil {
		return ScanResult{}, err
	}

	var out ScanResult
	for _, pid := range pids {
		dir, err := fs.ReadLink(t.FS, pid+"/cwd")
		switch {
		case err == nil:
			// Most processes work elsewhere, and nothing more of them is read.
			if dir = trimDeleted(dir); !inside(dir) {
				continue
			}

			s, err := readStatus(t.FS, pid+"/stat")
			if err != nil || s.hasEnded() {
				// It has just ended.
				continue
			}

			// Read the link again: another process may have got the pid in between.
			if again, err := fs.ReadLink(t.FS, pid+"/cwd"); err != nil || !inside(trimDeleted(again)) {
				continue
			}

			out.Inside = append(out.Inside, InsideProcess{t.infoOf(s), dir})
		case errors.Is(err, fs.ErrPermission):
			t.readHidden(pid, named, &out)
		}
	}

	slices.SortFunc(out.Inside, func(a, b InsideProcess) int { return a.ID.PID - b.ID.PID })
	return out, nil
}

// readHidden adds a process whose working directory may not be read to out.
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

	if s, err := readStatus(t.FS, pid+"/stat"); err == nil && !s.hasEnded() {
		out.Hidden = append(out.Hidden, t.infoOf(s))
	}
}

// WorkingDir returns the working directory of a process, without Linux's mark for a deleted one. ok is false
// if it can't be read, and if the process has ended.
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

	// The process is compared afterwards, because another one may have got the pid.
	s, err := t.statusOfPID(p.PID)
	return dir, err == nil && !s.hasEnded() && t.identityOf(s) == p
}

// trimDeleted removes Linux's mark for a deleted directory from a path.
func trimDeleted(dir string) string { return strings.TrimSuffix(dir, " (deleted)") }

// listPIDs lists the entries of /proc that are processes.
func (t *Table) listPIDs() ([]string, error) {
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

	// A real directory gives the names alone, without a stat of each entry.
	if n, ok := d.(interface{ Readdirnames(int) ([]string, error) }); ok {
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
		if s.hasEnded() || s.pid == 0 {
			continue
		}

		dir, err := t.native.dir(s.pid)
		switch {
		case err == nil && dir != "":
			if inside(dir) {
				out.Inside = append(out.Inside, InsideProcess{t.infoOf(s), dir})
			}
		case err != nil && !isNotExist(err) && named(s.comm):
			out.Hidden = append(out.Hidden, t.infoOf(s))
		}
	}
	return out, nil
}
