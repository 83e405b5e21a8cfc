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
	"talkingstick/internal/rescue/commits"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// Forgotten is the outcome of [Store.ForgetPath].
type Forgotten struct {
	Rescues []string `json:"rescues"` // the ids of those that had the path, and are without it now
	Unread  []string `json:"unread"`  // the ids of damaged ones, of which nobody can say what they have
}

// Forget removes a rescue, and from the disk whatever no other rescue has: the others keep what they hold. It
// waits for those who make rescues, and may be called again after it was interrupted. It fails as
// [Store.Show] does.
func (s *Store) Forget(ctx context.Context, id string) error {
	r, f, err := s.findRescue(id)
	if stick.CodeOf(err) == stick.CodeNotFound {
		return s.forgetRemains(ctx, id, err)
	}
	if err != nil {
		return err
	}

	g, err := r.beginForgetting(ctx)
	if err != nil {
		return err
	}
	defer g.releaseLock()

	packs, err := r.PacksNeeded(ctx, f)
	if err != nil {
		return err
	}

	// Without its ref the rescue is gone. If this is interrupted, forgetRemains finishes it.
	if err := os.Remove(r.RefPath(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return bare.ErrUnwritable(r.RefPath(f), err)
	}
	os.Remove(r.PackBase(f.Form, id) + bare.KeepSuffix)
	os.Remove(r.PackBase(f.Form, id) + bare.DoneSuffix)
	s.kill("forgot ref")

	// The first pack is its own; the others are those of snapshots.
	for i, id := range packs {
		form := bare.LeanForm
		if i == 0 {
			form = f.Form
		}
		g.markSwept(r.PackBase(form, id))
	}

	return g.removeUnreached(ctx)
}

// forgetRemains removes what is left of a rescue that has no ref any more, where others need its pack: one
// that was dropped, or whose forgetting was interrupted. If there is nothing, it returns the error that says
// so.
func (s *Store) forgetRemains(ctx context.Context, id string, none error) error {
	all, err := s.listRepositories()
	if err != nil {
		return err
	}
	for _, r := range all {
		for _, in := range bare.Forms {
			base := r.PackBase(in, id)
			if _, err := os.Lstat(base + pack.Suffix); err != nil || r.CheckFolders() != nil {
				continue
			}

			g, err := r.beginForgetting(ctx)
			if err != nil {
				return err
			}
			defer g.releaseLock()

			g.markSwept(base)
			return g.removeUnreached(ctx)
		}
	}
	return none
}

// ForgetPath removes a path, and everything below it, from all rescues of the repository with a common git
// directory, and the bytes from the disk, unless another path has the same. The rescues stay, and name the
// path as left out. Repositories inside the tree have rescues of their own. It waits for those who make
// rescues, fails with [stick.CodeUsage] for a path that isn't one below the top level, and may be called
// again after it was interrupted.
func (s *Store) ForgetPath(ctx context.Context, common, path string) (done Forgotten, err error) {
	done = Forgotten{Rescues: []string{}, Unread: []string{}}
	paths, err := cleanPaths([]string{path})
	if err != nil {
		return done, err
	}
	if paths == nil {
		return done, stick.Errorf(stick.CodeUsage, "tt can't forget a whole checkout: forget its "+
			"rescues instead")
	}

	if !s.Knows(common) {
		return done, nil
	}

	r := s.repositoryOf(common)
	g, err := r.beginForgetting(ctx)
	if err != nil {
		return done, err
	}
	defer g.releaseLock()

	refs, err := r.ListRefs("")
	if err != nil {
		return done, err
	}

	for _, f := range refs {
		had, err := g.rewriteRescue(ctx, f, paths[0])
		switch {
		case err != nil && !isDamage(err):
			return done, err
		case err != nil:
			done.Unread = append(done.Unread, f.ID)
		case had:
			done.Rescues = append(done.Rescues, f.ID)
		}
	}

	return done, g.removeUnreached(ctx)
}

// forgetter removes what is to be forgotten. Nobody leans on earlier packs meanwhile.
type forgetter struct {
	repo  *repository
	lock  *bare.FileLock
	swept map[string]bool // packs from which goes what no rescue reaches
	blobs map[string]bool // that go from every pack, unless a rescue reaches them

	// again is true if something was forgotten earlier, maybe by one that was interrupted. What went then
	// isn't known, so every pack loses what no rescue reaches.
	again bool
}

func (r *repository) beginForgetting(ctx context.Context) (*forgetter, error) {
	lock, ok := bare.WaitLock(ctx, r.PathTo(makingLock), bare.LockExclusive)
	if !ok {
		return nil, errors.Join(bare.ErrUnwritable(r.PathTo(makingLock), fs.ErrPermission), ctx.Err())
	}

	r.FinishReplacing()

	// Caches would lead to what is about to go.
	caches, _ := bare.ListNames(r.PathTo(bare.StateName))
	for _, name := range caches {
		if !strings.HasSuffix(name, bare.LockSuffix) {
			os.Remove(r.cachePath(name))
		}
	}

	return &forgetter{repo: r, lock: lock, swept: map[string]bool{}, blobs: map[string]bool{}}, nil
}

func (g *forgetter) releaseLock() { g.lock.Unlock() }

func (g *forgetter) markSwept(base string) { g.swept[base] = true }

// rewriteRescue takes a path out of a rescue, and reports whether it was in it. The pack gets what the rescue
// is now beside what it was, and after that the ref gets its new commit: so the rescue is whole at any
// moment.
func (g *forgetter) rewriteRescue(ctx context.Context, f bare.Ref, path string) (had bool, err error) {
	r := g.repo
	l := &loadedRescue{repo: r, ref: f}
	if err := l.readParts(ctx); err != nil {
		return false, err
	}

	st, gone := withoutPath(l.state, path)
	if len(gone) == 0 {
		isForgotten := func(o manifest.LeftOut) bool { return o.Why == manifest.WhyForgotten }
		g.again = g.again || slices.ContainsFunc(l.manifest.LeftOut, isForgotten)
		return false, nil
	}

	for _, b := range gone {
		g.blobs[b] = true
	}

	m := l.manifest
	m.Files = st.CountFiles()
	m.LeftOut = manifest.CollapseLeftOut(append(m.LeftOut, manifest.LeftOut{Path: path, Why: manifest.WhyForgotten}))

	// Everything stays in the pack until removeUnreached takes out what no rescue reaches.
	var commit string
	err = r.ReplacePack(ctx, r.PackBase(f.Form, f.ID), f.Form, func(string) bool { return true }, func(p *pack.Writer) error {
		if err := g.holdNeeded(p, m.Needs); err != nil {
			return err
		}

		add := bare.AddWhole
		if f.Form.Lean {
			add = bare.AddLean
		}

		tree, err := add(p, st)
		if err != nil {
			return err
		}

		text, err := m.EncodeJSON()
		if err != nil {
			return err
		}

		commit = p.AddObject(pack.KindCommit, bare.CommitText(tree, m.At, text))
		return nil
	})
	if err != nil {
		return false, err
	}

	r.Kill("rewrote pack")
	g.markSwept(r.PackBase(f.Form, f.ID))
	return true, r.MoveRef(f, commit)
}

// holdNeeded has a pack not write again what the packs that it needs have.
func (g *forgetter) holdNeeded(p *pack.Writer, needs []string) error {
	p.Held = map[string]pack.HeldObject{}
	for _, id := range needs {
		n, err := pack.Open(g.repo.PackBase(bare.LeanForm, id))
		if err != nil {
			return err
		}
		for _, name := range n.ObjectNames() {
			p.Held[name] = pack.HeldObject{Pack: id}
		}
		n.Close()
	}
	return nil
}

// withoutPath returns a state without the bytes of a path and of those below it, and the names of these
// bytes. What git knew of it stays.
func withoutPath(st manifest.State, path string) (without manifest.State, gone []string) {
	without = manifest.State{Head: st.Head, Entries: []manifest.Entry{}}
	for _, e := range st.Entries {
		if !isWithin(string(e.Path), []string{path}) {
			without.Entries = append(without.Entries, e)
			continue
		}

		gone = append(gone, manifest.BlobsOf([]manifest.Entry{e})...)
		isTracked := len(e.Index) > 0 || e.Head != nil
		e.LeftOut = e.LeftOut || e.Work != nil
		e.Work, e.Index = nil, slices.Clone(e.Index)
		for i := range e.Index {
			e.Index[i].Blob = ""
		}

		if isTracked {
			without.Entries = append(without.Entries, e)
		}
	}
	return without, gone
}

// removeUnreached removes from the packs that were named, and from those with bytes that go, what no rescue
// reaches.
func (g *forgetter) removeUnreached(ctx context.Context) error {
	r := g.repo
	reached, needed, err := r.listReached(ctx)
	if err != nil {
		return err
	}
	all, err := bare.ListNames(r.PathTo(bare.PacksName))
	if err != nil {
		return err
	}

	for _, name := range all {
		name, ok := strings.CutSuffix(name, pack.IndexSuffix)
		base := filepath.Join(r.PathTo(bare.PacksName), name)

		// Packs of kept commits aren't those of rescues.
		if !ok || strings.HasPrefix(name, commits.PackPrefix) {
			continue
		}

		hasForgotten, err := g.hasForgotten(base, reached)
		if err != nil {
			return err
		}

		if !g.swept[base] && !hasForgotten {
			continue
		}

		in := bare.WholeForm
		if strings.HasPrefix(name, bare.LeanForm.Prefix) {
			in = bare.LeanForm
		}

		keep := func(name string) bool { return needed[base] && reached[name] }
		if err := r.ReplacePack(ctx, base, in, keep, nil); err != nil {
			return err
		}
	}
	return nil
}

// hasForgotten reports whether a pack has bytes that go. A damaged one has none that can be read.
func (g *forgetter) hasForgotten(base string, reached map[string]bool) (bool, error) {
	p, err := pack.Open(base)
	if errors.Is(err, pack.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer p.Close()

	// Nobody knows what an earlier call has taken out: everything that no rescue reaches counts.
	if g.again {
		return slices.ContainsFunc(p.ObjectNames(), func(name string) bool { return !reached[name] }), nil
	}

	for name := range g.blobs {
		if _, ok := p.ObjectOffset(name); ok && !reached[name] {
			return true, nil
		}
	}
	return false, nil
}

// listReached returns the names of the objects of all rescues of a repository, and the packs in which they
// lie. Those of damaged rescues are as far as they can be read.
func (r *repository) listReached(ctx context.Context) (objects, packs map[string]bool, err error) {
	refs, err := r.ListRefs("")
	if err != nil {
		return nil, nil, err
	}

	objects, packs = map[string]bool{}, map[string]bool{}
	for _, f := range refs {
		s := r.NewSource(f)
		err := s.AddReached(ctx, objects)
		s.Close()

		// A damaged rescue reaches what can be read of it. One that the system doesn't hand out may be whole.
		if err != nil && (ctx.Err() != nil || bare.IsUnreadable(err)) {
			return nil, nil, err
		}

		packs[r.PackBase(f.Form, f.ID)] = true
		for _, id := range s.Needs {
			packs[r.PackBase(bare.LeanForm, id)] = true
		}
	}
	return objects, packs, nil
}
