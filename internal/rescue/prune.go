package rescue

import (
	"context"
	"slices"
	"strings"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/stick"
)

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
		if (first == nil || r.Path != first.Path) && r.CheckFolders() == nil {
			r.pruneRescues(ctx, "", now, limits)
		}

		// In the background there is time for more.
		if first == nil && r.CheckFolders() == nil {
			r.pruneSnapshots(ctx, now, limits)
			s.commits().Prune(ctx, r.Repository, now)
		}
	}

	bare.SweepLeftovers(s.root().Path, now, func(name string) bool { return strings.HasPrefix(name, bare.NewPrefix) })
}

// pruneRescues drops rescues of one repository. A limit of 0 is none.
func (r *repository) pruneRescues(ctx context.Context, keep string, now stick.Time, l Limits) {
	all, err := r.ListRefs("", bare.WholeForm)
	if err != nil {
		return
	}

	// The newest come first: older ones go with the first that is too much.
	slices.SortFunc(all, func(a, b bare.Ref) int { return strings.Compare(b.ID, a.ID) })

	held := map[string]bool{}
	count, total, full := 0, int64(0), false
	for _, f := range all {
		at, _ := manifest.TimeOf(f.ID)
		size := r.RescueBytes(f)

		full = full || l.Count > 0 && count >= l.Count || l.Total > 0 && total+size > l.Total
		isOver := full || now.Sub(at) > l.Age
		if isOver && f.ID != keep && ctx.Err() == nil && !r.IsMarked(f) {
			r.DropRescue(f)
			continue
		}

		held[f.ID] = true
		count++
		total += size
	}

	// A crash leaves packs without a ref, and files that never got their name.
	bare.SweepLeftovers(r.PathTo(bare.PacksName), now, func(name string) bool {
		id, ours := strings.CutPrefix(name, bare.PackPrefix)
		_, isID := manifest.TimeOf(strings.TrimSuffix(strings.TrimSuffix(id, ".pack"), ".idx"))
		return strings.HasPrefix(name, bare.TempPrefix) || ours && isID && !held[id[:manifest.IDLen]]
	})

	isLock := func(name string) bool { return strings.HasSuffix(name, bare.LockSuffix) }
	folders, _ := bare.ListNames(r.PathTo(bare.RefsName))
	for _, folder := range folders {
		bare.SweepLeftovers(r.PathTo(bare.RefsName+"/"+folder), now, isLock)
	}
}
