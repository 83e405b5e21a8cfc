// Package rescue keeps copies of uncommitted work: the state of a working tree, taken before something could
// destroy it.
//
// A rescue lies in a bare repository of ours in the data directory, one for each repository of the user. So
// it survives whatever happens to that one, is never pushed and shows in nobody's log. Taking one changes
// nothing in the user's repository and runs nothing but git itself.
//
// What a rescue is, in git's terms: a commit without a parent, under refs/rescues/<checkout>/<id>, in a pack
// of its own. Its message is the [Manifest]. Its tree has the file "entries", which says how each path was,
// and the bytes: work/<path> as they lay in the working tree, index/<path> as they were staged, and stage1 to
// stage3/<path> of a conflict. Paths without uncommitted changes aren't in it.
//
// A snapshot is a rescue for a call of an agent's tool. Its ref is refs/snapshots/<checkout>/<id>, its pack has only what the packs of earlier
// snapshots lack, and its entries are several files.
//
// See docs/decisions/snapshots-and-undo.md.
package rescue

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Store is where rescues are kept.
type Store struct {
	Dir    string // the data directory
	Git    git.Client
	Limits Limits

	// Never returns which files of a checkout no rescue may have, by their paths relative to its top level.
	// It may be nil, for none.
	Never func(workspace.Checkout) func(path string) bool

	// Kill is called at named points, for tests that end the process there. It may be nil.
	Kill func(point string)

	clock func() time.Time // for tests; nil in the program
}

// Limits bound what a rescue may cost.
type Limits struct {
	Bytes        int64         // of all files of a rescue. What is kept is chosen before anything is read
	Time         time.Duration // for a whole rescue
	Status       time.Duration // for git to say what is uncommitted. After that only tracked files are looked for
	IgnoredBytes int64         // of one ignored file
	IgnoredFiles int           // in one directory. Ignored files in a larger one are left out

	Age   time.Duration // how long a rescue is kept
	Count int           // how many are kept for a repository
	Total int64         // bytes kept for a repository
	Prune time.Duration // for dropping others, after a rescue was made

	SnapshotIgnored int64         // bytes of all ignored files of a snapshot
	SnapshotsAll    time.Duration // how long all snapshots are kept. After that, the last of each hour of a checkout is
	SnapshotsTotal  int64         // bytes of the snapshots of a repository, and of the packs that they need

	CommitBytes int64 // of the commits of a repository that are copied at one time
	CommitTotal int64 // bytes of the kept commits of a repository
}

// Defaults are the limits of the program.
var Defaults = Limits{
	Bytes: 50 << 20, Time: time.Second, Status: 600 * time.Millisecond, IgnoredBytes: 1 << 20, IgnoredFiles: 1000,
	Age: 14 * 24 * time.Hour, Count: 200, Total: 500 << 20, Prune: 100 * time.Millisecond,
	SnapshotIgnored: 20 << 20, SnapshotsAll: 2 * 24 * time.Hour, SnapshotsTotal: 1 << 30,
	CommitBytes: 200 << 20, CommitTotal: 1 << 30,
}

// Longest is how long [Store.Take] may take at most: a rescue that the end of its time meets while it is
// written is completed, and others are dropped after it.
func (l Limits) Longest() time.Duration { return l.Time + l.Time/10 + l.Prune }

// New returns the store in a data directory, with the limits of the program.
func New(dir string, g git.Client) *Store { return &Store{Dir: dir, Git: g, Limits: Defaults} }

// Root is the directory in which all rescues lie. It may not exist.
func (s *Store) Root() string { return s.root().Path }

// rootName is the name of the directory of rescues in the data directory.
const rootName = "rescue"

func (s *Store) root() bare.Root {
	return bare.Root{Path: filepath.Join(s.Dir, rootName), Git: s.Git, Kill: s.Kill}
}

// repository is a bare repository of a store.
type repository struct {
	*bare.Repository
	store *Store
}

// repositoryOf is [bare.Root.RepositoryOf].
func (s *Store) repositoryOf(common string) *repository {
	return &repository{s.root().RepositoryOf(common), s}
}

// prepareRepository is [bare.Root.PrepareRepository].
func (s *Store) prepareRepository(ctx context.Context, common string) (*repository, error) {
	r, err := s.root().PrepareRepository(ctx, common)
	if err != nil {
		return nil, err
	}
	return &repository{r, s}, nil
}

