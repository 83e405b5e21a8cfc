package rescue

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// Bounds of what a snapshot leans on. What would be more is written again, but for large objects.
const (
	maxNeeds     = 64
	maxNeedAge   = 24 * time.Hour
	maxRewritten = 256 << 10 // bytes of an object
)

// makingLock is the lock that is shared by who makes a snapshot of earlier packs, and exclusive for who removes
// some.
const makingLock = "making.lock"

// lockPatience is how long a snapshot waits for those who remove old ones, a few at a time. After that it
// leans on nothing.
const lockPatience = 100 * time.Millisecond

// errStale says that a pack isn't there, or isn't what the cache says of it.
var errStale = errors.New("an earlier snapshot is damaged")

// snapshotTaker makes one snapshot. A nil one stands for a whole rescue, which knows nothing of
// earlier ones.
type snapshotTaker struct {
	repo    *repository
	writing *bare.Writer
	began   time.Time // before git was asked

	// checkout is held from looking at files until the cache is written, so that snapshots of a checkout come
	// one after the other. Without it, the cache isn't written. packs is held from choosing what is leaned on
	// until the ref stands, so that none of that is removed.
	checkout, packs *bare.FileLock

	early        *cache                     // what was known before git was asked, without a lock; may be nil
	base         *cache                     // nil if the snapshot leans on nothing
	was          map[string]*manifest.Entry // those of base, by path
	staged       map[string]string          // the blobs of versions that were staged, by their names in the user's repository
	stamps       map[string]seenStamp
	hasNewStamps bool // a file was read of which another stamp was known
	isPartial    bool // of some files only: no later snapshot leans on it
}

// runSnapshot makes a snapshot of everything that is uncommitted, and leans on the last one.
func (t *rescueTaker) runSnapshot(ctx context.Context) (Taken, error) {
	named, left := t.r.Paths, *t.left
	taken, err := t.takeSnapshot(ctx, named)
	if !errors.Is(err, errStale) {
		return taken, err
	}

	// What it leans on is damaged: once more, from what git says alone.
	*t.left = left
	again := &rescueTaker{store: t.store, r: t.r, reading: t.reading, left: t.left, depth: t.depth}
	return again.takeSnapshot(ctx, named)
}

// wholeRequest is a request for everything that is uncommitted.
func wholeRequest(r Request) Request {
	r.Paths, r.Untracked, r.Ignored = nil, true, true
	return r
}

func (t *rescueTaker) takeSnapshot(ctx context.Context, named []string) (Taken, error) {
	t.r = wholeRequest(t.r)
	t.snapshot = &snapshotTaker{began: t.store.now()}
	if t.r.Ahead.isWholeOf(t.r) {
		t.snapshot.began = t.r.Ahead.begun
	}

	ignored, err := t.surveyCheckout(ctx, named)
	if err != nil {
		return Taken{}, err
	}
	defer t.closeTree()

	if err := t.beginSnapshot(ctx); err != nil {
		return Taken{}, err
	}
	defer t.snapshot.abandonAndUnlock()

	wanted, err := t.listCandidates(ignored)
	if err != nil {
		return Taken{}, err
	}

	t.seen.dropSubmodules()
	return t.keepSnapshot(ctx, wanted)
}

