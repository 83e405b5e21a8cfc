package shell

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/workspace"
)

// dropsBranch notes that a branch is deleted or set to another commit.
func (w *walker) dropsBranch(names ...word) {
	var refs []string
	for _, name := range names {
		if !name.ok || name.some {
			w.drops(Commits) // nobody can tell which
			continue
		}
		refs = append(refs, "refs/heads/"+name.text)
	}
	if len(refs) > 0 {
		w.drops(Commits, refs...)
	}
}

func (w *walker) gitBranch(args []word) {
	o := parse(args, "u:", "set-upstream-to")
	forced := o.has("f", "force")
	switch rest := o.rest; {
	case o.has("m", "M", "move"):
		// A rename with one name is that of the checked-out branch.
		if len(rest) < 2 {
			w.changeTree()
		}
		if forced || o.has("M") {
			w.dropsBranch(rest...)
		}
	case o.has("C") || forced && o.has("c", "copy"):
		w.dropsBranch(rest[max(0, len(rest)-1):]...)
	case o.has("D") || forced && o.has("d", "delete"):
		if !o.has("r", "remotes") {
			w.dropsBranch(rest...)
			return
		}
		for _, name := range rest {
			if name.ok {
				w.drops(Commits, "refs/remotes/"+name.text)
			}
		}
	case forced && len(rest) > 0:
		w.dropsBranch(rest[0])
	}
}

func (w *walker) gitUpdateRef(args []word) {
	o := parse(args, "m:")
	switch {
	case o.has("stdin"):
		w.drops(Commits)
	case len(o.rest) > 0 && o.rest[0].ok:
		w.drops(Commits, o.rest[0].text)
	}
}

// gitFetch is git fetch. It sets branches of this repository to other commits if it is told to with force.
func (w *walker) gitFetch(args []word) {
	o := parse(args, "j:o:", "depth", "upload-pack", "shallow-since", "shallow-exclude", "deepen", "refmap", "server-option", "jobs", "negotiation-tip")
	for _, x := range o.rest[min(1, len(o.rest)):] {
		spec, plus := strings.CutPrefix(x.text, "+")
		_, to, has := strings.Cut(spec, ":")
		switch {
		case !has || !x.ok || to == "" || !plus && !o.has("f", "force") || strings.HasPrefix(to, "refs/remotes/"):
		case strings.HasPrefix(to, "refs/"):
			w.drops(Commits, to)
		default:
			w.drops(Commits, "refs/heads/"+to)
		}
	}
}

func (w *walker) gitReflog(args []word) {
	if len(args) > 0 && (args[0] == literal("expire") || args[0] == literal("delete")) && !contains(args, "-n") && !contains(args, "--dry-run") {
		w.drops(Commits)
	}
}

func (w *walker) gitGC(args []word) {
	if at, ok := parse(args, "").value("prune"); ok && (at.text == "now" || at.text == "all") {
		w.drops(Commits)
	}
}

func (w *walker) gitPrune(args []word) {
	if !parse(args, "", "expire").has("n", "dry-run") {
		w.drops(Commits)
	}
}

// sweeps notes that files go into the index or a commit as they are, and that what was staged of them goes.
func (w *walker) sweeps(f files, tracked bool) {
	n := len(w.changes.Acts)
	w.fileAct(Sweeps, Partly, f)
	for i := range w.changes.Acts[n:] {
		w.changes.Acts[n+i].Tracked = tracked
	}
}

func (w *walker) gitAdd(args []word) {
	o := parse(args, "", "chmod", "pathspec-from-file")
	whole := o.has("A", "all", "u", "update", "renormalize")
	if w.git.index || o.has("n", "dry-run", "N", "intent-to-add", "refresh") || len(o.rest) == 0 && !whole && !o.has("p", "patch", "i", "interactive", "e", "edit", "pathspec-from-file") {
		return
	}
	w.sweeps(w.pathspecs(o, o.rest), o.has("u", "update", "renormalize"))
}

func (w *walker) gitCommit(args []word) {
	o := parse(args, "m:F:C:c:t:u::S::", "message", "file", "reuse-message", "reedit-message", "template", "author", "date", "fixup", "squash", "trailer", "cleanup", "pathspec-from-file")
	if w.git.index || o.has("dry-run") || len(o.rest) == 0 && !o.has("a", "all", "p", "patch", "interactive", "pathspec-from-file") {
		return // what is staged already: git's own hook sees that
	}
	w.sweeps(w.pathspecs(o, o.rest), true)
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
	if info, err := os.Stat(filepath.Join(at.Common, "refs", "heads", filepath.FromSlash(x.text))); err == nil && info.Mode().IsRegular() {
		return true
	}
	packed, err := readSome(filepath.Join(at.Common, "packed-refs"))
	return err == nil && strings.Contains(packed, " refs/heads/"+x.text+"\n")
}

// maxRead is how many bytes of a file of git's are read: of a list of refs, many thousands.
const maxRead = 1 << 20

// readSome reads the beginning of a file.
func readSome(path string) (string, error) {
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
