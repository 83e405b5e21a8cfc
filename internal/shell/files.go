package shell

import (
	"path"
	"slices"
	"strings"
)

// fileCommand handles commands that change the files in their arguments. It is false for a command that it
// doesn't know.
func (w *walker) fileCommand(name string, args []word, stdin string) bool {
	switch name {
	case "sed", "gsed":
		w.sed(args)
	case "perl":
		w.perl(args)
	case "ruby":
		w.ruby(args)
	case "sd":
		w.substitute(args)
	case "awk", "gawk", "mawk", "nawk":
		w.awk(args)
	case "tee", "sponge":
		w.tee(args)
	case "rm", "unlink":
		w.remove(args)
	case "trash", "trash-put":
		w.byName(func() { w.changeAll(parse(args, "", "trash-dir").rest) })
		w.removal(parse(args, "", "trash-dir").rest, true)
	case "rmdir":
		w.byName(func() { w.changeAll(parse(args, "").rest) })
	case "rename", "prename":
		w.rename(args)
	case "shred":
		w.changeAll(parse(args, "n:s:", "iterations", "size", "random-source").rest)
		w.removal(parse(args, "n:s:", "iterations", "size", "random-source").rest, false)
	case "mv":
		w.byName(func() { w.mv(args) })
	case "cp":
		w.copy(args)
	case "install":
		w.install(args)
	case "ln":
		w.byName(func() { w.link(args) })
	case "rsync":
		w.rsync(args)
	case "touch":
		w.changeAll(parse(args, "r:t:d:", "reference", "date", "time").rest)
	case "truncate":
		w.changeAll(parse(args, "s:r:", "size", "reference").rest)
	case "dd":
		w.dd(args)
	case "patch":
		w.gnuPatch(args, stdin)
	case "apply_patch", "applypatch":
		w.patch(args, stdin)
	case "find", "gfind":
		w.find(args)
	default:
		return w.transfer(name, args)
	}
	return true
}

// tee writes what it reads to all of its files.
func (w *walker) tee(args []word) {
	o := parse(args, "")
	if w.changeAll(o.rest); !o.has("a", "append") {
		w.overwrite(o.rest...)
	}
}

func (w *walker) copy(args []word) {
	o := parse(args, "t:S:", "target-directory", "suffix")
	if made := w.move(o, false); !o.has("n", "no-clobber") {
		w.overwrite(onto(made)...)
	}
}

func (w *walker) remove(args []word) {
	o := parse(args, "")
	w.byName(func() { w.changeAll(o.rest) })
	files := slices.DeleteFunc(slices.Clone(o.rest), func(x word) bool { // those it refuses
		name := path.Base("/" + x.text)
		return !x.some && (name == "." || name == ".." || name == "/" || strings.HasSuffix(strings.TrimRight(x.text, "/"), "/."))
	})
	w.removal(files, givesAny(args, []string{"r", "R", "recursive"}))
}

// mv takes away what it moves something onto, and where a whole directory was.
func (w *walker) mv(args []word) {
	o := parse(args, "t:S:", "target-directory", "suffix")
	made := w.move(o, true)
	if !o.has("n", "no-clobber", "b", "backup") {
		w.removal(onto(made), false)
	}
	defer w.noteMoves(made)
	from := o.rest
	if !o.has("t", "target-directory") {
		from = from[:max(0, len(from)-1)]
	}
	var whole []string
	leaves := Work(0)
	for _, x := range from {
		if p, ok := w.path(x); ok && exists(p) && !x.some && (isRepositoryPart(p) || w.isDir(x)) {
			whole, leaves = add(whole, p), leaves|repository(p)
		}
	}
	if len(whole) > 0 {
		w.act(Act{Kind: Removes, Paths: whole, Loses: leaves})
	}
}

func (w *walker) install(args []word) {
	o := parse(args, "g:m:o:S:t:", "group", "mode", "owner", "suffix", "target-directory", "strip-program")
	if o.has("d", "directory") {
		w.writes = true
		return
	}
	w.move(o, false)
}

func (w *walker) link(args []word) {
	o := parse(args, "t:S:", "target-directory", "suffix")
	if len(o.rest) == 1 && !o.has("t", "target-directory") {
		w.changeIn(literal("."), o.rest[0])
		return
	}
	w.move(o, false)
}

