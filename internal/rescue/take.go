package rescue

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/rescue/workfile"
	"talkingstick/stick"
)

// Take rescues what is uncommitted in a working tree. It returns in about [Limits.Time], and at the latest
// after [Limits.Longest], even if a disk doesn't answer. What it couldn't keep is named in [Taken.LeftOut].
// It changes nothing in the user's repository or tree, and runs no program but git.
//
// It fails if git can't tell what is uncommitted, if the rescue can't be written, with [stick.CodeUsage] for
// a path outside of the tree, and with the error of ctx if that ends.
//
// With [CauseCall] it makes a snapshot: of the whole tree, leaning on the last snapshot of the checkout. If
// nothing has changed since, it writes nothing. Of a tree without uncommitted changes there is one, too.
func (s *Store) Take(ctx context.Context, r Request) (Taken, error) {
	return s.takeInTime(ctx, r, (*rescueTaker).runRescue)
}

// takeInTime has a rescue made within its time.
func (s *Store) takeInTime(
	ctx context.Context, r Request, run func(*rescueTaker, context.Context) (Taken, error),
) (Taken, error) {
	if r.At.IsZero() {
		r.At = stick.At(time.Now())
	}

	until := time.Now().Add(s.Limits.Time)
	limited, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	reading, stop := context.WithDeadline(limited, until.Add(-s.Limits.Time/5)) // the rest is for writing
	defer stop()

	left := s.Limits.Bytes
	t, err := inTime(limited, s.Limits.Longest()-s.Limits.Time, func() (Taken, error) {
		return run(&rescueTaker{store: s, r: r, reading: reading, left: &left}, limited)
	})
	if err := ctx.Err(); err != nil {
		return Taken{}, err
	}

	// If a disk doesn't answer, nobody knows what the tree holds.
	if errors.Is(err, context.DeadlineExceeded) {
		return Taken{LeftOut: []manifest.LeftOut{{Path: "./", Why: manifest.WhyTime}}, Nested: []manifest.Nested{}}, nil
	}
	return t, err
}

// inTime returns what do returns, or the error of ctx if do goes on for longer than grace after the end of
// ctx: the system can't be asked to give up a file or a directory that a disk doesn't hand out. What do
// returns later is dropped.
func inTime[T any](ctx context.Context, grace time.Duration, do func() (T, error)) (t T, err error) {
	type outcome struct {
		t        T
		err      error
		panicked any
	}

	done := make(chan outcome, 1)

	// This ends with do, however long that takes.
	go func() {
		var o outcome
		defer func() {
			// The caller panics in its place, since a hook survives that.
			o.panicked = recover()
			done <- o
		}()
		o.t, o.err = do()
	}()

	o, late := outcome{}, (<-chan time.Time)(nil)
	for over := ctx.Done(); ; {
		select {
		case o = <-done:
			if o.panicked != nil {
				panic(o.panicked)
			}
			return o.t, o.err
		case <-over:
			over, late = nil, time.After(grace)
		case <-late:
			return t, ctx.Err()
		}
	}
}

// rescueTaker makes one rescue.
type rescueTaker struct {
	store   *Store
	r       Request
	reading context.Context // until when files are read
	left    *int64          // how many bytes it may still keep, together with those of nested repositories
	depth   int

	git   git.Isolated
	seen  *survey
	tree  *workfile.Folders // nil once a file of it couldn't be read in time
	pack  *pack.Writer
	taken Taken
	never func(path string) bool // see isNever

	snapshot *snapshotTaker // nil for a whole rescue
}

func (t *rescueTaker) runRescue(ctx context.Context) (taken Taken, err error) {
	if t.r.Paths, err = cleanPaths(t.r.Paths); err != nil {
		return Taken{}, err
	}

	if t.r.isSnapshot() {
		return t.runSnapshot(ctx)
	}
	ignored, err := t.surveyCheckout(ctx, t.r.Paths)
	if err != nil {
		return Taken{}, err
	}
	defer t.closeTree()

	wanted, err := t.listCandidates(ignored)
	if err != nil {
		return Taken{}, err
	}

	t.seen.dropSubmodules()
	if len(t.seen.entries) == 0 {
		t.taken.LeftOut = manifest.CollapseLeftOut(t.taken.LeftOut)
		t.taken.Nothing = len(t.taken.LeftOut) == 0 && len(t.taken.Nested) == 0
		return t.taken, nil
	}

	err = t.keepWhole(ctx, wanted)
	return t.taken, err
}

// surveyCheckout asks git what is uncommitted, opens the tree, and rescues the repositories inside of it. It
// returns the ignored files that may be kept; named are the paths that say which.
func (t *rescueTaker) surveyCheckout(ctx context.Context, named []string) (ignored []string, err error) {
	if t.git, err = t.store.isolateGit(ctx, t.r); err != nil {
		return nil, err
	}
	if t.seen, err = t.store.surveyTree(ctx, t.git, t.r, t.knownIndex()); err != nil {
		return nil, err
	}
	if t.tree, err = workfile.Open(t.r.Tree.Top); err != nil {
		return nil, err
	}

	t.taken = Taken{LeftOut: t.seen.leftOut, Nested: []manifest.Nested{}}
	ignored = t.listIgnored(named)

	if t.r.Nested {
		t.takeNested(ctx)
	}
	return ignored, nil
}

