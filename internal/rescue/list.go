package rescue

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// Rescue is a rescue with its files.
type Rescue struct {
	manifest.Manifest
	Entries []File `json:"entries"` // sorted by path
}

// File is one path of a rescue.
type File struct {
	Path   string   `json:"path"`   // relative to the top level of the checkout
	States []string `json:"states"` // in words of git: modified, staged, deleted, untracked, ignored, conflict, …
	Size   int64    `json:"size"`   // of the file in the working tree, in bytes
}

// Listing is what [Store.List] has found, with the newest first.
type Listing struct {
	Rescues []manifest.Manifest
	Damaged []string // the ids of rescues that can't be read
	Hidden  int      // how many more there are
}

// Which says which rescues are listed.
type Which int

// Which rescues are listed.
const (
	Named Which = iota // without the snapshots that nothing names, see [Store.Mark]
	Every
)

// List lists the rescues of the repository with a common git directory, or all if common is empty: at most
// limit of them, or all if that is 0. It fails with [stick.CodeGitMissing] if there are rescues, and no git
// to read them.
func (s *Store) List(ctx context.Context, common string, limit int, which Which) (Listing, error) {
	l := Listing{Rescues: []manifest.Manifest{}}
	held, err := s.listHeld(common)
	if err != nil {
		return l, err
	}

	if which == Named {
		held = slices.DeleteFunc(held, func(h heldRef) bool { return h.Form == bare.LeanForm && !h.repo.IsMarked(h.Ref) })
	}

	// What is beyond the limit is counted, and isn't read.
	if limit > 0 && len(held) > limit {
		held, l.Hidden = held[:limit], len(held)-limit
	}

	// One run of git reads all whole rescues of a repository.
	refs := map[*repository][]bare.Ref{}
	for _, h := range held {
		refs[h.repo] = append(refs[h.repo], h.Ref)
	}
	for r, its := range refs {
		found, damaged, err := r.readManifests(ctx, its)
		if err != nil {
			return l, err
		}
		l.Rescues, l.Damaged = append(l.Rescues, found...), append(l.Damaged, damaged...)
	}

	slices.SortFunc(l.Rescues, func(a, b manifest.Manifest) int { return strings.Compare(b.ID, a.ID) })
	slices.SortFunc(l.Damaged, func(a, b string) int { return strings.Compare(b, a) })
	return l, nil
}

// heldRef is a rescue and the repository that holds it.
type heldRef struct {
	bare.Ref
	repo *repository
}

// listHeld lists the rescues of the repository with a common git directory, or all if common is empty, the
// newest first.
func (s *Store) listHeld(common string) (all []heldRef, err error) {
	repositories, err := s.listRepositories()
	if err != nil {
		return nil, err
	}

	for _, r := range repositories {
		if common != "" && r.Path != s.repositoryOf(common).Path {
			continue
		}

		refs, err := r.ListRefs("")
		if err != nil {
			return nil, err
		}
		for _, f := range refs {
			all = append(all, heldRef{f, r})
		}
	}

	slices.SortFunc(all, func(a, b heldRef) int { return strings.Compare(b.ID, a.ID) })
	return all, nil
}

// Knows reports whether there may be rescues of the repository with a common git directory, which may be gone
// itself.
func (s *Store) Knows(common string) bool { return s.repositoryOf(common).CheckFolders() == nil }

// minName is how many characters of the start of an id name a rescue, if no other id begins with them.
const minName = 6

// Named returns the id of the rescue that a text names: the id, or at least six characters of its start. It
// fails with [stick.CodeNotFound], and with [stick.CodeUsage] if several ids begin with the text.
func (s *Store) Named(text string) (id string, err error) {
	all, err := s.listHeld("")
	if err != nil {
		return "", err
	}

	var ids []string
	for _, h := range all {
		switch {
		case h.ID == text:
			return text, nil
		case len(text) >= minName && strings.HasPrefix(h.ID, text) && len(ids) < 5:
			ids = append(ids, h.ID)
		}
	}

	switch len(ids) {
	case 0:
		return "", bare.ErrNoRescue(text)
	case 1:
		return ids[0], nil
	}
	return "", stick.Errorf(stick.CodeUsage, "%q is the start of several rescue ids", stick.Clip(text, 40)).
		With("field", "id").With("candidates", ids).Hintf("see their ids: %s", stick.Cmd("tt rescue list --all"))
}

