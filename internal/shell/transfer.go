package shell

import (
	"path"
	"slices"
	"strings"
)

// runTransfer handles commands that fetch and unpack files, or write one with an option.
func (w *walker) runTransfer(name string, args []word) bool {
	switch name {
	case "curl":
		w.runCurl(args)
	case "wget":
		w.runWget(args)
	case "tar", "gtar", "bsdtar":
		w.runTar(args)
	case "unzip":
		w.runUnzip(args)
	case "7z", "7za", "7zz", "7zr":
		w.runSevenZip(args)
	case "sort":
		o := parseOptions(args, "k:o:S:t:T:", "key", "output", "field-separator", "buffer-size",
			"temporary-directory", "parallel")
		if to, ok := o.value("o", "output"); ok {
			w.changeFile(to)
		}
	case "uniq":
		if rest := parseOptions(args, "f:s:w:", "skip-fields", "skip-chars", "check-chars").rest; len(rest) > 1 {
			w.changeFile(rest[1])
		}
	case "yq":
		o := parseOptions(args, "o:p:I:", "output-format", "input-format", "indent")
		if o.has("i", "inplace", "in-place") {
			w.changeAll(o.rest[min(1, len(o.rest)):])
		} else if o.has("s", "split-exp") {
			w.writes = true
		}
	case "dos2unix", "unix2dos":
		w.changeAll(parseOptions(args, "").rest)
	default:
		return w.runPacker(name, args)
	}
	return true
}

func (w *walker) runCurl(args []word) {
	w.writes = true
	o := parseOptions(args, "A:b:c:C:d:D:e:E:F:h:H:K:m:o:P:Q:r:t:T:u:U:w:x:X:y:Y:z:", "data", "data-raw", "data-binary",
		"data-urlencode", "json", "header",
		"request", "url", "output", "output-dir", "user", "form", "cookie", "cookie-jar", "dump-header",
		"user-agent", "max-time", "connect-timeout",
		"retry", "retry-delay", "write-out", "cacert", "cert", "key", "proxy", "resolve", "referer", "range",
		"upload-file", "trace", "trace-ascii", "stderr", "config")

	w.inSubshell(func(w *walker) {
		for _, name := range []string{"c", "cookie-jar", "D", "dump-header", "trace", "trace-ascii", "stderr"} {
			if to, ok := o.value(name); ok && to.text != "-" {
				w.changeFile(to)
			}
		}

		// The output directory counts for downloads alone.
		if at, ok := o.value("output-dir"); ok {
			w.enterDirectory(at)
		}

		if to, ok := o.value("o", "output"); ok && to.text != "-" {
			w.changeFile(to)
		}

		if o.has("O", "remote-name", "remote-name-all") {
			w.changeDownloads(o.rest)
		}
	})
}

func (w *walker) runWget(args []word) {
	w.writes = true
	o := parseOptions(args, "o:a:i:O:P:t:T:w:Q:U:e:A:R:D:l:X:I:", "output-document", "output-file", "append-output",
		"directory-prefix", "input-file", "tries",
		"timeout", "wait", "user-agent", "header", "user", "password", "post-data", "level", "accept", "reject")

	if to, ok := o.value("o", "output-file", "a", "append-output"); ok {
		w.changeFile(to)
	}

	if to, ok := o.value("O", "output-document"); ok {
		if to.text != "-" {
			w.changeFile(to)
		}
		return
	}

	w.inSubshell(func(w *walker) {
		if at, ok := o.value("P", "directory-prefix"); ok {
			w.enterDirectory(at)
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

		_, file, ok := strings.Cut(address, "/")
		if ok && x.ok && path.Base(file) != "." && !strings.HasSuffix(file, "/") {
			w.changeFile(literal(path.Base(file)))
		}
	}
}

func (w *walker) runTar(args []word) {
	// In the old form of tar the options have no dash.
	if len(args) > 0 && args[0].ok && !strings.HasPrefix(args[0].text, "-") {
		args = append([]word{literal("-" + args[0].text)}, args[1:]...)
	}

	o := parseOptions(args, "b:C:f:F:g:H:I:K:L:N:T:V:X:", "file", "directory", "exclude", "exclude-from", "files-from",
		"transform", "strip-components",
		"use-compress-program", "owner", "group", "mode", "mtime", "one-top-level")
	archive, _ := o.value("f", "file")

	switch {
	case o.has("x", "extract", "get"):
		w.writes = true
		if o.has("O", "to-stdout") {
			return
		}

		w.inSubshell(func(w *walker) {
			if at, ok := o.value("C", "directory"); ok {
				w.enterDirectory(at)
			}
			w.unpackFiles(o.rest, o.has("strip-components", "transform", "xform"))
		})
	case o.has("t", "list"):
		w.writes = w.writes || o.has("I", "use-compress-program", "to-command")
	case archive.text == "-" || archive.text == "":
		w.writes = true
	default:
		w.writes = true
		w.changeFile(archive)
	}

	if o.has("remove-files") && !o.has("C", "directory") {
		w.noteRemoval(o.rest, true)
	}
}

// unpackFiles notes the files that come out of an archive: those that are named, else anything below the
// directory.
func (w *walker) unpackFiles(names []word, renamed bool) {
	if len(names) == 0 || renamed || slices.ContainsFunc(names, func(x word) bool { return isPattern(x.text) }) {
		w.changeInside(literal("."))
		return
	}
	w.changeAll(names)
}

func (w *walker) runUnzip(args []word) {
	o := parseOptions(args, "d:x:P:")
	if o.has("l", "v", "t", "p", "c", "z", "Z") {
		return
	}

	w.writes = true

	w.inSubshell(func(w *walker) {
		if at, ok := o.value("d"); ok {
			w.enterDirectory(at)
		}
		w.unpackFiles(o.rest[min(1, len(o.rest)):], false)
	})
}
