package shell

import "strings"

// gitCommand returns what walks through a command of git's that changes files, or what git knows of them; nil for
// any other.
func gitCommand(name string) func(*walker, []word) {
	switch name {
	case "checkout":
		return (*walker).gitCheckout
	case "switch":
		return (*walker).gitSwitch
	case "restore":
		return (*walker).gitRestore
	case "reset":
		return (*walker).gitReset
	case "stash":
		return (*walker).gitStash
	case "clean":
		return (*walker).gitClean
	case "rm":
		return (*walker).gitRemove
	case "mv":
		return (*walker).gitMove
	case "apply":
		return (*walker).gitApply
	case "merge", "pull":
		return (*walker).gitMerge
	case "rebase":
		return (*walker).gitRebase
	case "cherry-pick", "revert", "am":
		return (*walker).gitPick
	case "add", "stage":
		return (*walker).gitAdd
	case "commit":
		return (*walker).gitCommit
	case "branch":
		return (*walker).gitBranch
	case "worktree":
		return (*walker).gitWorktree
	case "submodule":
		return (*walker).gitSubmodule
	case "archive", "bundle", "diff", "log", "show", "format-patch":
		return (*walker).gitOutput
	}
	return rareGitCommand(name)
}

// rareGitCommand is gitCommand for those that few people use.
func rareGitCommand(name string) func(*walker, []word) {
	switch name {
	case "checkout-index":
		return (*walker).gitCheckoutIndex
	case "read-tree":
		return (*walker).gitReadTree
	case "bisect":
		return (*walker).gitBisect
	case "update-ref":
		return (*walker).gitUpdateRef
	case "fetch":
		return (*walker).gitFetch
	case "reflog":
		return (*walker).gitReflog
	case "gc":
		return (*walker).gitGC
	case "prune":
		return (*walker).gitPrune
	case "sparse-checkout":
		return (*walker).gitSparse
	case "merge-file":
		return (*walker).gitMergeFile
	}
	return nil
}

// isHead reports whether a word names the commit that is checked out.
func isHead(x word) bool { return x == literal("HEAD") || x == literal("@") }

// overlapping is what another commit may overwrite besides work in tracked files: files that it has and that git
// doesn't track here.
const overlapping = Untracked | Ignored

// gitCheckout tells the two meanings of git checkout apart as git does: a file is restored, anything else is a
// branch or a commit. One word that names both a file and a branch is the branch.
func (w *walker) gitCheckout(args []word) {
	o := parse(args, "b:B:U:", "orphan", "conflict", "pathspec-from-file")
	paths := o.rest
	switch n := len(o.rest); {
	case o.has("b", "B", "orphan"), n > 0 && o.dash == n, n == 0 && !o.has("p", "patch", "pathspec-from-file"):
		w.checkoutCommit(o)
		return
	case o.dash >= 0:
		paths = o.rest[o.dash:]
	case o.has("pathspec-from-file"):
		paths = nil
	case n > 0 && w.isPathspec(o.rest[0]) && (n > 1 || !w.isBranch(o.rest[0])): // what is to be restored
	case n > 1, o.has("p", "patch"):
		paths = o.rest[min(1, n):]
	default:
		w.checkoutCommit(o)
		return
	}
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
	w.takesFiles(loses, w.pathspecs(o, paths))
}

// checkoutCommit is git checkout of a branch or a commit.
func (w *walker) checkoutCommit(o options) {
	start := o.rest
	forced := o.has("f", "force")
	if len(start) == 0 && !forced {
		if o.has("b", "B", "orphan") {
			w.changeTree() // even if no file changes: others who work here would commit to the new branch
		}
		if name, ok := o.value("B"); ok {
			w.dropsBranch(name)
		}
		return
	}
	w.leaves(o, forced, forced, len(start) > 0 && !isHead(start[0]))
	if name, ok := o.value("B"); ok {
		w.dropsBranch(name)
	}
}

