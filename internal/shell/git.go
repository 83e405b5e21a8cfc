package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// gitPlace is where git works if not in the checkout around the command.
type gitPlace struct {
	dir, tree *word  // what GIT_DIR and GIT_WORK_TREE, or the options for them, are set to
	index     bool   // GIT_INDEX_FILE names another index
	aliases   []word // settings in the command that make one, as alias.name=text
	top       string // the root of the files, of which the repository is elsewhere
	repo      string // where the repository is
}

// assignedValue is what a variable is set to.
func (w *walker) assignedValue(x *syntax.Word) word {
	if x == nil {
		return literal("")
	}
	text, ok := w.flatText(x.Parts)
	return word{text: text, ok: ok}
}

// setEnvironment notes a variable that commands get.
func (w *walker) setEnvironment(name string, value word) {
	switch name {
	case "GIT_DIR":
		w.git.dir = &value
	case "GIT_WORK_TREE":
		w.git.tree = &value
	case "GIT_INDEX_FILE":
		w.git.index = true
	case "HOME":
		w.home = value
	}

	if !isHarmlessVariable(name, value) {
		w.writes = true
	}
}

// isHarmlessVariable reports whether a variable doesn't make commands that read do anything else.
func isHarmlessVariable(name string, value word) bool {
	switch name {
	case "GIT_PAGER", "PAGER", "MANPAGER", "BAT_PAGER":
		return value == literal("cat") || value == literal("")
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
		"GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GIT_LITERAL_PATHSPECS",
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
		"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE":
		return true
	case "PATH", "BASH_ENV", "ENV", "RIPGREP_CONFIG_PATH", "LESSOPEN", "LESSCLOSE",
		"FPATH", "CDPATH", "SHELLOPTS", "PROMPT_COMMAND":
		return false
	}

	// Programs of these families take settings from variables of such names.
	for _, p := range []string{"GIT_", "LD_", "DYLD_", "GO", "NODE_", "PYTHON", "PERL", "RUBY"} {
		if strings.HasPrefix(name, p) {
			return false
		}
	}

	return true
}

// gitSub is a command of git's, with its arguments.
type gitSub struct {
	name string
	args []word
}

// runGit walks through a command of git's.
func (w *walker) runGit(args []word) {
	w.inSubshell(func(w *walker) {
		if sub, ok := w.applyGitOptions(args); ok {
			w.runGitSub(sub)
		}
	})
}

// applyGitOptions goes where git's own options lead. It is false if there is no command after them.
func (w *walker) applyGitOptions(args []word) (gitSub, bool) {
	for len(args) > 0 && args[0].ok && strings.HasPrefix(args[0].text, "-") {
		name, value, has := strings.Cut(args[0].text, "=")
		set := literal(value)
		args = args[1:]
		if !has && takesValue(name) {
			if len(args) == 0 {
				return gitSub{}, false
			}
			set, args = args[0], args[1:]
		}

		switch name {
		case "--help", "-h", "--version", "-v", "--html-path", "--man-path", "--info-path":
			return gitSub{}, false
		case "-C":
			w.enterDirectory(set)
		case "--git-dir":
			w.git.dir = &set
		case "--work-tree":
			w.git.tree = &set
		case "-c", "--config-env":
			w.writes = w.writes || !isHarmlessSetting(set)
			if len(set.text) > len("alias.") && strings.EqualFold(set.text[:len("alias.")], "alias.") {
				w.git.aliases = slices.Concat(w.git.aliases, []word{set})
			}
		case "--exec-path", "--namespace", "--bare", "--super-prefix", "--attr-source":
			w.writes = true
		}
	}

	if len(args) == 0 {
		return gitSub{}, false
	}

	if !args[0].ok {
		w.writes = true
		return gitSub{}, false
	}

	// The options may have named another repository, or other files.
	w.enterGitPlace()
	return gitSub{args[0].text, args[1:]}, true
}

// takesValue reports whether the argument after an option of git itself is its value.
func takesValue(option string) bool {
	switch option {
	case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source":
		return true
	}
	return false
}

