package rescue

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"talkingstick/internal/git"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/workspace"
)

// survey is what git says of a working tree.
type survey struct {
	head, branch string
	entries      map[string]*manifest.Entry
	untracked    []string // files; directories that are repositories, with / at the end
	ignored      []string // files and directories; the latter with / at the end
	index        []indexLine
	isPartial    bool       // index lacks what [indexFacts] leave out
	facts        indexFacts // for the next survey
	leftOut      []manifest.LeftOut
	lacksNew     bool // git had no time to list what it doesn't track
}

// statusArgs ask for everything that is uncommitted. Renames appear as two paths; what is uncommitted inside
// of submodules is their own matter, and git would ask there without our settings.
var statusArgs = []string{"status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames", "--ignore-submodules=dirty"}

// maxPaths and maxPathBytes bound the paths that git gets as arguments. With more, git is asked for the whole
// tree.
const (
	maxPaths     = 500
	maxPathBytes = 60 << 10
)

// surveyTree asks git what is uncommitted. Status has its own time limit: when it is over, tracked files are
// asked for alone. The index is listed unless what is known of it still holds.
func (s *Store) surveyTree(ctx context.Context, g git.Isolated, r Request, known indexFacts) (*survey, error) {
	paths := limitPaths(r.Paths)
	v := &survey{entries: map[string]*manifest.Entry{}}

	// Git lists the index while it looks for changes, unless it is known.
	var lines []indexLine
	var listed error
	var wait sync.WaitGroup
	isAsked := r.Ahead.isWholeOf(r)
	var seen plainfile.Stamp
	if isAsked {
		seen = r.Ahead.index
	} else {
		seen = stampIndex(r, s.now())
	}

	if v.isPartial = known.holds(seen); v.isPartial {
		lines, v.facts = known.lines, known
	} else {
		wait.Go(func() { lines, listed = listIndex(ctx, g) })
	}

	var answer statusAnswer
	if isAsked {
		answer = r.Ahead.awaitStatus(ctx)
	} else {
		answer = s.askStatus(ctx, g, statusFlags(r), paths)
	}

	// It fails for some paths, such as one inside of a submodule: then it is asked for the whole tree.
	if answer.err != nil && len(paths) > 0 && !errors.Is(answer.err, context.DeadlineExceeded) {
		paths = nil
		answer = runStatus(ctx, g, statusFlags(r), nil)
	}

	// Untracked files take most of the time.
	isLate := errors.Is(answer.err, context.DeadlineExceeded) && ctx.Err() == nil
	if isLate && (r.Untracked || r.Ignored) {
		answer = runStatus(ctx, g, []string{"-uno"}, paths)
		if v.lacksNew = answer.err == nil; v.lacksNew {
			v.leaveOut("./", manifest.WhyTime)
		}
	}

	wait.Wait()
	if answer.err != nil {
		return nil, answer.err
	}

	if err := v.parseStatus(answer.said); err != nil {
		return nil, err
	}

	v.noteUnreadable(answer.warnings)
	ofHead := func(paths []string) (map[string]manifest.Version, error) { return listCommitted(ctx, g, v.head, paths) }
	if err := v.markIntended(ofHead); err != nil {
		return nil, err
	}

	// Of what is only intended, the index alone knows mode and name.
	if v.isPartial && v.hasIntended() {
		v.isPartial = false
		lines, listed = listIndex(ctx, g)
	}

	if listed != nil && !errors.Is(listed, context.DeadlineExceeded) {
		return nil, listed
	}
	if listed != nil {
		// Without the index, files that git is told to take for unchanged can't be found.
		v.leaveOut("./", manifest.WhyTime)
		return v, nil
	}

	if !v.isPartial {
		v.facts = newIndexFacts(seen, lines)
	}
	v.noteIndex(lines, r.Paths)
	return v, nil
}

// limitPaths returns the paths to give to git.
func limitPaths(paths []string) []string {
	n := 0
	for _, p := range paths {
		n += len(p) + 1
	}

	if len(paths) > maxPaths || n > maxPathBytes {
		return nil
	}
	return paths
}

// statusFlags returns the flags that say which files git looks for beside tracked ones.
func statusFlags(r Request) []string {
	switch {
	case r.Ignored:
		// Git can't list ignored files without untracked ones.
		return []string{"-uall", "--ignored=matching"}
	case r.Untracked:
		return []string{"-uall", "--ignored=no"}
	}
	return []string{"-uno", "--ignored=no"}
}

// statusAnswer is what git status has said.
type statusAnswer struct {
	said     []byte
	warnings string
	err      error
}

// askStatus runs git status in the time that there is for it.
func (s *Store) askStatus(ctx context.Context, g git.Isolated, flags, paths []string) statusAnswer {
	short, cancel := context.WithTimeout(ctx, s.Limits.Status)
	defer cancel()
	return runStatus(short, g, flags, paths)
}

func runStatus(ctx context.Context, g git.Isolated, flags, paths []string) statusAnswer {
	var out bytes.Buffer
	args := append(append([]string{}, statusArgs...), flags...)
	if len(paths) > 0 {
		args = append(append(args, "--"), paths...)
	}

	warnings, err := g.Run(ctx, nil, &out, args...)
	return statusAnswer{out.Bytes(), warnings, err}
}

func (v *survey) leaveOut(path string, why manifest.Why) {
	v.leftOut = append(v.leftOut, manifest.LeftOut{Path: path, Why: why})
}