func (t *rescueTaker) closeTree() {
	if t.tree != nil {
		t.tree.Close()
	}
}

// leaveOut notes that the rescue lacks something.
func (t *rescueTaker) leaveOut(path string, why manifest.Why, files int) {
	t.taken.LeftOut = append(t.taken.LeftOut, manifest.LeftOut{Path: path, Why: why, Files: files})
}

// leaveOutWork notes that the rescue lacks the file of an entry.
func (t *rescueTaker) leaveOutWork(e *manifest.Entry, why manifest.Why) {
	e.LeftOut = true
	t.leaveOut(string(e.Path), why, 0)
}

// leaveOutUnread notes that there was no time to read the file of an entry. A snapshot has a new file as the
// last one knew it, if it did.
func (t *rescueTaker) leaveOutUnread(e *manifest.Entry) {
	if t.keepKnownWork(e) {
		t.leaveOut(string(e.Path), manifest.WhyTime, 0)
		return
	}
	t.leaveOutWork(e, manifest.WhyTime)
}

// candidate is something that may be kept: the file of an entry, or a version of it in the index.
type candidate struct {
	entry   *manifest.Entry
	version *manifest.Version // nil for the file in the working tree
	class   int               // tracked ones are kept first
	size    int64
	same    *manifest.WorkFile // the file as it was when it was kept last, if it is untouched since
	stamp   plainfile.Stamp    // of the file in the working tree
}

const (
	classTracked = iota
	classUntracked
	classIgnored
)

// listCandidates adds the untracked and ignored files to the entries, and chooses what is kept: tracked files
// first, small ones first, up to the limit. Nothing is read for that. The result is sorted by path.
func (t *rescueTaker) listCandidates(ignored []string) ([]candidate, error) {
	all, err := t.stagedCandidates()
	if err != nil {
		return nil, err
	}

	add := func(e *manifest.Entry, class int) {
		if c, ok := t.measureFile(e, class); ok {
			all = append(all, c)
		}
	}

	tracked := make([]string, 0, len(t.seen.entries))
	for path := range t.seen.entries {
		tracked = append(tracked, path)
	}
	slices.Sort(tracked)
	for _, path := range tracked {
		add(t.seen.entries[path], classTracked)
	}

	for _, path := range t.seen.untracked {
		if _, known := t.seen.entries[path]; !known && !strings.HasSuffix(path, "/") && t.r.Untracked {
			add(t.seen.entryAt(path), classUntracked)
		}
	}

	for _, path := range ignored {
		if _, known := t.seen.entries[path]; !known {
			e := t.seen.entryAt(path)
			e.Ignored = true
			add(e, classIgnored)
		}
	}

	for _, e := range t.carryOverEntries() {
		add(e, classIgnored)
	}

	return t.chooseCandidates(all), nil
}

func (t *rescueTaker) chooseCandidates(all []candidate) []candidate {
	// Small files come first: so the limit leaves out the fewest.
	slices.SortFunc(all, func(a, b candidate) int {
		if a.class != b.class {
			return a.class - b.class
		}
		if a.size != b.size {
			return int(min(max(a.size-b.size, -1), 1))
		}
		return strings.Compare(string(a.entry.Path), string(b.entry.Path))
	})

	var chosen []candidate
	ignoredLeft := t.ignoredLimit()
	for _, c := range all {
		isIgnored := c.class == classIgnored
		switch {
		case isIgnored && c.size > ignoredLeft:
			t.leaveOutWork(c.entry, manifest.WhyLimit)
		case c.same != nil, c.size <= *t.left:
			// What an earlier pack has costs no bytes.
			if c.same == nil {
				*t.left -= c.size
			}
			if isIgnored {
				ignoredLeft -= c.size
			}
			chosen = append(chosen, c)
		case c.version != nil:
			t.leaveOut(string(c.entry.Path), manifest.WhyLimit, 0)
		default:
			t.leaveOutWork(c.entry, manifest.WhyLimit)
		}
	}

	slices.SortStableFunc(chosen, func(a, b candidate) int {
		return strings.Compare(string(a.entry.Path), string(b.entry.Path))
	})
	return chosen
}

