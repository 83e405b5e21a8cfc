package commits

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/stick"
)

// What the log of kept commits, their refs and their packs are called, and the times of keeping them.
const (
	RefsName      = "refs/commits" // the directory of the refs of kept commits, as <id>/<number>
	PackPrefix    = "commits-"     // of the names of their packs
	commitLogName = "commits"      // the file of the log, in the directory of caches

	headName = "HEAD" // stands for what only a reflog or a detached HEAD reaches

	// maxNesting bounds how deep submodules of submodules are followed.
	maxNesting = 5
	// patience is how long somebody waits who finds that another process keeps the same commits.
	patience = 100 * time.Millisecond

	longKeep   = time.Minute      // for keeping commits in the background
	retryLate  = 10 * time.Minute // after commits took too long, until they are tried again although no ref has moved
	freshEvery = 24 * time.Hour   // after beginning anew took too long, until it is tried again
)

// StashName is the ref of the stash. One commit is its newest entry, and its log has the others. In [Tip.Of] it
// stands for an entry.
const StashName = "refs/stash"

// commitLog says which commits of a repository are kept. A round is a chain of packs of which each leans on
// the earlier ones, and the first on what a remote has. They go together.
type commitLog struct {
	Common    string             `json:"git_common_dir"`
	Stamp     string             `json:"stamp"`                // of the refs when they were looked at last
	Late      stick.Time         `json:"late,omitempty"`       // when that took too long
	NotBefore stick.Time         `json:"not_before,omitempty"` // when a new round may be tried again
	LeftOut   []manifest.LeftOut `json:"left_out,omitempty"`   // what wasn't kept when refs were as the stamp says
	Round     string             `json:"round,omitempty"`      // the id of the first pack of the present round
	Bases     []string           `json:"bases,omitempty"`      // the commits on which it leans and which it lacks
	Packs     []keptPack         `json:"packs"`
	Tips      []keptRef          `json:"tips"` // what local refs are
	Gone      []keptRef          `json:"gone"` // what they were
}

// keptRef is a commit of a local ref, and the ref of ours that keeps it.
type keptRef struct {
	Of     string     `json:"of"` // refs/heads/…, refs/stash, or HEAD
	Commit string     `json:"commit"`
	Ref    string     `json:"ref"`
	Round  string     `json:"round"`
	Leans  bool       `json:"leans,omitempty"` // on commits that a remote has
	At     stick.Time `json:"at"`              // when it was kept
	Gone   stick.Time `json:"gone,omitempty"`  // when it was no longer that of the local ref
}

// keptPack is a pack of kept commits.
type keptPack struct {
	ID    string `json:"id"`
	Round string `json:"round"`
	Bytes int64  `json:"bytes"`
}

func (r *repository) commitLogPath() string {
	return r.PathTo(bare.StateName + "/" + commitLogName)
}

func (r *repository) commitBase(id string) string {
	return filepath.Join(r.PathTo(bare.PacksName), PackPrefix+id)
}

// readCommitLog reads the log. One that is missing or damaged is as none: then commits are kept again.
func (r *repository) readCommitLog(common string) *commitLog {
	log := &commitLog{}
	b, err := plainfile.Read(r.commitLogPath())
	if err != nil || json.Unmarshal(b, log) != nil {
		log = &commitLog{}
	}

	if common != "" {
		log.Common = common
	}
	return log
}

// writeCommitLog puts a log in the place of the last one. It is what makes commits kept.
func (r *repository) writeCommitLog(log *commitLog) error {
	b, err := json.Marshal(log)
	if err != nil {
		return fmt.Errorf("write kept commits: %w", err)
	}

	f, err := plainfile.Temp(r.PathTo(bare.StateName), bare.TempPrefix)
	if err != nil {
		return bare.ErrUnwritable(r.PathTo(bare.StateName), err)
	}

	// This removes nothing once the file has its name.
	defer os.Remove(f.Name())

	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return bare.ErrUnwritable(f.Name(), err)
	}

	// It gets its name when it is whole: who reads meanwhile sees the last log, or this one.
	r.Kill("commit log written")
	if err := os.Rename(f.Name(), r.commitLogPath()); err != nil {
		return bare.ErrUnwritable(r.commitLogPath(), err)
	}
	r.Kill("commit log")
	return nil
}

// isCurrent reports whether commits are kept as refs with a stamp name them, or were tried a short time ago.
func (l *commitLog) isCurrent(stamp string, now stick.Time) bool {
	if l.Stamp != stamp {
		return false
	}

	since := now.Sub(l.Late)
	return l.Late == 0 || since >= 0 && since < retryLate
}

