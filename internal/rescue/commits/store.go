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
	Time  time.Duration // how long one [Store.Keep] may take
	Bytes int64         // how much one [Store.Keep] may copy of a repository
	Total int64         // how many bytes of commits are kept for a repository
	Age   time.Duration // how long commits are kept after a local ref lost them
	Count int           // how many tips that refs have lost are kept in the user's repository
}

// Store keeps commits.
type Store struct {
	Root   bare.Root
	Limits Limits
	Now    func() time.Time // the time by the clock from which files get their times
}

// repository is one of our bare repositories, of which this package uses the part that keeps commits.
type repository struct {
	*bare.Repository
	store *Store
}

// repositoryOf returns our repository for the user's one with a common git directory.
func (s *Store) repositoryOf(common string) *repository {
	return &repository{s.Root.RepositoryOf(common), s}
}

// Prune keeps in one of our repositories what took too long the last time. Then it drops what is too old or
// too much there.
func (s *Store) Prune(ctx context.Context, in *bare.Repository, now stick.Time) {
	r := &repository{in, s}
	r.keepLateCommits(ctx)
	r.pruneCommits(now, s.Limits)
}

// nameLeftOut puts the name of a repository in front of what is left out of it, unless it is the main one.
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

// LeftOut lists what the last [Store.Keep] left out of a checkout's repository and of those inside it: refs,
// or "./" for all of one. It doesn't run git.
func (s *Store) LeftOut(tree workspace.Checkout) (all []manifest.LeftOut) {
	for _, common := range append([]string{tree.Common}, s.InnerRepositories(tree.Common, tree.Top)...) {
		log := s.repositoryOf(common).readCommitLog(common)
		all = append(all, nameLeftOut(tree.Common, common, log.LeftOut)...)
	}
	return all
}

// HasKept reports whether [Store.Keep] was ever done for the repository with a common git directory.
func (s *Store) HasKept(common string) bool {
	_, err := os.Lstat(s.repositoryOf(common).commitLogPath())
	return err == nil
}

// submodulesOf lists the git directories of a repository's submodules, and of the submodules in them.
func submodulesOf(common string) (dirs []string) {
	root := filepath.Join(common, "modules")
	seen := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		// A thousand entries are enough: a hook may wait for this.
		if seen++; seen > 1000 {
			return fs.SkipAll
		}
		if err != nil || !d.IsDir() {
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
