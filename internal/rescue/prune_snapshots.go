package rescue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/stick"
)

const (
	prunedName  = "pruned"  // the file whose time says when snapshots were removed last
	pruningName = "pruning" // the file whose time says when a process for that was started last
)

// pruneEvery is how often the snapshots of a repository are looked through.
const pruneEvery = time.Hour

// isPruneDue reports whether an hour has passed since the snapshots were looked through.
func (r *repository) isPruneDue(now stick.Time) bool { return r.HasPassed(prunedName, pruneEvery, now) }

// retryPrune is how long nobody begins to look through the snapshots again, after somebody has begun and
// maybe died.
const retryPrune = 10 * time.Minute

// BeginPrune reports whether the caller is to start a process that calls [Store.Prune], because that is due,
// and notes that it does. It costs the reading of two small files. Of a repository that is new, the first
// time is an hour off, but for what the clock did.
func (s *Store) BeginPrune(common string, now stick.Time) bool {
	r := s.repositoryOf(common)
	if r.CheckFolders() != nil || !r.isPruneDue(now) || !r.HasPassed(pruningName, retryPrune, now) {
		return false
	}

	_, err := os.Lstat(r.PathTo(prunedName))
	isFirst := errors.Is(err, fs.ErrNotExist) && r.isNew(now)

	if !isFirst {
		r.NoteTime(pruningName, now)
	}

	return !isFirst
}

// isNew reports whether there is no snapshot yet that is older than an hour.
func (r *repository) isNew(now stick.Time) bool {
	// HEAD was written once, when the repository was made.
	info, err := os.Lstat(r.PathTo("HEAD"))
	return err == nil && now.Sub(stick.At(info.ModTime())) < pruneEvery
}

// pruneSnapshots drops the snapshots that aren't kept any longer, and the packs that none of the others
// needs. Whoever makes a snapshot meanwhile leans on the last one of its checkout. That is kept, or loses its
// ref while nobody makes one: so what a new one leans on is needed by what is kept.
func (r *repository) pruneSnapshots(ctx context.Context, now stick.Time, l Limits) {
	if !r.isPruneDue(now) {
		return
	}

	p, err := r.planPrune(ctx, now, l)
	if err != nil || !p.dropRefs(ctx) {
		return
	}

	p.dropPacks(ctx, now)

	// If it was interrupted, the next one isn't put off.
	if ctx.Err() == nil {
		r.NoteTime(prunedName, now)
	}
}

// prunePlan says which snapshots of a repository are dropped.
type prunePlan struct {
	repo   *repository
	known  map[bare.Ref]bool
	drop   []bare.Ref
	needed map[string]bool // the ids whose packs are needed
}

// planPrune decides what is dropped. It fails if it can't read what a snapshot needs, unless that is damaged:
// then nothing brings it back.
func (r *repository) planPrune(ctx context.Context, now stick.Time, l Limits) (*prunePlan, error) {
	all, err := r.ListRefs("", bare.LeanForm)
	if err != nil {
		return nil, err
	}

	// The newest come first.
	slices.SortFunc(all, func(a, b bare.Ref) int { return strings.Compare(b.ID, a.ID) })

	p := &prunePlan{repo: r, known: map[bare.Ref]bool{}, needed: map[string]bool{}}
	thinned := newThinning(now, l)
	total, full := int64(0), false

	// A pack counts for the newest snapshot that needs it.
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}

		p.known[f] = true
		isMarked := r.IsMarked(f)
		if !isMarked && (full || !thinned.keepsSnapshot(f)) {
			p.drop = append(p.drop, f)
			continue
		}

		packs, err := r.PacksNeeded(ctx, f)
		if err != nil {
			return nil, err
		}
		packs = slices.DeleteFunc(packs, func(id string) bool { return p.needed[id] })

		more := int64(0)
		for _, id := range packs {
			more += r.RescueBytes(bare.Ref{Form: bare.LeanForm, ID: id})
		}

		full = full || l.SnapshotsTotal > 0 && total+more > l.SnapshotsTotal
		if full && !isMarked {
			p.drop = append(p.drop, f)
			continue
		}

		total += more
		for _, id := range packs {
			p.needed[id] = true
		}
	}

	return p, nil
}

// thinning decides by time which snapshots are kept, the newest first.
type thinning struct {
	now    stick.Time
	limits Limits
	hours  map[string]bool // by checkout and hour: one of it is kept
}

func newThinning(now stick.Time, l Limits) thinning { return thinning{now, l, map[string]bool{}} }

func (t thinning) keepsSnapshot(f bare.Ref) bool {
	at, _ := manifest.TimeOf(f.ID)
	age := t.now.Sub(at)
	if age <= t.limits.SnapshotsAll {
		return true
	}

	hour := f.Checkout + " " + strconv.FormatInt(int64(at)/time.Hour.Milliseconds(), 10)
	if age > t.limits.Age || t.hours[hour] {
		return false
	}

	t.hours[hour] = true
	return true
}

