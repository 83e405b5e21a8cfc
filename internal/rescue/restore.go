package rescue

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/rescue/workfile"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// RestoreRequest says what to bring back.
type RestoreRequest struct {
	ID    string
	Paths []string           // relative to the top level, with / between names; directories with all below. None means all
	Tree  workspace.Checkout // where to; zero for the checkout of the rescue
}

// Restored is the outcome of [Store.Restore].
type Restored struct {
	Restored []string           `json:"restored"` // files that were written, or removed because they had been deleted
	Same     []string           `json:"same"`     // files that are as they were already
	Index    []string           `json:"index"`    // paths whose index entries were restored
	Beside   []Beside           `json:"beside"`   // files that have changed since and stay: the rescued ones lie beside them
	Failed   []Unrestored       `json:"failed"`   // paths that stay as they are
	Exact    bool               `json:"exact"`    // all chosen paths are as they were, in the tree and in the index
	LeftOut  []manifest.LeftOut `json:"left_out"` // what the rescue lacks
}

// Beside is a rescued file that lies beside its path.
type Beside struct {
	Path string `json:"path"` // the one that has changed
	At   string `json:"at"`   // the rescued file
}

// Unrestored is a path that couldn't be restored.
type Unrestored struct {
	Path string      `json:"path"` // the path
	Why  stick.Words `json:"why"`  // the reason
}

// Restore brings the files of a rescue back, and on the commit on which it was taken deletions and the index,
// too. It never destroys anything. It replaces a file only where that is the committed one, or one that the
// rescue has: else the rescued file is put beside, as <path>.rescued-<id>. Restore can be called again, also
// after it was interrupted.
//
// It follows no link inside of the tree, and starts no program but git. It fails with [stick.CodeNotFound] if
// there is no such rescue, path in it, or checkout. What fails for one path is in [Restored.Failed].
func (s *Store) Restore(ctx context.Context, r RestoreRequest) (Restored, error) {
	l, entries, err := s.loadChosen(ctx, r.ID, r.Paths)
	if err != nil {
		return Restored{}, err
	}

	if r.Tree.Top == "" {
		if r.Tree, err = checkoutOf(l.manifest); err != nil {
			return Restored{}, err
		}
	}

	w := &restorer{
		store: s, loaded: l,
		result: Restored{
			Restored: []string{}, Same: []string{}, Index: []string{}, Beside: []Beside{}, Failed: []Unrestored{},
			LeftOut: l.manifest.LeftOut,
		},
	}

	if w.now, err = s.readCurrentTree(ctx, r.Tree, l.state.Head); err != nil {
		return Restored{}, err
	}
	if w.data, err = l.readBlobs(ctx, manifest.BlobsOf(entries)); err != nil {
		return Restored{}, err
	}

	if w.tree, err = workfile.Open(r.Tree.Top); err != nil {
		return Restored{}, err
	}
	defer w.tree.Close()
	w.tree.Kill = s.Kill

	w.restoreFiles(ctx, entries)

	// On another commit, the entries of the rescue would stage changes that nobody made.
	if w.now.exact {
		w.restoreIndex(ctx, entries)
	}

	w.result.Exact = w.now.exact && len(w.result.Beside) == 0 && len(w.result.Failed) == 0
	return w.result, ctx.Err()
}

// loadChosen loads a rescue and the entries for paths.
func (s *Store) loadChosen(ctx context.Context, id string, paths []string) (*loadedRescue, []manifest.Entry, error) {
	paths, err := cleanPaths(paths)
	if err != nil {
		return nil, nil, err
	}

	l, err := s.loadRescue(ctx, id)
	if err != nil {
		return nil, nil, err
	}

	for _, p := range paths {
		if !slices.ContainsFunc(l.state.Entries, func(e manifest.Entry) bool { return isWithin(string(e.Path), []string{p}) }) {
			return nil, nil, errNoPath(id, p)
		}
	}

	entries := slices.DeleteFunc(slices.Clone(l.state.Entries), func(e manifest.Entry) bool {
		return !isWithin(string(e.Path), paths)
	})
	return l, entries, nil
}

// checkoutOf finds the checkout of which a rescue is. Where its repository is gone, only its directory
// counts, which is made if it is gone too.
func checkoutOf(m manifest.Manifest) (workspace.Checkout, error) {
	if err := os.MkdirAll(m.Top, 0o777); err != nil {
		return workspace.Checkout{}, errNoCheckout(m, err)
	}

	real, err := filepath.EvalSymlinks(m.Top)
	if err != nil || real != m.Top {
		return workspace.Checkout{}, errNoCheckout(m, err)
	}

	if tree, ok := workspace.FindCheckout(m.Top, workspace.Env{}); ok && tree.Top == m.Top {
		return tree, nil
	}
	return workspace.Checkout{Top: m.Top}, nil
}

func errNoCheckout(m manifest.Manifest, err error) error {
	e := stick.Errorf(stick.CodeNotFound, "the checkout %s of rescue %s isn't there, or is behind a link", m.Top, m.ID).With("path", m.Top)
	e.Err = err
	return e
}

// restorer does one restore.
type restorer struct {
	store  *Store
	loaded *loadedRescue
	now    *currentTree
	data   map[string][]byte // of blobs
	tree   *workfile.Folders
	result Restored
}