// leaves notes that the tree goes to another commit, if other. With discards, changes of tracked files don't stop it,
// and with forced nothing does.
func (w *walker) leaves(o options, forced, discards, other bool) {
	nested := Work(0)
	if o.has("recurse-submodules") {
		nested = Nested
	}
	switch {
	case forced && other:
		w.takesTree(tracked | overlapping | nested)
	case discards && other:
		w.takesTree(tracked | Ignored | nested)
	case forced, discards:
		w.takesTree(tracked | nested)
	}
	if other {
		w.moves(o, 0)
	} else {
		w.changeTree()
	}
}

func (w *walker) gitSwitch(args []word) {
	o := parse(args, "c:C:", "create", "force-create", "orphan", "conflict")
	// For a new branch, too, it is a change: others who work here would commit to it.
	w.changeTree()
	fresh := o.has("c", "create", "C", "force-create", "orphan")
	other := !fresh || len(o.rest) > 0 && !isHead(o.rest[0]) || o.has("orphan")
	w.leaves(o, o.has("f", "force"), o.has("discard-changes"), other)
	if name, ok := o.value("C", "force-create"); ok {
		w.dropsBranch(name)
	}
}

func (w *walker) gitRestore(args []word) {
	o := parse(args, "s:U:", "source", "conflict", "pathspec-from-file")
	if len(o.rest) == 0 && !o.has("pathspec-from-file", "p", "patch") {
		return // it asks for paths
	}
	f := w.pathspecs(o, o.rest)
	staged, worktree := o.has("S", "staged"), o.has("W", "worktree") || !o.has("S", "staged")
	source, given := o.value("s", "source")
	loses := Modified
	switch {
	case !worktree:
		w.fileAct(Takes, Partly, f)
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
	w.takesFiles(loses, f)
}

func (w *walker) gitReset(args []word) {
	o := parse(args, "U:", "pathspec-from-file")
	loses := Work(0)
	if o.has("recurse-submodules") {
		loses = Nested
	}
	switch {
	case o.has("hard"):
		if loses |= tracked; len(o.rest) > 0 && !isHead(o.rest[0]) {
			loses |= overlapping
		}
		w.takesTree(loses)
	case o.has("merge"):
		w.takesTree(loses | Modified | Staged)
	case o.has("keep"):
		w.takesTree(loses | Partly)
	case o.has("soft"):
	default: // the index
		w.fileAct(Takes, Partly, w.resetPaths(o))
	}
}

// resetPaths returns what git reset of the index means: the first word may be a commit.
func (w *walker) resetPaths(o options) files {
	paths := o.rest
	switch {
	case o.dash >= 0:
		paths = o.rest[o.dash:]
	case len(paths) > 0 && !w.exists(paths[0]):
		paths = paths[1:]
	}
	return w.pathspecs(o, paths)
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
		o := parse(args, "")
		if o.has("index") {
			w.moves(o, 0)
		} else {
			w.moves(o, Partly) // of what was stashed
		}
	case "apply", "branch":
		w.moves(parse(args, ""), 0)
	case "clear":
		w.drops(Stash, "refs/stash")
	case "drop":
		entry := literal("stash@{0}")
		if o := parse(args, ""); len(o.rest) > 0 {
			entry = o.rest[0]
		}
		switch number := strings.Trim(entry.text, "0123456789") == ""; {
		case !entry.ok:
			w.drops(Stash)
		case number:
			w.drops(Stash, "refs/stash@{"+entry.text+"}")
		default:
			w.drops(Stash, "refs/"+strings.TrimPrefix(entry.text, "refs/"))
		}
	}
}

func (w *walker) stashPush(args []word, save bool) {
	o := parse(args, "m:", "message", "pathspec-from-file")
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
		paths = nil // they are the message
	}
	w.takesFiles(loses, w.pathspecs(o, paths))
}

