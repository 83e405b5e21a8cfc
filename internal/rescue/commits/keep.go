// Package commits keeps commits that only the user's repository has: in our bare repositories those that no remote
// has, and in the user's own the old tips of branches that are deleted or moved.
//
// See docs/decisions/snapshots-and-undo.md.
package commits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"talkingstick/internal/git"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Kept is the outcome of [Store.Keep].
type Kept struct {
	Same    bool               // no ref has moved since the last time: git wasn't asked
	New     int                // how many commits were copied
	LeftOut []manifest.LeftOut // what isn't kept, also since an earlier time: refs, or the git directories of submodules
}

// Keep copies to a repository of ours the commits that local branches, HEAD, the stash and reflogs of
// the one with a common git directory reach, and no remote-tracking branch does: only the user's repository
// has them. What is there since the last time isn't copied again, and while no ref has moved, no git runs.
// Commits of submodules are kept, too. It takes at most Limits.Time, and changes nothing in the user's
// repository.
//
// What is too large, takes too long or can't be read is left out and named; that is no error. Everything of
// one time is kept, or nothing. Keep fails with [stick.CodeDataDirNotWritable],
// [stick.CodeGitMissing], or the error of ctx.
func (s *Store) Keep(ctx context.Context, main string) (kept Kept, err error) {
	limited, cancel := context.WithTimeout(ctx, s.Limits.Time)
	defer cancel()

	kept.Same = true
	for _, common := range append([]string{main}, submodulesOf(main)...) {
		one, err := s.keepCommitsOf(limited, common, false)
		if ctx.Err() != nil {
			return kept, ctx.Err()
		}

		// One that takes too long is left out; the others are still kept.
		if errors.Is(err, context.DeadlineExceeded) {
			one, err = Kept{LeftOut: []manifest.LeftOut{{Path: "./", Why: manifest.WhyTime}}}, nil
		}
		if err != nil {
			return kept, err
		}

		kept.Same, kept.New = kept.Same && one.Same, kept.New+one.New
		kept.LeftOut = append(kept.LeftOut, nameLeftOut(main, common, one.LeftOut)...)
	}
	return kept, nil
}

// commitKeeper keeps the commits of a repository, at one time.
type commitKeeper struct {
	repo   *repository
	common string
	log    *commitLog
	now    stick.Time
	git    git.Isolated // in the user's repository

	refs    []keptRef // what the local refs are
	found   localCommits
	fresh   bool // nothing of earlier times is leaned on
	dropped []manifest.LeftOut
}

// localCommits are the commits that are to be copied.
type localCommits struct {
	all, parents map[string]bool
	heads        []string // those that are no parent of another one
	bases        []string // parents that aren't among them
}

// keepLateCommits keeps what took too long for [Store.Keep], such as the first time in a repository
// without a remote.
func (r *repository) keepLateCommits(ctx context.Context) {
	log := r.readCommitLog("")
	if log.Late == 0 || isRepositoryGone(log.Common) {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, longKeep)
	defer cancel()

	// If this fails, the next call tries again.
	_, _ = r.store.keepCommitsOf(ctx, log.Common, true)
}

