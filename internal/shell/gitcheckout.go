package shell

import "strings"

// isHead reports whether a word names the commit that is checked out.
func isHead(x word) bool { return x == literal("HEAD") || x == literal("@") }

// overlapping is what another commit may overwrite besides work in tracked files: files that it has and that
// git doesn't track here.
const overlapping = Untracked | Ignored

// gitCheckout tells the two meanings of git checkout apart as git does: a file is restored, anything else is
// a branch or a commit. One word that names both a file and a branch is the branch.
func (w *walker) gitCheckout(args []word) {
	o := parseOptions(args, "b:B:U:", "orphan", "conflict", "pathspec-from-file")

	paths := o.rest
	switch n := len(o.rest); {
	case o.has("b", "B", "orphan"), n > 0 && o.dash == n, n == 0 && !o.has("p", "patch", "pathspec-from-file"):
		w.checkoutCommit(o)
		return
	case o.dash >= 0:
		paths = o.rest[o.dash:]
	case o.has("pathspec-from-file"):
		paths = nil
	case n > 0 && w.isPathspec(o.rest[0]) && (n > 1 || !w.isBranch(o.rest[0])):
		// All arguments name files.
	case n > 1, o.has("p", "patch"):
		paths = o.rest[min(1, n):]
	default:
		w.checkoutCommit(o)
		return
	}

	// What stands before the paths is the commit that they are restored from.
	from := o.rest[:len(o.rest)-len(paths)]
	loses := Modified
	switch {
	case len(from) > 0 && isHead(from[0]), o.has("m", "merge", "conflict"):
		loses = tracked
	case len(from) > 0:
		loses = tracked | overlapping
	}

	if o.has("recurse-submodules") {
		loses |= Nested
	}

	w.takeFiles(loses, w.resolvePathspecs(o, paths))
}

// checkoutCommit is git checkout of a branch or a commit.
func (w *walker) checkoutCommit(o options) {
	start := o.rest
	forced := o.has("f", "force")

	if len(start) == 0 && !forced {
		if o.has("b", "B", "orphan") {
			// Even if no file changes: others who work here would commit to the new branch.
			w.changeTree()
		}
		if name, ok := o.value("B"); ok {
			w.dropBranches(name)
		}
		return
	}

	w.leaveCommit(o, forced, forced, len(start) > 0 && !isHead(start[0]))
	if name, ok := o.value("B"); ok {
		w.dropBranches(name)
	}
}

// leaveCommit notes that the tree goes to another commit, if other. With discards, changes of tracked files
// don't stop it, and with forced nothing does.
func (w *walker) leaveCommit(o options, forced, discards, other bool) {
	nested := Work(0)
	if o.has("recurse-submodules") {
		nested = Nested
	}

	switch {
	case forced && other:
		w.takeTree(tracked | overlapping | nested)
	case discards && other:
		w.takeTree(tracked | Ignored | nested)
	case forced, discards:
		w.takeTree(tracked | nested)
	}

	if other {
		w.moveTree(o, 0)
	} else {
		w.changeTree()
	}
}

func (w *walker) gitSwitch(args []word) {
	o := parseOptions(args, "c:C:", "create", "force-create", "orphan", "conflict")

	// For a new branch, too, it is a change: others who work here would commit to it.
	w.changeTree()

	fresh := o.has("c", "create", "C", "force-create", "orphan")
	other := !fresh || len(o.rest) > 0 && !isHead(o.rest[0]) || o.has("orphan")
	w.leaveCommit(o, o.has("f", "force"), o.has("discard-changes"), other)

	if name, ok := o.value("C", "force-create"); ok {
		w.dropBranches(name)
	}
}

func (w *walker) gitRestore(args []word) {
	o := parseOptions(args, "s:U:", "source", "conflict", "pathspec-from-file")
	if len(o.rest) == 0 && !o.has("pathspec-from-file", "p", "patch") {
		// git asks for paths.
		return
	}

	f := w.resolvePathspecs(o, o.rest)
	staged, worktree := o.has("S", "staged"), o.has("W", "worktree") || !o.has("S", "staged")
	source, given := o.value("s", "source")

	loses := Modified
	switch {
	case !worktree:
		w.addFileAct(Takes, Partly, f)
		return
	case staged && (!given || isHead(source)):
		loses = tracked
	case staged:
		loses = tracked | overlapping
	case given && !isHead(source):
		loses = Modified | overlapping
	case o.has("m", "merge", "conflict"):
		loses = tracked
	}

	if o.has("recurse-submodules") {
		loses |= Nested
	}

	w.takeFiles(loses, f)
}

