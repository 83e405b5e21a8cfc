package rescue

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/rescue/workfile"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// ErrChanged says that a path isn't as it was looked at before.
var ErrChanged = errors.New("it has changed meanwhile")

// UndoRequest says which changes are to be taken back: those between two snapshots of a checkout.
type UndoRequest struct {
	Tree          workspace.Checkout
	Before, After string
	Paths         []string // relative to the top level, with / between names; directories with all below. None means all
}

// UndoFile is a path that differs between the two snapshots, and how it lies in the checkout now. Alone isn't
// set.
type UndoFile struct {
	PathChange
	edits.UndoneFile

	Nested bool // nothing is known of it here: its repository inside the checkout is gone, or its HEAD has moved

	inner *innerFile // it lies in a repository inside the checkout, and can be taken back there
}

// innerFile is a path in a repository inside a checkout.
type innerFile struct {
	in   *innerUndo
	file UndoFile // relative to that repository
}

// innerUndo is an [Undo] in a repository inside a checkout.
type innerUndo struct {
	path string // of the repository, relative to the top level of the checkout
	*Undo
}

// Undo takes back what has changed between two snapshots of a checkout, path by path. Close ends it.
type Undo struct {
	Before, After manifest.Manifest // of the snapshots
	Files         []UndoFile        // sorted by path

	store   *Store
	request UndoRequest
	before  *loadedRescue
	held    map[string]manifest.Entry   // what the first snapshot has, by path
	then    map[string]workfile.Content // files that the first snapshot has as in its commit
	tree    *workfile.Folders
	commits *commitFiles
	inner   []*innerUndo // in repositories inside
}

// Undo compares two snapshots with what lies in their checkout. It changes nothing. It fails as
// [Store.Changes] does, and with [stick.CodeNotFound] for a path in which they don't differ.
func (s *Store) Undo(ctx context.Context, r UndoRequest) (*Undo, error) {
	paths, err := cleanPaths(r.Paths)
	if err != nil {
		return nil, err
	}
	changes, err := s.Changes(ctx, r.Before, r.After)
	if err != nil {
		return nil, err
	}

	for _, p := range paths {
		if !slices.ContainsFunc(changes, func(c PathChange) bool { return isWithin(c.Path, []string{p}) }) {
			return nil, stick.Errorf(stick.CodeNotFound, "%s hasn't changed then", p).With("path", p)
		}
	}

	changes = slices.DeleteFunc(changes, func(c PathChange) bool { return !isWithin(c.Path, paths) })

	u := &Undo{store: s, request: r, held: map[string]manifest.Entry{}}
	if u.before, err = s.loadRescue(ctx, r.Before); err != nil {
		return nil, err
	}
	after, err := s.loadRescue(ctx, r.After)
	if err != nil {
		return nil, err
	}

	u.Before, u.After = u.before.manifest, after.manifest
	for _, e := range u.before.state.Entries {
		u.held[string(e.Path)] = e
	}

	if err := u.compareFiles(ctx, changes); err != nil {
		return nil, err
	}
	return u, u.openInnerUndos(ctx)
}

// HasChanged reports whether two snapshots differ in one of the paths, or in something below it. It is false if
// one of them was never made. It fails as [Store.Changes] does.
func (s *Store) HasChanged(ctx context.Context, before, after string, paths []string) (bool, error) {
	if before == "" || after == "" {
		return false, nil
	}
	paths, err := cleanPaths(paths)
	if err != nil {
		return false, err
	}

	changes, err := s.Changes(ctx, before, after)
	return slices.ContainsFunc(changes, func(c PathChange) bool { return isWithin(c.Path, paths) }), err
}

// Close closes the directories that are open.
func (u *Undo) Close() {
	if u.tree != nil {
		u.tree.Close()
	}
	for _, in := range u.inner {
		in.Close()
	}
}

// openInnerUndos has files in repositories inside the checkout be taken back there, where these are as the
// change left them.
func (u *Undo) openInnerUndos(ctx context.Context) error {
	for _, n := range u.After.Nested {
		i := slices.IndexFunc(u.Before.Nested, func(was manifest.Nested) bool { return was.Path == n.Path })
		hasFiles := slices.ContainsFunc(u.Files, func(f UndoFile) bool {
			return f.Nested && isWithin(f.Path, []string{n.Path})
		})
		if i < 0 || !hasFiles {
			continue
		}

		in, err := u.openInner(ctx, n, u.Before.Nested[i].ID)
		if err != nil {
			return err
		}
		if in != nil {
			u.inner = append(u.inner, in)
			u.useInnerFiles(in)
		}
	}

	return ctx.Err()
}

