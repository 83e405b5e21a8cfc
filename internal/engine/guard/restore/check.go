package restore

import (
	"cmp"
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Check is the doctor's check of rescues. It reads what each of them is.
func (rs *Restorer) Check(ctx context.Context) core.Finding {
	sum, err := rs.Store().Sum(ctx)
	if stick.CodeOf(err) == stick.CodeGitMissing {
		return core.Finding{Status: core.FindingWarning, Detail: "not read, because git isn't there"}
	}
	if err != nil {
		return core.Fault(err)
	}
	if n := len(sum.Damaged); n > 0 {
		return core.Finding{
			Status: core.FindingWarning, Detail: stick.Wordsf(
				"%d of %s can't be read, such as %s", n, stick.Count(sum.Count, "rescue"), sum.Damaged[0],
			),
			Fix: "nothing brings it back; the next rescues aren't concerned",
		}
	}

	if sum.Count == 0 {
		return core.Finding{Status: core.FindingOK, Detail: "there are none"}
	}

	return core.Finding{
		Status: core.FindingOK,
		Detail: stick.Wordsf("%s, %d MB on disk, of which %s with %d MB; tt rescue list --all shows those that something names",
			stick.Count(sum.Count, "rescue"), megabytes(sum.Bytes),
			areSnapshots(sum.Snapshots), megabytes(sum.SnapshotsBytes)),
	}
}

// CheckCopies is the doctor's check whether copies can be kept of what is uncommitted around the working
// directory.
func (rs *Restorer) CheckCopies(ctx context.Context) core.Finding {
	place, err := rs.core.PlaceToRead(core.Where{})
	switch {
	case err != nil:
		return core.Finding{
			Status: core.FindingOK, Detail: "not checked, because the working directory can't be looked up",
		}
	case place.CheckRepository() != nil:
		return core.Finding{
			Status: core.FindingWarning, Detail: "none can be kept here, because the repository can't be found",
		}
	case place.WithoutGit:
		return core.Finding{
			Status: core.FindingWarning,
			Fix:    "let agents work where jj and git share the files (jj git init --colocate), or in a worktree of git",
			Detail: stick.Wordsf(
				"none are kept in %s, because it is a workspace of jj without git",
				cmp.Or(place.Worktree, place.Root),
			),
		}
	case place.CheckoutTop() == "":
		return core.Finding{Status: core.FindingOK, Detail: "none are kept here, because it isn't a git repository"}
	}

	// Git has to find the repository, and to read all that a copy asks it for.
	_, err = rs.core.Config.Git.Checkout(ctx, place.CheckoutTop())
	if err == nil {
		_, err = rs.core.Config.Git.Uncommitted(ctx, place.CheckoutTop())
	}

	if err != nil {
		why := stick.AsError(err)
		return core.Finding{
			Status: core.FindingWarning, Detail: "none can be kept here: " + why.Words(), Fix: why.Hint.Words(),
		}
	}

	found := core.Finding{
		Status: core.FindingOK, Detail: stick.Wordsf(
			"they can be kept of what is uncommitted in %s", place.CheckoutTop(),
		),
	}

	if tree, ok := workspace.FindCheckout(place.Path, rs.core.Config.Workspace); ok {
		if left := rs.Store().LeftOutCommits(tree); len(left) > 0 {
			found.Status, found.Fix = core.FindingWarning, "push them to a remote: what a remote has needs no copy"
			found.Detail += "; commits that only this repository has aren't copied: " + sayLeftOut(left)
		}
	}

	return found
}

// megabytes rounds up.
func megabytes(bytes int64) int64 { return (bytes + 999_999) / 1_000_000 }

// areSnapshots says how many snapshots there are.
func areSnapshots(n int) stick.Words {
	if n == 1 {
		return "1 is a snapshot"
	}
	return stick.Wordsf("%d are snapshots", n)
}
