package rescue

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"talkingstick/stick"
)

// Rescue is a rescue with its files.
type Rescue struct {
	Manifest
	Entries []File `json:"entries"` // sorted by path
}

// File is one path of a rescue.
type File struct {
	Path   string   `json:"path"`   // relative to the top level of the checkout
	States []string `json:"states"` // in words of git: modified, staged, deleted, untracked, ignored, conflict, …
	Size   int64    `json:"size"`   // of the file in the working tree, in bytes
}

// List returns the rescues of the repository with a common git directory, or all if common is empty, the newest
// first. It returns at most limit of them, or all if that is 0; hidden is how many more there are. It fails with
// [stick.CodeGitMissing] if there are rescues, and no git to read them.
func (s *Store) List(ctx context.Context, common string, limit int) (all []Manifest, hidden int, err error) {
	held, err := s.held(common)
	if err != nil {
		return nil, 0, err
	}
	if limit > 0 && len(held) > limit {
		held, hidden = held[:limit], len(held)-limit
	}
	all = []Manifest{}
	refs := map[*repository][]ref{}
	for _, h := range held {
		refs[h.repo] = append(refs[h.repo], h.ref)
	}
	for r, its := range refs {
		found, err := r.manifests(ctx, its)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Manifest) int { return strings.Compare(b.ID, a.ID) })
	return all, hidden, nil
}

// heldRef is a rescue and the repository that holds it.
type heldRef struct {
	ref
	repo *repository
}

// held lists the rescues of the repository with a common git directory, or all if common is empty, the newest first.
func (s *Store) held(common string) (all []heldRef, err error) {
	repositories, err := s.repositories()
	if err != nil {
		return nil, err
	}
	for _, r := range repositories {
		if common != "" && r.path != s.repository(common).path {
			continue
		}
		refs, err := r.refs("")
		if err != nil {
			return nil, err
		}
		for _, f := range refs {
			all = append(all, heldRef{f, r})
		}
	}
	slices.SortFunc(all, func(a, b heldRef) int { return strings.Compare(b.id, a.id) })
	return all, nil
}

// Knows reports whether there may be rescues of the repository with a common git directory, which may be gone itself.
func (s *Store) Knows(common string) bool { return s.repository(common).check() == nil }

// minName is how many characters of the start of an id name a rescue, if no other id begins with them.
const minName = 6

// Named returns the id of the rescue that a text names: the id, or at least six characters of its start. It fails with
// [stick.CodeNotFound], and with [stick.CodeUsage] if several ids begin with the text.
func (s *Store) Named(text string) (id string, err error) {
	all, err := s.held("")
	if err != nil {
		return "", err
	}
	var ids []string
	for _, h := range all {
		switch {
		case h.id == text:
			return text, nil
		case len(text) >= minName && strings.HasPrefix(h.id, text) && len(ids) < 5:
			ids = append(ids, h.id)
		}
	}
	switch len(ids) {
	case 0:
		return "", errNoRescue(text)
	case 1:
		return ids[0], nil
	}
	return "", stick.Errorf(stick.CodeUsage, "several rescues have an id that begins with %q", stick.Clip(text, 40)).
		With("field", "id").With("candidates", ids).Hintf("%s lists the rescues with their ids", stick.Cmd("tt rescue list --all"))
}

// Sum is what a store holds.
type Sum struct {
	Count  int
	Bytes  int64    // on disk
	Unread []string // the ids of rescues that can't be read
}

// Sum counts all rescues, and reads what each is. It fails with [stick.CodeDataDirNotWritable] if they can't lie where they should,
// and with [stick.CodeGitMissing].
func (s *Store) Sum(ctx context.Context) (sum Sum, err error) {
	if _, err := os.Lstat(s.root()); errors.Is(err, fs.ErrNotExist) {
		return sum, nil
	}
	if err := checkFolder(s.root()); err != nil {
		return sum, err
	}
	held, err := s.held("")
	if err != nil {
		return sum, err
	}
	all, _, err := s.List(ctx, "", 0)
	if err != nil {
		return sum, err
	}
	readable := map[string]bool{}
	for _, m := range all {
		readable[m.ID] = true
	}
	for _, h := range held {
		sum.Count++
		sum.Bytes += h.repo.size(h.id)
		if !readable[h.id] {
			sum.Unread = append(sum.Unread, h.id)
		}
	}
	return sum, nil
}

