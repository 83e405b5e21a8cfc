package commits

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// LostTip is a kept commit of a local ref that the user's repository doesn't have any more.
type LostTip struct {
	Tip
	Repository string // ours, from which git can fetch Ref
	Leans      bool   // on commits that ours lacks, because a remote of the repository had them
}

// LostTips lists the kept commits that the repository with a common git directory lacks, or all if it is
// gone: first what local refs were last, then what they were before, the newest first.
func (s *Store) LostTips(ctx context.Context, common string) ([]LostTip, error) {
	r := s.repositoryOf(common)
	if r.CheckFolders() != nil {
		return nil, nil
	}

	log := r.readCommitLog(common)
	newest := func(a, b keptRef) int { return strings.Compare(b.Ref, a.Ref) }
	slices.SortStableFunc(log.Tips, newest)
	slices.SortStableFunc(log.Gone, newest)

	all := slices.Concat(log.Tips, log.Gone)

	// A ref that somebody has removed from ours keeps nothing.
	all = slices.DeleteFunc(all, func(f keptRef) bool { return checkFile(r.PathTo(f.Ref)) != nil })

	lacks, err := s.findLackedCommits(ctx, common, all)
	if err != nil {
		return nil, err
	}

	var lost []LostTip
	for _, f := range all {
		isListed := slices.ContainsFunc(lost, func(l LostTip) bool {
			return l.Commit == f.Commit && (l.Of == f.Of || f.Of == headName)
		})
		if lacks[f.Commit] && !isListed {
			tip := Tip{Ref: f.Ref, Of: f.Of, Commit: f.Commit, At: f.At}
			lost = append(lost, LostTip{Tip: tip, Repository: r.Path, Leans: f.Leans})
		}
	}

	return lost, nil
}

// InnerRepositories lists the git directories of repositories inside that of a checkout, as submodules have
// them, or inside its working tree, as far as commits of them were kept. They may be gone.
func (s *Store) InnerRepositories(common, top string) (inner []string) {
	all, _ := s.Root.ListRepositories()
	for _, its := range all {
		r := &repository{its, s}
		if checkFile(r.commitLogPath()) != nil {
			continue
		}

		c := r.readCommitLog("").Common
		if c != common && (workspace.IsWithin(c, common) || workspace.IsWithin(c, top)) {
			inner = append(inner, c)
		}
	}

	slices.Sort(inner)
	return inner
}

// findLackedCommits says which commits of kept refs the user's repository lacks.
func (s *Store) findLackedCommits(ctx context.Context, common string, kept []keptRef) (map[string]bool, error) {
	var commits []string
	for _, f := range kept {
		commits = append(commits, f.Commit)
	}

	// A repository that is gone lacks everything.
	if !isRepositoryGone(common) && len(commits) > 0 {
		var err error
		if commits, err = missingCommits(ctx, s.userGit(common), commits); err != nil {
			return nil, err
		}
	}

	lacks := map[string]bool{}
	for _, c := range commits {
		lacks[c] = true
	}
	return lacks, nil
}

// isRepositoryGone reports whether there is no repository any more with a common git directory.
func isRepositoryGone(common string) bool {
	_, err := os.Lstat(filepath.Join(common, "HEAD"))
	return os.IsNotExist(err)
}

func checkFile(path string) error {
	_, err := os.Lstat(path)
	return err
}

