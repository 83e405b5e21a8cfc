package restore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// addTips adds the kept tips of a repository. A damaged repository is no reason to hide its rescues.
func (rs *Restorer) addTips(ctx context.Context, res *ListRescuesResult, limit int) {
	tips, err := rs.Store().Tips(ctx, res.Common)
	tips = lostStashed(tips, res.Common)
	branches := map[string]string{}
	if err == nil && len(tips) > 0 {
		branches, err = rs.branchesIn(ctx, res.Common)
	}
	if err != nil {
		res.TipsWhy = stick.AsError(err).Words()
		return
	}

	// a command may have failed before which they were kept
	tips = slices.DeleteFunc(tips, func(t rescue.Tip) bool { return branches[t.Of] == t.Commit })
	if len(tips) > limit {
		tips, res.TipsHidden = tips[:limit], len(tips)-limit
	}

	for _, t := range tips {
		kept := KeptTip{Tip: t, command: bringsBack(t, branches)}
		kept.Back = kept.command.String()
		res.Tips = append(res.Tips, kept)
	}
}

// branchesIn returns the commits of the branches of a repository, by the full names of these.
func (rs *Restorer) branchesIn(ctx context.Context, common string) (map[string]string, error) {
	branches := map[string]string{}
	refs, err := rs.core.Config.Git.Refs(ctx, common, "refs/heads/")
	for _, r := range refs {
		branches[r.Name] = r.Commit
	}
	return branches, err
}

// headRef returns the branch that is checked out in the main checkout of a repository, also if it has no
// commit. It is empty if there is none.
func headRef(common string) string {
	b, _ := os.ReadFile(filepath.Join(common, "HEAD"))
	name, _ := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: ")
	return name
}

// addLostTips adds the commits that ours keeps of a repository and that doesn't have any more, or all if it
// is gone: of the repository of the call, or of one inside.
func (rs *Restorer) addLostTips(ctx context.Context, res *ListRescuesResult, common string, limit int) {
	lost, err := rs.Store().LostTips(ctx, common)

	// The limit is for the tips of all repositories together.
	if limit = max(limit-len(res.Tips), 0); err == nil && len(lost) > limit {
		res.TipsHidden += len(lost) - limit
		lost = lost[:limit]
	}

	into, prefix := common, ""

	// Git fetches into no repository that isn't there.
	if common != res.Common && core.IsGone(common) {
		into, prefix = res.Common, repositoryName(common)+"-"
	}

	branches := map[string]bool{}
	if err == nil && len(lost) > 0 && !core.IsGone(into) {
		var there map[string]string
		there, err = rs.branchesIn(ctx, into)
		for name := range there {
			branches[name] = true
		}

		// Git fetches into no branch that is checked out, and that may have no commit.
		branches[headRef(into)] = true
	}
	if err != nil {
		res.TipsWhy = stick.AsError(err).Words()
		return
	}

	for _, l := range lost {
		name := branchFor(l, prefix, branches)
		branches["refs/heads/"+name] = true
		kept := KeptTip{Tip: l.Tip}
		if common == res.Common {
			kept.command = fetchCommand(l, common, name)
		} else {
			kept.Inside = common
			kept.command = innerFetchCommand(l, common, into, name)
		}

		kept.Back = kept.command.String()
		res.Tips = append(res.Tips, kept)
	}
}

// repositoryName is the name of the directory around a .git, or of a git directory.
func repositoryName(common string) string { return filepath.Base(strings.TrimSuffix(common, "/.git")) }

// innerFetchCommand is [fetchCommand] for a repository inside another. If it is gone, the commit comes into
// the one around it, unless it leans on commits of a remote: then the inner one has to be cloned again
// before.
func innerFetchCommand(l rescue.LostTip, common, into, branch string) stick.Command {
	to := l.Ref + ":refs/heads/" + branch
	switch dir := strings.TrimSuffix(common, "/.git"); {
	case l.Leans:
		return stick.Cmd(
			"git -C <directory> fetch --upload-pack <program> <repository> <refspec>",
			dir, rescue.UploadPack(common), l.Repository, to,
		)
	case into != common:
		return stick.Cmd("git fetch <repository> <refspec>", l.Repository, to)
	default:
		return stick.Cmd("git -C <directory> fetch <repository> <refspec>", dir, l.Repository, to)
	}
}

// branchFor names the branch for a lost tip: as its own, after a prefix, and with the start of the commit
// where that is taken.
func branchFor(l rescue.LostTip, prefix string, branches map[string]bool) string {
	name, isBranch := strings.CutPrefix(l.Of, "refs/heads/")
	name = prefix + name
	if !isBranch {
		name = prefix + "lost"
		if l.Of == rescue.StashName {
			name = prefix + "stash"
		}
	}

	if !isBranch || branches["refs/heads/"+name] {
		name += "-" + l.Commit[:7]
	}

	return name
}

// fetchCommand makes the command that brings a lost tip back as a branch. Commits that a remote has have to
// be fetched from there before.
func fetchCommand(l rescue.LostTip, common, branch string) stick.Command {
	to := l.Ref + ":refs/heads/" + branch
	if l.Leans {
		return stick.Cmd(
			"git fetch --upload-pack <program> <repository> <refspec>", rescue.UploadPack(common), l.Repository, to,
		)
	}

	return stick.Cmd("git fetch <repository> <refspec>", l.Repository, to)
}

// lostStashed leaves out the tips of entries that the stash still has.
func lostStashed(tips []rescue.Tip, common string) []rescue.Tip {
	has := map[string]bool{}
	entries, _ := workspace.ReadStash(common)
	for _, e := range entries {
		has[e.Commit] = true
	}
	return slices.DeleteFunc(tips, func(t rescue.Tip) bool { return t.Of == rescue.StashName && has[t.Commit] })
}

// bringsBack makes the command that brings a tip back. A branch of its name may exist again; then the new one
// has the start of the commit in its name.
func bringsBack(t rescue.Tip, branches map[string]string) stick.Command {
	name, isBranch := strings.CutPrefix(t.Of, "refs/heads/")
	switch {
	case t.Of == rescue.StashName:
		return stick.Cmd("git stash store <commit>", t.Commit)
	case !isBranch:
		return stick.Cmd("git update-ref <ref> <commit>", t.Of, t.Commit)
	case branches[t.Of] != "":
		name += "-" + t.Commit[:7]
	}

	return stick.Cmd("git branch <branch> <commit>", name, t.Commit)
}
