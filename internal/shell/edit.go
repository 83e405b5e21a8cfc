package shell

// editWithSed changes its files with -i. Its first argument is the script, unless -e or -f gives that.
func (w *walker) editWithSed(args []word) {
	for i, a := range args {
		if a.text == "-i" && i+1 < len(args) && args[i+1] == literal("") {
			// On BSD, an empty argument after -i keeps no backup.
			args = append(args[:i+1:i+1], args[i+2:]...)
			break
		}
	}

	w.editInPlace(parseOptions(args, "e:f:i::l:", "expression", "file", "line-length"), "e", "f", "expression", "file")
}

func (w *walker) editWithPerl(args []word) {
	// Whatever its script does.
	w.writes = true
	w.editInPlace(parseOptions(args, "+e:E:i::M::m::I:F::x::C::D::V::d::"), "e", "E")
}

// editInPlace notes the files that sed and perl change. script lists the options that give their script.
func (w *walker) editInPlace(o options, script ...string) {
	files := o.rest
	if !o.has(script...) && len(files) > 0 {
		files = files[1:]
	}

	switch {
	case !o.has("i", "in-place"):
		w.writes = w.writes || !sedReads(o)
	case o.has("follow-symlinks"):
		w.changeAll(files)
	default:
		// They write a new file, which replaces the old one: of a link, the link itself.
		w.walkByName(func() { w.changeAll(files) })
	}
}

// editWithRuby changes its files with -i, as perl does.
func (w *walker) editWithRuby(args []word) {
	// Whatever its script does.
	w.writes = true
	w.editInPlace(parseOptions(args, "+e:i::I:r:C:E:F::K::T::W::x::0::"), "e")
}

// substituteText is sd, which changes the files after what it looks for and what it puts there.
func (w *walker) substituteText(args []word) {
	o := parseOptions(args, "n:f:", "max-replacements", "flags")
	if len(o.rest) > 2 && !o.has("p", "preview") {
		w.walkByName(func() { w.changeAll(o.rest[2:]) })
	}
}

// runAwk changes its files with the extension inplace.
func (w *walker) runAwk(args []word) {
	o := parseOptions(args, "+F:v:f:i:e:l:E:", "field-separator", "assign", "file", "include", "source", "load", "exec")
	script := o.has("f", "file", "e", "source", "E", "exec")

	if by, ok := o.value("i", "include"); ok && (by.text == "inplace" || by.text == "inplace.awk") {
		files := o.rest
		if !script {
			files = files[min(1, len(files)):]
		}
		w.walkByName(func() { w.changeAll(files) })
		w.writes = true
		return
	}

	if script || o.has("i", "include", "l", "load") || len(o.rest) == 0 || !awkReads(o.rest[0]) {
		w.writes = true
	}
}
