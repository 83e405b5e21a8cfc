package shell

import (
	"strings"
)

// applyCodexPatch handles apply_patch, Codex's program. The patch is its argument, or its standard input.
func (w *walker) applyCodexPatch(args []word, stdin string) {
	if len(args) > 0 {
		stdin = args[0].text
	}

	w.writes = true
	for _, p := range PatchFiles(stdin) {
		w.changeFile(literal(p))
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

// runGNUPatch is the program patch. A patch that can't be read here may change anything below the directory.
func (w *walker) runGNUPatch(args []word, stdin string) {
	o := parseOptions(args, "p:i:d:o:r:F:D:V:Y:z:B:g:", "strip", "input", "directory", "output", "reject-file", "fuzz")
	w.writes = true
	if o.has("dry-run", "C") {
		return
	}

	w.inSubshell(func(w *walker) {
		if at, ok := o.value("d", "directory"); ok {
			w.enterDirectory(at)
		}

		if to, ok := o.value("o", "output"); ok {
			w.changeFile(to)
			return
		}

		files := o.rest[:min(1, len(o.rest))]
		if len(files) == 0 {
			files = w.patchedFiles(o, stdin)
		}

		w.changeAll(files)
		if o.has("R", "reverse") {
			// In reverse it takes away what somebody has changed.
			w.noteRemoval(files, false)
		}
	})
}

// patchedFiles returns the files that a patch names, and where it can't be read, all below the directory.
func (w *walker) patchedFiles(o options, text string) (files []word) {
	strip, given := o.value("p", "strip")
	for _, f := range diffFiles(text, strip.text) {
		files = append(files, literal(f))
	}

	// Without -p, patch finds the files by rules of its own.
	if len(files) == 0 || !given {
		files = append([]word{filesBelow(literal("."))}, files...)
	}

	return files
}

// diffFiles lists the files that a diff changes, without as many directories as strip says.
func diffFiles(text, strip string) (files []string) {
	n := strings.Index("0123456789", strip)

	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(line, "+++ ")
		name, _, _ = strings.Cut(strings.TrimSpace(name), "\t")
		if !ok || name == "/dev/null" || len(files) >= maxPaths {
			continue
		}

		if parts := strings.Split(name, "/"); n >= 0 && len(parts) > n {
			files = append(files, strings.Join(parts[n:], "/"))
		}
	}
	return files
}