func (w *restorer) addFailed(e manifest.Entry, format string, args ...any) {
	w.result.Failed = append(w.result.Failed, Unrestored{string(e.Path), stick.Wordsf(format, args...)})
}

// restoreFiles restores the files of the working tree. Deletions come first: a directory may have been in the
// place of a file, or the other way round.
func (w *restorer) restoreFiles(ctx context.Context, entries []manifest.Entry) {
	for _, e := range slices.Backward(entries) {
		if e.Work == nil && !e.LeftOut && ctx.Err() == nil {
			w.restoreDeletion(ctx, e)
		}
	}

	// Deletions may have taken directories with them.
	w.tree.CloseBelowTop()
	for _, e := range entries {
		if e.Work != nil && ctx.Err() == nil {
			w.restoreFile(ctx, e)
			w.store.kill("restored a file")
		}
	}
}

// restoreDeletion removes the file of an entry that had been deleted, if it is the committed one.
func (w *restorer) restoreDeletion(ctx context.Context, e manifest.Entry) {
	path := string(e.Path)
	if w.refuseOutside(e) || e.IsSubmodule() {
		return
	}

	c, err := w.tree.ReadContent(ctx, path, math.MaxInt64-1)
	switch {
	case isAbsent(err) || errors.Is(err, workfile.ErrSpecial):
		// Something else may have been in its place then, too: a directory, for one.
		w.result.Same = append(w.result.Same, path)
	case err != nil:
		w.addFailed(e, "%v", err)
	case !w.now.exact:
		w.addFailed(e, "it was deleted, and HEAD is another commit now: the file is kept")
	case !w.isReplaceable(e, c):
		w.addFailed(e, "it was deleted, and has changed since: the file is kept")
	default:
		if err := w.tree.RemoveFile(path, c); err != nil {
			w.addFailed(e, "%v", err)
			return
		}
		w.result.Restored = append(w.result.Restored, path)
	}
}

// isAbsent reports whether there is nothing at a path, by the error of reading it.
func isAbsent(err error) bool {
	blocked := (*workfile.BlockedError)(nil)
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &blocked)
}

// refuseOutside reports, and notes, whether the path of an entry leads out of the tree.
func (w *restorer) refuseOutside(e manifest.Entry) bool {
	if isLocalPath(string(e.Path)) {
		return false
	}
	w.addFailed(e, "it isn't a path inside of the checkout")
	return true
}

// restoreFile restores the file of an entry.
func (w *restorer) restoreFile(ctx context.Context, e manifest.Entry) {
	path := string(e.Path)
	if w.refuseOutside(e) {
		return
	}

	want := workfile.Content{Mode: e.Work.Mode, Perm: e.Work.Perm, Data: w.data[e.Work.Blob]}

	now, err := w.tree.ReadContent(ctx, path, math.MaxInt64-1)
	switch {
	case err == nil && workfile.IsSameContent(now, want):
		w.result.Same = append(w.result.Same, path)
		return
	case err == nil && !w.isReplaceable(e, now):
		w.putBeside(ctx, e, want)
		return
	case err == nil:
		err = w.tree.ReplaceFile(path, w.tempName(), want, now.Info)
	case errors.Is(err, fs.ErrNotExist):
		err = w.tree.CreateFile(path, w.tempName(), want)
	case errors.Is(err, workfile.ErrSpecial) && w.tree.RemoveEmpty(path):
		err = w.tree.CreateFile(path, w.tempName(), want)
	}

	// Somebody has been faster, or something is in the way: the file goes beside that.
	blocked := (*workfile.BlockedError)(nil)
	switch {
	case err == nil:
		w.result.Restored = append(w.result.Restored, path)
	case errors.As(err, &blocked), errors.Is(err, workfile.ErrSpecial), errors.Is(err, workfile.ErrTorn), errors.Is(err, fs.ErrExist):
		w.putBeside(ctx, e, want)
	default:
		w.addFailed(e, "%v", err)
	}
}

// tempName is the name of files that are being written. A restore that is run again finds what an interrupted
// one has left.
func (w *restorer) tempName() string { return ".tt-rescue-" + w.loaded.manifest.ID }

// putBeside puts the file of an entry beside its path.
func (w *restorer) putBeside(ctx context.Context, e manifest.Entry, want workfile.Content) {
	at, err := w.tree.PutBeside(ctx, string(e.Path), ".rescued-"+w.loaded.manifest.ID, w.tempName(), want)
	if err != nil {
		w.addFailed(e, "it has changed, and the rescued file can't be put beside it: %v", err)
		return
	}
	w.result.Beside = append(w.result.Beside, Beside{string(e.Path), at})
}

// isReplaceable reports whether nothing is lost when the file of an entry, as it is now, is replaced: it is
// the committed one, which was committed when the rescue was taken, too, or one of those that the rescue has
// from the index.
func (w *restorer) isReplaceable(e manifest.Entry, now workfile.Content) bool {
	path := string(e.Path)
	head, committed := w.now.committed[path]
	if !w.now.exact && !e.HasHead(head, committed) {
		return false
	}

	if w.now.isClean(path) {
		return true // as git says, with its conversions
	}

	known := slices.Clone(e.Index)
	if committed {
		known = append(known, head)
	}

	return slices.ContainsFunc(known, func(v manifest.Version) bool {
		return !v.IsSubmodule() && v.OID == pack.ObjectName(pack.NewHash(v.OID), "blob", now.Data)
	})
}