// keepCommitsOf keeps the commits of one repository. again tries what took too long a short time ago.
func (s *Store) keepCommitsOf(ctx context.Context, common string, again bool) (kept Kept, err error) {
	// Refs are read before git is asked: what moves meanwhile is seen next time.
	stamp := stampRefs(common)
	repo, now := s.repositoryOf(common), stick.At(s.Now())
	if log := repo.readCommitLog(common); log.isCurrent(stamp, now) && !again {
		return Kept{Same: true, LeftOut: log.LeftOut}, nil
	}

	if repo.Repository, err = s.Root.PrepareRepository(ctx, common); err != nil {
		return kept, err
	}
	if err := plainfile.MkdirAll(repo.PathTo(bare.StateName)); err != nil {
		return kept, bare.ErrUnwritable(repo.PathTo(bare.StateName), err)
	}

	// Somebody else may be keeping the same commits: that isn't worth a long wait.
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock, ok := bare.WaitLock(short, repo.commitLogPath()+bare.LockSuffix, bare.LockExclusive)
	if !ok {
		return kept, context.DeadlineExceeded
	}
	defer lock.Unlock()

	k := &commitKeeper{repo: repo, common: common, log: repo.readCommitLog(common), now: now}

	// Somebody else may have kept them while this waited for the lock.
	if k.log.isCurrent(stamp, now) && !again {
		return Kept{Same: true, LeftOut: k.log.LeftOut}, nil
	}

	kept.New, err = k.keepNew(ctx)
	kept.LeftOut = k.dropped

	// What can't be kept is left out and named. Only errors of our own repository are returned.
	switch {
	case errors.Is(err, errTooLarge):
		kept.LeftOut = append(kept.LeftOut, manifest.LeftOut{Path: "./", Why: manifest.WhyLimit})
	case err != nil && ctx.Err() != nil:
		k.log.Late = now
		kept.LeftOut = append(kept.LeftOut, manifest.LeftOut{Path: "./", Why: manifest.WhyTime})
	case stick.CodeOf(err) == stick.CodeGitFailed:
		k.log.Late = now
		kept.LeftOut = append(kept.LeftOut, manifest.LeftOut{Path: "./", Why: manifest.WhyUnreadable})
	case err != nil:
		return kept, err
	default:
		k.log.Late = 0
	}

	// After a failure the log is the one before, so that nothing counts as kept that isn't.
	if err != nil {
		k.log = k.laterLog()
	}

	// With this stamp the next try waits until a ref moves, or until it is time to try again.
	k.log.Stamp, k.log.LeftOut = stamp, kept.LeftOut
	return kept, repo.writeCommitLog(k.log)
}

// laterLog is the log after commits couldn't be kept. Where that was to begin anew, the next time leans on
// earlier ones.
func (k *commitKeeper) laterLog() *commitLog {
	log := k.repo.readCommitLog(k.common)

	log.Late = k.log.Late
	if k.fresh && log.Round != "" && k.log.isRoundOld(k.now, k.repo.store.Limits) {
		log.NotBefore = k.now.Add(freshEvery)
	}

	return log
}

func (k *commitKeeper) keepNew(ctx context.Context) (n int, err error) {
	k.git = k.repo.store.userGit(k.common).WithEnv(pack.NoReplace)
	if k.refs, err = k.readRefs(ctx); err != nil {
		return 0, err
	}

	// Our repository names objects by SHA-1 alone.
	if slices.ContainsFunc(k.refs, func(f keptRef) bool { return len(f.Commit) != len(bare.NoCommit) }) {
		k.dropped = append(k.dropped, manifest.LeftOut{Path: "./", Why: manifest.WhyFormat})
		return 0, nil
	}

	if k.fresh, err = k.mustBeginAnew(ctx); err != nil {
		return 0, err
	}

	if err := k.findCommits(ctx); err != nil {
		return 0, err
	}

	id := manifest.NewID(k.log.timeAfterKept(k.now), manifest.ShortSum(k.common, 2))
	if len(k.found.heads) > 0 {
		if err := k.copyCommits(ctx, id); err != nil {
			return 0, err
		}
	}

	return len(k.found.all), k.noteRefs(ctx, id)
}

// readRefs lists the local branches, the entries of the stash, and where the checkouts are.
func (k *commitKeeper) readRefs(ctx context.Context) (all []keptRef, err error) {
	var out bytes.Buffer
	args := []string{"for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", StashName}
	if _, err := k.git.Run(ctx, nil, &out, args...); err != nil {
		return nil, err
	}

	for line := range strings.Lines(out.String()) {
		commit, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all = append(all, keptRef{Of: name, Commit: commit})
	}

	entries, _ := workspace.ReadStash(k.common)
	for _, e := range entries {
		all = append(all, keptRef{Of: StashName, Commit: e.Commit})
	}

	// A checkout without a branch counts by its commit, unless a ref names that already.
	for _, head := range headsOf(k.common) {
		if !slices.ContainsFunc(all, func(f keptRef) bool { return f.Commit == head }) {
			all = append(all, keptRef{Of: headName, Commit: head})
		}
	}

	// Sorted, what is named twice stands together.
	slices.SortStableFunc(all, func(a, b keptRef) int { return strings.Compare(a.Of+" "+a.Commit, b.Of+" "+b.Commit) })
	return slices.Compact(all), nil
}

