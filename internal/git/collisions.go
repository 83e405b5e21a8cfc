package git

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"talkingstick/stick"
)

// Side is a working tree with everything that merging it would bring: its commits and its uncommitted
// changes.
type Side struct {
	Worktree
	Name  string // the branch, else the name of the directory; unique among the sides
	Dirty bool

	commit   string   // HEAD, or a commit in the scratch that also holds the uncommitted changes
	recalled []string // the uncommitted files, if their commit is known and the scratch lacks it
}

// Collision is a file that two sides have changed since their merge base.
type Collision struct {
	A, B           *Side
	Path           string
	Conflict       bool   // a merge needs a decision; false: they changed different places of the file
	Kind           string // the kind of conflict, in git's words: contents, modify/delete, binary, …
	ALines, BLines []Lines
}

// LeftOut names something that wasn't compared, and says why.
type LeftOut struct{ What, Why stick.Words }

// Collisions lists where the working trees of a repository would collide.
type Collisions struct {
	Sides   []Side
	Found   []Collision
	LeftOut []LeftOut
	Known   Known // for the next run
}

// Limits of the work.
const (
	maxSides    = 40
	maxFiles    = 10_000   // uncommitted ones, of one side
	maxFile     = 64 << 20 // bytes of an uncommitted file
	maxPaths    = 200      // of one pair of sides
	maxParallel = 2        // sides that are read, and pairs that are compared, at a time
)

// Collisions tries to merge each pair of working trees of the repository that dir lies in, with their
// uncommitted changes, except for those that are known. It writes nothing to the repository. When ctx ends, it
// leaves the remaining pairs out and says so. shows is told how many of the pairs are done, and may be nil. It
// fails with [stick.CodeNoRepository], [stick.CodeGitMissing] and
// [stick.CodeGitTooOld].
func (c Client) Collisions(
	ctx context.Context, dir string, known Known, shows func(done, pairs int),
) (Collisions, error) {
	version, err := c.gitVersion(ctx, dir)
	if err != nil {
		return Collisions{}, c.explainFailure(dir, err)
	}
	if err := checkVersion(version, 2, 38); err != nil {
		return Collisions{}, err
	}

	trees, err := c.Worktrees(ctx, dir)
	if err != nil {
		return Collisions{}, err
	}

	s, err := c.newScratch(ctx, dir)
	if err != nil {
		return Collisions{}, err
	}
	defer s.removeFiles()

	x := &comparison{scratch: s, dir: dir, known: known, shows: shows, cache: map[[2]string]map[string]string{}}
	x.result.Known = Known{Pairs: map[string][]KnownCollision{}, Commits: map[string]string{}}
	x.readSettings(ctx, version)
	x.readSides(ctx, trees)
	x.commitRecalled(ctx)
	x.compareSides(ctx)
	return x.result, nil
}

// comparison is one run of [Client.Collisions].
type comparison struct {
	*scratch
	dir      string
	settings string // sum of what decides how git merges, besides the commits
	known    Known
	shows    func(done, pairs int)
	result   Collisions

	mu    sync.Mutex // guards the rest, and what sides and pairs add to the result
	cache map[[2]string]map[string]string
}

func (x *comparison) leaveOut(what stick.Words, format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.result.LeftOut = append(x.result.LeftOut, LeftOut{what, stick.Wordsf(format, args...)})
}

// sideName and pairName name what wasn't compared: branches, and directories of working trees.
func sideName(name string) stick.Words { return stick.Wordsf("%s", name) }
func pairName(a, b string) stick.Words { return stick.Wordsf("%s × %s", a, b) }

// readSides makes a side of each working tree.
func (x *comparison) readSides(ctx context.Context, trees []Worktree) {
	for i, name := range uniqueNames(trees) {
		if i >= maxSides {
			x.leaveOut(sideName(name), "only %d working trees are compared", maxSides)
			continue
		}
		x.result.Sides = append(x.result.Sides, Side{Worktree: trees[i], Name: name, commit: trees[i].Head})
	}

	inParallel(len(x.result.Sides), func(i int) {
		side := &x.result.Sides[i]
		if side.Gone {
			x.leaveOut(sideName(side.Name), "its directory is missing: only its commits are compared")
			return
		}
		x.readUncommitted(ctx, side)
	})
}

