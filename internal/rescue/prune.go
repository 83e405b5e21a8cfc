package rescue

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/stick"
)

// crashAge is the age at which a file that nobody owns is what a crash has left.
const crashAge = time.Hour

// Prune drops the rescues that are past their time, or more or larger than a repository may have, the oldest
// first, and what crashes have left. [Store.Take] does the same, after its own rescue if it makes one. When
// ctx ends it stops; the next one goes on.
//
// Prune alone keeps commits for which [Store.KeepCommits] had too little time, and looks through them and
// through snapshots, of each repository once an hour: that takes about a second for ten thousand. A process
// in the background calls it, see [Store.BeginPrune].
func (s *Store) Prune(ctx context.Context, now stick.Time) { s.pruneRepositories(ctx, nil, "", now) }

// pruneRepositories drops what is past its time everywhere, and what is too much in one repository, or in all
// if first is nil. It keeps the rescue that was just made.
func (s *Store) pruneRepositories(ctx context.Context, first *repository, keep string, now stick.Time) {
	if first != nil {
		first.pruneRescues(ctx, keep, now, s.Limits)
	}

	all, err := s.listRepositories()
	if err != nil {
		return
	}

	// Right after a rescue, other repositories lose only what is past its time.
	limits := s.Limits
	if first != nil {
		limits.Count, limits.Total = 0, 0
	}

	for _, r := range all {
		if (first == nil || r.path != first.path) && r.checkFolders() == nil {
			r.pruneRescues(ctx, "", now, limits)
		}

		// In the background there is time for more.
		if first == nil && r.checkFolders() == nil {
			r.pruneSnapshots(ctx, now, limits)
			r.keepLateCommits(ctx)
			r.pruneCommits(now, limits)
		}
	}

	sweepLeftovers(s.root().path, now, func(name string) bool { return strings.HasPrefix(name, newPrefix) })
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

// pruneRescues drops rescues of one repository. A limit of 0 is none.
func (r *repository) pruneRescues(ctx context.Context, keep string, now stick.Time, l Limits) {
	all, err := r.listRefs("", wholeForm)
	if err != nil {
		return
	}

	// The newest come first: older ones go with the first that is too much.
	slices.SortFunc(all, func(a, b ref) int { return strings.Compare(b.id, a.id) })

	held := map[string]bool{}
	count, total, full := 0, int64(0), false
	for _, f := range all {
		at, _ := timeOf(f.id)
		size := r.rescueBytes(f)

		full = full || l.Count > 0 && count >= l.Count || l.Total > 0 && total+size > l.Total
		isOver := full || now.Sub(at) > l.Age
		if isOver && f.id != keep && ctx.Err() == nil && !r.isMarked(f) {
			r.dropRescue(f)
			continue
		}

		held[f.id] = true
		count++
		total += size
	}

	// A crash leaves packs without a ref, and files that never got their name.
	sweepLeftovers(r.pathTo(packsName), now, func(name string) bool {
		id, ours := strings.CutPrefix(name, packPrefix)
		_, isID := timeOf(strings.TrimSuffix(strings.TrimSuffix(id, ".pack"), ".idx"))
		return strings.HasPrefix(name, tempPrefix) || ours && isID && !held[id[:idLen]]
	})

	isLock := func(name string) bool { return strings.HasSuffix(name, lockSuffix) }
	folders, _ := listNames(r.pathTo(refsName))
	for _, folder := range folders {
		sweepLeftovers(r.pathTo(refsName+"/"+folder), now, isLock)
	}
}

// rescueBytes returns how much a rescue takes on disk by itself, in bytes.
func (r *bareRepository) rescueBytes(f ref) (n int64) {
	for _, suffix := range []string{packSuffix, indexSuffix} {
		if info, err := os.Lstat(r.packBase(f.form, f.id) + suffix); err == nil {
			n += info.Size()
		}
	}
	return n
}

// dropRescue removes a rescue: first what makes it visible.
func (r *bareRepository) dropRescue(f ref) {
	if os.Remove(r.refPath(f)) != nil {
		return
	}
	r.kill("dropped ref")
	r.dropPack(f)
}

// dropPack removes the pack of a rescue that is gone.
func (r *bareRepository) dropPack(f ref) {
	base := r.packBase(f.form, f.id)

	// The index goes first: without it, the pack is none for git.
	os.Remove(base + indexSuffix)
	r.kill("dropped index")
	os.Remove(base + packSuffix)
	os.Remove(base + keepSuffix)
}

// sweepLeftovers removes what a crash has left in a directory: the chosen names, if they are older than
// anybody's work on them.
func sweepLeftovers(dir string, now stick.Time, chosen func(name string) bool) {
	all, _ := listNames(dir)
	for _, name := range all {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && chosen(name) && now.Sub(stick.At(info.ModTime())) > crashAge {
			os.RemoveAll(path)
		}
	}
}