// Sum is what a store holds.
type Sum struct {
	Count   int
	Bytes   int64    // on disk, with what of snapshots that were dropped others still need
	Damaged []string // the ids of rescues that can't be read

	Snapshots      int // how many of Count
	SnapshotsBytes int64
}

// Sum counts all rescues, and reads what each is. It fails with [stick.CodeDataDirNotWritable] if they can't
// lie where they should, and as [Store.List] does.
func (s *Store) Sum(ctx context.Context) (sum Sum, err error) {
	if _, err := os.Lstat(s.root().Path); errors.Is(err, fs.ErrNotExist) {
		return sum, nil
	}

	if err := bare.CheckFolder(s.root().Path); err != nil {
		return sum, err
	}

	held, err := s.listHeld("")
	if err != nil {
		return sum, err
	}

	for _, h := range held {
		sum.Count++
		if h.Form.Lean {
			sum.Snapshots++
		} else {
			sum.Bytes += h.repo.RescueBytes(h.Ref)
		}
	}

	// Snapshots share their packs, so these are counted by themselves.
	sum.SnapshotsBytes, err = s.leanBytes()
	if err != nil {
		return sum, err
	}
	sum.Bytes += sum.SnapshotsBytes

	l, err := s.List(ctx, "", 0, Every)
	sum.Damaged = l.Damaged
	return sum, err
}

// leanBytes returns how much the packs of snapshots take on disk, in bytes.
func (s *Store) leanBytes() (n int64, err error) {
	all, err := s.listRepositories()
	if err != nil {
		return 0, err
	}

	for _, r := range all {
		packs, err := bare.ListNames(r.PathTo(bare.PacksName))
		if err != nil {
			return 0, err
		}
		for _, name := range packs {
			info, err := os.Lstat(filepath.Join(r.PathTo(bare.PacksName), name))
			if err == nil && strings.HasPrefix(name, bare.LeanForm.Prefix) {
				n += info.Size()
			}
		}
	}

	return n, nil
}

// readManifests reads those of refs, and names the rescues that can't be read. What was dropped meanwhile is
// in neither.
func (r *repository) readManifests(ctx context.Context, refs []bare.Ref) (all []manifest.Manifest, damaged []string, err error) {
	var left []bare.Ref
	isLean := func(f bare.Ref) bool { return f.Form.Lean }

	// Git reads all whole rescues in one run, unless a damaged pack stops it.
	if wholes := slices.DeleteFunc(slices.Clone(refs), isLean); len(wholes) > 0 {
		all, left, err = r.readWholeManifests(ctx, wholes...)

		// Git stops at a damaged pack: then each is read by itself.
		if err != nil && isDamage(err) {
			all, left, err = r.readManifestsSingly(ctx, wholes)
		}
		if err != nil {
			return nil, nil, err
		}
	}

	// Snapshots are read without git.
	for _, f := range slices.DeleteFunc(slices.Clone(refs), func(f bare.Ref) bool { return !isLean(f) }) {
		m, err := r.readSnapshotManifest(ctx, f)
		switch {
		case err == nil:
			all = append(all, m)
		case isDamage(err):
			left = append(left, f)
		default:
			return nil, nil, err
		}
	}

	// One that is gone by now isn't damaged.
	for _, f := range left {
		if r.IsHeld(f) {
			damaged = append(damaged, f.ID)
		}
	}
	return all, damaged, nil
}

// readSnapshotManifest reads the manifest of a snapshot. It fails if its entries aren't there.
func (r *repository) readSnapshotManifest(ctx context.Context, f bare.Ref) (manifest.Manifest, error) {
	s := r.NewSource(f)
	defer s.Close()

	m, tree, err := s.ReadManifest(ctx)
	if err == nil {
		_, err = s.EntryFiles(ctx, tree)
	}
	m.Loss = r.readLoss(f)
	return m, err
}

