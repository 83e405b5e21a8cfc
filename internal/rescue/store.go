package rescue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"talkingstick/internal/git"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// rootFolder is the directory in which all bare repositories lie. It may not exist.
type rootFolder struct {
	path string
	git  git.Client
	// passed is called at named points, for tests that end the process there. It may be nil.
	passed func(point string)
}

// bareRepository is the bare repository that holds the rescues of one repository of the user. Everything in it is
// written first under a name that nobody reads, and then gets its own: the pack, its index, and last the ref.
// So two rescues at the same time don't meet, and what is seen is whole.
type bareRepository struct {
	root rootFolder
	path string
}

// kill says that a point was passed.
func (r *bareRepository) kill(point string) {
	if r.root.passed != nil {
		r.root.passed(point)
	}
}

const (
	rootName   = "rescue" // of the directory in the data directory
	refsName   = "refs/rescues"
	packsName  = "objects/pack"
	packPrefix = "pack-"
	tempPrefix = "tmp-" // of files that are being written
	newPrefix  = "new-" // of repositories that are being made
	lockSuffix = ".lock"

	packSuffix    = ".pack"
	indexSuffix   = ".idx"
	keepSuffix    = ".keep" // of the mark beside a pack
	replaceSuffix = ".new"  // of what is about to replace a pack and its index

	prunedName  = "pruned"      // the file whose time says when snapshots were removed last
	pruningName = "pruning"     // the file whose time says when a process for that was started last
	makingLock  = "making.lock" // shared by who makes a snapshot of earlier packs, exclusive for who removes some

	entriesName = "entries" // in the tree of a rescue
)

// form is one of the two forms of rescues. Programs before snapshots know only the first, and leave the other
// alone.
type form struct {
	refs, prefix string // the directory of its refs, and how the names of its packs begin
	lean         bool
}

var (
	// wholeForm rescues have all their bytes in one pack, which the disk has when they are made, and their
	// entries in one file.
	wholeForm = form{refs: refsName, prefix: packPrefix}

	// leanForm ones are snapshots. They need packs of earlier ones, and have their entries in several files,
	// of which most are as before.
	leanForm = form{refs: "refs/snapshots", prefix: "snap-", lean: true}

	forms = []form{wholeForm, leanForm}
)

// stageFolders are the directories of staged files in the tree of a rescue, by stage.
var stageFolders = []string{"index", "stage1", "stage2", "stage3"}

// bareConfig makes a bare repository in which git by itself, and by an order to clean up, leaves everything
// as it is.
const bareConfig = `[core]
	repositoryformatversion = 0
	bare = true
	logAllRefUpdates = false
[gc]
	auto = 0
	packRefs = false
	bigPackThreshold = 1
	pruneExpire = never
[maintenance]
	auto = false
`

// repositoryOf returns the one for the user's repository with a common git directory. It may not exist.
func (d rootFolder) repositoryOf(common string) *bareRepository {
	return &bareRepository{d, filepath.Join(d.path, shortSum(common, 16)+".git")}
}

// checkoutName names a checkout among those of its repository.
func checkoutName(tree workspace.Checkout) string { return shortSum(tree.Git, 6) }

func shortSum(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:n])
}

func (r *bareRepository) pathTo(name string) string {
	return filepath.Join(r.path, filepath.FromSlash(name))
}

func (r *bareRepository) ownGit() git.Isolated { return r.root.git.IsolateOwn(r.path) }

// prepareRepository returns the repository for the user's repository with a common git directory, and makes
// it if it doesn't exist.
func (d rootFolder) prepareRepository(ctx context.Context, common string) (*bareRepository, error) {
	if err := plainfile.MkdirAll(d.path); err != nil {
		return nil, unwritable(d.path, err)
	}
	if err := checkFolder(d.path); err != nil {
		return nil, err
	}

	r := d.repositoryOf(common)
	if _, err := os.Lstat(r.path); errors.Is(err, fs.ErrNotExist) {
		if err := r.makeRepository(ctx, common); err != nil {
			return nil, unwritable(r.path, err)
		}
	}

	return r, r.checkFolders()
}

// checkFolders fails if the repository isn't made of directories of its own: a link would lead what is
// written elsewhere.
func (r *bareRepository) checkFolders() error {
	for _, name := range []string{"", "objects", packsName, "refs", refsName} {
		if err := checkFolder(r.pathTo(name)); err != nil {
			return err
		}
	}
	return nil
}

