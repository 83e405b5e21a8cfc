package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"talkingstick/internal/plainfile"
)

// changesKey names the uncommitted changes of a side by all that decides as what the scratch commits them,
// so that git needn't read them again: the commit below, the files by their stamps, and the settings. It is
// empty where that may be the same while the changes aren't.
func (x *comparison) changesKey(side *Side, paths []string) string {
	if x.settings == "" || !isPlainCheckout(side.Path) {
		return ""
	}

	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", x.settings, side.Path, side.Head)
	for _, p := range paths {
		stamp, ok := stampFile(filepath.Join(side.Path, filepath.FromSlash(p)), x.git.now())
		if !ok {
			return ""
		}
		fmt.Fprintf(sum, "%s\x00%s\x00", p, stamp)
	}

	return hex.EncodeToString(sum.Sum(nil))
}

// isPlainCheckout reports whether a working tree is in no merge, which would be a second parent, and has no
// configuration of its own.
func isPlainCheckout(dir string) bool {
	own, _, ok := findGitDirs(dir)
	return ok && !fileExists(filepath.Join(own, "MERGE_HEAD")) && !fileExists(filepath.Join(own, "config.worktree"))
}

// stampFile returns what changes whenever a file does. ok is false for a directory, whose stamp says nothing
// of what is in it, and for a file that has changed just before at: the next
// change might not show.
func stampFile(path string, at time.Time) (stamp string, ok bool) {
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return "none", true
	}
	if err != nil || info.IsDir() {
		return "", false
	}

	s := plainfile.StampOf(info)
	return fmt.Sprint(s), s.IsSettled(at)
}

// recallCommit gives a side the commit of its uncommitted changes that an earlier run has made. The scratch of
// this run doesn't have it.
func (x *comparison) recallCommit(side *Side, key string, paths []string) bool {
	commit := x.known.Commits[key]
	if key == "" || commit == "" {
		return false
	}

	side.commit, side.recalled = commit, paths
	x.rememberCommit(key, commit)
	return true
}

func (x *comparison) rememberCommit(key, commit string) {
	if key == "" {
		return
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	x.result.Known.Commits[key] = commit
}

// commitRecalled makes the commits that comparisons need. If one has another name than before, because a file
// has changed just now, its side has other pairs, whose other sides may be needed then.
func (x *comparison) commitRecalled(ctx context.Context) {
	for {
		needed := x.neededSides()
		if len(needed) == 0 {
			return
		}

		inParallel(len(needed), func(i int) { x.commitSide(ctx, needed[i], needed[i].recalled, "") })
	}
}

// neededSides returns the sides of unknown pairs whose commits the scratch lacks.
func (x *comparison) neededSides() (needed []*Side) {
	for _, p := range x.listPairs() {
		if x.isKnown(p.a, p.b) {
			continue
		}

		for _, side := range []*Side{p.a, p.b} {
			if len(side.recalled) > 0 && !slices.Contains(needed, side) {
				needed = append(needed, side)
			}
		}
	}
	return needed
}
