package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// process is a process of a git's group.
type process struct {
	pid, parent int
	name        string
}

// waitedFor names the program that a git waits for: the first one below it that is neither git nor a shell
// around another program. It is empty if there is none.
func waitedFor(pid int) string {
	all := groupOf(pid)
	for at := pid; ; {
		i := slices.IndexFunc(all, func(p process) bool { return p.parent == at && p.pid != at })
		if i < 0 {
			return ""
		}

		child := all[i]
		hasChild := slices.ContainsFunc(all, func(p process) bool { return p.parent == child.pid })
		if !hasChild || !isWrapper(child.name) {
			return wholeName(child)
		}

		at = child.pid
		// It is dropped, so that a loop of processes that came and went ends.
		all = slices.Delete(all, i, i+1)
	}
}

// wholeName returns the name of a program, of which the kernel keeps 15 bytes. A script's is among the
// arguments of its shell.
func wholeName(p process) string {
	// If they can't be read, the short name has to do.
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	for _, arg := range strings.Split(string(args), "\x00") {
		if base := filepath.Base(arg); strings.HasPrefix(base, p.name) {
			return base
		}
	}

	return p.name
}

// isWrapper reports whether a program only starts the one that counts.
func isWrapper(name string) bool {
	isShell := slices.Contains([]string{"sh", "bash", "dash"}, name)
	return isShell || name == "git" || strings.HasPrefix(name, "git-remote-")
}

// groupOf lists the processes of a group. One that ends meanwhile is left out.
func groupOf(group int) (all []process) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		// The name of a program may hold blanks and parentheses. The fields after it don't.
		b, err := os.ReadFile(file)
		before, after, ok := strings.Cut(string(b), " (")
		end := strings.LastIndexByte(after, ')')
		if err != nil || !ok || end < 0 {
			continue
		}

		rest := strings.Fields(after[end+1:]) // state, parent, group
		if len(rest) < 3 || rest[2] != strconv.Itoa(group) {
			continue
		}

		pid, _ := strconv.Atoi(before)
		parent, _ := strconv.Atoi(rest[1])
		all = append(all, process{pid, parent, after[:end]})
	}

	return all
}