// mustBeginAnew reports whether nothing of earlier times can be leaned on: there is nothing, a remote no
// longer has what that lacks, or it has become large or old.
func (k *commitKeeper) mustBeginAnew(ctx context.Context) (bool, error) {
	isOld := k.log.isRoundOld(k.now, k.repo.store.Limits) && k.now >= k.log.NotBefore
	if k.log.Round == "" || isOld {
		return true, nil
	}

	if len(k.log.Bases) == 0 {
		return false, nil
	}

	// Git prints a base that no remote reaches any more.
	var out bytes.Buffer
	in := strings.NewReader(strings.Join(k.log.Bases, "\n") + "\n")
	_, err := k.git.Run(ctx, in, &out, "rev-list", "--max-count=1", "--ignore-missing", "--stdin", "--not", "--remotes")
	return out.Len() > 0, err
}

// findCommits finds what is to be copied. Where a ref names what isn't there, it is left out, and so are
// reflogs.
func (k *commitKeeper) findCommits(ctx context.Context) error {
	err := k.listCommits(ctx, true)
	if err != nil && stick.CodeOf(err) == stick.CodeGitFailed && ctx.Err() == nil {
		err = k.findFromWholeRefs(ctx)
	}
	if err != nil {
		return err
	}

	return k.recognizeOther(ctx)
}

// recognizeOther begins anew where the repository is another one in the place of that whose commits were
// kept: it has none of them.
func (k *commitKeeper) recognizeOther(ctx context.Context) error {
	if len(k.found.heads) == 0 || len(k.found.bases) > 0 {
		return nil
	}

	kept := k.keptCommits()
	missing, err := missingCommits(ctx, k.git, kept)
	k.fresh = k.fresh || len(missing) == len(kept)
	return err
}

// findFromWholeRefs finds what is to be copied without the refs whose commits or files are missing.
func (k *commitKeeper) findFromWholeRefs(ctx context.Context) error {
	var whole []keptRef
	for _, f := range k.refs {
		_, err := k.git.Run(ctx, strings.NewReader(f.Commit+"\n"), nil, k.revList("--objects", "--quiet")...)
		switch {
		case err == nil:
			whole = append(whole, f)
		case ctx.Err() != nil:
			return err
		default:
			k.dropped = append(k.dropped, manifest.LeftOut{Path: f.Of, Why: manifest.WhyMissing})
		}
	}

	k.refs = whole
	return k.listCommits(ctx, false)
}

func (k *commitKeeper) revList(more ...string) []string {
	return slices.Concat([]string{"rev-list"}, more,
		[]string{"--exclude-promisor-objects", "--stdin", "--not", "--remotes"})
}

func (k *commitKeeper) listCommits(ctx context.Context, reflogs bool) error {
	var in strings.Builder
	for _, f := range k.refs {
		fmt.Fprintln(&in, f.Commit)
	}
	for _, commit := range slices.Concat(k.keptCommits(), shallowRoots(k.common)) {
		fmt.Fprintln(&in, "^"+commit)
	}

	args := []string{"--parents", "--ignore-missing"}
	if reflogs {
		args = append(args, "--reflog")
	}

	var out bytes.Buffer
	if _, err := k.git.Run(ctx, strings.NewReader(in.String()), &out, k.revList(args...)...); err != nil {
		return err
	}

	k.found = parseParents(out.String())
	return nil
}

// keptCommits lists the commits that earlier times have kept, and that are leaned on.
func (k *commitKeeper) keptCommits() (commits []string) {
	if k.fresh {
		return nil
	}
	for _, f := range slices.Concat(k.log.Tips, k.log.Gone) {
		if f.Round == k.log.Round {
			commits = append(commits, f.Commit)
		}
	}
	return commits
}

// parseParents reads what git rev-list --parents prints.
func parseParents(said string) localCommits {
	found := localCommits{all: map[string]bool{}, parents: map[string]bool{}}
	var inOrder []string
	for line := range strings.Lines(said) {
		names := strings.Fields(line)
		if len(names) == 0 {
			continue
		}

		found.all[names[0]], inOrder = true, append(inOrder, names[0])
		for _, parent := range names[1:] {
			found.parents[parent] = true
		}
	}

	// Git is asked for a pack by its heads, without its bases.
	for _, c := range inOrder {
		if !found.parents[c] {
			found.heads = append(found.heads, c)
		}
	}

	for parent := range found.parents {
		if !found.all[parent] {
			found.bases = append(found.bases, parent)
		}
	}

	slices.Sort(found.bases)
	return found
}
