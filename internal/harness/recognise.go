package harness

import (
	"slices"
	"strings"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// match is a process that belongs to a harness.
type match struct {
	row      Row
	proof    stick.Proof
	onDaemon bool // it is a daemon whose sessions show in terminals
	sandbox  bool // it isn't the harness itself but the sandbox of one of its commands
}

// sameAs reports whether a process and its parent are one run of a harness: a launcher and its program.
// A daemon and the session that happened to start it are two.
func (s match) sameAs(o match) bool {
	return s.row.Name == o.row.Name && s.proof == o.proof && s.sandbox == o.sandbox
}

// launchedBy returns how many of the ancestors of p, the nearest ones, are of its run of the harness: they
// have launched it. A harness below itself, in its own tool call, is another run. All processes of a run are
// in the kernel's same session. A run has one launcher and one program, so in an unbroken line of the
// harness's processes every second one is launched. Where a run may have more, its first process is the one
// that runs a launcher's script.
func launchedBy(p proc.Info, near match, ancestors []proc.Info) int {
	n := 0
	begins := func(p proc.Info) bool { return slices.Contains(near.row.Launchers, scriptName(scriptOf(p))) }

	// The line ends at the first process of another run.
	for _, a := range ancestors {
		if m, ok := recogniseProcess(a); !ok || !m.sameAs(near) || a.SID != p.SID || begins(p) {
			break
		}
		if n++; begins(a) {
			return n
		}
	}

	if len(near.row.Launchers) > 0 {
		return n
	}

	return n % 2
}

// recogniseProcess finds the harness that p belongs to.
func recogniseProcess(p proc.Info) (match, bool) {
	for _, r := range Rows {
		switch {
		case runsAs(p, r.Sandboxes):
			return match{row: r, sandbox: true}, true
		case r.runsProcess(p):
			return match{row: r, proof: r.proofOf(p), onDaemon: r.servesTerminals(p)}, true
		}
	}

	if runsAs(p, workerRow.Programs) {
		return match{row: workerRow, proof: workerRow.Proves}, true
	}

	return recogniseProgram(p)
}

// runsProcess reports whether p is the harness's program, or an interpreter that runs its script.
func (r Row) runsProcess(p proc.Info) bool {
	if runsAs(p, r.Programs) || len(p.Args) > 0 && r.isPackaged(p.Args[0]) {
		return true
	}

	// An interpreter has the script among its arguments.
	script := scriptOf(p)
	return script != "" && (slices.Contains(r.Scripts, scriptName(script)) || r.isPackaged(script))
}

func (r Row) isPackaged(path string) bool {
	path = strings.ReplaceAll(path, `\`, "/")
	return slices.ContainsFunc(r.Packages, func(piece string) bool { return strings.Contains(path, piece) })
}

// proofOf returns what the life of p, a process of the harness, proves.
func (r Row) proofOf(p proc.Info) stick.Proof {
	if startedWith(p, r.Carriers) {
		return stick.ProvesCarrier
	}
	return r.Proves
}

// servesTerminals reports whether p, a process of the harness, is a daemon to which agents' terminals
// connect.
func (r Row) servesTerminals(p proc.Info) bool {
	return startedWith(p, r.Daemons) && slices.ContainsFunc(p.Args[1:], func(arg string) bool {
		_, value, _ := strings.Cut(arg, "=")
		return slices.ContainsFunc(r.Listening, func(with string) bool {
			return strings.HasPrefix(arg, with) || strings.HasPrefix(value, with)
		})
	})
}

// showsDaemon reports whether p, a process of the harness, may be the terminal of a daemon's session.
func (r Row) showsDaemon(p proc.Info) bool {
	return len(r.Listening) > 0 && p.TTY != "" && !startedWith(p, r.Daemons) &&
		!startedWith(p, r.Standalone) && (len(r.Attached) == 0 || startedWith(p, r.Attached))
}

// startedWith reports whether p was started with one of some arguments.
func startedWith(p proc.Info, with []string) bool {
	return slices.ContainsFunc(p.Args[min(1, len(p.Args)):], func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(with, name)
	})
}

// commLimit is the length to which Linux cuts a process's name.
const commLimit = 15

// runsAs reports whether p runs under one of names. The kernel names a process after its script, so for an
// interpreter only the arguments count: a shell script named like a harness, which starts it, isn't the
// harness.
func runsAs(p proc.Info, names []string) bool {
	var program string
	if len(p.Args) > 0 {
		program = programName(p.Args[0])
	}

	// The kernel cuts names, and names a process after its script.
	comm := programName(p.Comm)
	return slices.ContainsFunc(names, func(name string) bool {
		return program == name || comm == name[:min(len(name), commLimit)] && !slices.Contains(scripting, program)
	})
}

// shells run commands for others.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox", "pwsh", "powershell", "cmd"}

// scripting are interpreters that run no harness.
var scripting = append([]string{"python", "python3", "perl", "ruby"}, shells...)

// interpreters are those that run harnesses.
var interpreters = []string{"node", "nodejs", "bun", "deno"}

// valued are the interpreters' flags with a value in the next argument.
var valued = []string{"-r", "--require", "--import"}

// scriptOf returns the script that p runs as an interpreter, or "".
func scriptOf(p proc.Info) string {
	if len(p.Args) == 0 || !slices.Contains(interpreters, programName(p.Args[0])) {
		return ""
	}

	for i, arg := range p.Args[1:] {
		if !strings.HasPrefix(arg, "-") && arg != "run" && !slices.Contains(valued, p.Args[i]) {
			return arg
		}
	}

	return ""
}

// programName returns the last part of a path, without ".exe" and without the dash that marks a
// login shell.
func programName(path string) string {
	name := strings.TrimSuffix(strings.ToLower(baseName(path)), ".exe")
	return strings.TrimPrefix(name, "-")
}

func scriptName(path string) string {
	name := baseName(path)
	for _, ending := range []string{".js", ".mjs", ".cjs", ".ts"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// baseName returns what follows the last separator, of any system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
