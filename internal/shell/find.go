package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// find may remove what it finds, or run a command on it. Which files those are can't be told from its tests.
func (w *walker) find(args []word) {
	starts, tests := findStarts(args)
	for i := 0; i < len(tests); i++ {
		switch tests[i].text {
		case "-delete":
			w.changeAll(starts)
			w.removal(starts, true)
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(tests) {
				w.change(tests[i+1])
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(tests) && tests[end].text != ";" && (tests[end].text != "+" || tests[end-1].text != "{}") {
				end++
			}
			w.inSubshell(func(w *walker) {
				found := starts
				if strings.HasSuffix(tests[i].text, "dir") { // it runs where the file is
					found = w.absolute(starts)
					w.dirKnown = false
				}
				w.run(fill(tests[i+1:end], "{}", found), "")
			})
			i = end
		}
	}
}

// absolute returns words that mean the same wherever a command runs.
func (w *walker) absolute(words []word) (all []word) {
	for _, x := range words {
		if p, ok := w.path(x); ok {
			x.text = p
		} else {
			x.ok = false
		}
		all = append(all, x)
	}
	return all
}

// findStarts splits the arguments of find: where it looks, as words for what it finds there, and its tests and actions.
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
		starts[i] = somewhere(starts[i])
	}
	return starts, args[n:]
}

// fill returns a command in which a mark is replaced.
func fill(command []word, mark string, by []word) (all []word) {
	for _, x := range command {
		switch {
		case x.text == mark:
			all = append(all, by...)
		case mark != "" && strings.Contains(x.text, mark):
			all = append(all, word{text: x.text}) // nobody knows what it becomes
		default:
			all = append(all, x)
		}
	}
	return all
}

// feeds returns what a command prints names of, for the xargs after it: what its find finds.
func (w *walker) feeds(s *syntax.Stmt) []word {
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
			break
		}
		s = b.X
	}
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
		if args := w.args(c.Args); len(args) > 0 && path.Base(args[0].text) == "find" {
			starts, _ := findStarts(args[1:])
			return starts
		}
	}
	return nil
}

// xargs runs a command on files whose names it reads. They are taken to lie where the find before it looks, else
// below the directory.
func (w *walker) xargs(args []word) {
	o := parse(args, "+a:d:E:I:L:n:P:s:e::i::l::", "arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "process-slot-var")
	read := w.fed
	if len(read) == 0 || o.has("a", "arg-file") {
		read = []word{somewhere(literal("."))}
	}
	mark, marked := o.value("I", "i", "replace")
	if mark.text == "" {
		mark.text = "{}"
	}
	command := o.rest
	if marked {
		command = fill(command, mark.text, read)
	} else if len(command) > 0 {
		command = append(slices.Clone(command), read...)
	}
	w.inSubshell(func(w *walker) { w.run(command, "") })
}
