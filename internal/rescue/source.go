package rescue

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"talkingstick/internal/plainfile"
)

// source reads the objects of one rescue, from its own pack and those that it needs. If that fails for a
// whole one, git reads it: somebody may have had git pack it again.
type source struct {
	repo  *bareRepository
	ref   ref
	needs []string // the ids of the snapshots whose packs it needs
	packs map[string]*packFile
}

func (r *bareRepository) newSource(f ref) *source {
	return &source{repo: r, ref: f, packs: map[string]*packFile{}}
}

func (s *source) close() {
	for _, p := range s.packs {
		p.close()
	}
}

// readObjects reads objects, in the order of their names. Of one that isn't there, the kind is empty.
func (s *source) readObjects(ctx context.Context, names []string) ([]object, error) {
	all, err := s.readOwnObjects(ctx, names)
	isLacking := slices.ContainsFunc(all, func(o object) bool { return o.kind == "" })

	if s.ref.form.lean || err == nil && !isLacking {
		return all, err
	}
	return readObjects(ctx, s.repo.ownGit(), names)
}

func (s *source) readOwnObjects(ctx context.Context, names []string) ([]object, error) {
	all := make([]object, len(names))
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}

		o, err := s.readObject(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}

		o.name = name
		all[i] = o
	}
	return all, nil
}

// readObject reads an object without git.
func (s *source) readObject(name string) (object, error) {
	// Its own pack comes first, then those that it needs.
	for i := -1; i < len(s.needs); i++ {
		in, id := s.ref.form, s.ref.id
		if i >= 0 {
			in, id = leanForm, s.needs[i]
		}

		p, err := s.openPackOf(in, id)
		if err != nil {
			return object{}, err
		}
		if o, err := p.readObject(name); !errors.Is(err, fs.ErrNotExist) {
			return o, err
		}
	}
	return object{}, fs.ErrNotExist
}

// openPackOf opens the pack of a rescue.
func (s *source) openPackOf(in form, id string) (*packFile, error) {
	base := s.repo.packBase(in, id)
	if p := s.packs[base]; p != nil {
		return p, nil
	}

	p, err := openPack(base)
	if err != nil {
		return nil, err
	}
	s.packs[base] = p
	return p, nil
}

// readManifest reads what the rescue is, and the name of its tree. The packs that it needs are known after
// that.
func (s *source) readManifest(ctx context.Context) (m Manifest, tree string, err error) {
	commit, _ := s.repo.readCommit(s.ref)
	found, err := s.readObjects(ctx, []string{commit})
	if err != nil {
		return m, "", err
	}

	m, tree, err = parseCommit(found[0])
	s.needs = m.Needs
	return m, tree, err
}

// parseCommit returns what a commit says of its rescue, and the name of its tree.
func parseCommit(commit object) (m Manifest, tree string, err error) {
	if m, err = parseManifest(commit); err != nil {
		return m, "", err
	}

	head, _, _ := strings.Cut(string(commit.data), "\n")
	tree, ok := strings.CutPrefix(head, "tree ")
	if !ok {
		return m, "", errObject
	}
	return m, tree, nil
}

// readState reads how each path was, given what the rescue is and the name of its tree.
func (s *source) readState(ctx context.Context, m Manifest, tree string) (st state, err error) {
	parts, err := s.entryFiles(ctx, tree)
	if err != nil {
		return st, err
	}

	found, err := s.readObjects(ctx, parts)
	if err != nil {
		return st, err
	}

	if s.ref.form.lean {
		return joinState(m.Head, found)
	}

	// A whole rescue has its entries in one file.
	if found[0].kind != kindNames[kindBlob] {
		return st, errObject
	}
	return decodeState(found[0].data)
}

// entryFiles names the files with the entries of a rescue: one of a whole one.
func (s *source) entryFiles(ctx context.Context, tree string) (names []string, err error) {
	top, err := s.readTree(ctx, tree)
	if err != nil {
		return nil, err
	}

	i := slices.IndexFunc(top, func(l treeLine) bool {
		return l.name == entriesName && (l.mode == modeTree) == s.ref.form.lean
	})
	switch {
	case i < 0:
		return nil, errObject
	case !s.ref.form.lean:
		return []string{top[i].object}, nil
	}

	files, err := s.readTree(ctx, top[i].object)
	for _, f := range files {
		names = append(names, f.object)
	}
	return names, err
}

// readTree reads a tree.
func (s *source) readTree(ctx context.Context, name string) ([]treeLine, error) {
	found, err := s.readObjects(ctx, []string{name})
	if err != nil {
		return nil, err
	}

	if found[0].kind != kindNames[kindTree] {
		return nil, errObject
	}
	return parseTree(found[0].data)
}

func parseManifest(commit object) (Manifest, error) {
	_, message, ok := bytes.Cut(commit.data, []byte("\n\n"))
	if commit.kind != "commit" || !ok {
		return Manifest{}, errObject
	}
	return decodeManifest(message)
}

// packsNeeded returns the ids of the packs that a rescue needs, with its own first. A damaged one needs no
// other.
func (r *bareRepository) packsNeeded(ctx context.Context, f ref) ([]string, error) {
	if !f.form.lean {
		return []string{f.id}, nil
	}

	// A ref that the system doesn't hand out may be that of a whole snapshot.
	if _, err := plainfile.Read(r.refPath(f)); err != nil && isUnreadable(err) {
		return nil, err
	}

	s := r.newSource(f)
	defer s.close()
	m, _, err := s.readManifest(ctx)
	if err != nil && (ctx.Err() != nil || isUnreadable(err)) {
		return nil, err
	}

	return append([]string{f.id}, m.Needs...), nil
}

// isUnreadable reports whether the system didn't hand out a file that is there. What is in it may be whole.
func isUnreadable(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok && !errors.Is(err, fs.ErrNotExist)
}

// addReached adds the names of the objects of a rescue.
func (s *source) addReached(ctx context.Context, all map[string]bool) error {
	commit, _ := s.repo.readCommit(s.ref)
	o, err := s.readObject(commit)
	if err != nil {
		return err
	}

	m, tree, err := parseCommit(o)
	if err != nil {
		return err
	}

	s.needs = m.Needs
	all[commit] = true
	return s.addReachedTree(ctx, tree, all)
}

func (s *source) addReachedTree(ctx context.Context, name string, all map[string]bool) error {
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
	lines, err := parseTree(o.data)
	if err != nil {
		return err
	}

	for _, l := range lines {
		if l.mode != modeTree {
			all[l.object] = true
			continue
		}
		if err := s.addReachedTree(ctx, l.object, all); err != nil {
			return err
		}
	}

	// A tree counts when everything below it does.
	all[name] = true
	return nil
}
