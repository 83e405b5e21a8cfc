// Package bare keeps rescues in bare repositories of ours, one for each repository of the user: refs, packs, and
// what a rescue is made of. It knows how they are written, read, replaced and dropped; when that is done is the
// matter of package rescue.
//
// See docs/decisions/snapshots-and-undo.md.
package bare

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
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Root is the directory in which all bare repositories lie. It may not exist.
type Root struct {
	Path string
	Git  git.Client
	// Kill is called at named points, for tests that end the process there. It may be nil.
	Kill func(point string)
}

// Repository is the bare repository that holds the rescues of one repository of the user. Everything in it is
// written first under a name that nobody reads, and then gets its own: the pack, its index, and last the ref.
// So two rescues at the same time don't meet, and what is seen is whole.
type Repository struct {
	root Root
	Path string // of its directory
}

// Kill says that a point was passed.
func (r *Repository) Kill(point string) {
	if r.root.Kill != nil {
		r.root.Kill(point)
	}
}

// Names in a repository.
const (
	RefsName   = "refs/rescues" // of the refs of whole rescues
	PacksName  = "objects/pack" // of the directory of packs
	StateName  = "state"        // of the directory of what is known of checkouts, and of kept commits
	PackPrefix = "pack-"        // of the packs of whole rescues
	TempPrefix = "tmp-"         // of files that are being written
	NewPrefix  = "new-"         // of repositories that are being made
	LockSuffix = ".lock"        // of files that keep others from writing a ref or a log
	KeepSuffix = ".keep"        // of the mark beside a pack
	DoneSuffix = ".settled"     // of the note that the rescue was brought back
)

// Form is one of the two forms of rescues. Programs before snapshots know only the first, and leave the other
// alone.
type Form struct {
	Refs, Prefix string // the directory of its refs, and how the names of its packs begin
	Lean         bool   // it is that of snapshots
}

// The forms of rescues.
var (
	// WholeForm rescues have all their bytes in one pack, which the disk has when they are made, and their
	// entries in one file.
	WholeForm = Form{Refs: RefsName, Prefix: PackPrefix}

	// LeanForm ones are snapshots. They need packs of earlier ones, and have their entries in several files,
	// of which most are as before.
	LeanForm = Form{Refs: "refs/snapshots", Prefix: "snap-", Lean: true}

	// Forms are both.
	Forms = []Form{WholeForm, LeanForm}
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

// RepositoryOf returns the one for the user's repository with a common git directory. It may not exist.
func (d Root) RepositoryOf(common string) *Repository {
	return &Repository{d, filepath.Join(d.Path, manifest.ShortSum(common, 16)+".git")}
}

// CheckoutName names a checkout among those of its repository.
func CheckoutName(tree workspace.Checkout) string { return manifest.ShortSum(tree.Git, 6) }

// PathTo is the path of a file of the repository, by its name with / in it.
func (r *Repository) PathTo(name string) string {
	return filepath.Join(r.Path, filepath.FromSlash(name))
}

// OwnGit is git in the repository.
func (r *Repository) OwnGit() git.Isolated { return r.root.Git.IsolateOwn(r.Path) }

// PrepareRepository returns the repository for the user's repository with a common git directory, and makes
// it if it doesn't exist.
func (d Root) PrepareRepository(ctx context.Context, common string) (*Repository, error) {
	if err := plainfile.MkdirAll(d.Path); err != nil {
		return nil, ErrUnwritable(d.Path, err)
	}
	if err := CheckFolder(d.Path); err != nil {
		return nil, err
	}

	r := d.RepositoryOf(common)
	if _, err := os.Lstat(r.Path); errors.Is(err, fs.ErrNotExist) {
		if err := r.makeRepository(ctx, common); err != nil {
			return nil, ErrUnwritable(r.Path, err)
		}
	}

	return r, r.CheckFolders()
}

// CheckFolders fails if the repository isn't made of directories of its own: a link would lead what is
// written elsewhere.
func (r *Repository) CheckFolders() error {
	for _, name := range []string{"", "objects", PacksName, "refs", RefsName} {
		if err := CheckFolder(r.PathTo(name)); err != nil {
			return err
		}
	}
	return nil
}

// CheckFolder fails with [stick.CodeDataDirNotWritable] if there is no directory at path, or a link to one.
func CheckFolder(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return ErrUnwritable(path, err)
	}
	if !info.IsDir() {
		return stick.Errorf(stick.CodeDataDirNotWritable, "%s isn't a directory", path).With("path", path).
			Hintf("move it aside, then run the same command again")
	}
	return nil
}