// rsync changes files below its last argument.
func (w *walker) rsync(args []word) {
	o := parse(args, "e:f:B:M:T:", "rsh", "filter", "exclude", "include", "exclude-from", "include-from", "files-from", "rsync-path", "chmod", "log-file",
		"backup-dir", "suffix", "compare-dest", "copy-dest", "link-dest", "bwlimit", "max-size", "min-size", "timeout", "port", "partial-dir", "temp-dir")
	w.writes = true
	if len(o.rest) < 2 || o.has("n", "dry-run", "list-only") {
		return
	}
	from, to := o.rest[:len(o.rest)-1], o.rest[len(o.rest)-1]
	if o.has("remove-source-files") {
		w.changeAll(from)
	}
	if strings.Contains(to.text, ":") {
		return // another machine
	}
	w.changeInside(to)
	if !deletesOthers(o) {
		return
	}

	to.some = true
	gone := []word{to}
	if git := literal(to.text + "/.git"); to.ok && w.sendsNoRepository(o, from) {
		gone = append(gone, git)
	}
	w.removal(gone, true)
}

// deletesOthers reports whether rsync removes what isn't among its sources.
func deletesOthers(o options) bool {
	for name := range o.given {
		if strings.HasPrefix(name, "del") {
			return true
		}
	}
	return false
}

// sendsNoRepository reports whether rsync takes what is in its sources for all that may be in its
// destination, and there is no .git among that. With a filter it isn't told which files stay.
func (w *walker) sendsNoRepository(o options, from []word) bool {
	if o.has("f", "F", "C", "filter", "exclude", "exclude-from", "include", "include-from", "cvs-exclude", "files-from", "max-delete", "existing") {
		return false
	}
	return !slices.ContainsFunc(from, func(x word) bool {
		inside := strings.HasSuffix(x.text, "/") || path.Base(x.text) == "."
		return !x.ok || !inside || w.exists(literal(x.text+"/.git"))
	})
}

func (w *walker) dd(args []word) {
	for _, a := range args {
		if to, ok := strings.CutPrefix(a.text, "of="); ok {
			w.change(word{text: to, ok: a.ok})
		}
	}
	w.writes = true
}

// awk changes its files with the extension inplace.
func (w *walker) awk(args []word) {
	o := parse(args, "+F:v:f:i:e:l:E:", "field-separator", "assign", "file", "include", "source", "load", "exec")
	script := o.has("f", "file", "e", "source", "E", "exec")
	if by, ok := o.value("i", "include"); ok && (by.text == "inplace" || by.text == "inplace.awk") {
		files := o.rest
		if !script {
			files = files[min(1, len(files)):]
		}
		w.byName(func() { w.changeAll(files) })
		w.writes = true
		return
	}
	if script || o.has("i", "include", "l", "load") || len(o.rest) == 0 || !awkReads(o.rest[0]) {
		w.writes = true
	}
}

// gnuPatch is the program patch. A patch that can't be read here may change anything below the directory.
func (w *walker) gnuPatch(args []word, stdin string) {
	o := parse(args, "p:i:d:o:r:F:D:V:Y:z:B:g:", "strip", "input", "directory", "output", "reject-file", "fuzz")
	w.writes = true
	if o.has("dry-run", "C") {
		return
	}
	w.inSubshell(func(w *walker) {
		if at, ok := o.value("d", "directory"); ok {
			w.enter(at)
		}
		if to, ok := o.value("o", "output"); ok {
			w.change(to)
			return
		}
		files := o.rest[:min(1, len(o.rest))]
		if len(files) == 0 {
			files = w.patched(o, stdin)
		}
		if w.changeAll(files); o.has("R", "reverse") { // it takes away what somebody has changed
			w.removal(files, false)
		}
	})
}

// patched returns the files that a patch names, and where it can't be read, all below the directory.
func (w *walker) patched(o options, text string) (files []word) {
	strip, given := o.value("p", "strip")
	for _, f := range diffFiles(text, strip.text) {
		files = append(files, literal(f))
	}
	if len(files) == 0 || !given {
		files = append([]word{somewhere(literal("."))}, files...)
	}
	return files
}

// diffFiles lists the files that a diff changes, without as many directories as strip says.
func diffFiles(text, strip string) (files []string) {
	n := strings.Index("0123456789", strip)
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(line, "+++ ")
		if name, _, _ = strings.Cut(strings.TrimSpace(name), "\t"); !ok || name == "/dev/null" || len(files) >= maxPaths {
			continue
		}
		if parts := strings.Split(name, "/"); n >= 0 && len(parts) > n {
			files = append(files, strings.Join(parts[n:], "/"))
		}
	}
	return files
}