// noteUnreadable names the directories that git couldn't open, by its warnings.
func (v *survey) noteUnreadable(warnings string) {
	const begin, end = "warning: could not open directory '", "': "
	for {
		_, rest, ok := strings.Cut(warnings, begin)
		path, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return
		}

		v.leaveOut(strings.TrimSuffix(path, "/")+"/", manifest.WhyUnreadable)
		warnings = after
	}
}

// hasIntended reports whether files were added without their content.
func (v *survey) hasIntended() bool {
	for _, e := range v.entries {
		if e.Intent {
			return true
		}
	}
	return false
}

// errStatus says that git's output isn't what it should be.
var errStatus = errors.New("read git status: a record that can't be read")

func (v *survey) entryAt(path string) *manifest.Entry {
	e := v.entries[path]
	if e == nil {
		e = &manifest.Entry{Path: manifest.BytesText(path)}
		v.entries[path] = e
	}
	return e
}

// parseStatus reads the output of git status --porcelain=v2 --branch -z.
func (v *survey) parseStatus(said []byte) error {
	for _, r := range strings.Split(strings.TrimSuffix(string(said), "\x00"), "\x00") {
		ok := true
		switch {
		case r == "":
		case strings.HasPrefix(r, "# branch.oid "):
			if v.head = r[len("# branch.oid "):]; v.head == "(initial)" {
				v.head = ""
			}
		case strings.HasPrefix(r, "# branch.head "):
			if v.branch = r[len("# branch.head "):]; v.branch == "(detached)" {
				v.branch = ""
			}
		case r[0] == '#':
		case strings.HasPrefix(r, "? "):
			v.untracked = append(v.untracked, r[2:])
		case strings.HasPrefix(r, "! "):
			v.ignored = append(v.ignored, r[2:])
		case strings.HasPrefix(r, "1 "):
			ok = v.parseChanged(r)
		case strings.HasPrefix(r, "u "):
			ok = v.parseUnmerged(r)
		default:
			ok = false
		}

		if !ok {
			return errStatus
		}
	}
	return nil
}

const noMode = "000000"

// parseChanged reads 1 XY sub mH mI mW hH hI path.
func (v *survey) parseChanged(r string) bool {
	f := strings.SplitN(r, " ", 9)
	if len(f) != 9 || len(f[1]) != 2 || f[8] == "" {
		return false
	}

	e := v.entryAt(f[8])
	if f[3] != noMode {
		e.Head = &manifest.Version{Mode: f[3], OID: f[6]}
	}

	switch {
	case f[1][1] == 'A':
		// Of what is only intended, status knows neither mode nor name.
		e.Intent = true
		e.Index = []manifest.Version{{Mode: f[5], OID: f[7]}}
	case f[4] != noMode:
		e.Index = []manifest.Version{{Mode: f[4], OID: f[7]}}
	}
	return true
}

// markIntended marks the entries that were added without content and whose file is gone: of these, status
// says that HEAD has them, with nothing in them. committed asks what HEAD has of some paths; it is called
// only if there are such entries.
func (v *survey) markIntended(committed func(paths []string) (map[string]manifest.Version, error)) error {
	var empty []string
	for path, e := range v.entries {
		isSame := e.Head != nil && len(e.Index) == 1 && *e.Head == e.Index[0]
		if isSame && e.Head.OID == pack.ObjectName(pack.NewHash(e.Head.OID), "blob", nil) {
			empty = append(empty, path)
		}
	}

	if len(empty) == 0 {
		return nil
	}

	found, err := committed(limitPaths(empty))
	for _, path := range empty {
		if _, ok := found[path]; !ok {
			v.entries[path].Head, v.entries[path].Intent = nil, true
		}
	}
	return err
}

// parseUnmerged reads u XY sub m1 m2 m3 mW h1 h2 h3 path.
func (v *survey) parseUnmerged(r string) bool {
	f := strings.SplitN(r, " ", 11)
	if len(f) != 11 || f[10] == "" {
		return false
	}

	e := v.entryAt(f[10])
	for stage := 1; stage <= 3; stage++ {
		if mode := f[2+stage]; mode != noMode {
			e.Index = append(e.Index, manifest.Version{Mode: mode, OID: f[6+stage], Stage: stage})
		}
	}

	return true
}

// noteIndex adds to the entries what status doesn't tell: flags, and files that git is told not to look at.
func (v *survey) noteIndex(lines []indexLine, paths []string) {
	v.index = lines
	for _, l := range lines {
		e := v.entries[l.path]
		if e == nil && (l.assume || l.skip) && !l.IsSubmodule() && isWithin(l.path, paths) {
			head := l.Version
			e = v.entryAt(l.path)
			e.Head, e.Index = &head, []manifest.Version{l.Version}
		}

		if e == nil || l.Stage > 0 {
			continue
		}

		e.Assume, e.Skip = l.assume, l.skip
		if e.Intent {
			e.Index = []manifest.Version{l.Version}
		}
	}
}

// operationFiles are the files by which git remembers what it is in the middle of.
var operationFiles = []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "ORIG_HEAD"}

// readOperation reads what git is in the middle of. A rescue only shows it: restoring files doesn't begin a
// merge again.
func readOperation(gitDir string) map[string]string {
	var found map[string]string
	for _, name := range operationFiles {
		b, err := os.ReadFile(filepath.Join(gitDir, name))
		if err != nil || len(b) > 4<<10 {
			continue
		}

		if found == nil {
			found = map[string]string{}
		}
		found[name] = strings.ToValidUTF8(strings.TrimSpace(string(b)), "?")
	}
	return found
}

// hasIndex reports whether a checkout has an index. One without any commit may have none.
func hasIndex(tree workspace.Checkout) bool {
	_, err := os.Lstat(filepath.Join(tree.Git, "index"))
	return err == nil
}
