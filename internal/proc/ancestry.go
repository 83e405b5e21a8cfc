package proc

import "slices"

// maxDepth limits an ancestry. The kernel's is finite, but one that is read while pids are reused may not
// be.
const maxDepth = 512

// Ancestry lists the ancestors of pid, the nearest first, without pid itself. complete is false if some of
// them can't be seen: in a private pid namespace, if an entry is hidden or unreadable, and if a process in
// between has ended.
func (t *Table) Ancestry(pid int) (chain []Info, complete bool) {
	s, err := t.statusOfPID(pid)
	if err != nil {
		return nil, false
	}

	line := []status{s}
	for len(line) < maxDepth {
		child := line[len(line)-1]
		if child.ppid == 0 {
			return chain, t.Initial && !hasLostAncestor(line)
		}
		if child.ppid == t.Top {
			return chain, true
		}

		s, err := t.statusOfPID(child.ppid)
		// If it began after its child, the parent's pid belongs to another process now.
		ended := isNotExist(err) || err == nil && s.start > child.start
		if ended || err != nil {
			return chain, ended && t.native != nil && t.native.orphans
		}

		line, chain = append(line, s), append(chain, t.infoOf(s))
	}
	return chain, false
}

// hasLostAncestor reports whether a process of line belongs to a session whose leader isn't among its
// ancestors. Then a process between the two has ended and the kernel has assigned another parent, so that
// what started the process can't be seen.
func hasLostAncestor(line []status) bool {
	for i, s := range line {
		leads := func(a status) bool { return a.pid == s.session }
		if s.session != 0 && !slices.ContainsFunc(line[i:], leads) {
			return true
		}
	}
	return false
}