// readManifestsSingly reads the manifests of refs as [repository.readWholeManifests] does, so that damage to
// one hides no other.
func (r *repository) readManifestsSingly(ctx context.Context, refs []bare.Ref) (all []manifest.Manifest, left []bare.Ref, err error) {
	for _, f := range refs {
		one, not, err := r.readWholeManifests(ctx, f)
		switch {
		case err != nil && !isDamage(err):
			return nil, nil, err
		case err != nil:
			not = []bare.Ref{f}
		}

		all, left = append(all, one...), append(left, not...)
	}
	return all, left, nil
}

// readWholeManifests reads the manifests of whole rescues. It returns the refs that have none in left, and
// fails if git does.
func (r *repository) readWholeManifests(ctx context.Context, refs ...bare.Ref) (all []manifest.Manifest, left []bare.Ref, err error) {
	var wanted []string
	for _, f := range refs {
		commit, _ := r.ReadCommit(f)
		wanted = append(wanted, commit, commit+":"+bare.EntriesName)
	}

	found, err := pack.ReadObjects(ctx, r.OwnGit(), wanted)
	if err != nil {
		return nil, nil, err
	}

	for i, f := range refs {
		if m, err := bare.ParseManifest(found[2*i]); err == nil && found[2*i+1].Kind == "blob" {
			all = append(all, m)
		} else {
			left = append(left, f)
		}
	}
	return all, left, nil
}

// Show returns one rescue. It fails with [stick.CodeNotFound] if there is none with this id, and with
// [stick.CodeGitFailed] if it is damaged.
func (s *Store) Show(ctx context.Context, id string) (Rescue, error) {
	l, err := s.loadRescue(ctx, id)
	if err != nil {
		return Rescue{}, err
	}

	r := Rescue{Manifest: l.manifest, Entries: []File{}}
	r.Loss = l.repo.readLoss(l.ref)
	for _, e := range l.state.Entries {
		f := File{Path: string(e.Path), States: e.StateWords()}
		if e.Work != nil {
			f.Size = e.Work.Size
		}
		r.Entries = append(r.Entries, f)
	}

	return r, nil
}

// Within returns the files of a rescue that paths name: each itself, or as a directory above it. No paths
// name all. It fails with [stick.CodeNotFound] for a path of which the rescue has nothing, and with
// [stick.CodeUsage] for one outside of the checkout.
func (r Rescue) Within(paths []string) ([]File, error) {
	paths, err := cleanPaths(paths)
	if err != nil {
		return nil, err
	}

	for _, p := range paths {
		if !slices.ContainsFunc(r.Entries, func(f File) bool { return isWithin(f.Path, []string{p}) }) {
			return nil, errNoPath(r.ID, p)
		}
	}

	return slices.DeleteFunc(slices.Clone(r.Entries), func(f File) bool { return !isWithin(f.Path, paths) }), nil
}

func errNoPath(id, path string) error {
	return stick.Errorf(stick.CodeNotFound, "rescue %s has no %s", id, path).With("rescue", id).With("path", path).
		Hintf("see what it has: %s", stick.Cmd("tt rescue show <rescue>"))
}

// asDamage says of an error of reading a rescue which rescue it is, and that it is damaged, unless it was
// dropped meanwhile.
func (r *repository) asDamage(f bare.Ref, err error) error {
	if err == nil || !isDamage(err) {
		return err
	}
	if !r.IsHeld(f) {
		return bare.ErrNoRescue(f.ID)
	}

	path := r.PackBase(f.Form, f.ID) + pack.Suffix
	e := stick.Errorf(stick.CodeGitFailed, "rescue %s is damaged: %s", f.ID, stick.AsError(err)).
		With("rescue", f.ID).With("path", path).
		Hintf("restore %s from a backup; to see the other rescues: %s", path, stick.Cmd("tt rescue list --all"))
	e.Err = err
	return e
}
