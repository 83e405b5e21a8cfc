package commits

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Limits bound what kept commits may cost.
type Limits struct {
	Time  time.Duration // for keeping commits at one time
	Bytes int64         // of the commits that are copied at one time
	Total int64         // bytes of the kept commits of a repository
	Age   time.Duration // how long commits are kept after a local ref lost them
	Count int           // of old tips in the user's repository
}

// Store keeps commits.
type Store struct {
	Root   bare.Root
	Limits Limits
	Now    func() time.Time // the present time, by the clock that file systems write
}

// repository is a bare repository, which keeps commits, too.
type repository struct {
	*bare.Repository
	store *Store
}

func (s *Store) repositoryOf(common string) *repository {
	return &repository{s.Root.RepositoryOf(common), s}
}

// Prune keeps what took too long the last time, and drops what is past its time or too much, in one of the
// repositories of ours.
func (s *Store) Prune(ctx context.Context, in *bare.Repository, now stick.Time) {
	r := &repository{in, s}
	r.keepLateCommits(ctx)
	r.pruneCommits(now, s.Limits)
}

// nameLeftOut says of which repository something is left out, where that isn't the main one.
func nameLeftOut(main, common string, all []manifest.LeftOut) []manifest.LeftOut {
	if common == main {
		return all
	}

	named := slices.Clone(all)
	for i := range named {
		named[i].Path = common + ": " + named[i].Path
	}
	return named
}

// LeftOut lists what [Store.Keep] left out the last time, of a checkout and of the repositories
// inside: refs, or "./" for all of a repository. It asks no git.
func (s *Store) LeftOut(tree workspace.Checkout) (all []manifest.LeftOut) {
	for _, common := range append([]string{tree.Common}, s.InnerRepositories(tree.Common, tree.Top)...) {
		log := s.repositoryOf(common).readCommitLog(common)
		all = append(all, nameLeftOut(tree.Common, common, log.LeftOut)...)
	}
	return all
}

// Has reports whether [Store.Keep] was done for the repository with a common git directory.
func (s *Store) Has(common string) bool {
	_, err := os.Lstat(s.repositoryOf(common).commitLogPath())
	return err == nil
}

// submodulesOf lists the git directories of the submodules of a repository, and of theirs.
func submodulesOf(common string) (dirs []string) {
	root := filepath.Join(common, "modules")
	seen := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		// A thousand entries are enough: a hook may wait for this.
		if seen++; err != nil || seen > 1000 || !d.IsDir() {
			return nil
		}
		if _, err := os.Lstat(filepath.Join(path, "HEAD")); err != nil {
			return nil
		}

		dirs = append(dirs, path)

		// Submodules have submodules of their own in the same way.
		if strings.Count(path[len(root):], "modules") < maxNesting {
			dirs = append(dirs, submodulesOf(path)...)
		}

		return fs.SkipDir
	})
	return dirs
}
