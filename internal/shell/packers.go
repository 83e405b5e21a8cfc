package shell

import (
	"slices"
	"strings"
	"sync"
)

// packer is a program that puts a packed file in the place of each file in its arguments, or the other way
// round.
type packer struct {
	suffix  string // of the packed file
	unpacks bool   // it unpacks, even without -d
	keeps   bool   // the other file stays, unless --rm says otherwise
}

var packers = sync.OnceValue(func() map[string]packer {
	return map[string]packer{
		"gzip": {suffix: ".gz"}, "gunzip": {suffix: ".gz", unpacks: true},
		"pigz": {suffix: ".gz"}, "unpigz": {suffix: ".gz", unpacks: true},
		"bzip2": {suffix: ".bz2"}, "bunzip2": {suffix: ".bz2", unpacks: true},
		"xz": {suffix: ".xz"}, "unxz": {suffix: ".xz", unpacks: true},
		"lzma": {suffix: ".lzma"}, "unlzma": {suffix: ".lzma", unpacks: true},
		"zstd": {suffix: ".zst", keeps: true}, "unzstd": {suffix: ".zst", unpacks: true, keeps: true},
	}
})

// runPacker handles packers. It is false for a program that is none.
func (w *walker) runPacker(name string, args []word) bool {
	p, ok := packers()[name]
	o := parseOptions(args, "S:o:D:T:M:", "suffix", "output-dir-flat")
	if !ok || o.has("c", "stdout", "to-stdout", "t", "test", "l", "list", "h", "help", "V", "version") {
		return ok
	}

	unpacks := p.unpacks || o.has("d", "decompress", "uncompress")
	keeps := p.keeps && !o.has("rm") || o.has("k", "keep")

	for _, x := range o.rest {
		to := x
		switch {
		case w.isDir(x) || x.some:
			// With -r it packs all that is in the directory.
			w.changeFile(x)
			continue
		case unpacks:
			to.text = strings.TrimSuffix(x.text, p.suffix)
		default:
			to.text += p.suffix
		}

		if named, ok := o.value("o"); ok {
			to = named
		}

		if !keeps {
			w.walkByName(func() { w.changeFile(x) })
		}

		// Only with force it overwrites a file that is there.
		if o.has("f", "force") {
			w.noteRemoval([]word{to}, false)
		}
		w.changeFile(to)
	}
	return true
}

// runSevenZip is 7z, which unpacks below the directory, or changes an archive.
func (w *walker) runSevenZip(args []word) {
	// The value of an option stands in the same argument.
	o := parseOptions(args, "o:p:m:t:x:i:w:s:v:b:a:")
	if len(o.rest) == 0 || o.rest[0].ok && slices.Contains([]string{"l", "t", "b", "h", "i"}, o.rest[0].text) {
		return
	}

	verb, rest := o.rest[0], o.rest[1:]
	w.writes = true
	switch {
	case len(rest) == 0:
	case verb == literal("x") || verb == literal("e"):
		w.inSubshell(func(w *walker) {
			if at, ok := o.value("o"); ok {
				w.enterDirectory(at)
			}
			w.unpackFiles(rest[1:], verb == literal("e"))
		})
	default:
		w.changeFile(rest[0])
	}
}

// renameByPattern gives files other names, by a pattern or a program. What these become isn't told.
func (w *walker) renameByPattern(args []word) {
	o := parseOptions(args, "e:E:")
	if w.writes = true; o.has("n", "nono", "no-act") {
		return
	}

	files := slices.DeleteFunc(slices.Clone(o.rest), func(x word) bool { return !w.fileExists(x) })
	w.walkByName(func() { w.changeAll(files) })
}