func (w *walker) gitReset(args []word) {
	o := parseOptions(args, "U:", "pathspec-from-file")
	loses := Work(0)
	if o.has("recurse-submodules") {
		loses = Nested
	}

	switch {
	case o.has("hard"):
		if loses |= tracked; len(o.rest) > 0 && !isHead(o.rest[0]) {
			loses |= overlapping
		}
		w.takeTree(loses)
	case o.has("merge"):
		w.takeTree(loses | Modified | Staged)
	case o.has("keep"):
		w.takeTree(loses | Partly)
	case o.has("soft"):
	default:
		// Without a mode, and with --mixed, it resets the index alone.
		w.addFileAct(Takes, Partly, w.resetPaths(o))
	}
}

// resetPaths returns what git reset of the index means: the first word may be a commit.
func (w *walker) resetPaths(o options) fileSet {
	paths := o.rest
	switch {
	case o.dash >= 0:
		paths = o.rest[o.dash:]
	case len(paths) > 0 && !w.fileExists(paths[0]):
		paths = paths[1:]
	}
	return w.resolvePathspecs(o, paths)
}

func (w *walker) gitStash(args []word) {
	name := "push"
	if len(args) > 0 && !strings.HasPrefix(args[0].text, "-") {
		name, args = args[0].text, args[1:]
	}

	switch name {
	case "push", "save":
		w.stashPush(args, name == "save")
	case "pop":
		o := parseOptions(args, "")

		// What has come out of the stash is nowhere else, so that a later part of the command may destroy it.
		if w.dirKnown {
			w.earlier.popped = append(w.earlier.popped, popped{w.checkoutRoot(), stashEntry(o.rest)})
		}
		if o.has("index") {
			w.moveTree(o, 0)
		} else {
			// What was staged of the stashed files comes back unstaged.
			w.moveTree(o, Partly)
		}
		w.takeEntry(Pops, o.rest)
	case "apply":
		o := parseOptions(args, "")
		w.moveTree(o, 0)
		w.takeEntry(Applies, o.rest)
	case "branch":
		o := parseOptions(args, "")
		w.moveTree(o, 0)
		w.takeEntry(Pops, o.rest[min(1, len(o.rest)):])
	case "store":
		if o := parseOptions(args, "m:", "message"); len(o.rest) > 0 {
			w.takeEntry(Applies, o.rest)
		}
	case "clear":
		w.dropRefs(Stash, wholeStash)
	case "drop":
		if entry := stashEntry(parseOptions(args, "").rest); entry == wholeStash {
			w.dropSomeRefs(Stash, entry)
		} else {
			w.dropRefs(Stash, entry)
		}
	}
}

// wholeStash stands for all entries of the stash, where nobody can tell which one a command means.
const wholeStash = "refs/stash"

// stashEntry returns the entry of the stash that arguments name: the newest one without any.
func stashEntry(args []word) string {
	if len(args) == 0 {
		return "refs/stash@{0}"
	}
	switch x := args[0]; {
	case !x.isKnown():
		return wholeStash
	case strings.Trim(x.text, "0123456789") == "":
		return "refs/stash@{" + x.text + "}"
	default:
		return "refs/" + strings.TrimPrefix(x.text, "refs/")
	}
}

// takeEntry notes which entry of the stash a command puts into the tree.
func (w *walker) takeEntry(kind Kind, args []word) {
	a := Act{Kind: kind, Dir: w.git.repo, Refs: []string{stashEntry(args)}}

	switch name := a.Refs[0]; {
	case len(args) > 0 && !args[0].isKnown():
		a.Some = true
	case name == wholeStash:
		// git stash pop stash means the newest entry.
		a.Refs[0] = wholeStash + "@{0}"
	case !strings.HasPrefix(name, wholeStash):
		// The entry is named by its commit.
		a.Refs[0] = args[0].text
	}

	w.addAct(a)
}

func (w *walker) stashPush(args []word, save bool) {
	o := parseOptions(args, "m:", "message", "pathspec-from-file")

	loses := tracked
	if o.has("S", "staged") {
		loses = Staged | Partly
	}
	if o.has("u", "include-untracked") {
		loses |= Untracked
	}
	if o.has("a", "all") {
		loses |= Untracked | Ignored
	}

	paths := o.rest
	if save {
		// The arguments are the message.
		paths = nil
	}
	w.takeFiles(loses, w.resolvePathspecs(o, paths))
}

// gitClean takes every clean without -n for one that cleans. Without -f git refuses only where
// clean.requireForce is on, which a file, the environment or an earlier command may have turned off.
func (w *walker) gitClean(args []word) {
	o := parseOptions(args, "e:", "exclude")
	if o.has("n", "dry-run") {
		return
	}

	if len(o.rest) == 0 && !w.fileExists(literal(".git")) {
		// git cleans only below the directory in which it runs.
		o.rest = []word{literal(".")}
	}
	loses := Untracked
	switch {
	case o.has("X"):
		loses = Ignored
	case o.has("x"):
		loses = Untracked | Ignored
	}

	if o.times("f", "force") > 1 {
		loses |= Nested
	}

	w.takeFiles(loses, w.resolvePathspecs(o, o.rest))
}
