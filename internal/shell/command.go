package shell

import (
	"path"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call walks through a simple command.
func (w *walker) call(c *syntax.CallExpr, stdin string) {
	for _, a := range c.Assigns {
		w.within(a)
		if a.Name != nil && (a.Name.Value == "GIT_DIR" || a.Name.Value == "GIT_WORK_TREE") && len(c.Args) > 0 {
			return // it works on another tree than the one here
		}
	}
	w.substitutions(c.Args...)
	w.run(w.args(c.Args), stdin)
}

// run notes what a command changes.
func (w *walker) run(args []word, stdin string) {
	if w.steps--; w.steps < 0 || len(args) == 0 || !args[0].ok {
		return
	}
	if body := w.funcs[args[0].text]; body != nil {
		w.stmt(body)
		return
	}
	name, args := path.Base(filepath.ToSlash(args[0].text)), args[1:]
	switch name {
	case "cd", "pushd":
		w.cd(args)
	case "popd":
		w.dirKnown = false
	case "eval":
		w.eval(args)
	case "sh", "bash", "dash", "zsh", "ksh", "ash":
		w.shell(args, stdin)
	case "sed":
		w.sed(args)
	case "perl":
		w.perl(args)
	case "tee":
		w.changeAll(parse(args, "").rest)
	case "rm":
		w.byName(func() { w.changeAll(parse(args, "").rest) })
	case "mv":
		w.byName(func() { w.move(args, true) })
	case "cp":
		w.move(args, false)
	case "git":
		w.byName(func() { w.git(args) })
	case "apply_patch", "applypatch":
		w.patch(args, stdin)
	default:
		w.prefix(name, args, stdin)
	}
}

// prefix handles programs that only run the command in their arguments.
func (w *walker) prefix(name string, args []word, stdin string) {
	var o options
	switch name {
	case "command":
		if o = parse(args, "+"); o.has("v", "V") {
			return // it only prints where the command is
		}
	case "builtin", "nohup", "setsid", "noglob", "nocorrect", "busybox":
		o = parse(args, "+")
	case "exec":
		o = parse(args, "+a:")
	case "time":
		o = parse(args, "+f:o:", "format", "output")
	case "nice", "ionice":
		o = parse(args, "+n:c:p:", "adjustment", "class", "classdata")
	case "stdbuf":
		o = parse(args, "+i:o:e:", "input", "output", "error")
	case "timeout":
		if o = parse(args, "+s:k:", "signal", "kill-after"); len(o.rest) > 0 {
			o.rest = o.rest[1:] // the time limit
		}
	case "sudo", "doas":
		if o = parse(args, "+u:g:h:p:C:r:t:T:U:D:R:", "user", "group", "host", "prompt", "chdir", "chroot"); o.has("R", "chroot", "i", "login") {
			return
		}
		o.rest = afterVariables(o.rest)
	case "env":
		if o = parse(args, "+u:C:S:", "unset", "chdir", "split-string"); o.has("S", "split-string") {
			return
		}
		o.rest = afterVariables(o.rest)
	default:
		return // nobody knows what it changes
	}
	at, moves := o.value("C", "D", "chdir")
	if name == "env" || name == "sudo" || name == "doas" {
		w.inSubshell(func(w *walker) { // none of them changes the shell's own directory
			if moves && (name == "env" || o.has("D", "chdir")) {
				w.enter(at)
			}
			w.run(o.rest, stdin)
		})
		return
	}
	w.run(o.rest, stdin)
}

// afterVariables skips NAME=value at the front.
func afterVariables(args []word) []word {
	for len(args) > 0 && strings.Contains(args[0].text, "=") {
		args = args[1:]
	}
	return args
}

func (w *walker) cd(args []word) {
	rest := parse(args, "").rest
	if len(rest) != 1 || rest[0].text == "-" || strings.HasPrefix(rest[0].text, "+") {
		w.dirKnown = false // the home or the previous directory
		return
	}
	w.enter(rest[0])
}

func (w *walker) eval(args []word) {
	var all []string
	for _, a := range args {
		if !a.ok {
			return
		}
		all = append(all, a.text)
	}
	w.script(strings.Join(all, " "))
}

// shell walks through the script of another shell, given by -c or on its standard input.
func (w *walker) shell(args []word, stdin string) {
	o := parse(args, "+o:O:", "rcfile", "init-file")
	w.inSubshell(func(w *walker) {
		switch {
		case o.has("c"):
			if len(o.rest) > 0 && o.rest[0].ok {
				w.script(o.rest[0].text)
			}
		case len(o.rest) == 0 || o.has("s"):
			w.script(stdin)
		}
	})
}

// sed changes its files with -i. Its first argument is the script, unless -e or -f gives that.
func (w *walker) sed(args []word) {
	for i, a := range args {
		if a.text == "-i" && i+1 < len(args) && args[i+1] == literal("") {
			args = append(args[:i+1:i+1], args[i+2:]...) // BSD's way of keeping no backup
			break
		}
	}
	w.inPlace(parse(args, "e:f:i::l:", "expression", "file", "line-length"), "e", "f", "expression", "file")
}

func (w *walker) perl(args []word) {
	w.inPlace(parse(args, "+e:E:i::M::m::I:F::0::l::x::C::D::V::d::"), "e", "E")
}

// inPlace notes the files that sed and perl change. script lists the options that give their script.
func (w *walker) inPlace(o options, script ...string) {
	files := o.rest
	if !o.has(script...) && len(files) > 0 {
		files = files[1:]
	}
	switch {
	case !o.has("i", "in-place"):
	case o.has("follow-symlinks"):
		w.changeAll(files)
	default: // they write a new file, which replaces the old one
		w.byName(func() { w.changeAll(files) })
	}
}

// move handles mv and, where the sources stay, cp.
func (w *walker) move(args []word, sources bool) {
	o := parse(args, "t:S:", "target-directory", "suffix")
	from := o.rest
	to, into := o.value("t", "target-directory")
	if !into {
		if len(from) < 2 {
			return
		}
		from, to = from[:len(from)-1], from[len(from)-1]
		into = len(from) > 1 || w.isDir(to) && !o.has("T", "no-target-directory")
	}
	for _, f := range from {
		if sources {
			w.change(f)
		}
		if into {
			w.changeIn(to, f)
		}
	}
	if !into {
		w.change(to)
	}
}

// changeIn notes the new file in a directory. If that is everything of another one, as in cp -r other/. here,
// it notes the directory itself.
func (w *walker) changeIn(dir, file word) {
	if !dir.ok || !file.ok || dir.text == "" || file.text == "" {
		return
	}
	switch name := path.Base(filepath.ToSlash(file.text)); {
	case name == "." || name == ".." || name == "/":
		w.changeInside(dir)
	default:
		w.change(literal(dir.text + "/" + name))
	}
}

// patch handles apply_patch, Codex's program. The patch is its argument, or its standard input.
func (w *walker) patch(args []word, stdin string) {
	if len(args) > 0 {
		stdin = args[0].text
	}
	for _, p := range PatchFiles(stdin) {
		w.change(literal(p))
	}
}

// PatchFiles lists the files that a patch for apply_patch changes, by the names in it.
func PatchFiles(text string) (files []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if file, ok := strings.CutPrefix(line, head); ok && len(files) < maxPaths {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	return files
}