// checkFolder fails with [stick.CodeDataDirNotWritable] if there is no directory at path, or a link to one.
func checkFolder(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return unwritable(path, err)
	}
	if !info.IsDir() {
		return stick.Errorf(stick.CodeDataDirNotWritable, "%s isn't a directory", path).With("path", path).
			Hintf("move it aside, then run the same command again")
	}
	return nil
}

// unwritable makes the error for something of the data directory that can't be written, if that is what err
// says.
func unwritable(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errReadOnly) {
		return fmt.Errorf("write a rescue: %w", err)
	}
	e := stick.Errorf(stick.CodeDataDirNotWritable, "the rescue can't be written to %s", path).With("path", path).
		Hintf("make that directory writable, then run the same command again")
	e.Err = err
	return e
}

// makeRepository makes the repository under another name, and then gives it its own.
func (r *bareRepository) makeRepository(ctx context.Context, common string) error {
	temp, err := os.MkdirTemp(r.root.path, newPrefix)
	if err != nil {
		return err
	}

	// This removes nothing once the directory has its name.
	defer os.RemoveAll(temp)
	if err := plainfile.InheritPath(temp); err != nil {
		return err
	}

	for _, dir := range []string{packsName, "objects/info", "refs/heads", refsName} {
		if err := plainfile.MkdirAll(filepath.Join(temp, filepath.FromSlash(dir))); err != nil {
			return err
		}
	}

	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": bareConfig,
		"description": "tt: uncommitted work rescued from " + common + "\n",
	} {
		f, err := plainfile.Open(filepath.Join(temp, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		if err = errors.Join(err, syncFile(ctx, f), f.Close()); err != nil {
			return err
		}
	}

	// Somebody else may make it at the same moment: the first one stays.
	r.kill("repository")
	err = os.Rename(temp, r.path)
	if _, lerr := os.Lstat(r.pathTo("HEAD")); lerr == nil {
		return nil
	}
	return err
}

// rescueWriter writes one rescue.
type rescueWriter struct {
	repo *bareRepository
	form form
	pack *pack
	done bool // the pack has its name
}

// beginWriting begins a rescue. Nothing is made before its first object is added.
func (r *bareRepository) beginWriting(f form) *rescueWriter {
	return &rescueWriter{repo: r, form: f, pack: newPack(f.lean, func() (*os.File, error) {
		file, err := plainfile.Temp(r.pathTo(packsName), tempPrefix)
		if err != nil {
			return nil, unwritable(r.pathTo(packsName), err)
		}
		return file, nil
	})}
}

// abandon removes what was written, unless the rescue is complete.
func (w *rescueWriter) abandon() {
	if w.pack.file != nil && !w.done {
		w.pack.file.Close()
		os.Remove(w.pack.file.Name())
	}
}

// completeRescue writes the commit of a tree that the pack has, and makes the rescue visible. If ctx ends, it
// doesn't wait any longer until the disk has everything; every process sees it all the same.
func (w *rescueWriter) completeRescue(ctx context.Context, checkout, tree string, m Manifest) (id string, err error) {
	refs := w.repo.pathTo(w.form.refs + "/" + checkout)
	if err := plainfile.MkdirAll(refs); err != nil {
		return "", unwritable(refs, err)
	}
	if err := checkFolder(refs); err != nil {
		return "", err
	}

	id, lock, err := w.claimID(checkout, m.At, tree)
	if err != nil {
		return "", unwritable(refs, err)
	}
	defer lock.Close()
	w.repo.kill("claimed")

	m.ID = id
	if err := w.writeFiles(ctx, lock, tree, m); err != nil {
		os.Remove(lock.Name())
		return "", fmt.Errorf("write a rescue: %w", err)
	}

	// The ref makes the rescue visible, so it comes last.
	if err := os.Rename(lock.Name(), filepath.Join(refs, id)); err != nil {
		return "", fmt.Errorf("write a rescue: %w", err)
	}

	w.repo.kill("ref")
	w.syncFolder(ctx, refs)
	return id, nil
}

// syncFile and syncFolder have the disk keep what was written. A snapshot doesn't wait for that: there is one
// after each call of an agent, and only a failing machine could lose it.
func (w *rescueWriter) syncFile(ctx context.Context, f *os.File) error {
	if w.form.lean {
		return nil
	}
	return syncFile(ctx, f)
}

func (w *rescueWriter) syncFolder(ctx context.Context, path string) {
	if !w.form.lean {
		syncFolder(ctx, path)
	}
}

// claimID finds an id that no rescue of the checkout has, and keeps it by the lock file of its ref.
func (w *rescueWriter) claimID(checkout string, at stick.Time, tree string) (id string, lock *os.File, err error) {
	refs := w.repo.pathTo(w.form.refs + "/" + checkout)
	sum := tree

	// One call makes snapshots of several checkouts at once, and clean ones have the same tree.
	if w.form == leanForm {
		sum = shortSum(checkout+tree, 2)
	}

	for {
		id = newID(at, sum)
		lock, err = plainfile.Open(filepath.Join(refs, id+lockSuffix), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", nil, err
		}
		if err == nil {
			// A rescue in the other form may have this id.
			if !w.repo.hasID(checkout, id) {
				return id, lock, nil
			}
			lock.Close()
			os.Remove(lock.Name())
		}

		// The id is taken: that of the next millisecond may be free.
		at++
	}
}

// hasID reports whether there is a rescue of a checkout, or a pack, with an id.
func (r *bareRepository) hasID(checkout, id string) bool {
	for _, f := range forms {
		for _, path := range []string{r.pathTo(f.refs + "/" + checkout + "/" + id), r.packBase(f, id) + packSuffix} {
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				return true
			}
		}
	}
	return false
}