// missingCommits returns those of some commits that a repository lacks.
func missingCommits(ctx context.Context, g git.Isolated, commits []string) (missing []string, err error) {
	if len(commits) == 0 {
		return nil, nil
	}

	var out bytes.Buffer
	in := strings.NewReader(strings.Join(commits, "\n") + "\n")
	if _, err := g.WithEnv(pack.NoReplace).Run(ctx, in, &out, "cat-file", "--batch-check"); err != nil {
		return nil, err
	}

	for line := range strings.Lines(out.String()) {
		o, err := pack.ParseObjectHead(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		if o.Kind != "commit" {
			missing = append(missing, o.Name)
		}
	}
	return missing, nil
}

// sizeOfCommits returns how much a pack of commits takes on disk.
func (r *repository) sizeOfCommits(id string) (n int64) {
	for _, suffix := range []string{pack.Suffix, pack.IndexSuffix} {
		if info, err := os.Lstat(r.commitBase(id) + suffix); err == nil {
			n += info.Size()
		}
	}
	return n
}

// pruneCommits drops the commits that local refs lost long ago, the rounds of which nothing is left, and, the
// oldest first, those that are too much. Of a repository that is gone, its last refs are those that it lost.
func (r *repository) pruneCommits(now stick.Time, l Limits) {
	if checkFile(r.commitLogPath()) != nil {
		return
	}
	lock, ok := bare.TryLock(r.commitLogPath()+bare.LockSuffix, bare.LockExclusive)
	if !ok {
		return
	}
	defer lock.Unlock()

	log := r.readCommitLog("")
	before := len(log.Tips) + len(log.Gone) + len(log.Packs)

	// The refs of a repository that is gone are lost with it.
	moved := isRepositoryGone(log.Common) && len(log.Tips) > 0
	if moved {
		log.loseTips(now)
	}

	log.Gone = slices.DeleteFunc(log.Gone, func(f keptRef) bool { return now.Sub(f.Gone) > l.Age })

	// The present round stays, however large it is: the next commits lean on it.
	isTooLarge := func() bool { return l.Total > 0 && log.totalBytes() > l.Total }
	for log.dropRounds(); isTooLarge() && log.Packs[0].Round != log.Round; log.dropRounds() {
		oldest := log.Packs[0].Round
		log.Gone = slices.DeleteFunc(log.Gone, func(f keptRef) bool { return f.Round == oldest })
		log.Tips = slices.DeleteFunc(log.Tips, func(f keptRef) bool { return f.Round == oldest })
	}

	// The log comes first: what it no longer names is removed after it.
	if moved || len(log.Tips)+len(log.Gone)+len(log.Packs) != before {
		if r.writeCommitLog(log) != nil {
			return
		}
	}
	r.sweepCommits(log, now)
}

// loseTips notes that the local refs are gone, with their repository.
func (l *commitLog) loseTips(now stick.Time) {
	for _, f := range l.Tips {
		f.Gone = now
		l.Gone = append(l.Gone, f)
	}
	l.Tips, l.Stamp = nil, ""
}

// dropRounds drops the packs of rounds of which no commit is named any more.
func (l *commitLog) dropRounds() {
	used := map[string]bool{}
	for _, f := range slices.Concat(l.Tips, l.Gone) {
		used[f.Round] = true
	}

	l.Packs = slices.DeleteFunc(l.Packs, func(p keptPack) bool { return !used[p.Round] })
	if l.Round != "" && !used[l.Round] {
		l.Round, l.Bases, l.Stamp = "", nil, ""
	}
}

func (l *commitLog) totalBytes() (n int64) {
	for _, p := range l.Packs {
		n += p.Bytes
	}
	return n
}

// sweepCommits removes the packs and refs that the log doesn't name. Nobody writes them meanwhile: the lock
// is held.
func (r *repository) sweepCommits(log *commitLog, now stick.Time) {
	packs, refs := map[string]bool{}, map[string]bool{}
	for _, p := range log.Packs {
		packs[p.ID] = true
	}
	for _, f := range slices.Concat(log.Tips, log.Gone) {
		refs[f.Ref] = true
	}

	folders, _ := bare.ListNames(r.PathTo(RefsName))
	for _, id := range folders {
		files, _ := bare.ListNames(r.PathTo(RefsName + "/" + id))
		for _, name := range files {
			if ref := RefsName + "/" + id + "/" + name; !refs[ref] {
				os.Remove(r.PathTo(ref))
			}
		}

		// This removes the directory only if it is empty.
		os.Remove(r.PathTo(RefsName + "/" + id))
	}

	all, _ := bare.ListNames(r.PathTo(bare.PacksName))
	for _, name := range all {
		id, ours := strings.CutPrefix(name, PackPrefix)
		id, _, _ = strings.Cut(id, ".")
		if ours && !packs[id] {
			os.Remove(filepath.Join(r.PathTo(bare.PacksName), name))
		}
	}

	// Nobody is writing these either.
	isTemp := func(name string) bool { return strings.HasPrefix(name, bare.TempPrefix) }
	bare.SweepLeftovers(r.PathTo(bare.StateName), now, isTemp)
}

// UploadPack is what git fetch --upload-pack takes for tips that lean on commits which the fetching
// repository has: it reads these there.
func UploadPack(common string) string {
	objects := filepath.ToSlash(filepath.Join(common, "objects"))
	return "env GIT_ALTERNATE_OBJECT_DIRECTORIES='" + strings.ReplaceAll(objects, "'", `'\''`) + "' git-upload-pack"
}
