package proc

import (
	"io/fs"
	"strconv"
	"strings"
)

// Inside lists the processes whose working directory is dir or lies below it, as far as they can be
// seen; ok is false where nobody can tell.
func (t *Table) Inside(dir string) (pids []int, ok bool) {
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