// measureFile looks at the file of an entry without reading it. ok is false if there is nothing to read: it
// doesn't exist, is a directory, or can't be kept.
func (t *rescueTaker) measureFile(e *manifest.Entry, class int) (c candidate, ok bool) {
	if t.reading.Err() != nil {
		t.leaveOutUnread(e)
		return c, false
	}

	info, err := t.tree.Lstat(string(e.Path))
	blocked := (*workfile.BlockedError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.As(err, &blocked):
		return c, false
	case err != nil:
		t.leaveOutWork(e, manifest.WhyUnreadable)
	case info.IsDir():
	case t.isNever(string(e.Path)):
		t.leaveOutWork(e, manifest.WhyNever)
	case info.Mode()&fs.ModeSymlink == 0 && !info.Mode().IsRegular():
		t.leaveOutWork(e, manifest.WhySpecial)
	case class == classIgnored && info.Size() > t.store.Limits.IgnoredBytes:
		t.leaveOutWork(e, manifest.WhyIgnored)
	default:
		c = candidate{entry: e, class: class, size: info.Size(), stamp: plainfile.StampOf(info)}
		c.same = t.snapshot.untouchedWork(e, c.stamp)
		return c, true
	}
	return c, false
}

// dropSubmodules forgets submodules that are only at another commit: that is their own matter, until it is
// staged.
func (v *survey) dropSubmodules() {
	for path, e := range v.entries {
		if len(e.Index) > 0 && e.Index[0].IsSubmodule() && !e.IsStaged() {
			delete(v.entries, path)
		}
	}
}

// keepWhole reads what was chosen, and writes the rescue unless it would be the same as the last.
func (t *rescueTaker) keepWhole(ctx context.Context, wanted []candidate) error {
	repo, err := t.store.prepareRepository(ctx, t.r.Tree.Common)
	if err != nil {
		return err
	}

	// Also where nothing new is kept: what a killed process has left may be large.
	defer func() { t.pruneOthers(ctx, repo) }()

	w := repo.BeginWriting(bare.WholeForm)

	// This removes nothing once the rescue is complete.
	defer w.Abandon()
	t.pack = w.Pack

	if err := t.readCandidates(wanted); err != nil {
		return err
	}

	st := t.collectState()
	if len(st.Entries) == 0 {
		t.taken.LeftOut = manifest.CollapseLeftOut(t.taken.LeftOut)
		t.taken.Nothing = len(t.taken.LeftOut) == 0 && len(t.taken.Nested) == 0
		return nil
	}

	t.taken.Files = st.CountFiles()
	tree, err := bare.AddWhole(t.pack, st)
	if err != nil {
		return err
	}
	t.taken.LeftOut = manifest.CollapseLeftOut(t.taken.LeftOut)

	checkout := bare.CheckoutName(t.r.Tree)
	if id, ok := repo.LastWithTree(ctx, checkout, tree); ok {
		t.taken.ID, t.taken.Same = id, true
		return nil
	}

	t.taken.ID, err = w.Complete(ctx, checkout, tree, t.newManifest(st))
	return err
}

// pruneOthers drops what is too much, or was left by a rescue that was killed.
func (t *rescueTaker) pruneOthers(ctx context.Context, repo *repository) {
	// Pruning has a time of its own, also if that of the rescue is over.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.store.Limits.Prune)
	defer cancel()
	t.store.pruneRepositories(after, repo, t.taken.ID, t.r.At)
}

func (t *rescueTaker) newManifest(st manifest.State) manifest.Manifest {
	return manifest.Manifest{
		At: t.r.At, Top: t.r.Tree.Top, Common: t.r.Tree.Common, Head: st.Head, Branch: t.seen.branch,
		Operation: readOperation(t.r.Tree.Git),
		Facts:     t.r.Facts, Files: t.taken.Files, Bytes: t.taken.Bytes, LeftOut: t.taken.LeftOut, Nested: t.taken.Nested,
	}
}

// unkeptFiles returns the new files of which a snapshot can't have the bytes, whatever time there is. That they
// are there is kept, so that somebody is told when they vanish.
func (t *rescueTaker) unkeptFiles() map[string]bool {
	unkept := map[string]bool{}
	if t.snapshot == nil {
		return unkept
	}

	for _, l := range t.taken.LeftOut {
		e := t.seen.entries[l.Path]
		isImpossible := l.Why == manifest.WhyLimit || l.Why == manifest.WhyUnreadable
		if isImpossible && e != nil && !e.Ignored {
			unkept[l.Path] = e.LeftOut
		}
	}

	return unkept
}

// collectState returns the entries that have something to restore.
func (t *rescueTaker) collectState() manifest.State {
	st := manifest.State{Head: t.seen.head, Entries: []manifest.Entry{}}
	unkept := t.unkeptFiles()
	for _, e := range t.seen.entries {
		untracked := len(e.Index) == 0 && e.Head == nil

		// Such a file isn't wanted in the tree, and isn't there.
		hidden := e.Skip && !e.IsStaged() && e.Work == nil && !e.LeftOut
		isEmpty := untracked && e.Work == nil && !e.Unsure && !unkept[string(e.Path)]
		if isEmpty || hidden {
			continue
		}

		st.Entries = append(st.Entries, *e)
	}

	slices.SortFunc(st.Entries, func(a, b manifest.Entry) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return st
}