// openInner looks at a repository inside. It returns nil if that is gone, or if its HEAD has moved: its files
// are those of another commit then.
func (u *Undo) openInner(ctx context.Context, n manifest.Nested, before string) (*innerUndo, error) {
	top := filepath.Join(u.request.Tree.Top, filepath.FromSlash(n.Path))
	tree, ok := workspace.FindCheckout(top, workspace.Env{})
	if !ok || tree.Top != top {
		return nil, nil
	}

	inner, err := u.store.Undo(ctx, UndoRequest{Tree: tree, Before: before, After: n.ID})
	switch {
	case stick.CodeOf(err) == stick.CodeNotFound:
		// The snapshots of the repository are past their time.
		return nil, nil
	case err != nil:
		return nil, err
	case inner.Before.Head != inner.After.Head || inner.Before.Branch != inner.After.Branch:
		inner.Close()
		return nil, nil
	}
	return &innerUndo{n.Path, inner}, nil
}

// useInnerFiles replaces files of which nothing is known here by those that a repository inside knows. It may
// lie in another one that does, too.
func (u *Undo) useInnerFiles(in *innerUndo) {
	for i, f := range u.Files {
		rel, ok := strings.CutPrefix(f.Path, in.path+"/")
		at := slices.IndexFunc(in.Files, func(x UndoFile) bool { return x.Path == rel })
		if !ok || !f.Nested || at < 0 || in.Files[at].Nested {
			continue
		}

		known := in.Files[at]
		u.Files[i] = UndoFile{PathChange: known.PathChange, UndoneFile: known.UndoneFile, inner: &innerFile{in, known}}
		u.Files[i].Path = f.Path
	}
}

// Place returns in which checkout a path lies, by its top level, and the path relative to that.
func (u *Undo) Place(path string) (top, rel string) {
	// The innermost repository comes last.
	for _, in := range slices.Backward(u.inner) {
		if rel, ok := strings.CutPrefix(path, in.path+"/"); ok {
			return in.Place(rel)
		}
	}
	return u.request.Tree.Top, path
}

// compareFiles finds how each path was before, was after, and is now.
func (u *Undo) compareFiles(ctx context.Context, changes []PathChange) (err error) {
	if u.tree, err = workfile.Open(u.request.Tree.Top); err != nil {
		return errNoCheckout(u.Before, err)
	}

	u.tree.Kill = u.store.Kill
	if u.commits, err = u.store.commitFiles(ctx, u.request.Tree); err != nil {
		u.Close()
		return err
	}

	var old, now []PathChange
	for _, c := range changes {
		if isNested(c.Path, u.Before.Nested) || isNested(c.Path, u.After.Nested) {
			continue
		}
		if c.Old.Commit != "" {
			old = append(old, c)
		}
		if c.New.Commit != "" {
			now = append(now, c)
		}
	}

	u.then = u.commits.readFiles(ctx, u.Before.Head, pathsOf(old))
	later := u.commits.readFiles(ctx, u.After.Head, pathsOf(now))

	for _, c := range changes {
		f := UndoFile{PathChange: c, Nested: isNested(c.Path, u.Before.Nested) || isNested(c.Path, u.After.Nested)}

		if !f.Nested {
			f.Was, f.Left = versionOf(c.Path, c.Old, u.then), versionOf(c.Path, c.New, later)
			f.Is = u.currentVersion(ctx, c.Path)
			f.Was.Unknown = f.Was.Unknown || c.Kind == ChangeKept
		}
		u.Files = append(u.Files, f)
	}

	return ctx.Err()
}