// ErrUnwritable makes the error for something of the data directory that can't be written, if that is what err
// says.
func ErrUnwritable(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errReadOnly) {
		return fmt.Errorf("write a rescue: %w", err)
	}
	e := stick.Errorf(stick.CodeDataDirNotWritable, "the rescue can't be written to %s", path).With("path", path).
		Hintf("make that directory writable, then run the same command again")
	e.Err = err
	return e
}

// makeRepository makes the repository under another name, and then gives it its own.
func (r *Repository) makeRepository(ctx context.Context, common string) error {
	temp, err := os.MkdirTemp(r.root.Path, NewPrefix)
	if err != nil {
		return err
	}

	// This removes nothing once the directory has its name.
	defer os.RemoveAll(temp)
	if err := plainfile.InheritPath(temp); err != nil {
		return err
	}

	for _, dir := range []string{PacksName, "objects/info", "refs/heads", RefsName} {
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
	r.Kill("repository")
	err = os.Rename(temp, r.Path)
	if _, lerr := os.Lstat(r.PathTo("HEAD")); lerr == nil {
		return nil
	}
	return err
}

// hasID reports whether there is a rescue of a checkout, or a pack, with an id.
func (r *Repository) hasID(checkout, id string) bool {
	for _, f := range Forms {
		for _, path := range []string{r.PathTo(f.Refs + "/" + checkout + "/" + id), r.PackBase(f, id) + pack.Suffix} {
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				return true
			}
		}
	}
	return false
}

// PackBase is the name of the pack of a rescue, without its suffix.
func (r *Repository) PackBase(f Form, id string) string {
	return filepath.Join(r.PathTo(PacksName), f.Prefix+id)
}

// ListRepositories lists those that are there. What is in them may be damaged.
func (d Root) ListRepositories() ([]*Repository, error) {
	all, err := ListNames(d.Path)
	if err != nil {
		return nil, err
	}

	var found []*Repository
	for _, name := range all {
		r := &Repository{d, filepath.Join(d.Path, name)}
		if strings.HasSuffix(name, ".git") && CheckFolder(r.Path) == nil {
			found = append(found, r)
		}
	}

	return found, nil
}

// FindRescue looks for a rescue in all repositories.
func (d Root) FindRescue(id string) (*Repository, Ref, error) {
	if _, ok := manifest.TimeOf(id); !ok {
		return nil, Ref{}, ErrNoRescue(id)
	}

	all, err := d.ListRepositories()
	if err != nil {
		return nil, Ref{}, err
	}

	for _, r := range all {
		for _, in := range Forms {
			checkouts, err := ListNames(r.PathTo(in.Refs))
			if err != nil {
				return nil, Ref{}, err
			}
			for _, checkout := range checkouts {
				if f := (Ref{in, checkout, id}); r.IsHeld(f) {
					return r, f, nil
				}
			}
		}
	}
	return nil, Ref{}, ErrNoRescue(id)
}

// ErrNoRescue makes the error for an id that no rescue has.
func ErrNoRescue(id string) error {
	return stick.Errorf(stick.CodeNotFound, "there is no rescue %s; one that was kept may have expired", stick.Clip(id, 40)).With("rescue", id).
		Hintf("see the rescues: %s", stick.Cmd("tt rescue list --all"))
}

// ListNames lists the names in a directory, sorted. One that doesn't exist, or isn't a directory, has none.
func ListNames(dir string) ([]string, error) {
	if CheckFolder(dir) != nil {
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
