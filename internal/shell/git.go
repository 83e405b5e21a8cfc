package shell

import (
	"slices"
	"strings"
)

// git notes what a git command changes in the files of the checkout. It ignores the index and refs.
func (w *walker) git(args []word) {
	o := parse(args, "+C:c:", "git-dir", "work-tree", "namespace", "exec-path", "config-env", "super-prefix")
	if len(o.rest) == 0 || !o.rest[0].ok || o.has("git-dir", "help", "h", "version") {
		return
	}
	ahead := args[:len(args)-len(o.rest)]
	if at := slices.Index(ahead, literal("-C")); at >= 0 && slices.Contains(ahead[at+1:], literal("-C")) {
		return // each is relative to the one before; nobody writes that
	}
	w.inSubshell(func(w *walker) {
		for _, name := range []string{"C", "work-tree"} {
			if at, ok := o.value(name); ok {
				w.enter(at)
			}
		}
		w.gitCommand(o.rest[0].text, o.rest[1:])
	})
}

func (w *walker) gitCommand(name string, args []word) {
	if slices.Contains(args, literal("--help")) || slices.Contains(args, literal("-h")) {
		return
	}
	switch name {
	case "checkout":
		w.gitCheckout(args)
	case "switch":
		w.changeTree() // for a new branch too: others who work here would commit to it
	case "branch":
		// A rename with one name is that of the checked-out branch.
		if o := parse(args, "u:", "set-upstream-to"); o.has("m", "M", "move") && len(o.rest) < 2 {
			w.changeTree()
		}
	case "restore":
		o := parse(args, "s:U:", "source", "conflict", "pathspec-from-file")
		if !o.has("S", "staged") || o.has("W", "worktree") {
			w.pathspecs(o, o.rest)
		}
	case "reset":
		if parse(args, "").has("hard", "merge", "keep") {
			w.changeTree()
		}
	case "stash":
		w.gitStash(args)
	case "rm":
		if o := parse(args, "", "pathspec-from-file"); !o.has("cached", "n", "dry-run") {
			w.pathspecs(o, o.rest)
		}
	case "mv":
		if !parse(args, "").has("n", "dry-run") {
			w.move(args, true)
		}
	case "clean":
		if o := parse(args, "e:", "exclude"); o.has("f", "force") && !o.has("n", "dry-run") {
			w.pathspecs(o, o.rest)
		}
	case "apply":
		if o := parse(args, "p:C:", "exclude", "include", "directory", "whitespace", "build-fake-ancestor"); o.has("apply") ||
			!o.has("check", "stat", "numstat", "summary", "cached") {
			w.changeTree()
		}
	case "merge", "rebase", "pull", "cherry-pick", "revert", "am":
		if !parse(args, "m:X:s:F:").has("quit", "show-current-patch", "edit-todo") {
			w.changeTree()
		}
	}
}

// gitCheckout tells the two meanings of git checkout apart as git does: a file is restored, anything else is a
// branch or a commit.
func (w *walker) gitCheckout(args []word) {
	o := parse(args, "b:B:U:", "orphan", "conflict", "pathspec-from-file")
	switch {
	case o.has("pathspec-from-file"):
		w.changeTree()
	case o.dash >= 0 && o.dash < len(o.rest):
		w.pathspecs(o, o.rest[o.dash:])
	case o.has("b", "B", "orphan"):
		w.changeTree() // even if no file changes: others who work here would commit to the new branch
	case len(o.rest) == 0:
		if o.has("f", "force", "p", "patch") {
			w.changeTree()
		}
	case w.exists(o.rest[0]):
		w.pathspecs(o, o.rest)
	case len(o.rest) > 1:
		w.pathspecs(o, o.rest[1:])
	default:
		w.changeTree()
	}
}

func (w *walker) gitStash(args []word) {
	name := "push"
	if len(args) > 0 && !strings.HasPrefix(args[0].text, "-") {
		name, args = args[0].text, args[1:]
	}
	switch name {
	case "push":
		o := parse(args, "m:", "message", "pathspec-from-file")
		w.pathspecs(o, o.rest)
	case "save", "pop", "apply", "branch":
		w.changeTree()
	}
}

// pathspecs notes what git finds by them: without any, the whole tree.
func (w *walker) pathspecs(o options, all []word) {
	if len(all) == 0 || o.has("pathspec-from-file") {
		w.changeTree()
	}
	for _, x := range all {
		switch {
		case !x.ok:
		case w.exists(x) || !strings.ContainsAny(x.text, ":*?["):
			w.changeInside(x)
		default:
			w.changeTree() // git matches its patterns below, or from the top
		}
	}
}