// dropRefs removes the refs of the snapshots that are dropped, while nobody makes one. It reports whether it
// could. A snapshot that was marked meanwhile stays, with what it needs, and one that was made meanwhile is
// needed, too.
func (p *prunePlan) dropRefs(ctx context.Context) bool {
	r := p.repo
	lock, ok := bare.TryLock(r.PathTo(makingLock), bare.LockExclusive)
	if !ok {
		return false
	}
	defer lock.Unlock()

	now, err := r.ListRefs("", bare.LeanForm)
	if err != nil {
		return false
	}
	r.FinishReplacing()

	// What was made or marked meanwhile keeps what it needs.
	staying := slices.DeleteFunc(now, func(f bare.Ref) bool { return p.known[f] })
	drop := p.drop
	p.drop = nil
	for _, f := range drop {
		if r.IsMarked(f) {
			staying = append(staying, f)
		} else {
			p.drop = append(p.drop, f)
		}
	}

	for _, f := range staying {
		packs, err := r.PacksNeeded(ctx, f)
		if err != nil {
			return false
		}
		for _, id := range packs {
			p.needed[id] = true
		}
	}

	for _, f := range p.drop {
		if ctx.Err() != nil {
			return false
		}

		// If a ref stays, so does its pack: see dropPacks.
		_ = os.Remove(r.RefPath(f))
		r.Kill("dropped snapshot")
	}

	return true
}

// dropPacks removes the packs of the snapshots that were dropped, and those that a crash has left, unless a
// snapshot needs them.
func (p *prunePlan) dropPacks(ctx context.Context, now stick.Time) {
	r := p.repo
	for _, f := range p.drop {
		if ctx.Err() != nil {
			return
		}
		if !p.needed[f.ID] && !r.IsHeld(f) {
			r.DropPack(f)
		}
	}

	// A crash leaves packs that no ref names.
	held := map[string]bool{}
	refs, err := r.ListRefs("", bare.LeanForm)
	if err != nil {
		return
	}
	for _, f := range refs {
		held[f.ID] = true
	}

	bare.SweepLeftovers(r.PathTo(bare.PacksName), now, func(name string) bool {
		id, ours := strings.CutPrefix(name, bare.LeanForm.Prefix)
		id, _, _ = strings.Cut(id, ".")
		_, isID := manifest.TimeOf(id)
		return ours && isID && !held[id] && !p.needed[id]
	})

	isLock := func(name string) bool { return strings.HasSuffix(name, bare.LockSuffix) }
	checkouts, _ := bare.ListNames(r.PathTo(bare.LeanForm.Refs))
	for _, c := range checkouts {
		bare.SweepLeftovers(r.PathTo(bare.LeanForm.Refs+"/"+c), now, isLock)
	}
}

// Mark has a rescue stay until [Store.Unmark], whatever its age and the size of the others: something names
// it, as the last copy of what a call took. The mark is a file beside its pack, as git has them, and says what
// that was. It fails as [Store.Show] does, and with [stick.CodeDataDirNotWritable].
func (s *Store) Mark(id string, lost manifest.Loss) error {
	r, f, err := s.findRescue(id)
	if err != nil {
		return err
	}

	text, err := json.Marshal(lost)
	if err != nil {
		return err
	}

	path := r.PackBase(f.Form, f.ID) + bare.KeepSuffix
	file, err := plainfile.Open(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return bare.ErrUnwritable(path, err)
	}

	_, err = file.Write(text)
	if err := cmp.Or(err, file.Close()); err != nil {
		return bare.ErrUnwritable(path, err)
	}

	// The rescue may have been dropped at the same moment.
	if !r.IsHeld(f) {
		os.Remove(path)
		return bare.ErrNoRescue(id)
	}
	return nil
}

// readLoss returns what the mark of a rescue says. It is nil without one, and for a mark of an older program,
// which is empty.
func (r *repository) readLoss(f bare.Ref) *manifest.Loss {
	text, err := plainfile.Read(r.PackBase(f.Form, f.ID) + bare.KeepSuffix)
	if err != nil {
		return nil
	}

	var lost manifest.Loss
	if json.Unmarshal(text, &lost) != nil || lost.Agent == "" {
		return nil
	}
	return &lost
}

// Unmark takes the mark of a rescue away. It fails as [Store.Mark] does.
func (s *Store) Unmark(id string) error {
	r, f, err := s.findRescue(id)
	if err != nil {
		return err
	}

	path := r.PackBase(f.Form, f.ID) + bare.KeepSuffix
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return bare.ErrUnwritable(path, err)
	}
	return nil
}
