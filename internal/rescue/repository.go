package rescue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
	refsName   = "refs/rescues"
	packsName  = "objects/pack"
	stateName  = "state" // of the directory of what is known of checkouts, and of kept commits
	packPrefix = "pack-"
	tempPrefix = "tmp-" // of files that are being written
	newPrefix  = "new-" // of repositories that are being made
	lockSuffix = ".lock"
	keepSuffix = ".keep" // of the mark beside a pack
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

// listRepositories lists those that are there. What is in them may be damaged.
func (d rootFolder) listRepositories() ([]*bareRepository, error) {
	all, err := listNames(d.path)
	if err != nil {
		return nil, err
	}

	var found []*bareRepository
	for _, name := range all {
		r := &bareRepository{d, filepath.Join(d.path, name)}
		if strings.HasSuffix(name, ".git") && checkFolder(r.path) == nil {
			found = append(found, r)
		}
	}

	return found, nil
}

// findRescue looks for a rescue in all repositories.
func (d rootFolder) findRescue(id string) (*bareRepository, ref, error) {
	if _, ok := timeOf(id); !ok {
		return nil, ref{}, errNoRescue(id)
	}

	all, err := d.listRepositories()
	if err != nil {
		return nil, ref{}, err
	}

	for _, r := range all {
		for _, in := range forms {
			checkouts, err := listNames(r.pathTo(in.refs))
			if err != nil {
				return nil, ref{}, err
			}
			for _, checkout := range checkouts {
				if f := (ref{in, checkout, id}); r.isHeld(f) {
					return r, f, nil
				}
			}
		}
	}
	return nil, ref{}, errNoRescue(id)
}

func errNoRescue(id string) error {
	return stick.Errorf(stick.CodeNotFound, "there is no rescue %s: it may be past its time", stick.Clip(id, 40)).With("rescue", id).
		Hintf("%s lists the rescues that there are", stick.Cmd("tt rescue list --all"))
}

// listNames lists the names in a directory, sorted. One that doesn't exist, or isn't a directory, has none.
func listNames(dir string) ([]string, error) {
	if checkFolder(dir) != nil {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the rescues: %w", err)
	}

	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}

	return all, nil
}
