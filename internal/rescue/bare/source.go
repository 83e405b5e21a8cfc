package bare

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
)

// Source reads the objects of one rescue, from its own pack and those that it needs. If that fails for a
// whole one, git reads it: somebody may have had git pack it again.
type Source struct {
	repo  *Repository
	ref   Ref
	Needs []string // the ids of the snapshots whose packs it needs
	packs map[string]*pack.File
}

// NewSource returns what reads a rescue. Its caller closes it.
func (r *Repository) NewSource(f Ref) *Source {
	return &Source{repo: r, ref: f, packs: map[string]*pack.File{}}
}

// Close closes the packs that were read.
func (s *Source) Close() {
	for _, p := range s.packs {
		p.Close()
	}
}

// ReadObjects reads objects, in the order of their names. Of one that isn't there, the kind is empty.
func (s *Source) ReadObjects(ctx context.Context, names []string) ([]pack.Object, error) {
	all, err := s.readOwnObjects(ctx, names)
	isLacking := slices.ContainsFunc(all, func(o pack.Object) bool { return o.Kind == "" })

	if s.ref.Form.Lean || err == nil && !isLacking {
		return all, err
	}
	return pack.ReadObjects(ctx, s.repo.OwnGit(), names)
}

func (s *Source) readOwnObjects(ctx context.Context, names []string) ([]pack.Object, error) {
	all := make([]pack.Object, len(names))
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}

		o, err := s.readObject(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}

		o.Name = name
		all[i] = o
	}
	return all, nil
}

// readObject reads an object without git.
func (s *Source) readObject(name string) (pack.Object, error) {
	// Its own pack comes first, then those that it needs.
	for i := -1; i < len(s.Needs); i++ {
		in, id := s.ref.Form, s.ref.ID
		if i >= 0 {
			in, id = LeanForm, s.Needs[i]
		}

		p, err := s.OpenPackOf(in, id)
		if err != nil {
			return pack.Object{}, err
		}
		if o, err := p.ReadObject(name); !errors.Is(err, fs.ErrNotExist) {
			return o, err
		}
	}
	return pack.Object{}, fs.ErrNotExist
}

// OpenPackOf opens the pack of a rescue.
func (s *Source) OpenPackOf(in Form, id string) (*pack.File, error) {
	base := s.repo.PackBase(in, id)
	if p := s.packs[base]; p != nil {
		return p, nil
	}

	p, err := pack.Open(base)
	if err != nil {
		return nil, err
	}
	s.packs[base] = p
	return p, nil
}

// ReadManifest reads what the rescue is, and the name of its tree. The packs that it needs are known after
// that.
func (s *Source) ReadManifest(ctx context.Context) (m manifest.Manifest, tree string, err error) {
	commit, _ := s.repo.ReadCommit(s.ref)
	found, err := s.ReadObjects(ctx, []string{commit})
	if err != nil {
		return m, "", err
	}

	m, tree, err = parseCommit(found[0])
	s.Needs = m.Needs
	return m, tree, err
}

// parseCommit returns what a commit says of its rescue, and the name of its tree.
func parseCommit(commit pack.Object) (m manifest.Manifest, tree string, err error) {
	if m, err = ParseManifest(commit); err != nil {
		return m, "", err
	}

	head, _, _ := strings.Cut(string(commit.Data), "\n")
	tree, ok := strings.CutPrefix(head, "tree ")
	if !ok {
		return m, "", pack.ErrObject
	}
	return m, tree, nil
}

// ReadState reads how each path was, given what the rescue is and the name of its tree.
func (s *Source) ReadState(ctx context.Context, m manifest.Manifest, tree string) (st manifest.State, err error) {
	parts, err := s.EntryFiles(ctx, tree)
	if err != nil {
		return st, err
	}

	found, err := s.ReadObjects(ctx, parts)
	if err != nil {
		return st, err
	}

	if s.ref.Form.Lean {
		return manifest.JoinState(m.Head, found)
	}

	// A whole rescue has its entries in one file.
	if found[0].Kind != pack.KindNames[pack.KindBlob] {
		return st, pack.ErrObject
	}
	return manifest.DecodeState(found[0].Data)
}