// inParallel calls work with each number below count, a few at a time.
func inParallel(count int, work func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range maxParallel {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	all.Wait()
}

// readUncommitted puts a side's uncommitted changes into a scratch commit.
func (x *comparison) readUncommitted(ctx context.Context, side *Side) {
	paths, count, err := x.git.listUncommitted(ctx, side.Path, maxFiles)
	if err != nil {
		x.leaveOut(sideName(side.Name), "its uncommitted changes can't be read: %s", failureText(ctx, err))
		return
	}

	side.Dirty = count > 0
	isWhole := count == len(paths)
	if count > len(paths) {
		x.leaveOut(sideName(side.Name), "%d more of its uncommitted files", count-len(paths))
	}

	// The scratch would copy each of them. A large one costs more than it tells.
	paths = slices.DeleteFunc(paths, func(p string) bool {
		info, err := os.Lstat(filepath.Join(side.Path, filepath.FromSlash(p)))
		large := err == nil && info.Size() > maxFile
		if large {
			isWhole = false
			x.leaveOut(sideName(side.Name), "%s is uncommitted and larger than %d MB", p, maxFile>>20)
		}

		return large
	})
	if len(paths) == 0 {
		return
	}

	// What is left out comes from the index, which the key doesn't name.
	key := ""
	if isWhole {
		key = x.changesKey(side, paths)
	}
	if !x.recallCommit(side, key, paths) {
		x.commitSide(ctx, side, paths, key)
	}
}

// commitSide commits a side's uncommitted changes to the scratch.
func (x *comparison) commitSide(ctx context.Context, side *Side, paths []string, key string) {
	side.recalled = nil
	commit, err := x.commitPaths(ctx, side.Worktree, paths)
	if err != nil {
		x.leaveOut(sideName(side.Name), "its uncommitted changes can't be read: %s", failureText(ctx, err))
		side.commit = side.Head
		return
	}

	side.commit = commit
	x.rememberCommit(key, commit)
}

// failureText says why git failed; a cancelled context is a matter of time.
func failureText(ctx context.Context, err error) stick.Words {
	if ctx.Err() != nil {
		return "time ran out"
	}
	if f := asFailure(err); f != nil {
		return stick.Wordsf("git %s: %s", f.commandName(), f.reason())
	}

	return stick.Wordsf("%s", err)
}

// uniqueNames gives each working tree a unique name: its branch, else the last part of its path, else the
// path.
func uniqueNames(trees []Worktree) []string {
	out := make([]string, len(trees))
	count := map[string]int{}
	for i, w := range trees {
		name := w.Branch
		if name == "" {
			name = filepath.Base(w.Path)
		}

		out[i] = name
		count[name]++
	}

	for i, w := range trees {
		if count[out[i]] > 1 {
			out[i] = w.Path
		}
	}

	return out
}

// sidePair is two sides that may collide.
type sidePair struct{ a, b *Side }

// listPairs lists every two sides, those of the main one first.
func (x *comparison) listPairs() (pairs []sidePair) {
	for i := range x.result.Sides {
		for j := i + 1; j < len(x.result.Sides); j++ {
			// Two sides with the same commit and nothing uncommitted can't collide.
			a, b := &x.result.Sides[i], &x.result.Sides[j]
			if a.commit != "" && b.commit != "" && a.commit != b.commit {
				pairs = append(pairs, sidePair{a, b})
			}
		}
	}
	return pairs
}

// compareSides compares all pairs.
func (x *comparison) compareSides(ctx context.Context) {
	pairs := x.listPairs()

	// Each pair has its own place, so that the order doesn't depend on who was faster.
	found := make([][]Collision, len(pairs))
	late, done := 0, 0
	inParallel(len(pairs), func(i int) {
		p := pairs[i]
		var err error
		found[i], err = x.comparePair(ctx, p.a, p.b)
		if err != nil && ctx.Err() == nil {
			x.leaveOut(pairName(p.a.Name, p.b.Name), "%s", failureText(ctx, err))
		}

		x.mu.Lock()
		defer x.mu.Unlock()
		if err != nil && ctx.Err() != nil {
			late++
		}
		if done++; x.shows != nil {
			x.shows(done, len(pairs))
		}
	})

	if late > 0 {
		x.keepUnreached()
		x.leaveOut(stick.Wordsf("%d of %d pairs", late, len(pairs)), "time ran out")
	}

	x.result.Found = slices.Concat(found...)
	slices.SortFunc(x.result.LeftOut, func(a, b LeftOut) int { return strings.Compare(string(a.What), string(b.What)) })
}

// comparePair compares two sides.
func (x *comparison) comparePair(ctx context.Context, a, b *Side) ([]Collision, error) {
	if found, ok := x.findKnown(a, b); ok {
		return found, nil
	}

	base, err := x.mergeBase(ctx, x.dir, a.commit, b.commit)
	switch {
	case err != nil:
		return nil, err
	case base == "":
		x.leaveOut(pairName(a.Name, b.Name), "they have no commit in common, so nobody will merge them")
		return nil, nil
	case base == a.commit || base == b.commit:
		// One side contains the other.
		x.remember(a, b, nil)
		return nil, nil
	}

	// What git can't merge is a conflict. What it can, both may have changed all the same.
	conflicts, err := x.mergeCommits(ctx, x.dir, a.commit, b.commit)
	if err != nil {
		return nil, err
	}

	inA, err := x.changedOnce(ctx, base, a.commit)
	if err != nil {
		return nil, err
	}

	inB, err := x.changedOnce(ctx, base, b.commit)
	if err != nil {
		return nil, err
	}

	all := slices.Concat(sortedPaths(conflicts), changedInBoth(inA, inB, conflicts))
	paths := x.limitPaths(a, b, all)
	if len(paths) == 0 {
		x.remember(a, b, nil)
		return nil, nil
	}

	// Their hunks show in which lines they meet.
	diffA, err := x.changedHunks(ctx, x.dir, base, a.commit, paths)
	if err != nil {
		return nil, err
	}

	diffB, err := x.changedHunks(ctx, x.dir, base, b.commit, paths)
	if err != nil {
		return nil, err
	}

	found := make([]Collision, len(paths))
	for i, p := range paths {
		says, conflict := conflicts[p]
		found[i] = Collision{A: a, B: b, Path: p, Conflict: conflict, Kind: says}
		if conflict {
			found[i].ALines, found[i].BLines = meetingLines(diffA[p], diffB[p])
		} else {
			found[i].ALines, found[i].BLines = diffA[p].changedLines(anyHunk), diffB[p].changedLines(anyHunk)
		}
	}

	// What was left out is said again.
	if len(paths) == len(all) {
		x.remember(a, b, found)
	}
	return found, nil
}

// changedInBoth lists the files that both sides changed, but differently and without a conflict.
func changedInBoth(a, b map[string]string, but conflictKinds) []string {
	var paths []string
	for p, v := range a {
		if w, ok := b[p]; ok && w != v {
			if _, conflict := but[p]; !conflict {
				paths = append(paths, p)
			}
		}
	}

	slices.Sort(paths)
	return paths
}

func sortedPaths(c conflictKinds) []string { return slices.Sorted(maps.Keys(c)) }

func (x *comparison) limitPaths(a, b *Side, paths []string) []string {
	if more := len(paths) - maxPaths; more > 0 {
		x.leaveOut(pairName(a.Name, b.Name), "%s that both changed", stick.Count(more, "more file"))
		return paths[:maxPaths]
	}
	return paths
}

// changedOnce returns what a side changed since a merge base, and remembers it: most pairs have the
// same merge base.
func (x *comparison) changedOnce(ctx context.Context, from, to string) (map[string]string, error) {
	key := [2]string{from, to}
	x.mu.Lock()
	known, ok := x.cache[key]
	x.mu.Unlock()
	if ok {
		return known, nil
	}

	files, err := x.changedFiles(ctx, x.dir, from, to)
	if err != nil {
		return nil, err
	}

	x.mu.Lock()
	defer x.mu.Unlock()

	x.cache[key] = files
	return files, nil
}
