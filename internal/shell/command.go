package shell

import (
	"path"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walkCall walks through a simple command.
func (w *walker) walkCall(c *syntax.CallExpr, stdin string) {
	for _, a := range c.Assigns {
		w.walkNode(a)
	}
	w.walkSubstitutions(c.Args...)

	args := w.expandWords(c.Args)
	if len(args) == 0 {
		// Assignments without a command set variables of the shell.
		for _, a := range c.Assigns {
			w.setShellVariable(a)
		}
		return
	}

	if len(c.Assigns) == 0 {
		if !w.runAlias(c.Args[0], args[1:]) {
			w.runCommand(args, stdin)
		}
		return
	}

	// The variables before a command are its own: afterwards the shell has its old ones.
	git, home, vars := w.git, w.home, w.vars
	for _, a := range c.Assigns {
		if a.Name != nil {
			w.setEnvironment(a.Name.Value, w.assignedValue(a.Value))
			w.assignVariable(a, true)
		}
	}

	w.runCommand(args, stdin)

	w.git, w.home = git, home
	for _, a := range c.Assigns {
		if a.Name != nil {
			w.restoreVariable(a.Name.Value, vars)
		}
	}
}

// setShellVariable notes a variable of the shell. Commands get it only if they got it before.
func (w *walker) setShellVariable(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	defer w.assignVariable(a, false)

	// A variable of git's that programs didn't get before stays the shell's own.
	switch name := a.Name.Value; {
	case name == "GIT_DIR" && w.git.dir == nil:
	case name == "GIT_WORK_TREE" && w.git.tree == nil:
	case name == "GIT_INDEX_FILE" && !w.git.index:
	default:
		w.setEnvironment(name, w.assignedValue(a.Value))
	}
}

// runCommand walks through a command.
func (w *walker) runCommand(args []word, stdin string) {
	if len(args) == 0 {
		return
	}

	if w.steps--; w.steps < 0 || !args[0].isKnown() {
		w.writes = true
		return
	}

	// Whether links themselves change was said of the command that runs this one.
	w.nameOnly = false
	if body := w.funcs[args[0].text]; body != nil {
		w.callFunction(body, args[1:])
		return
	}

	dir, name := path.Split(filepath.ToSlash(args[0].text))
	args = args[1:]
	w.setForm(name, args)
	w.noteShown(name, args)

	known := w.runInShell(name, args, stdin) || w.runWrapped(name, args, stdin) ||
		w.runFileCommand(name, args, stdin) || w.runTool(name, args)
	if !known && (!isSystem(dir) || !onlyReads(name, args)) {
		// Nobody knows what it changes.
		w.writes = true
	}
}

// isSystem reports whether programs lie there that are what their names say. A project may have others of the
// same names.
func isSystem(dir string) bool {
	switch dir {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/":
		return true
	}
	return false
}

// runInShell handles what changes the shell itself, or runs text of a script.
func (w *walker) runInShell(name string, args []word, stdin string) bool {
	switch name {
	case "cd", "pushd":
		w.changeDirectory(args)
	case "popd":
		w.enterDirectory(word{})
	case "unset":
		w.unsetVariables(args)
	case "alias":
		// Where the harness's shell expands the alias, nobody knows what its name does.
		w.writes = true
		w.aliased.setAliases(args)
	case "unalias":
		w.aliased.removeAliases(args)
	case "shopt", "setopt":
		w.writes = true
		w.setOptions(args, name == "setopt")
	case "set":
		w.setArguments(args)
	case "shift":
		w.shiftArguments(args)
	case "read", "mapfile", "readarray", "getopts":
		w.readNames(name, args)
		return false
	case "printf":
		to, _ := parseOptions(args, "+v:").value("v")

		// printf -v sets a variable instead of printing.
		w.forgetVariable(to.text)
		return false
	case ".", "source":
		// The script of another file may set anything.
		w.forgetVariables()
		return false
	case "eval":
		w.walkEval(args)
	case "sh", "bash", "dash", "zsh", "ksh", "ash":
		w.runShell(name, args, stdin)
	case "git":
		w.walkByName(func() { w.runGit(args) })
	case "jj":
		w.runJJ(args)
	default:
		return false
	}
	return true
}

func (w *walker) unsetVariables(args []word) {
	for _, a := range args {
		w.forgetVariable(a.text)
		switch a.text {
		case "GIT_DIR":
			w.git.dir = nil
		case "GIT_WORK_TREE":
			w.git.tree = nil
		case "GIT_INDEX_FILE":
			w.git.index = false
		}
	}
}

// runWrapped handles programs that only run the command in their arguments.
func (w *walker) runWrapped(name string, args []word, stdin string) bool {
	var o options
	switch name {
	case "command":
		if o = parseOptions(args, "+"); o.has("v", "V") {
			// It only prints where the command is.
			return true
		}
	case "builtin", "setsid", "noglob", "nocorrect", "busybox", "caffeinate", "chronic", "unbuffer":
		o = parseOptions(args, "+")
	case "nohup":
		o = parseOptions(args, "+")
		// It writes nohup.out.
		w.writes = true
	case "exec":
		o = parseOptions(args, "+a:")
	case "time":
		o = parseOptions(args, "+f:o:", "format", "output")
		w.writes = w.writes || o.has("o", "output")
	case "nice", "ionice", "chrt":
		o = parseOptions(args, "+n:c:p:", "adjustment", "class", "classdata")
	case "stdbuf":
		o = parseOptions(args, "+i:o:e:", "input", "output", "error")
	case "timeout":
		if o = parseOptions(args, "+s:k:", "signal", "kill-after"); len(o.rest) > 0 {
			// The time limit stands before the command.
			o.rest = o.rest[1:]
		}
	case "strace", "ltrace":
		o = parseOptions(args, "+e:o:p:s:u:a:E:I:O:S:P:X:b:l:n:x:", "output", "trace", "attach", "user", "string-limit")
		if to, ok := o.value("o", "output"); ok {
			w.changeFile(to)
		}
	case "flock":
		w.runFlock(args)
		return true
	case "script":
		w.runTypescript(args)
		return true
	case "xargs":
		w.runXargs(args, stdin)
		return true
	case "sudo", "doas", "env":
		w.runWithVariables(name, args, stdin)
		return true
	default:
		return false
	}

	w.runCommand(o.rest, stdin)
	return true
}

// runWithVariables handles programs that run a command with other variables, and maybe in another directory.
// None of them changes the shell's own.
func (w *walker) runWithVariables(name string, args []word, stdin string) {
	var o options
	if name == "env" {
		o = parseOptions(args, "+u:C:S:", "unset", "chdir", "split-string")
	} else {
		o = parseOptions(args, "+u:g:h:p:C:r:t:T:U:D:R:", "user", "group", "host", "prompt", "chdir", "chroot")
	}

	// The command stands in a string, runs under another root, or in a login shell: its files aren't known.
	if o.has("S", "split-string", "R", "chroot", "login") || name != "env" && o.has("i") {
		w.writes = true
		return
	}

	w.inSubshell(func(w *walker) {
		if at, ok := o.value("chdir", "D"); ok {
			// -C names a directory to env alone.
			w.enterDirectory(at)
		} else if at, ok := o.value("C"); ok && name == "env" {
			w.enterDirectory(at)
		}

		for len(o.rest) > 0 {
			key, value, ok := strings.Cut(o.rest[0].text, "=")
			if !ok {
				break
			}
			w.setEnvironment(key, word{text: value, ok: o.rest[0].ok})
			o.rest = o.rest[1:]
		}

		w.runCommand(o.rest, stdin)
	})
}

// runFlock runs a command, or a script after -c, while it has a lock on a file, which it makes.
func (w *walker) runFlock(args []word) {
	o := parseOptions(args, "+w:E:", "timeout", "wait", "conflict-exit-code")
	w.writes = true
	if len(o.rest) < 2 {
		return
	}

	if command := parseOptions(o.rest[1:], "+c:", "command"); command.has("c", "command") {
		script, _ := command.value("c", "command")
		w.inSubshell(func(w *walker) { w.walkScriptIn(script) })
	} else {
		w.inSubshell(func(w *walker) { w.runCommand(o.rest[1:], "") })
	}
}

// runTypescript is script, which runs a script after -c, on BSD a command after the name of a file, and notes
// what it prints.
func (w *walker) runTypescript(args []word) {
	o := parseOptions(args, "+c:O:I:B:T:E:m:o:t::", "command", "log-out", "log-in", "log-io",
		"log-timing", "logging-format", "echo", "output-limit")
	to, given := o.value("O", "log-out", "B", "log-io")

	switch {
	case len(o.rest) > 0:
		w.changeFile(o.rest[0])
	case given:
		w.changeFile(to)
	default:
		w.changeFile(literal("typescript"))
	}
	w.writes = true

	script, scripted := o.value("c", "command")
	w.inSubshell(func(w *walker) {
		switch {
		case scripted:
			w.walkScriptIn(script)
		case len(o.rest) > 1:
			w.runCommand(o.rest[1:], "")
		}
	})
}

func (w *walker) changeDirectory(args []word) {
	switch rest := parseOptions(args, "").rest; {
	case len(rest) == 0:
		w.enterDirectory(w.home)
	case rest[0] == literal("-"):
		w.dir, w.dirKnown, w.last = w.last.text, w.last.ok, w.currentDirectory()
	case len(rest) > 1 || strings.HasPrefix(rest[0].text, "+"):
		w.enterDirectory(word{})
	default:
		w.enterDirectory(rest[0])
	}
}

func (w *walker) walkEval(args []word) {
	var all []string
	for _, a := range args {
		if !a.ok {
			w.writes = true
			w.forgetVariables()
			return
		}
		all = append(all, a.text)
	}

	w.walkScript(strings.Join(all, " "))
}

// runShell walks through the script of another shell, given by -c or on its standard input.
func (w *walker) runShell(name string, args []word, stdin string) {
	o := parseOptions(args, "+o:O:", "rcfile", "init-file")

	w.inSubshell(func(w *walker) {
		switch {
		case o.has("c"):
			if len(o.rest) > 0 {
				w.startShell(name, o.rest[min(2, len(o.rest)):])
				w.setOption(strings.ReplaceAll(o.given["O"].text, "_", ""), true)
				w.setVariable("0", variable{words: o.rest[1:min(2, len(o.rest))]})
				w.walkScriptIn(o.rest[0])
			}
		case o.has("version"):
		case (len(o.rest) == 0 || o.has("s")) && stdin != "":
			w.startShell(name, o.rest)
			w.walkScript(stdin)
		default:
			// Its script is a file, or comes through a pipe.
			w.writes = true
		}
	})
}

// walkScriptIn walks through the script in an argument.
func (w *walker) walkScriptIn(x word) {
	if x.isKnown() {
		w.walkScript(x.text)
	} else {
		w.writes = true
	}
}

// renamed is a file or a directory that comes to be from another one.
type renamed struct{ from, to word }

// moveFiles handles mv and, where the sources stay, cp and its like. It returns what comes to be.
func (w *walker) moveFiles(o options, sources bool) (made []renamed) {
	from := o.rest
	to, into := o.value("t", "target-directory")
	if !into {
		if len(from) < 2 {
			w.writes = true
			return nil
		}
		from, to = from[:len(from)-1], from[len(from)-1]
		into = len(from) > 1 || from[0].some || w.isDir(to) && !o.has("T", "no-target-directory")
	}

	for _, f := range from {
		if sources {
			w.changeFile(f)
		}
		if !into {
			w.changeFile(to)
			made = append(made, renamed{f, to})
			continue
		}

		for _, x := range w.changeIn(to, f) {
			made = append(made, renamed{f, x})
		}
	}
	return made
}

// newNames lists the new names of files.
func newNames(made []renamed) (names []word) {
	for _, m := range made {
		names = append(names, m.to)
	}
	return names
}

// changeIn notes the new file in a directory, and returns it. If that is everything of another one, as in
// cp -r other/. here, it notes the directory itself.
func (w *walker) changeIn(dir, file word) []word {
	if w.writes = true; !dir.ok || !file.ok || dir.text == "" || file.text == "" {
		return nil
	}

	switch name := path.Base(filepath.ToSlash(file.text)); {
	case name == "." || name == ".." || name == "/" || file.some:
		w.changeInside(dir)
		return nil
	default:
		to := literal(dir.text + "/" + name)
		w.changeFile(to)
		return []word{to}
	}
}