// beginSnapshot takes the locks, and reads what is known of the checkout.
func (t *rescueTaker) beginSnapshot(ctx context.Context) error {
	s := t.snapshot
	repo, err := t.store.prepareRepository(ctx, t.r.Tree.Common)
	if err != nil {
		return err
	}
	if err := plainfile.MkdirAll(repo.PathTo(bare.StateName)); err != nil {
		return bare.ErrUnwritable(repo.PathTo(bare.StateName), err)
	}

	if err := bare.CheckFolder(repo.PathTo(bare.StateName)); err != nil {
		return err
	}

	s.repo, s.writing, s.stamps = repo, repo.BeginWriting(bare.LeanForm), map[string]seenStamp{}
	t.pack = s.writing.Pack

	// Without a lock there is a snapshot all the same: it leans on nothing.
	var ok bool
	if s.checkout, ok = bare.WaitLock(t.reading, repo.cachePath(bare.CheckoutName(t.r.Tree))+bare.LockSuffix, bare.LockExclusive); !ok {
		return nil
	}

	short, cancel := context.WithTimeout(t.reading, lockPatience)
	defer cancel()
	if s.packs, ok = bare.WaitLock(short, repo.PathTo(makingLock), bare.LockShared); !ok {
		return nil
	}

	base := repo.readCacheAgain(t.r.Tree, s.early)
	if base != nil && repo.hasAll(base, bare.CheckoutName(t.r.Tree)) {
		s.leanOn(base)
		t.pack.Held = base.objects
	}
	return nil
}

// hasAll reports whether the last snapshot, and all packs that it needs, are there.
func (r *repository) hasAll(c *cache, checkout string) bool {
	if !r.IsHeld(bare.Ref{Form: bare.LeanForm, Checkout: checkout, ID: c.id}) {
		return false
	}

	for _, id := range pack.PacksOf(c.objects) {
		if _, err := os.Lstat(r.PackBase(bare.LeanForm, id) + pack.IndexSuffix); err != nil {
			return false
		}
	}
	return true
}

func (s *snapshotTaker) leanOn(base *cache) {
	s.base, s.was, s.staged = base, make(map[string]*manifest.Entry, len(base.state.Entries)), map[string]string{}

	for i := range base.state.Entries {
		e := &base.state.Entries[i]
		s.was[string(e.Path)] = e

		for _, v := range e.Index {
			if v.Blob != "" {
				s.staged[v.OID] = v.Blob
			}
		}
	}
}

// abandonAndUnlock gives up what isn't complete, and the locks.
func (s *snapshotTaker) abandonAndUnlock() {
	s.writing.Abandon()
	s.packs.Unlock()
	s.checkout.Unlock()
}

// untouchedWork returns the file of an entry as it was kept last, if its stamp is still the same. Else it is
// nil.
func (s *snapshotTaker) untouchedWork(e *manifest.Entry, now plainfile.Stamp) *manifest.WorkFile {
	// Git doesn't compare files with these flags: only their bytes tell.
	if s == nil || s.base == nil || e.Assume || e.Skip {
		return nil
	}

	was := s.was[string(e.Path)]
	if was == nil || was.Work == nil || s.base.stamps[string(e.Path)].Stamp != now {
		return nil
	}
	return was.Work
}

// stagedBefore returns the blob of a staged version that the last snapshot has, and its size.
func (s *snapshotTaker) stagedBefore(oid string) (blob string, size int64, ok bool) {
	if s == nil || s.base == nil {
		return "", 0, false
	}

	if blob, ok = s.staged[oid]; ok {
		size = s.base.objects[blob].Size
	}
	return blob, size, ok
}

// keepKnownWork has an entry that git doesn't track keep the file that the last snapshot has of it, and
// reports whether that has one. Without it the next snapshot would read and write all of them again.
func (t *rescueTaker) keepKnownWork(e *manifest.Entry) bool {
	s := t.snapshot
	if s == nil || s.base == nil || !isUntracked(e) {
		return false
	}

	was := s.was[string(e.Path)]
	if was == nil || was.Work == nil || t.isNever(string(e.Path)) {
		return false
	}

	e.Work = was.Work
	t.taken.Bytes += was.Work.Size
	s.noteStamp(string(e.Path), plainfile.Stamp{}, time.Time{})
	return true
}

// isUntracked reports whether neither HEAD nor the index have a path.
func isUntracked(e *manifest.Entry) bool { return len(e.Index) == 0 && e.Head == nil }

