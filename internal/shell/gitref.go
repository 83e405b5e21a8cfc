package shell

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/workspace"
)

// anyBranch stands for all branches, where nobody can tell which ones a command means.
const anyBranch = "refs/heads/"

// dropBranches notes that branches are deleted or set to another commit.
func (w *walker) dropBranches(names ...word) {
	var refs []string
	for _, name := range names {
		if !name.isKnown() {
			w.dropSomeRefs(Commits, anyBranch)
			continue
		}
		refs = append(refs, "refs/heads/"+name.text)
	}

	if len(refs) > 0 {
		w.dropRefs(Commits, refs...)
	}
}

func (w *walker) gitBranch(args []word) {
	o := parseOptions(args, "u:", "set-upstream-to")
	forced := o.has("f", "force")

	switch rest := o.rest; {
	case o.has("m", "M", "move"):
		// A rename with one name is that of the checked-out branch.
		if len(rest) < 2 {
			w.changeTree()
		}
		if forced || o.has("M") {
			w.dropBranches(rest...)
		}
	case o.has("C") || forced && o.has("c", "copy"):
		w.dropBranches(rest[max(0, len(rest)-1):]...)
	case o.has("D") || forced && o.has("d", "delete"):
		if !o.has("r", "remotes") {
			w.dropBranches(rest...)
			return
		}

		// One whose name is not known is left out: a branch of a remote can be fetched again.
		for _, name := range rest {
			if name.ok {
				w.dropRefs(Commits, "refs/remotes/"+name.text)
			}
		}
	case forced && len(rest) > 0:
		w.dropBranches(rest[0])
	}
}

func (w *walker) gitUpdateRef(args []word) {
	o := parseOptions(args, "m:")
	switch {
	case o.has("stdin"), len(o.rest) > 0 && !o.rest[0].isKnown():
		w.dropSomeRefs(Commits, anyBranch)
	case len(o.rest) > 0:
		w.dropRefs(Commits, o.rest[0].text)
	}
}

// gitFetch is git fetch. It sets branches of this repository to other commits if it is told to with force.
func (w *walker) gitFetch(args []word) {
	o := parseOptions(args, "j:o:", "depth", "upload-pack", "shallow-since", "shallow-exclude", "deepen", "refmap",
		"server-option", "jobs", "negotiation-tip")
	for _, x := range o.rest[min(1, len(o.rest)):] {
		w.dropByRefspec(x, o.has("f", "force"))
	}
}

// dropByRefspec notes the ref that a refspec of git fetch or git push deletes, or with force sets to another
// commit. That of a remote repository's branch can be fetched again.
func (w *walker) dropByRefspec(x word, forced bool) {
	spec, plus := strings.CutPrefix(x.text, "+")
	from, to, has := strings.Cut(spec, ":")

	// Without force, git only moves a ref forward, which loses no commits.
	movesForward := !plus && !forced && from != ""
	switch {
	case !has || to == "" || movesForward || strings.HasPrefix(to, "refs/remotes/"):
	case !x.isKnown() || strings.Contains(to, "*"):
		w.dropSomeRefs(Commits, anyBranch)
	default:
		w.dropRefs(Commits, fullRef(to))
	}
}

// fullRef returns the full name of a ref, which is a branch unless it says something else.
func fullRef(name string) string {
	if strings.HasPrefix(name, "refs/") {
		return name
	}
	return "refs/heads/" + name
}

// gitPush is git push. Where it pushes to a repository on this machine, by its path, it changes the refs
// there.
func (w *walker) gitPush(args []word) {
	o := parseOptions(args, "o:", "repo", "receive-pack", "exec", "push-option", "recurse-submodules")
	to, named := o.value("repo")
	if specs := o.rest; len(specs) > 0 {
		to, named, o.rest = specs[0], true, specs[1:]
	}

	if o.has("n", "dry-run") {
		return
	}

	// A name such as origin is that of a remote, of which nothing is known here.
	isHere := to.text == "." || strings.Contains(to.text, "/") && w.isDir(to)
	if !named || !isHere {
		w.publishRefs(o)
		return
	}

	w.inSubshell(func(w *walker) {
		// A dot is the repository here, wherever it is.
		if to.text != "." {
			w.enterDirectory(to)
			w.git.repo = ""
		}
		w.pushRefs(o)
	})
}