func pathsOf(changes []PathChange) (paths []string) {
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// isNested reports whether a path lies in one of these repositories.
func isNested(path string, in []manifest.Nested) bool {
	return slices.ContainsFunc(in, func(n manifest.Nested) bool { return isWithin(path, []string{n.Path}) })
}

// unknownFile stands for a file of which nobody can tell how it was.
var unknownFile = edits.FileVersion{Unknown: true}

// versionOf returns how a path was. committed are the files of the commit.
func versionOf(path string, s Side, committed map[string]workfile.Content) edits.FileVersion {
	switch {
	case s.LeftOut:
		return unknownFile
	case s.Blob != "":
		return edits.FileVersion{Mode: s.Mode, Sum: s.Blob}
	case s.Commit == "":
		return edits.FileVersion{}
	}

	c, ok := committed[path]
	switch {
	case !ok:
		return edits.FileVersion{}
	case c.Mode == "":
		return unknownFile
	}
	return fileVersionOf(c)
}

// fileVersionOf names the bytes as rescues do.
func fileVersionOf(c workfile.Content) edits.FileVersion {
	return edits.FileVersion{Mode: c.Mode, Sum: pack.ObjectName(pack.NewHash(""), "blob", c.Data)}
}

// currentVersion returns how a path lies in the checkout. A directory is no file.
func (u *Undo) currentVersion(ctx context.Context, path string) edits.FileVersion {
	if !isLocalPath(path) {
		return unknownFile
	}

	c, err := u.tree.ReadContent(ctx, path, math.MaxInt64-1)
	switch {
	case err == nil:
		return fileVersionOf(c)
	case isAbsent(err) || errors.Is(err, workfile.ErrSpecial) && u.isFolder(path):
		return edits.FileVersion{}
	}
	return unknownFile
}

func (u *Undo) isFolder(path string) bool {
	info, err := u.tree.Lstat(path)
	return err == nil && info.IsDir()
}

// Restore gives a path its state from before, and removes it if there was no file. It fails with [ErrChanged]
// if the path isn't as it was looked at.
func (u *Undo) Restore(ctx context.Context, f UndoFile) error {
	if f.inner != nil {
		return f.inner.in.Restore(ctx, f.inner.file)
	}
	if f.Nested || f.Was.Unknown || f.Is.Unknown || !isLocalPath(f.Path) {
		return ErrChanged
	}

	// Directories that are open since the comparison may be others' by now.
	u.tree.CloseBelowTop()
	if !f.Was.Exists() {
		return asChanged(u.removeFile(ctx, f))
	}

	want, err := u.contentBefore(ctx, f)
	if err != nil {
		return err
	}

	now, err := u.tree.ReadContent(ctx, f.Path, math.MaxInt64-1)
	switch {
	case err == nil && fileVersionOf(now) != f.Is, err != nil && f.Is.Exists():
		return ErrChanged
	case err == nil:
		err = u.tree.ReplaceFile(f.Path, u.tempName(), want, now.Info)
	case isAbsent(err) || errors.Is(err, workfile.ErrSpecial) && u.tree.RemoveEmpty(f.Path):
		err = u.tree.CreateFile(f.Path, u.tempName(), want)
	}

	return asChanged(err)
}

// removeFile removes the file of a path, and the directories that are empty then.
func (u *Undo) removeFile(ctx context.Context, f UndoFile) error {
	defer u.tree.CloseBelowTop()
	now, err := u.tree.ReadContent(ctx, f.Path, math.MaxInt64-1)
	switch {
	case err != nil:
		return err
	case fileVersionOf(now) != f.Is:
		return ErrChanged
	}

	return u.tree.RemoveFile(f.Path, now)
}

// asChanged makes an error of the tree [ErrChanged], if it says that something else lies there now.
func asChanged(err error) error {
	isOther := errors.Is(err, workfile.ErrSpecial) || errors.Is(err, workfile.ErrTorn) || errors.Is(err, fs.ErrExist)
	if isAbsent(err) || isOther {
		return ErrChanged
	}
	return err
}

// PutBeside puts the state of a path from before beside it, under its name with a suffix, and returns where
// that is. There must have been a file.
func (u *Undo) PutBeside(ctx context.Context, f UndoFile, suffix string) (at string, err error) {
	if f.inner != nil {
		at, err = f.inner.in.PutBeside(ctx, f.inner.file, suffix)
		return f.inner.in.path + "/" + at, err
	}
	if f.Nested || !f.Was.Exists() || !isLocalPath(f.Path) {
		return "", ErrChanged
	}

	want, err := u.contentBefore(ctx, f)
	if err != nil {
		return "", err
	}

	u.tree.CloseBelowTop()
	return u.tree.PutBeside(ctx, f.Path, suffix, u.tempName(), want)
}

// contentBefore returns the file of a path as it was before.
func (u *Undo) contentBefore(ctx context.Context, f UndoFile) (workfile.Content, error) {
	if c, ok := u.then[f.Path]; ok && f.Old.Commit != "" {
		return c, nil
	}

	data, err := u.before.readBlobs(ctx, []string{f.Old.Blob})
	if err != nil {
		return workfile.Content{}, err
	}

	c := workfile.Content{Mode: f.Old.Mode, Data: data[f.Old.Blob]}
	if w := u.held[f.Path].Work; w != nil {
		c.Perm = w.Perm
	}
	return c, nil
}

// tempName is the name of files that are being written.
func (u *Undo) tempName() string { return ".tt-undo-" + u.request.Before }

// HeadMove says how HEAD has moved between the snapshots. It is zero if HEAD is elsewhere by now, since that
// is somebody else's move.
func (u *Undo) HeadMove(ctx context.Context) (m edits.HeadMove, err error) {
	if u.Before.Head == u.After.Head && u.Before.Branch == u.After.Branch {
		return m, nil
	}

	answer := runStatus(ctx, u.commits.git, []string{"-uall"}, nil)
	if answer.err != nil {
		return m, answer.err
	}

	v := &survey{entries: map[string]*manifest.Entry{}}

	// Somebody else may have moved HEAD since.
	if err := v.parseStatus(answer.said); err != nil || v.head != u.After.Head || v.branch != u.After.Branch {
		return m, err
	}

	m = edits.HeadMove{From: u.Before.Head, To: u.After.Head, FromBranch: u.Before.Branch, ToBranch: u.After.Branch}
	if m.From == "" || m.From == m.To {
		return m, nil
	}

	if m.Differ, err = u.commits.listDiffering(ctx, m.From, m.To); err != nil {
		return edits.HeadMove{}, err
	}

	// What was uncommitted before, or is now, would be in the way.
	for _, p := range m.Differ {
		if _, held := u.held[p]; held || v.entries[p] != nil || slices.Contains(v.untracked, p) {
			m.Held = append(m.Held, p)
		}
	}

	return m, nil
}