// noteStamp notes the stamp of a file whose bytes the snapshot has. at is when it was looked at; zero if the
// file wasn't read again.
func (s *snapshotTaker) noteStamp(path string, now plainfile.Stamp, at time.Time) {
	switch {
	case s == nil:
	case at.IsZero():
		s.stamps[path] = s.base.stamps[path]
	default:
		s.stamps[path] = seenStampOf(now, at)
		s.hasNewStamps = s.hasNewStamps || s.stamps[path].Stamp != plainfile.Stamp{}
	}
}

// ignoredLimit returns how many bytes of ignored files are kept.
func (t *rescueTaker) ignoredLimit() int64 {
	if t.snapshot == nil {
		return t.store.Limits.Bytes
	}
	return t.store.Limits.SnapshotIgnored
}

// carryOverEntries returns entries for files of the last snapshot that git doesn't name: those in ignored
// directories, of which it names only the directory, and all that it doesn't track if it had no time to list
// them. Where only a file was looked at after git was asked, its entry stays as it is.
func (t *rescueTaker) carryOverEntries() (again []*manifest.Entry) {
	s := t.snapshot
	if s == nil || s.base == nil {
		return nil
	}

	isIndexSame := t.seen.isPartial && s.base.index.holds(t.seen.facts.stamp)
	isIndexListed := !t.seen.isPartial && t.seen.index != nil
	knowsIndex := isIndexSame || isIndexListed // else a new file may have been committed since

	var tracked map[string]bool
	for _, e := range s.base.state.Entries {
		path := string(e.Path)
		isUnlisted := knowsIndex && t.seen.lacksNew && isUntracked(&e)
		isCarried := e.Unsure || e.Ignored || isUnlisted
		if !isCarried || t.seen.entries[path] != nil {
			continue
		}

		// A file that was kept after git was asked is newer than git's answer.
		if e.Unsure && s.base.stamps[path].at >= s.began.UnixNano() {
			kept := e
			t.seen.entries[path] = &kept
			s.stamps[path] = s.base.stamps[path]
			continue
		}

		// While the index is the same, so is what it lacks.
		needsIndex := !isUnlisted || isIndexListed
		if tracked == nil && needsIndex {
			tracked = t.listTracked()
		}

		if tracked[path] || t.seen.isNested(path) || e.Work == nil && !e.LeftOut {
			continue
		}

		if !t.isToCarryOver(path, isUnlisted) {
			continue
		}

		found := t.seen.entryAt(path)
		found.Ignored = e.Ignored || e.Unsure
		again = append(again, found)
	}

	return again
}

// isToCarryOver reports whether a file that git doesn't name is still there. Of a new one that git had no time
// to list, what was known has to do where there is no time to look either; and if it is gone the snapshot says
// so, since nothing else does.
func (t *rescueTaker) isToCarryOver(path string, isUnlisted bool) bool {
	if isUnlisted && t.reading.Err() != nil {
		return true
	}

	_, err := t.tree.Lstat(path)
	if isUnlisted && errors.Is(err, fs.ErrNotExist) {
		t.seen.entryAt(path).Unsure = true
	}
	return err == nil
}

// listTracked returns the paths in the index. Without an answer of git, those that are known.
func (t *rescueTaker) listTracked() map[string]bool {
	lines := t.seen.index
	if t.seen.isPartial {
		all, err := listIndex(t.reading, t.git)
		if err != nil {
			t.leaveOut("./", manifest.WhyTime, 0)
		} else {
			lines = all
		}
	}

	tracked := make(map[string]bool, len(lines))
	for _, l := range lines {
		tracked[l.path] = true
	}
	return tracked
}

// knownIndex returns what the last snapshot knew of the index. Nothing is locked yet: whether it still holds,
// the stamp tells.
func (t *rescueTaker) knownIndex() indexFacts {
	if t.snapshot == nil {
		return indexFacts{}
	}

	t.snapshot.early = t.store.repositoryOf(t.r.Tree.Common).readCache(t.r.Tree)
	if t.snapshot.early == nil {
		return indexFacts{}
	}
	return t.snapshot.early.index
}

