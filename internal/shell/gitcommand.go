package shell

// gitCommand returns what walks through a command of git's that changes files, or what git knows of them; nil
// for any other.
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
	case "push":
		return (*walker).gitPush
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
	case "config":
		return (*walker).gitConfig
	}
	return nil
}

func (w *walker) gitRemove(args []word) {
	o := parseOptions(args, "", "pathspec-from-file")
	if o.has("n", "dry-run") || len(o.rest) == 0 && !o.has("pathspec-from-file") {
		return
	}

	f := w.resolvePathspecs(o, o.rest)
	if !o.has("cached") {
		w.walkByName(func() { w.changeFiles(f) })
	}

	switch {
	case o.has("f", "force") && o.has("cached"):
		w.addFileAct(Takes, Partly, f)
	case o.has("f", "force"):
		w.addFileAct(Takes, tracked|Nested, f)
	}
}

func (w *walker) gitMove(args []word) {
	o := parseOptions(args, "")
	if o.has("n", "dry-run") {
		return
	}

	w.walkByName(func() {
		made := w.moveFiles(parseOptions(args, "t:S:", "target-directory", "suffix"), true)
		if o.has("f", "force") && len(made) > 0 {
			w.addFileAct(Takes, tracked|overlapping, w.resolvePathspecs(options{}, newNames(made)))
		}
		w.noteMoves(made)
	})
}

func (w *walker) gitApply(args []word) {
	o := parseOptions(args, "p:C:", "exclude", "include", "directory", "whitespace", "build-fake-ancestor")
	if o.has("check", "stat", "numstat", "summary", "cached") && !o.has("apply") {
		return
	}

	// A patch may name any file of the checkout.
	w.changeTree()
	if o.has("R", "reverse") {
		w.addAct(Act{Kind: Takes, Dir: w.git.top, Some: true, Loses: tracked | overlapping})
		return
	}
}

func (w *walker) gitCheckoutIndex(args []word) {
	o := parseOptions(args, "", "prefix", "stage")
	if o.has("prefix") || !o.has("a", "all", "stdin") && len(o.rest) == 0 {
		return
	}

	f := w.resolvePathspecs(o, o.rest)
	f.some = f.some || o.has("stdin")
	w.changeFiles(f)

	if o.has("f", "force") {
		w.addFileAct(Takes, onDisk, f)
	}
}

func (w *walker) gitReadTree(args []word) {
	o := parseOptions(args, "", "index-output", "exclude-per-directory", "prefix")
	switch {
	case o.has("n", "dry-run", "index-output") || w.git.index:
	case o.has("u") && o.has("reset"):
		w.takeTree(tracked | overlapping)
	case o.has("u"):
		w.moveTree(o, Partly)
	default:
		w.addTreeAct(Takes, Partly)
	}
}

// gitMerge is git merge and git pull.
func (w *walker) gitMerge(args []word) {
	o := parseOptions(args, "m:F:s:X:j:S::", "strategy", "strategy-option", "file", "depth", "into-name")
	switch {
	case o.has("quit"):
	case o.has("abort"):
		w.takeTree(Modified | Staged | Ignored)
	case o.has("autostash"):
		w.moveTree(o, tracked)
	default:
		w.moveTree(o, 0)
	}
}

func (w *walker) gitRebase(args []word) {
	o := parseOptions(args, "s:X:x:C:S::", "onto", "exec", "strategy", "strategy-option", "whitespace")
	if script, ok := o.value("x", "exec"); ok {
		w.inSubshell(func(w *walker) { w.walkScriptIn(script) })
	}

	switch {
	case o.has("quit", "show-current-patch", "edit-todo"):
	case o.has("abort", "skip"):
		w.takeTree(tracked | overlapping)
	case o.has("autostash"):
		w.moveTree(o, tracked)
	default:
		w.moveTree(o, 0)
	}
}

// gitPick is git cherry-pick, git revert and git am.
func (w *walker) gitPick(args []word) {
	o := parseOptions(args, "m:s:X:p:C:S::", "strategy", "strategy-option", "mainline", "exclude", "include",
		"directory", "whitespace", "patch-format")
	switch {
	case o.has("quit", "show-current-patch"):
	case o.has("abort", "skip"):
		w.takeTree(Modified | Staged | Ignored)
	default:
		w.moveTree(o, 0)
	}
}

