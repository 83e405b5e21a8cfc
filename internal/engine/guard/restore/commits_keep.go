package restore

import (
	"context"
	"strings"
	"time"

	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// firstKeep is how long the first copy of a repository's own commits may take. What takes longer is copied in
// the background, after the first hook.
const firstKeep = 10 * time.Second

// KeepFirstCommits copies the commits that only the repository around a room has, if that was never done, so
// that the first command of an agent doesn't have to wait for it. If that fails, the first command tries
// again. It does nothing outside of git, and where the room wants no copies. What it leaves out,
// [Restorer.ListRescues] says.
func (rs *Restorer) KeepFirstCommits(ctx context.Context, r stick.Room) {
	if !edits.KeepsSnapshots(r) || r.Path == "" {
		return
	}

	tree, ok := workspace.FindCheckout(r.Path, workspace.Env{})
	s := rs.Store()
	if !ok || s.HasCommits(tree.Common) {
		return
	}

	s.Limits.Time = firstKeep
	_, _ = s.KeepCommits(ctx, tree.Common)
}

// sayLeftOut names what isn't copied of the commits that only the user's repository has.
func sayLeftOut(all []rescue.LeftOut) stick.Words {
	var named []stick.Words
	for _, l := range all {
		named = append(named, stick.Wordsf("%s (%s)", NameLeftOut(l), l.Why))
	}
	return stick.JoinWords(named, ", ")
}

// NameLeftOut names the commits that something left out stands for: a ref, or all of a repository.
func NameLeftOut(l rescue.LeftOut) stick.Words {
	repository, isWhole := strings.CutSuffix(l.Path, "./")
	repository = strings.TrimSuffix(repository, ": ")
	switch {
	case isWhole && repository == "":
		return "all of them"
	case isWhole:
		return stick.Wordsf("all of %s", repository)
	}

	// No ref has a blank.
	if i := strings.LastIndex(l.Path, ": "); i > 0 {
		return stick.Wordsf("%s: %s", l.Path[:i], l.Path[i+len(": "):])
	}

	return stick.Wordsf("%s", l.Path)
}