// isRoundOld reports whether the present round has lasted long, or become large.
func (l *commitLog) isRoundOld(now stick.Time, limits Limits) bool {
	began, ok := manifest.TimeOf(l.Round)
	return ok && now.Sub(began) > limits.Age || l.roundBytes(l.Round) > limits.Total/2
}

// roundBytes returns the bytes of the packs of a round.
func (l *commitLog) roundBytes(round string) (n int64) {
	for _, p := range l.Packs {
		if p.Round == round {
			n += p.Bytes
		}
	}
	return n
}

// timeAfterKept returns the present time, or if something was kept at it or after it, the next one.
func (l *commitLog) timeAfterKept(now stick.Time) stick.Time {
	for _, p := range l.Packs {
		at, _ := manifest.TimeOf(p.ID)
		now = max(now, at+1)
	}
	for _, f := range slices.Concat(l.Tips, l.Gone) {
		now = max(now, f.At+1)
	}
	return now
}

// writeCommitRefs writes the refs of commits. They appear at once.
func (r *repository) writeCommitRefs(id string, made []keptRef) error {
	if len(made) == 0 {
		return nil
	}

	all := r.PathTo(RefsName)
	if err := plainfile.MkdirAll(all); err != nil {
		return bare.ErrUnwritable(all, err)
	}
	if err := bare.CheckFolder(all); err != nil {
		return err
	}

	// The directory gets its name with all refs in it, so that they appear together.
	temp, err := os.MkdirTemp(r.PathTo(bare.StateName), bare.TempPrefix)
	if err != nil {
		return bare.ErrUnwritable(r.PathTo(bare.StateName), err)
	}

	// This removes nothing once the directory has its name.
	defer os.RemoveAll(temp)
	if err := plainfile.InheritPath(temp); err != nil {
		return bare.ErrUnwritable(temp, err)
	}

	for _, f := range made {
		file, err := plainfile.Open(filepath.Join(temp, filepath.Base(f.Ref)), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
		if err != nil {
			return bare.ErrUnwritable(temp, err)
		}
		_, err = file.WriteString(f.Commit + "\n")
		if cerr := file.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return bare.ErrUnwritable(temp, err)
		}
	}

	if err := os.Rename(temp, filepath.Join(all, id)); err != nil {
		return bare.ErrUnwritable(all, err)
	}
	r.Kill("commit refs")
	return nil
}

// stampRefs says without git what the refs and reflogs of a repository are. Equal stamps mean that none has
// moved.
func stampRefs(common string) string {
	h := sha256.New()
	content := func(path string) {
		b, err := os.ReadFile(path)
		fmt.Fprintf(h, "%q %q %t\n", path, b, err == nil)
	}
	look := func(path string) {
		info, err := os.Lstat(path)
		if err == nil {
			fmt.Fprintf(h, "%q %v\n", path, plainfile.StampOf(info))
		}
	}

	for _, dir := range gitDirsOf(common) {
		content(filepath.Join(dir, "HEAD"))
		look(filepath.Join(dir, "logs", "HEAD"))
		content(filepath.Join(dir, "reftable", "tables.list"))
	}

	for _, name := range []string{"packed-refs", "logs/refs/stash", "shallow"} {
		look(filepath.Join(common, filepath.FromSlash(name)))
	}

	content(filepath.Join(common, filepath.FromSlash(StashName)))

	_ = filepath.WalkDir(filepath.Join(common, "refs", "heads"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			content(path)
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// gitDirsOf lists the common git directory of a repository, and those of its linked worktrees.
func gitDirsOf(common string) []string {
	dirs := []string{common}
	trees, _ := os.ReadDir(filepath.Join(common, "worktrees"))
	for _, d := range trees {
		dirs = append(dirs, filepath.Join(common, "worktrees", d.Name()))
	}
	return dirs
}

// headsOf lists the commits at which the checkouts of a repository are without a branch.
func headsOf(common string) (commits []string) {
	for _, dir := range gitDirsOf(common) {
		b, err := os.ReadFile(filepath.Join(dir, "HEAD"))
		if text := strings.TrimSpace(string(b)); err == nil && isObjectName(text) {
			commits = append(commits, text)
		}
	}
	return commits
}

// shallowRoots lists the commits of a shallow repository whose parents it lacks.
func shallowRoots(common string) (commits []string) {
	b, _ := os.ReadFile(filepath.Join(common, "shallow"))
	return slices.DeleteFunc(strings.Fields(string(b)), func(c string) bool { return !isObjectName(c) })
}

func isObjectName(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
