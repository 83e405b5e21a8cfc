package proc

import (
	"io/fs"
	"strconv"
	"strings"
)

// ProcessesInside lists the processes that it can see whose working directory is dir or below. ok is false if
// it can't see any processes.
func (t *Table) ProcessesInside(dir string) (pids []int, ok bool) {
	if t.native != nil || t.foreign {
		return nil, false
	}

	entries, err := fs.ReadDir(t.FS, ".")
	if err != nil {
		return nil, false
	}

	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}

		cwd, err := fs.ReadLink(t.FS, e.Name()+"/cwd")
		if err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/")) {
			pids = append(pids, pid)
		}
	}
	return pids, true
}
