package shell

import (
	"path"
	"slices"
	"strings"
)

// runFileCommand handles commands that change the files in their arguments. It is false for a command that it
// doesn't know. All note which files they change, by changeFile and its like. Those that write a file anew
// also call noteOverwrite. Those that take away what is there call noteRemoval, which makes an [Act]: the
// guard judges that, and keeps a copy.
func (w *walker) runFileCommand(name string, args []word, stdin string) bool {
	switch name {
	case "sed", "gsed":
		w.editWithSed(args)
	case "perl":
		w.editWithPerl(args)
	case "ruby":
		w.editWithRuby(args)
	case "sd":
		w.substituteText(args)
	case "awk", "gawk", "mawk", "nawk":
		w.runAwk(args)
	case "tee", "sponge":
		w.runTee(args)
	case "rm", "unlink":
		w.removeFiles(args)
	case "trash", "trash-put":
		w.walkByName(func() { w.changeAll(parseOptions(args, "", "trash-dir").rest) })
		w.noteRemoval(parseOptions(args, "", "trash-dir").rest, true)
	case "rmdir":
		w.walkByName(func() { w.changeAll(parseOptions(args, "").rest) })
	case "rename", "prename":
		w.renameByPattern(args)
	case "shred":
		w.changeAll(parseOptions(args, "n:s:", "iterations", "size", "random-source").rest)
		w.noteRemoval(parseOptions(args, "n:s:", "iterations", "size", "random-source").rest, false)
	case "mv":
		w.walkByName(func() { w.runMv(args) })
	case "cp":
		w.copyFiles(args)
	case "install":
		w.installFiles(args)
	case "ln":
		w.walkByName(func() { w.linkFiles(args) })
	case "rsync":
		w.runRsync(args)
	case "touch":
		w.changeAll(parseOptions(args, "r:t:d:", "reference", "date", "time").rest)
	case "truncate":
		w.changeAll(parseOptions(args, "s:r:", "size", "reference").rest)
	case "dd":
		w.runDd(args)
	case "patch":
		w.runGNUPatch(args, stdin)
	case "apply_patch", "applypatch":
		w.applyCodexPatch(args, stdin)
	case "find", "gfind":
		w.runFind(args)
	default:
		return w.runTransfer(name, args)
	}
	return true
}

// runTee writes what it reads to all of its files.
func (w *walker) runTee(args []word) {
	o := parseOptions(args, "")
	if w.changeAll(o.rest); !o.has("a", "append") {
		w.noteOverwrite(o.rest...)
	}
}

func (w *walker) copyFiles(args []word) {
	o := parseOptions(args, "t:S:", "target-directory", "suffix")
	if made := w.moveFiles(o, false); !o.has("n", "no-clobber") {
		w.noteOverwrite(newNames(made)...)
	}
}

func (w *walker) removeFiles(args []word) {
	o := parseOptions(args, "")
	w.walkByName(func() { w.changeAll(o.rest) })

	// rm refuses some names whatever its options are.
	files := slices.DeleteFunc(slices.Clone(o.rest), func(x word) bool {
		name := path.Base("/" + x.text)
		refused := name == "." || name == ".." || name == "/" ||
			strings.HasSuffix(strings.TrimRight(x.text, "/"), "/.")
		return refused && !x.some
	})

	w.noteRemoval(files, givesOption(args, []string{"r", "R", "recursive"}))
}

// runMv takes away what it moves something onto, and where a whole directory was.
func (w *walker) runMv(args []word) {
	o := parseOptions(args, "t:S:", "target-directory", "suffix")
	made := w.moveFiles(o, true)
	if !o.has("n", "no-clobber", "b", "backup") {
		w.noteRemoval(newNames(made), false)
	}

	// The new names count for what the command does after this.
	defer w.noteMoves(made)

	from := o.rest
	if !o.has("t", "target-directory") {
		from = from[:max(0, len(from)-1)]
	}

	var whole []string
	leaves := Work(0)
	for _, x := range from {
		p, ok := w.pathOf(x)
		if !ok || x.some || !pathExists(p) {
			continue
		}

		if isRepositoryPart(p) || w.isDir(x) {
			whole, leaves = addPath(whole, p), leaves|lossWithRepository(p)
		}
	}

	if len(whole) > 0 {
		w.addAct(Act{Kind: Removes, Paths: whole, Loses: leaves})
	}
}

func (w *walker) installFiles(args []word) {
	o := parseOptions(args, "g:m:o:S:t:", "group", "mode", "owner", "suffix", "target-directory", "strip-program")
	if o.has("d", "directory") {
		w.writes = true
		return
	}
	w.moveFiles(o, false)
}

func (w *walker) linkFiles(args []word) {
	o := parseOptions(args, "t:S:", "target-directory", "suffix")
	if len(o.rest) == 1 && !o.has("t", "target-directory") {
		w.changeIn(literal("."), o.rest[0])
		return
	}
	w.moveFiles(o, false)
}

// runRsync changes files below its last argument.
func (w *walker) runRsync(args []word) {
	o := parseOptions(args, "e:f:B:M:T:", "rsh", "filter", "exclude", "include", "exclude-from", "include-from",
		"files-from", "rsync-path", "chmod", "log-file",
		"backup-dir", "suffix", "compare-dest", "copy-dest", "link-dest", "bwlimit",
		"max-size", "min-size", "timeout", "port", "partial-dir", "temp-dir")

	w.writes = true
	if len(o.rest) < 2 || o.has("n", "dry-run", "list-only") {
		return
	}

	from, to := o.rest[:len(o.rest)-1], o.rest[len(o.rest)-1]
	if o.has("remove-source-files") {
		w.changeAll(from)
	}

	// A colon follows the name of another machine.
	if strings.Contains(to.text, ":") {
		return
	}

	w.changeInside(to)
	if !deletesOthers(o) {
		return
	}

	// What is in the destination and not among the sources goes, even its repository.
	to.some = true
	gone := []word{to}
	if git := literal(to.text + "/.git"); to.ok && w.sendsNoRepository(o, from) {
		gone = append(gone, git)
	}
	w.noteRemoval(gone, true)
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
	filters := []string{"f", "F", "C", "filter", "exclude", "exclude-from", "include", "include-from", "cvs-exclude"}
	if o.has(filters...) || o.has("files-from", "max-delete", "existing") {
		return false
	}

	return !slices.ContainsFunc(from, func(x word) bool {
		inside := strings.HasSuffix(x.text, "/") || path.Base(x.text) == "."
		return !x.ok || !inside || w.fileExists(literal(x.text+"/.git"))
	})
}

func (w *walker) runDd(args []word) {
	for _, a := range args {
		if to, ok := strings.CutPrefix(a.text, "of="); ok {
			w.changeFile(word{text: to, ok: a.ok})
		}
	}
	w.writes = true
}
