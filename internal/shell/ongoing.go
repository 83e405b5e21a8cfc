package shell

import (
	"path/filepath"
	"slices"
	"sync"

	"talkingstick/internal/workspace"
)

// ongoingMarks are the files in a git directory of which one is there while such a command has begun and not
// ended.
var ongoingMarks = sync.OnceValue(func() map[string][]string {
	picks := []string{"CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer"}
	return map[string][]string{
		"merge": {"MERGE_HEAD"}, "rebase": {"rebase-merge", "rebase-apply"}, "am": {"rebase-apply"},
		"cherry-pick": picks, "revert": picks,
	}
})

// hasNothingToEnd reports whether git refuses a command that ends a merge, or one like it, or goes on with
// it, because none has begun. An earlier part of the same command may begin one, so this may only be asked if
// those only read.
func (w *walker) hasNothingToEnd(sub gitSub) bool {
	marks := ongoingMarks()[sub.name]
	ends := func(option string) bool { return containsWord(sub.args, option) }
	ending := slices.ContainsFunc([]string{"--abort", "--continue", "--skip"}, ends)
	if len(marks) == 0 || !ending || !w.dirKnown || w.git.top != "" {
		return false
	}

	at, ok := workspace.FindCheckout(w.dir, workspace.Env{})
	return ok && !slices.ContainsFunc(marks, func(name string) bool { return pathExists(filepath.Join(at.Git, name)) })
}