// manifests reads those of refs. It leaves out what was dropped meanwhile, and what can't be read.
func (r *repository) manifests(ctx context.Context, refs []ref) ([]Manifest, error) {
	all, err := r.readManifests(ctx, refs...)
	if err == nil || ctx.Err() != nil || stick.CodeOf(err) == stick.CodeGitMissing {
		return all, err
	}
	all = nil // git stops at a damaged pack
	for _, f := range refs {
		if one, err := r.readManifests(ctx, f); err == nil {
			all = append(all, one...)
		}
	}
	return all, ctx.Err()
}

func (r *repository) readManifests(ctx context.Context, refs ...ref) ([]Manifest, error) {
	var wanted []string
	for _, f := range refs {
		wanted = append(wanted, f.commit, f.commit+":"+entriesName)
	}
	found, err := objects(ctx, r.git(), wanted)
	if err != nil {
		return nil, err
	}
	var all []Manifest
	for i := 0; i < len(found); i += 2 {
		if m, err := commitManifest(found[i]); err == nil && found[i+1].kind == "blob" {
			all = append(all, m)
		}
	}
	return all, nil
}

func commitManifest(commit object) (Manifest, error) {
	_, message, ok := bytes.Cut(commit.data, []byte("\n\n"))
	if commit.kind != "commit" || !ok {
		return Manifest{}, errObject
	}
	return decodeManifest(message)
}

// Show returns one rescue. It fails with [stick.CodeNotFound] if there is none with this id.
func (s *Store) Show(ctx context.Context, id string) (Rescue, error) {
	l, err := s.load(ctx, id)
	if err != nil {
		return Rescue{}, err
	}
	r := Rescue{Manifest: l.manifest, Entries: []File{}}
	for _, e := range l.state.Entries {
		f := File{Path: string(e.Path), States: e.states()}
		if e.Work != nil {
			f.Size = e.Work.Size
		}
		r.Entries = append(r.Entries, f)
	}
	return r, nil
}

// Within returns the files of a rescue that paths name: each itself, or as a directory above it. No paths name all. It fails
// with [stick.CodeNotFound] for a path of which the rescue has nothing, and with [stick.CodeUsage] for one outside of the
// checkout.
func (r Rescue) Within(paths []string) ([]File, error) {
	paths, err := clean(paths)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		if !slices.ContainsFunc(r.Entries, func(f File) bool { return within(f.Path, []string{p}) }) {
			return nil, errNoPath(r.ID, p)
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Entries), func(f File) bool { return !within(f.Path, paths) }), nil
}

func errNoPath(id, path string) error {
	return stick.Errorf(stick.CodeNotFound, "rescue %s has no %s", id, stick.Line(path)).With("rescue", id).With("path", path).
		Hintf("see what it has: %s", stick.Cmd("tt rescue show <rescue>"))
}

// loaded is a rescue that was read, but for its blobs.
type loaded struct {
	repo     *repository
	manifest Manifest
	state    state
}

func (s *Store) load(ctx context.Context, id string) (*loaded, error) {
	r, f, err := s.find(id)
	if err != nil {
		return nil, err
	}
	found, err := objects(ctx, r.git(), []string{f.commit, f.commit + ":" + entriesName})
	if err != nil {
		return nil, err
	}
	l := &loaded{repo: r}
	if l.manifest, err = commitManifest(found[0]); err != nil {
		return nil, err
	}
	if found[1].kind != "blob" {
		return nil, errNoRescue(id)
	}
	l.state, err = decodeState(found[1].data)
	return l, err
}

// find looks for a rescue in all repositories.
func (s *Store) find(id string) (*repository, ref, error) {
	if _, ok := timeOf(id); !ok {
		return nil, ref{}, errNoRescue(id)
	}
	all, err := s.repositories()
	if err != nil {
		return nil, ref{}, err
	}
	for _, r := range all {
		checkouts, err := names(r.dir(refsName))
		if err != nil {
			return nil, ref{}, err
		}
		for _, checkout := range checkouts {
			if f, ok := r.ref(checkout, id); ok {
				return r, f, nil
			}
		}
	}
	return nil, ref{}, errNoRescue(id)
}

func errNoRescue(id string) error {
	return stick.Errorf(stick.CodeNotFound, "there is no rescue %s: it may be past its time", stick.Line(stick.Clip(id, 40))).With("rescue", id).
		Hintf("%s lists the rescues that there are", stick.Cmd("tt rescue list --all"))
}

// blobs reads blobs of a rescue, by their names. It fails if one is missing.
func (l *loaded) blobs(ctx context.Context, names []string) (map[string][]byte, error) {
	found, err := objects(ctx, l.repo.git(), names)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for i, o := range found {
		if o.kind != "blob" {
			return nil, errNoRescue(l.manifest.ID)
		}
		all[names[i]] = o.data
	}
	return all, nil
}