func (w *walker) gitClean(args []word) {
	o := parse(args, "e:", "exclude")
	if !o.has("f", "force", "i", "interactive") && !w.git.cleans || o.has("n", "dry-run") {
		return
	}
	if len(o.rest) == 0 && !w.exists(literal(".git")) {
		o.rest = []word{literal(".")} // it cleans only where it runs
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
	w.takesFiles(loses, w.pathspecs(o, o.rest))
}

func (w *walker) gitRemove(args []word) {
	o := parse(args, "", "pathspec-from-file")
	if o.has("n", "dry-run") || len(o.rest) == 0 && !o.has("pathspec-from-file") {
		return
	}
	f := w.pathspecs(o, o.rest)
	if !o.has("cached") {
		w.byName(func() { w.changeFiles(f) })
	}
	switch {
	case o.has("f", "force") && o.has("cached"):
		w.fileAct(Takes, Partly, f)
	case o.has("f", "force"):
		w.fileAct(Takes, tracked|Nested, f)
	}
}

func (w *walker) gitMove(args []word) {
	o := parse(args, "")
	if o.has("n", "dry-run") {
		return
	}
	w.byName(func() {
		onto := w.move(parse(args, "t:S:", "target-directory", "suffix"), true)
		if o.has("f", "force") && len(onto) > 0 {
			w.fileAct(Takes, tracked|overlapping, w.pathspecs(options{}, onto))
		}
	})
}

func (w *walker) gitApply(args []word) {
	o := parse(args, "p:C:", "exclude", "include", "directory", "whitespace", "build-fake-ancestor")
	if o.has("check", "stat", "numstat", "summary", "cached") && !o.has("apply") {
		return
	}
	w.changeTree()
	if o.has("R", "reverse") {
		w.act(Act{Kind: Takes, Dir: w.git.top, Some: true, Loses: tracked | overlapping})
		return
	}
}

func (w *walker) gitCheckoutIndex(args []word) {
	o := parse(args, "", "prefix", "stage")
	if o.has("prefix") || !o.has("a", "all", "stdin") && len(o.rest) == 0 {
		return
	}
	f := w.pathspecs(o, o.rest)
	f.some = f.some || o.has("stdin")
	w.changeFiles(f)
	if o.has("f", "force") {
		w.fileAct(Takes, onDisk, f)
	}
}

func (w *walker) gitReadTree(args []word) {
	o := parse(args, "", "index-output", "exclude-per-directory", "prefix")
	switch {
	case o.has("n", "dry-run", "index-output") || w.git.index:
	case o.has("u") && o.has("reset"):
		w.takesTree(tracked | overlapping)
	case o.has("u"):
		w.moves(o, Partly)
	default:
		w.treeAct(Takes, Partly)
	}
}

// gitMerge is git merge and git pull.
func (w *walker) gitMerge(args []word) {
	o := parse(args, "m:F:s:X:j:S::", "strategy", "strategy-option", "file", "depth", "into-name")
	switch {
	case o.has("quit"):
	case o.has("abort"):
		w.takesTree(Modified | Staged | Ignored)
	case o.has("autostash"):
		w.moves(o, tracked)
	default:
		w.moves(o, 0)
	}
}

func (w *walker) gitRebase(args []word) {
	o := parse(args, "s:X:x:C:S::", "onto", "exec", "strategy", "strategy-option", "whitespace")
	if script, ok := o.value("x", "exec"); ok {
		w.inSubshell(func(w *walker) { w.scriptOf(script) })
	}
	switch {
	case o.has("quit", "show-current-patch", "edit-todo"):
	case o.has("abort", "skip"):
		w.takesTree(tracked | overlapping)
	case o.has("autostash"):
		w.moves(o, tracked)
	default:
		w.moves(o, 0)
	}
}

// gitPick is git cherry-pick, git revert and git am.
func (w *walker) gitPick(args []word) {
	o := parse(args, "m:s:X:p:C:S::", "strategy", "strategy-option", "mainline", "exclude", "include", "directory", "whitespace", "patch-format")
	switch {
	case o.has("quit", "show-current-patch"):
	case o.has("abort", "skip"):
		w.takesTree(Modified | Staged | Ignored)
	default:
		w.moves(o, 0)
	}
}

func (w *walker) gitBisect(args []word) {
	if len(args) == 0 {
		return
	}
	switch name, rest := args[0].text, args[1:]; name {
	case "run":
		w.moves(options{}, 0)
		w.inSubshell(func(w *walker) { w.run(rest, "") })
	case "start":
		if len(parse(rest, "").rest) > 0 {
			w.moves(options{}, 0)
		}
	case "good", "bad", "new", "old", "skip", "reset", "replay":
		w.moves(options{}, 0)
	}
}

func (w *walker) gitSparse(args []word) {
	if len(args) > 0 && args[0].text != "list" && args[0].text != "check-rules" {
		w.moves(options{}, 0)
	}
}

// gitWorktree is git worktree. Removing one takes its own work away.
func (w *walker) gitWorktree(args []word) {
	if len(args) == 0 {
		return
	}
	o := parse(args[1:], "b:B:", "reason")
	switch args[0].text {
	case "remove":
		for _, x := range o.rest {
			loses := Ignored // without -f git refuses what isn't committed, but for ignored files
			if o.has("f", "force") {
				loses = tracked | overlapping | Nested
			}
			if path, ok := w.path(x); ok {
				w.changes.Paths = add(w.changes.Paths, path)
				w.act(Act{Kind: Takes, Dir: path, Loses: loses})
			}
		}
	case "add":
		if name, ok := o.value("B"); ok {
			w.dropsBranch(name)
		}
	}
}

func (w *walker) gitSubmodule(args []word) {
	for len(args) > 0 && (args[0].text == "-q" || args[0].text == "--quiet") {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	name, args := args[0].text, args[1:]
	o := parse(args, "b:j:", "reference", "depth", "branch", "jobs", "filter")
	switch name {
	case "foreach":
		w.gitForeach(parse(args, "+").rest)
	case "update":
		f := w.pathspecs(o, o.rest)
		if w.changeFiles(f); o.has("f", "force") {
			w.fileAct(Takes, Nested, f)
		} else {
			w.fileAct(Moves, 0, f)
		}
	case "deinit":
		f := w.pathspecs(o, o.rest)
		w.changeFiles(f)
		w.fileAct(Takes, Nested, f)
	}
}

// gitForeach is git submodule foreach. Which submodules there are isn't known here; what the command would cost in
// any tree, it costs in them.
func (w *walker) gitForeach(args []word) {
	form := w.form
	inner := walker{dir: w.dir, dirKnown: w.dirKnown, shared: &shared{alias: w.alias, aliases: w.aliases, steps: w.steps, bytes: w.bytes, entries: w.entries}}
	if len(args) == 1 {
		inner.scriptOf(args[0])
	} else {
		inner.run(args, "")
	}
	w.aliases, w.steps, w.bytes, w.entries = inner.aliases, inner.steps, inner.bytes, inner.entries
	c := inner.changes
	if len(c.Paths)+len(c.Trees) > 0 {
		w.changeTree()
	}
	w.form = form
	for _, a := range c.Acts {
		if a.Kind == Takes || a.Kind == Moves && a.Loses != 0 {
			w.treeAct(Takes, Nested)
			return
		}
	}
}

// gitOutput is a command that prints, and writes a file with some options.
func (w *walker) gitOutput(args []word) {
	o := parse(args, "o:O:S:G:l:", "output", "remote", "exec", "prefix", "format")
	if to, ok := o.value("output", "o"); ok {
		w.change(to)
	}
	if len(args) > 1 && args[0] == literal("create") { // of a bundle
		if rest := parse(args[1:], "").rest; len(rest) > 0 {
			w.change(rest[0])
		}
	}
}

func (w *walker) gitMergeFile(args []word) {
	if o := parse(args, "L:", "marker-size"); !o.has("p", "stdout") && len(o.rest) > 0 {
		w.change(o.rest[0])
	}
}