func (w *walker) gitBisect(args []word) {
	if len(args) == 0 {
		return
	}

	switch name, rest := args[0].text, args[1:]; name {
	case "run":
		w.moveTree(options{}, 0)
		w.inSubshell(func(w *walker) { w.runCommand(rest, "") })
	case "start":
		if len(parseOptions(rest, "").rest) > 0 {
			w.moveTree(options{}, 0)
		}
	case "good", "bad", "new", "old", "skip", "reset", "replay":
		w.moveTree(options{}, 0)
	}
}

func (w *walker) gitSparse(args []word) {
	if len(args) > 0 && args[0].text != "list" && args[0].text != "check-rules" {
		w.moveTree(options{}, 0)
	}
}

// gitWorktree is git worktree. Removing one takes its own work away.
func (w *walker) gitWorktree(args []word) {
	if len(args) == 0 {
		return
	}

	o := parseOptions(args[1:], "b:B:", "reason")
	switch args[0].text {
	case "remove":
		for _, x := range o.rest {
			// Without -f git refuses what isn't committed, but for ignored files.
			loses := Ignored
			if o.has("f", "force") {
				loses = tracked | overlapping | Nested
			}

			if path, ok := w.pathOf(x); ok {
				w.changes.Paths = addPath(w.changes.Paths, path)
				w.addAct(Act{Kind: Takes, Dir: path, Loses: loses})
			}
		}
	case "add":
		if name, ok := o.value("B"); ok {
			w.dropBranches(name)
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
	o := parseOptions(args, "b:j:", "reference", "depth", "branch", "jobs", "filter")
	switch name {
	case "foreach":
		w.gitForeach(parseOptions(args, "+").rest)
	case "update":
		f := w.resolvePathspecs(o, o.rest)
		if w.changeFiles(f); o.has("f", "force") {
			w.addFileAct(Takes, Nested, f)
		} else {
			w.addFileAct(Moves, 0, f)
		}
	case "deinit":
		f := w.resolvePathspecs(o, o.rest)
		w.changeFiles(f)
		w.addFileAct(Takes, Nested, f)
	}
}

// gitForeach is git submodule foreach. Which submodules there are isn't known here; what the command would
// cost in any tree, it costs in them.
func (w *walker) gitForeach(args []word) {
	form, text := w.form, w.text
	inner := walker{dir: w.dir, dirKnown: w.dirKnown, shared: &shared{
		alias: w.alias, aliases: w.aliases, steps: w.steps, bytes: w.bytes, entries: w.entries,
	}}

	if len(args) == 1 {
		inner.walkScriptIn(args[0])
	} else {
		inner.runCommand(args, "")
	}

	// What it has used of the limits counts here, too.
	w.aliases, w.steps, w.bytes, w.entries = inner.aliases, inner.steps, inner.bytes, inner.entries

	c := inner.changes
	if len(c.Paths)+len(c.Trees) > 0 {
		w.changeTree()
	}

	w.form, w.text = form, text
	for _, a := range c.Acts {
		if a.Kind == Takes || a.Kind == Moves && a.Loses != 0 {
			w.addTreeAct(Takes, Nested)
			return
		}
	}
}

// gitOutput is a command that prints, and writes a file with some options.
func (w *walker) gitOutput(args []word) {
	o := parseOptions(args, "o:O:S:G:l:", "output", "remote", "exec", "prefix", "format")
	if to, ok := o.value("output", "o"); ok {
		w.changeFile(to)
	}

	// git bundle create names the file that it writes.
	if len(args) > 1 && args[0] == literal("create") {
		if rest := parseOptions(args[1:], "").rest; len(rest) > 0 {
			w.changeFile(rest[0])
		}
	}
}

func (w *walker) gitMergeFile(args []word) {
	if o := parseOptions(args, "L:", "marker-size"); !o.has("p", "stdout") && len(o.rest) > 0 {
		w.changeFile(o.rest[0])
	}
}
