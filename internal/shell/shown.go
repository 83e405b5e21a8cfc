package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// noteShown notes the file that a command prints, if it prints one file for whoever ran it to read. The
// command may print a part of it.
func (w *walker) noteShown(name string, args []word) {
	if w.hidden {
		return
	}

	var files []word
	switch name {
	case "cat":
		files = parseOptions(args, "").rest
	case "head", "tail":
		files = parseOptions(args, "n:c:", "lines", "bytes").rest
	case "nl":
		files = parseOptions(args, "b:d:f:h:i:l:n:s:v:w:").rest
	case "sed":
		files = shownBySed(args)
	}
	if len(files) != 1 || files[0].some || files[0].text == "-" {
		return
	}

	if path, ok := w.pathOf(files[0]); ok && !inDev(path) {
		w.changes.Shown = addPath(w.changes.Shown, path)
	}
}

// shownBySed lists the files of which sed -n prints lines.
func shownBySed(args []word) []word {
	o := parseOptions(args, "e:f:i::l:", "expression", "file", "line-length")
	if !o.has("n", "quiet", "silent") || o.has("i", "in-place") {
		return nil
	}

	if !o.has("e", "f", "expression", "file") {
		// The first argument is the script.
		return o.rest[min(1, len(o.rest)):]
	}
	return o.rest
}

// walkHidden walks through a part of a command whose output nobody reads as it is: another command, a file or
// a variable takes it.
func (w *walker) walkHidden(walk func()) {
	was := w.hidden
	w.hidden = true

	walk()

	w.hidden = was
}

// takesOutput reports whether one of the redirections sends standard output to a file.
func takesOutput(all []*syntax.Redirect) bool {
	return slices.ContainsFunc(all, func(r *syntax.Redirect) bool {
		switch r.Op {
		case syntax.RdrAll, syntax.AppAll:
			return true
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.DplOut:
			return r.N == nil || r.N.Value == "1"
		}
		return false
	})
}

// noteOverwrite notes files whose content a command replaces as a whole, beside that it changes them.
func (w *walker) noteOverwrite(all ...word) {
	for _, x := range all {
		if path, ok := w.pathOf(x); ok && !x.some && !inDev(path) {
			w.changes.Wholes = addPath(w.changes.Wholes, path)
		}
	}
}