// GitCommand returns which command of its own git runs with these arguments, and what follows the command's
// name. Without one, both are empty.
func GitCommand(args []string) (name string, rest []string) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if takesValue(args[0]) {
			n = 2
		}
		args = args[min(n, len(args)):]
	}

	if len(args) == 0 {
		return "", nil
	}
	return args[0], args[1:]
}

// isHarmlessSetting reports whether a setting of git's changes at most how it prints.
func isHarmlessSetting(x word) bool {
	key, value, _ := strings.Cut(strings.ToLower(x.text), "=")
	if key == "core.pager" {
		return x.ok && (value == "cat" || value == "")
	}

	printing := []string{"color.", "advice.", "log.", "user.", "core.quotepath", "safe.directory", "column.", "status."}
	for _, p := range printing {
		if x.ok && strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// enterGitPlace goes to the files that git means. Without a variable or an option they are those around the
// directory. GIT_DIR alone says that the files are where the command runs. Paths in arguments mean those from
// the root of the files, if that isn't around the directory.
func (w *walker) enterGitPlace() {
	dir, tree := w.git.dir, w.git.tree
	if dir != nil && *dir == literal("") {
		dir = nil
	}
	if dir == nil && tree == nil {
		return
	}

	here, repo, known := w.dir, "", true
	if dir != nil {
		repo, known = w.pathOf(*dir)
	}

	// git goes to the root of the files, unless it runs below it already.
	if tree != nil {
		top, ok := w.pathOf(*tree)
		rel, err := filepath.Rel(top, here)
		isBelow := err == nil && filepath.IsLocal(rel)
		if !ok || !w.dirKnown || !isBelow {
			w.enterDirectory(*tree)
		}
		here = top
	}

	if dir == nil {
		w.git.top = here
		return
	}

	switch {
	case !known:
		// Another repository has another index, of which nothing is known.
		w.dirKnown = false
	case repo == filepath.Join(here, ".git"):
		w.git.repo = here
	default:
		w.git.top, w.git.repo = here, strings.TrimSuffix(repo, separator+".git")
	}
}

func (w *walker) runGitSub(sub gitSub) {
	w.setForm("git "+sub.name, sub.args)

	if asksForHelp(sub.args) || gitOnlyReads(sub) {
		return
	}

	// Whether git refuses is known only as long as nothing before it has changed anything.
	if !w.writes && w.hasNothingToEnd(sub) {
		w.refused = true
		return
	}

	if run := gitCommand(sub.name); run != nil {
		w.writes = true
		run(w, sub.args)
		return
	}

	// A name that git knows can't be that of an alias.
	if _, known := readingGitCommands()[sub.name]; known || otherGitCommands()[sub.name] || !w.gitAlias(sub) {
		w.writes = true
	}
}

func asksForHelp(args []word) bool {
	return containsWord(args, "--help") || containsWord(args, "-h")
}

func containsWord(args []word, text string) bool {
	for _, a := range args {
		if a == literal("--") {
			return false
		}
		if a == literal(text) {
			return true
		}
	}
	return false
}

// addTreeAct notes an act on the whole checkout.
func (w *walker) addTreeAct(kind Kind, loses Work) {
	a := Act{Kind: kind, Loses: loses}
	if w.git.top != "" {
		a.Dir, a.Paths = w.git.top, []string{contentsOf(w.git.top)}
	}

	w.addAct(a)
}

// dropRefs notes that refs are deleted or set to another commit. Without refs, commits go that none names.
func (w *walker) dropRefs(loses Work, refs ...string) {
	w.addAct(Act{Kind: Drops, Dir: w.git.repo, Loses: loses, Refs: refs, Some: len(refs) == 0})
}

// dropSomeRefs is dropRefs for some refs below a name, or of some entries of the stash: nobody can tell
// which.
func (w *walker) dropSomeRefs(loses Work, below string) {
	w.addAct(Act{Kind: Drops, Dir: w.git.repo, Loses: loses, Refs: []string{below}, Some: true})
}

// fileSet is what pathspecs find.
type fileSet struct {
	paths []string // as in [Act]
	some  bool
	known bool // where they are is known
}

// resolvePathspecs returns what git finds by pathspecs: without any, the whole checkout. A pattern finds
// files below the directory in which it has no wildcard yet.
func (w *walker) resolvePathspecs(o options, all []word) fileSet {
	f := fileSet{known: w.dirKnown, some: o.has("p", "patch", "pathspec-from-file")}
	if o.has("pathspec-from-file") {
		return f
	}

	known := 0
	for _, x := range all {
		path, whole, ok := w.resolvePathspec(x)
		switch {
		case !ok:
			continue
		case whole:
			// One that means the whole checkout says more than all others.
			return fileSet{known: w.dirKnown, some: f.some || x.some || x.text != ":/"}
		}

		known++
		f.some = f.some || x.some || isPattern(x.text)
		f.paths = addPath(f.paths, path)
	}

	// If none of them is known, neither is where the files are.
	f.known = f.known && len(all) == 0 || known > 0
	return f
}

// resolvePathspec returns what git finds by one pathspec: a path, or the whole checkout.
func (w *walker) resolvePathspec(x word) (path string, whole, ok bool) {
	magic := strings.HasPrefix(x.text, ":")
	switch {
	case !x.ok:
		return "", false, false
	case magic && x.text != ":" && !w.fileExists(x):
		// It counts from the top, or says what isn't meant.
		return "", true, w.dirKnown
	case isPattern(x.text) && !w.fileExists(x):
		x = literalPart(x)
	}

	path, ok = w.reachedPath(x)
	return path, false, ok
}

// isPathspec reports whether a word can only name files.
func (w *walker) isPathspec(x word) bool {
	for _, start := range []string{"./", "../", ":(", ":!", ":^"} {
		if x.ok && strings.HasPrefix(x.text, start) {
			return true
		}
	}
	return x.ok && (w.fileExists(x) || isPattern(x.text) || x.text == "." || x.text == ".." || x.text == ":/")
}

func isPattern(text string) bool { return strings.ContainsAny(text, "*?[") }

// literalPart is the directory in which a pattern has no wildcard yet.
func literalPart(x word) word {
	before := x.text[:strings.IndexAny(x.text, "*?[")]
	x.text = before[:strings.LastIndexByte(before, '/')+1]
	if x.text == "" {
		x.text = "."
	}
	return x
}

// changeFiles notes that what pathspecs find changes in the tree.
func (w *walker) changeFiles(f fileSet) {
	if !f.known {
		return
	}

	if f.paths == nil {
		w.changeTree()
	}

	for _, p := range f.paths {
		if endsInSeparator(p) {
			w.changes.Paths = addPath(w.changes.Paths, p)
		} else {
			w.changePath(p)
		}
	}
}

// addFileAct notes an act on what pathspecs find.
func (w *walker) addFileAct(kind Kind, loses Work, f fileSet) {
	switch {
	case !f.known:
	case f.paths == nil && !f.some:
		w.addTreeAct(kind, loses)
	case f.paths == nil && w.git.top != "":
		w.addAct(Act{Kind: kind, Loses: loses, Dir: w.git.top, Paths: []string{contentsOf(w.git.top)}, Some: true})
	default:
		w.addAct(Act{Kind: kind, Loses: loses, Paths: f.paths, Some: f.some})
	}
}

// takeFiles notes that what pathspecs find changes in the tree, and with it what of its work may go.
func (w *walker) takeFiles(loses Work, f fileSet) {
	w.changeFiles(f)
	w.addFileAct(Takes, loses, f)
}

// takeTree notes that any file of the checkout may change, and with it what of its work may go.
func (w *walker) takeTree(loses Work) {
	w.changeTree()
	w.addTreeAct(Takes, loses)
}

// moveTree notes that another commit or branch comes to be in the tree.
func (w *walker) moveTree(o options, loses Work) {
	w.changeTree()
	if !o.has("no-overwrite-ignore") {
		loses |= Ignored
	}
	w.addTreeAct(Moves, loses)
}
