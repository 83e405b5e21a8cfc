package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fileCommand handles commands that change the files in their arguments. It is false for a command that it doesn't
// know.
func (w *walker) fileCommand(name string, args []word, stdin string) bool {
	switch name {
	case "sed":
		w.sed(args)
	case "perl":
		w.perl(args)
	case "awk", "gawk", "mawk", "nawk":
		w.awk(args)
	case "tee", "sponge":
		w.changeAll(parse(args, "").rest)
	case "rm", "unlink":
		w.remove(args)
	case "shred":
		w.changeAll(parse(args, "n:s:", "iterations", "size", "random-source").rest)
		w.removal(parse(args, "n:s:", "iterations", "size", "random-source").rest, false)
	case "mv":
		w.byName(func() { w.mv(args) })
	case "cp":
		w.move(parse(args, "t:S:", "target-directory", "suffix"), false)
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

// transfer handles commands that fetch and unpack files, or write one with an option.
func (w *walker) transfer(name string, args []word) bool {
	switch name {
	case "curl":
		w.curl(args)
	case "wget":
		w.wget(args)
	case "tar", "gtar", "bsdtar":
		w.tar(args)
	case "unzip":
		w.unzip(args)
	case "sort":
		if to, ok := parse(args, "k:o:S:t:T:", "key", "output", "field-separator", "buffer-size", "temporary-directory", "parallel").value("o", "output"); ok {
			w.change(to)
		}
	case "uniq":
		if rest := parse(args, "f:s:w:", "skip-fields", "skip-chars", "check-chars").rest; len(rest) > 1 {
			w.change(rest[1])
		}
	case "yq":
		if o := parse(args, "o:p:I:", "output-format", "input-format", "indent"); o.has("i", "inplace", "in-place") {
			w.changeAll(o.rest[min(1, len(o.rest)):])
		} else if o.has("s", "split-exp") {
			w.writes = true
		}
	case "dos2unix", "unix2dos":
		w.changeAll(parse(args, "").rest)
	default:
		return false
	}
	return true
}

func (w *walker) remove(args []word) {
	o := parse(args, "")
	w.byName(func() { w.changeAll(o.rest) })
	files := slices.DeleteFunc(slices.Clone(o.rest), func(x word) bool { // those it refuses
		name := path.Base("/" + x.text)
		return !x.some && (name == "." || name == ".." || name == "/" || strings.HasSuffix(strings.TrimRight(x.text, "/"), "/."))
	})
	w.removal(files, o.has("r", "R", "recursive"))
}

// mv takes away what it moves something onto, and where a whole directory was.
func (w *walker) mv(args []word) {
	o := parse(args, "t:S:", "target-directory", "suffix")
	onto := w.move(o, true)
	if !o.has("n", "no-clobber", "b", "backup") {
		w.removal(onto, false)
	}
	from := o.rest
	if !o.has("t", "target-directory") {
		from = from[:max(0, len(from)-1)]
	}
	var whole []string
	some, leaves := false, Work(0)
	for _, x := range from {
		if p, ok := w.path(x); ok && exists(p) && (path.Base(x.text) == ".git" || w.isDir(x)) {
			whole, some, leaves = add(whole, p), some || x.some, leaves|repository(p)
		}
	}
	if len(whole) > 0 {
		w.act(Act{Kind: Removes, Paths: whole, Some: some, Loses: leaves})
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
	for name := range o.given {
		if strings.HasPrefix(name, "del") {
			to.some = true
			w.removal([]word{to}, true)
			return
		}
	}
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
		if len(o.rest) > 0 {
			w.change(o.rest[0])
			return
		}
		strip, given := o.value("p", "strip")
		files := diffFiles(stdin, strip.text)
		if len(files) == 0 || !given {
			w.changeInside(literal("."))
		}
		for _, f := range files {
			w.change(literal(f))
		}
	})
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

func (w *walker) curl(args []word) {
	w.writes = true
	o := parse(args, "A:b:c:C:d:D:e:E:F:h:H:K:m:o:P:Q:r:t:T:u:U:w:x:X:y:Y:z:", "data", "data-raw", "data-binary", "data-urlencode", "json", "header",
		"request", "url", "output", "output-dir", "user", "form", "cookie", "cookie-jar", "dump-header", "user-agent", "max-time", "connect-timeout",
		"retry", "retry-delay", "write-out", "cacert", "cert", "key", "proxy", "resolve", "referer", "range", "upload-file", "trace", "trace-ascii", "stderr", "config")
	w.inSubshell(func(w *walker) {
		for _, name := range []string{"c", "cookie-jar", "D", "dump-header", "trace", "trace-ascii", "stderr"} {
			if to, ok := o.value(name); ok && to.text != "-" {
				w.change(to)
			}
		}
		if at, ok := o.value("output-dir"); ok {
			w.enter(at)
		}
		if to, ok := o.value("o", "output"); ok && to.text != "-" {
			w.change(to)
		}
		if o.has("O", "remote-name", "remote-name-all") {
			w.changeDownloads(o.rest)
		}
	})
}

func (w *walker) wget(args []word) {
	w.writes = true
	o := parse(args, "o:a:i:O:P:t:T:w:Q:U:e:A:R:D:l:X:I:", "output-document", "output-file", "append-output", "directory-prefix", "input-file", "tries",
		"timeout", "wait", "user-agent", "header", "user", "password", "post-data", "level", "accept", "reject")
	if to, ok := o.value("o", "output-file", "a", "append-output"); ok {
		w.change(to)
	}
	if to, ok := o.value("O", "output-document"); ok {
		if to.text != "-" {
			w.change(to)
		}
		return
	}
	w.inSubshell(func(w *walker) {
		if at, ok := o.value("P", "directory-prefix"); ok {
			w.enter(at)
		}
		if !o.has("r", "recursive", "m", "mirror", "spider") {
			w.changeDownloads(o.rest)
		}
	})
}

// changeDownloads notes the files that are named like the end of addresses.
func (w *walker) changeDownloads(addresses []word) {
	for _, x := range addresses {
		address, _, _ := strings.Cut(x.text, "?")
		if _, rest, ok := strings.Cut(address, "://"); ok {
			address = rest
		}
		if _, file, ok := strings.Cut(address, "/"); ok && x.ok && path.Base(file) != "." && !strings.HasSuffix(file, "/") {
			w.change(literal(path.Base(file)))
		}
	}
}

func (w *walker) tar(args []word) {
	if len(args) > 0 && args[0].ok && !strings.HasPrefix(args[0].text, "-") {
		args = append([]word{literal("-" + args[0].text)}, args[1:]...)
	}
	o := parse(args, "b:C:f:F:g:H:I:K:L:N:T:V:X:", "file", "directory", "exclude", "exclude-from", "files-from", "transform", "strip-components",
		"use-compress-program", "owner", "group", "mode", "mtime", "one-top-level")
	archive, _ := o.value("f", "file")
	switch {
	case o.has("x", "extract", "get"):
		if w.writes = true; o.has("O", "to-stdout") {
			return
		}
		w.inSubshell(func(w *walker) {
			if at, ok := o.value("C", "directory"); ok {
				w.enter(at)
			}
			w.unpack(o.rest, o.has("strip-components", "transform", "xform"))
		})
	case o.has("t", "list"):
		w.writes = w.writes || o.has("I", "use-compress-program", "to-command")
	case archive.text == "-" || archive.text == "":
		w.writes = true
	default:
		w.writes = true
		w.change(archive)
	}
}

// unpack notes the files that come out of an archive: those that are named, else anything below the directory.
func (w *walker) unpack(names []word, renamed bool) {
	if len(names) == 0 || renamed || slices.ContainsFunc(names, func(x word) bool { return isPattern(x.text) }) {
		w.changeInside(literal("."))
		return
	}
	w.changeAll(names)
}

func (w *walker) unzip(args []word) {
	o := parse(args, "d:x:P:")
	if o.has("l", "v", "t", "p", "c", "z", "Z") {
		return
	}
	w.writes = true
	w.inSubshell(func(w *walker) {
		if at, ok := o.value("d"); ok {
			w.enter(at)
		}
		w.unpack(o.rest[min(1, len(o.rest)):], false)
	})
}