// isNested reports whether a path lies in a repository inside the tree.
func (v *survey) isNested(path string) bool {
	isRepository := func(p string) bool { return strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) }
	isSubmodule := func(l indexLine) bool { return l.IsSubmodule() && strings.HasPrefix(path, l.path+"/") }
	return slices.ContainsFunc(v.untracked, isRepository) || slices.ContainsFunc(v.index, isSubmodule)
}

// timeAfterLast returns a time, or the first after the last snapshot's if that is later: the ids of a
// checkout's snapshots sort as they were made, whatever the clock does.
func (s *snapshotTaker) timeAfterLast(at stick.Time) stick.Time {
	if s.base == nil {
		return at
	}

	last, _ := manifest.TimeOf(s.base.id)
	return max(at, last+1)
}

// keepSnapshot reads what was chosen, and writes the snapshot unless it would be the same as the last.
func (t *rescueTaker) keepSnapshot(ctx context.Context, wanted []candidate) (Taken, error) {
	s := t.snapshot
	if err := t.readCandidates(wanted); err != nil {
		return Taken{}, err
	}

	st := t.collectState()
	t.taken.NoIndex = !hasIndex(t.r.Tree)
	t.taken.Files, t.taken.Paths = st.CountFiles(), st.UncommittedPaths(!t.taken.NoIndex)
	t.taken.LeftOut = manifest.CollapseLeftOut(t.taken.LeftOut)
	t.taken.Nothing = len(st.Entries) == 0 && len(t.taken.LeftOut) == 0 && len(t.taken.Nested) == 0

	c := &cache{
		top: t.r.Tree.Top, branch: t.seen.branch, files: t.taken.Files, bytes: t.taken.Bytes,
		state: st, stamps: s.stamps,
		leftOut: t.taken.LeftOut, nested: t.taken.Nested, index: t.seen.facts,
	}

	// If nothing has changed, as after most calls, only newer stamps are written.
	// One that hadn't the time to look at all there is doesn't stand for one that had, nor the other way round.
	isSame := s.base != nil && s.base.state.IsEqual(st) && slices.Equal(s.base.nested, t.taken.Nested)
	if isSame && manifest.IsLate(s.base.leftOut) == manifest.IsLate(t.taken.LeftOut) {
		t.taken.ID, t.taken.Same = s.base.id, true
		if s.hasNewStamps || !c.index.isSame(s.base.index) {
			c.id, c.tree, c.objects = s.base.id, s.base.tree, s.base.objects
			t.store.kill("same")
			s.repo.writeCache(t.r.Tree, c)
		}
		return t.taken, nil
	}

	tree, err := t.addSnapshot(st)
	if err != nil {
		return Taken{}, t.dropStale(err)
	}
	c.tree = tree

	needs, err := t.chooseNeeds()
	if err != nil {
		return Taken{}, t.dropStale(err)
	}

	m := t.newManifest(st)
	m.Needs, m.At = needs, s.timeAfterLast(m.At)
	if c.id, err = s.writing.Complete(ctx, bare.CheckoutName(t.r.Tree), tree, m); err != nil {
		return Taken{}, err
	}

	// Who has no lock, or saw some files alone, doesn't know the checkout.
	if s.checkout != nil && !s.isPartial {
		c.objects = pack.OwnedBy(c.id, t.pack.Used)
		s.repo.writeCache(t.r.Tree, c)
	}

	t.taken.ID = c.id
	return t.taken, nil
}

// dropStale forgets what is known of the checkout, if that is to blame for an error.
func (t *rescueTaker) dropStale(err error) error {
	if errors.Is(err, errStale) {
		os.Remove(t.snapshot.repo.cachePath(bare.CheckoutName(t.r.Tree)))
	}
	return err
}