// packBase is the name of the pack of a rescue, without its suffix.
func (r *bareRepository) packBase(f form, id string) string {
	return filepath.Join(r.pathTo(packsName), f.prefix+id)
}

// writeFiles gives the pack and its index their names, and writes the ref's lock file.
func (w *rescueWriter) writeFiles(ctx context.Context, lock *os.File, tree string, m Manifest) error {
	text, err := m.encodeJSON()
	if err != nil {
		return err
	}

	commit := w.pack.addObject(kindCommit, commitText(tree, m.At, text))
	index, err := w.pack.finish()
	if err != nil {
		return err
	}

	base := w.repo.packBase(w.form, m.ID)
	if err := w.settleFile(ctx, w.pack.file, base+packSuffix); err != nil {
		return err
	}
	w.done = true
	w.repo.kill("pack")

	f, err := plainfile.Temp(w.repo.pathTo(packsName), tempPrefix)
	if err != nil {
		return err
	}
	if _, err = f.Write(index); err == nil {
		err = w.settleFile(ctx, f, base+indexSuffix)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		os.Remove(base + packSuffix)
		return err
	}

	w.repo.kill("index")
	w.syncFolder(ctx, w.repo.pathTo(packsName))

	// The lock file becomes the ref when it gets its name.
	if _, err := lock.WriteString(commit + "\n"); err != nil {
		return err
	}
	return w.syncFile(ctx, lock)
}

// commitText is the commit of a rescue.
func commitText(tree string, at stick.Time, manifest []byte) []byte {
	who := fmt.Sprintf("tt <tt@localhost> %d +0000", int64(at)/1000)
	return fmt.Appendf(nil, "tree %s\nauthor %s\ncommitter %s\n\n%s\n", tree, who, who, manifest)
}

// settleFile has the disk keep a file, closes it, and gives it its name.
func (w *rescueWriter) settleFile(ctx context.Context, f *os.File, name string) error {
	if err := w.syncFile(ctx, f); err != nil {
		return err
	}

	f.Close()
	return os.Rename(f.Name(), name)
}

// syncFile is [os.File.Sync], but for at most as long as ctx lasts. Then only a failing machine could still
// lose the file.
func syncFile(ctx context.Context, f *os.File) error {
	if ctx.Err() != nil {
		return nil
	}

	done := make(chan error, 1)

	// This ends when the disk has done its work. To close f meanwhile is safe.
	go func() { done <- f.Sync() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return nil
	}
}

// syncFolder has the disk keep the names in a directory, as far as the system can.
func syncFolder(ctx context.Context, path string) {
	if d, err := os.Open(path); err == nil {
		_ = syncFile(ctx, d)
		d.Close()
	}
}