// publishRefs notes which refs of a remote a push moves. Without a refspec it is taken to be the branch that
// is checked out.
func (w *walker) publishRefs(o options) {
	a := Act{Kind: Pushes, Dir: w.git.top, Some: o.has("all", "branches", "mirror")}

	switch {
	case len(o.rest) > 0:
		for _, x := range o.rest {
			from, to, has := strings.Cut(strings.TrimPrefix(x.text, "+"), ":")
			if !has {
				to = from
			}

			switch {
			case !x.isKnown() || to == "" || strings.Contains(to, "*"):
				a.Some = true
			case to == "HEAD" || to == "@":
				a.Refs = append(a.Refs, "HEAD")
			default:
				a.Refs = append(a.Refs, fullRef(to))
			}
		}
	case o.has("tags") || a.Some:
	default:
		a.Refs = []string{"HEAD"}
	}

	if len(a.Refs) > 0 || a.Some {
		w.addAct(a)
	}
}

// pushRefs notes what a push does to the refs of the repository in which it arrives.
func (w *walker) pushRefs(o options) {
	forced := o.has("f", "force", "force-with-lease")

	switch {
	case o.has("mirror", "prune"), forced && o.has("all", "branches"):
		w.dropSomeRefs(Commits, anyBranch)
	case o.has("d", "delete"):
		for _, x := range o.rest {
			if x.isKnown() {
				w.dropRefs(Commits, fullRef(x.text))
			} else {
				w.dropSomeRefs(Commits, anyBranch)
			}
		}
	default:
		for _, x := range o.rest {
			w.dropByRefspec(x, forced)
		}
	}
}

func (w *walker) gitReflog(args []word) {
	removes := len(args) > 0 && (args[0] == literal("expire") || args[0] == literal("delete"))
	if removes && !containsWord(args, "-n") && !containsWord(args, "--dry-run") {
		w.dropRefs(Commits)
	}
}

func (w *walker) gitGC(args []word) {
	if at, ok := parseOptions(args, "").value("prune"); ok && (at.text == "now" || at.text == "all") {
		w.dropRefs(Commits)
	}
}

func (w *walker) gitPrune(args []word) {
	if !parseOptions(args, "", "expire").has("n", "dry-run") {
		w.dropRefs(Commits)
	}
}

// sweepFiles notes that files go into the index or a commit as they are, and that what was staged of them
// goes.
func (w *walker) sweepFiles(f fileSet, tracked bool) {
	n := len(w.changes.Acts)
	w.addFileAct(Sweeps, Partly, f)

	for i := range w.changes.Acts[n:] {
		w.changes.Acts[n+i].Tracked = tracked
	}
}

func (w *walker) gitAdd(args []word) {
	o := parseOptions(args, "", "chmod", "pathspec-from-file")
	whole := o.has("A", "all", "u", "update", "renormalize")

	// With -N, too, git tracks the files from now on.
	if !w.git.index && w.dirKnown && !o.has("n", "dry-run", "u", "update", "renormalize", "refresh") {
		w.earlier.indexed = addPath(w.earlier.indexed, w.checkoutRoot())
	}

	namesFiles := len(o.rest) > 0 || whole ||
		o.has("p", "patch", "i", "interactive", "e", "edit", "pathspec-from-file")
	if !namesFiles || w.git.index || o.has("n", "dry-run", "N", "intent-to-add", "refresh") {
		return
	}

	w.sweepFiles(w.resolvePathspecs(o, o.rest), o.has("u", "update", "renormalize"))
}

func (w *walker) gitCommit(args []word) {
	o := parseOptions(args, "m:F:C:c:t:u::S::", "message", "file", "reuse-message", "reedit-message", "template",
		"author", "date", "fixup", "squash", "trailer", "cleanup", "pathspec-from-file")
	namesFiles := len(o.rest) > 0 || o.has("a", "all", "p", "patch", "interactive", "pathspec-from-file")
	if !namesFiles || w.git.index || o.has("dry-run") {
		// What is staged already is committed: git's own hook sees that.
		return
	}

	w.sweepFiles(w.resolvePathspecs(o, o.rest), true)
}

// isBranch reports whether a word names a branch of the repository around the directory.
func (w *walker) isBranch(x word) bool {
	if !x.ok || !w.dirKnown || x.text == "" || !filepath.IsLocal(filepath.FromSlash(x.text)) {
		return false
	}

	at, ok := workspace.FindCheckout(w.dir, workspace.Env{})
	if !ok {
		return false
	}

	loose := filepath.Join(at.Common, "refs", "heads", filepath.FromSlash(x.text))
	if info, err := os.Stat(loose); err == nil && info.Mode().IsRegular() {
		return true
	}

	packed, err := readSome(filepath.Join(at.Common, "packed-refs"))
	return err == nil && strings.Contains(packed, " refs/heads/"+x.text+"\n")
}

// maxRead is how many bytes of a file of git's are read: of a list of refs, many thousands.
const maxRead = 1 << 20

// readSome reads the beginning of a file.
func readSome(path string) (string, error) {
	// To open a named pipe would wait for somebody who writes to it.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", fs.ErrNotExist
	}

	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()

	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	return string(b), err
}
