package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// runFind may remove what it finds, or run a command on it. Which files those are can't be told from its
// tests.
func (w *walker) runFind(args []word) {
	starts, tests := findStarts(args)
	parts := w.foundParts(starts, tests)

	for i := 0; i < len(tests); i++ {
		switch tests[i].text {
		case "-delete":
			w.changeAll(starts)
			w.noteRemoval(append(parts.ranBy(i), starts...), true)
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(tests) {
				w.changeFile(tests[i+1])
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := commandEnd(tests, i+1)
			w.inSubshell(func(w *walker) {
				found := append(parts.ranBy(i), starts...)
				// It runs where the file is.
				if strings.HasSuffix(tests[i].text, "dir") {
					found = w.absoluteWords(found)
					w.dirKnown = false
				}

				w.runCommand(fillCommand(tests[i+1:end], "{}", found), "")
			})
			i = end
		}
	}
}

// commandEnd returns where the command of -exec ends that begins there.
func commandEnd(tests []word, begin int) int {
	end := begin
	for end < len(tests) && tests[end].text != ";" && (tests[end].text != "+" || tests[end-1].text != "{}") {
		end++
	}
	return end
}

// absoluteWords returns words that mean the same wherever a command runs.
func (w *walker) absoluteWords(words []word) (all []word) {
	for _, x := range words {
		if p, ok := w.pathOf(x); ok {
			x.text = p
		} else {
			x.ok = false
		}
		all = append(all, x)
	}
	return all
}

// findStarts splits the arguments of find: where it looks, as words for what it finds there, and its tests
// and actions.
func findStarts(args []word) (starts, tests []word) {
	for len(args) > 0 {
		switch a := args[0].text; {
		case a == "-H" || a == "-L" || a == "-P" || strings.HasPrefix(a, "-O"):
			args = args[1:]
			continue
		case a == "-D":
			args = args[min(2, len(args)):]
			continue
		}
		break
	}

	// The tests begin with the first word that find takes for no path.
	n := slices.IndexFunc(args, func(x word) bool {
		return x.ok && (strings.HasPrefix(x.text, "-") || x.text == "(" || x.text == "!")
	})
	if n < 0 {
		n = len(args)
	}

	if starts = slices.Clone(args[:n]); n == 0 {
		starts = []word{literal(".")}
	}

	for i := range starts {
		starts[i] = filesBelow(starts[i])
	}
	return starts, args[n:]
}

// fillCommand returns a command in which a mark is replaced.
func fillCommand(command []word, mark string, by []word) (all []word) {
	for _, x := range command {
		switch {
		case x.text == mark:
			all = append(all, by...)
		case mark != "" && strings.Contains(x.text, mark):
			// Nobody knows what it becomes.
			all = append(all, word{text: x.text})
		default:
			all = append(all, x)
		}
	}
	return all
}

// fedNames returns what a command prints names of, for the xargs or the read after it: what its find finds,
// and what is printed for certain. With a command in between that leaves names out, nothing is certain.
func (w *walker) fedNames(s *syntax.Stmt) (names []word) {
	names, filtered := w.printedNames(s)
	if filtered {
		names = slices.DeleteFunc(names, func(x word) bool { return !x.some })
	}

	return names
}

// printedNames returns the names that a command prints, and whether a later part of a pipeline may leave some
// out.
func (w *walker) printedNames(s *syntax.Stmt) (names []word, filtered bool) {
	// The first command of a pipeline prints the names, and the others may leave some out.
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
			break
		}
		filtered = filtered || !w.passesNames(b.Y)
		s = b.X
	}

	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return nil, filtered
	}

	args := w.expandWords(c.Args)
	if len(args) == 0 {
		return nil, filtered
	}

	switch name, args := path.Base(args[0].text), args[1:]; name {
	case "find", "gfind":
		starts, tests := findStarts(args)
		names = append(w.foundParts(starts, tests).namesPrinted(), starts...)
	case "ls":
		names = w.lsNames(args)
	case "echo":
		names = args
	case "printf":
		if len(args) > 1 && (args[0] == literal(`%s\n`) || args[0] == literal(`%s\0`)) {
			names = args[1:]
		}
	}
	return names, filtered
}

// passesNames reports whether a command prints all the names that it reads.
func (w *walker) passesNames(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}

	args := w.expandWords(c.Args)
	if len(args) == 0 {
		return false
	}

	switch args[0].text {
	case "cat", "tac", "sort", "uniq":
		return len(parseOptions(args[1:], "").rest) == 0
	case "tr":
		return len(args) == 3 && args[1] == literal(`\n`) && args[2] == literal(`\0`)
	}
	return false
}

// lsNames returns the names that ls prints, as far as they mean the same here: those of the directory, or its
// arguments with -d.
func (w *walker) lsNames(args []word) (names []word) {
	o := parseOptions(args, "I:w:T:", "ignore", "hide")

	switch here := len(o.rest) == 0 || len(o.rest) == 1 && o.rest[0] == literal("."); {
	case o.has("l", "I", "ignore", "hide"):
		return nil
	case o.has("d"):
		return o.rest
	case !here:
		return nil
	}

	// The repository counts apart from what else is in the directory.
	if o.has("a", "A", "all", "almost-all") && w.fileExists(literal(".git")) {
		names = append(names, literal(".git"))
	}
	return append(names, filesBelow(literal(".")))
}

// runXargs runs a command on files whose names it reads. They are taken to lie where the find before it
// looks, else below the directory.
func (w *walker) runXargs(args []word, stdin string) {
	o := parseOptions(args, "+a:d:E:I:L:n:P:s:e::i::l::", "arg-file", "delimiter",
		"max-lines", "max-args", "max-procs", "max-chars", "process-slot-var")

	read := slices.Clone(w.fed)
	if !strings.ContainsRune(stdin, 0) {
		for name := range strings.FieldsSeq(stdin) {
			read = append(read, literal(name))
		}
	}

	if len(read) == 0 || o.has("a", "arg-file") {
		read = []word{filesBelow(literal("."))}
	}

	mark, marked := o.value("I", "i", "replace")
	if mark.text == "" {
		mark.text = "{}"
	}

	command := o.rest
	if marked {
		command = fillCommand(command, mark.text, read)
	} else if len(command) > 0 {
		command = append(slices.Clone(command), read...)
	}

	w.inSubshell(func(w *walker) { w.runCommand(command, "") })
}