// EntryFiles names the files with the entries of a rescue: one of a whole one.
func (s *Source) EntryFiles(ctx context.Context, tree string) (names []string, err error) {
	top, err := s.readTree(ctx, tree)
	if err != nil {
		return nil, err
	}

	i := slices.IndexFunc(top, func(l pack.TreeLine) bool {
		return l.Name == EntriesName && (l.Mode == pack.ModeTree) == s.ref.Form.Lean
	})
	switch {
	case i < 0:
		return nil, pack.ErrObject
	case !s.ref.Form.Lean:
		return []string{top[i].Object}, nil
	}

	files, err := s.readTree(ctx, top[i].Object)
	for _, f := range files {
		names = append(names, f.Object)
	}
	return names, err
}

// readTree reads a tree.
func (s *Source) readTree(ctx context.Context, name string) ([]pack.TreeLine, error) {
	found, err := s.ReadObjects(ctx, []string{name})
	if err != nil {
		return nil, err
	}

	if found[0].Kind != pack.KindNames[pack.KindTree] {
		return nil, pack.ErrObject
	}
	return pack.ParseTree(found[0].Data)
}

// ParseManifest reads the manifest of a rescue from its commit. It fails with [pack.ErrObject] if there is none.
func ParseManifest(commit pack.Object) (manifest.Manifest, error) {
	_, message, ok := bytes.Cut(commit.Data, []byte("\n\n"))
	if commit.Kind != "commit" || !ok {
		return manifest.Manifest{}, pack.ErrObject
	}
	return manifest.Decode(message)
}

// PacksNeeded returns the ids of the packs that a rescue needs, with its own first. A damaged one needs no
// other.
func (r *Repository) PacksNeeded(ctx context.Context, f Ref) ([]string, error) {
	if !f.Form.Lean {
		return []string{f.ID}, nil
	}

	// A ref that the system doesn't hand out may be that of a whole snapshot.
	if _, err := plainfile.Read(r.RefPath(f)); err != nil && IsUnreadable(err) {
		return nil, err
	}

	s := r.NewSource(f)
	defer s.Close()
	m, _, err := s.ReadManifest(ctx)
	if err != nil && (ctx.Err() != nil || IsUnreadable(err)) {
		return nil, err
	}

	return append([]string{f.ID}, m.Needs...), nil
}

// IsUnreadable reports whether the system didn't hand out a file that is there. What is in it may be whole.
func IsUnreadable(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok && !errors.Is(err, fs.ErrNotExist)
}

// AddReached adds the names of the objects of a rescue.
func (s *Source) AddReached(ctx context.Context, all map[string]bool) error {
	commit, _ := s.repo.ReadCommit(s.ref)
	o, err := s.readObject(commit)
	if err != nil {
		return err
	}

	m, tree, err := parseCommit(o)
	if err != nil {
		return err
	}

	s.Needs = m.Needs
	all[commit] = true
	return s.addReachedTree(ctx, tree, all)
}

func (s *Source) addReachedTree(ctx context.Context, name string, all map[string]bool) error {
	if all[name] {
		return nil
	}

	if err := ctx.Err(); err != nil {
		return err
	}

	o, err := s.readObject(name)
	if err != nil {
		return err
	}
	lines, err := pack.ParseTree(o.Data)
	if err != nil {
		return err
	}

	for _, l := range lines {
		if l.Mode != pack.ModeTree {
			all[l.Object] = true
			continue
		}
		if err := s.addReachedTree(ctx, l.Object, all); err != nil {
			return err
		}
	}

	// A tree counts when everything below it does.
	all[name] = true
	return nil
}