// listRepositories is [bare.Root.ListRepositories].
func (s *Store) listRepositories() ([]*repository, error) {
	found, err := s.root().ListRepositories()

	all := make([]*repository, len(found))
	for i, r := range found {
		all[i] = &repository{r, s}
	}
	return all, err
}

// findRescue is [bare.Root.FindRescue].
func (s *Store) findRescue(id string) (*repository, bare.Ref, error) {
	r, f, err := s.root().FindRescue(id)
	return &repository{r, s}, f, err
}

// now is the present time, by the clock that file systems write.
func (s *Store) now() time.Time {
	if s.clock != nil {
		return s.clock()
	}
	return time.Now()
}

func (s *Store) kill(point string) {
	if s.Kill != nil {
		s.Kill(point)
	}
}

// Request says what to rescue, and why.
type Request struct {
	Tree  workspace.Checkout
	Index string // the index that the command sets by GIT_INDEX_FILE; empty for that of the checkout

	// Paths are what the command would change, relative to the top level, with / between names. A directory
	// means everything below. None means the whole tree. Naming fewer only saves time: more may be kept.
	Paths []string

	// What the command would destroy beside uncommitted changes of tracked files, which are always rescued.
	Untracked bool
	Ignored   bool
	Nested    bool // what is uncommitted in submodules, and in repositories inside the tree

	Facts manifest.Facts
	At    stick.Time // when it is taken; zero means the present time
	Ahead *Ahead     // what git was asked of Tree already; nil for nothing
}

// isSnapshot reports whether a snapshot is asked for. That is of the whole tree, whatever the request says.
func (r Request) isSnapshot() bool { return r.Facts.Cause == manifest.CauseCall }

// Taken is the outcome of [Store.Take].
type Taken struct {
	ID      string             `json:"id"`       // empty if nothing was kept
	Files   int                `json:"files"`    // how many paths it covers, deleted ones included
	Bytes   int64              `json:"bytes"`    // the size of that, with what was staged
	LeftOut []manifest.LeftOut `json:"left_out"` // with those of nested repositories
	Same    bool               `json:"same"`     // the state is that of the last rescue, whose id this is
	Nothing bool               `json:"nothing"`  // nothing is uncommitted
	Nested  []manifest.Nested  `json:"nested"`   // the rescues of repositories inside the tree

	Paths    []string   `json:"-"` // of a snapshot: what is uncommitted, but for ignored files
	Embedded []Embedded `json:"-"` // of a snapshot: the repositories inside the tree whose commits lie there, too
	NoIndex  bool       `json:"-"` // of a snapshot: the checkout has no index. Then Paths lack files that are as in HEAD
}

// Embedded is a repository inside another's working tree, with a git directory of its own there.
// [Store.KeepCommits] doesn't copy its commits with those of the other.
type Embedded struct {
	Path   string // relative to the top level of the checkout
	Common string // its git directory
}

// cleanPaths checks paths that a caller names and brings them into git's form. The result is nil for the
// whole tree.
func cleanPaths(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		c := path.Clean(p)
		if p == "" || path.IsAbs(p) || c == ".." || strings.HasPrefix(c, "../") || strings.IndexByte(p, 0) >= 0 {
			return nil, stick.Errorf(stick.CodeUsage, "%q isn't a path below the top level of the checkout", p).With("path", p)
		}

		if c == "." {
			return nil, nil
		}
		out = append(out, c)
	}
	return out, nil
}

// isWithin reports whether path is one of paths or below one. No paths stand for the whole tree.
func isWithin(path string, paths []string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
		return path == p || strings.HasPrefix(path, p+"/")
	})
}

// isLocalPath reports whether a path of a rescue stays inside a working tree, and out of git's own files.
// Rescues hold only such paths; one that somebody has changed may hold others.
func isLocalPath(p string) bool {
	for _, name := range strings.Split(p, "/") {
		isDots := name == "" || name == "." || name == ".."
		if isDots || strings.EqualFold(name, ".git") || strings.IndexByte(name, 0) >= 0 {
			return false
		}
	}

	return filepath.IsLocal(filepath.FromSlash(p))
}
