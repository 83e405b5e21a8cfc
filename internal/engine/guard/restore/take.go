package restore

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Store returns the store of rescues in the data directory.
func (rs *Restorer) Store() *rescue.Store {
	s := rescue.New(rs.core.Config.Dir, rs.core.Config.Git)
	s.Never = rs.never
	s.Kill = func(point string) { rs.core.KillPoint(core.CopyPoint + point) }
	s.Limits.Time, s.Limits.Status = rs.core.ExtendLimit(s.Limits.Time), rs.core.ExtendLimit(s.Limits.Status)

	if rs.Limit != nil {
		rs.Limit(&s.Limits)
	}
	return s
}

// RescueDir is the directory in which all copies of uncommitted work lie. It may not exist.
func (rs *Restorer) RescueDir() string { return rs.Store().Root() }

// PruneRescues drops the rescues and snapshots that aren't kept any longer. What fails it tries again another
// time. It isn't an operation: a process in the background calls it.
func (rs *Restorer) PruneRescues(ctx context.Context) {
	rs.Store().Prune(ctx, stick.At(rs.core.Now()))
}

// Take keeps a copy of what is uncommitted in a checkout. It changes nothing there. It fails as
// [rescue.Store.Take] does, and may be called only outside of transactions.
func (rs *Restorer) Take(ctx context.Context, r rescue.Request) (rescue.Taken, error) {
	if r.At.IsZero() {
		r.At = stick.At(rs.core.Now())
	}
	return rs.Store().Take(ctx, r)
}

// RescueFiles keeps a copy of files in a checkout that is about to go, also of those that git ignores. lacks
// names those that the rescue doesn't hold. It isn't an operation: those on tasks call it. It may be called
// only outside of transactions.
func (rs *Restorer) RescueFiles(
	ctx context.Context, room stick.RoomID, by stick.AgentID, top string, paths []string, command string,
) (id string, lacks []string, err error) {
	tree, ok := workspace.FindCheckout(top, workspace.Env{})
	if !ok {
		return "", paths, nil
	}

	taken, err := rs.Take(ctx, rescue.Request{
		Tree: tree, Paths: paths, Untracked: true, Ignored: true,
		Facts: rescue.Facts{Room: string(room), Agent: string(by), Cause: rescue.CauseCommand, Command: command},
	})
	if err != nil {
		return "", nil, err
	}
	if taken.ID == "" {
		return "", paths, nil
	}

	// What was left out has no exact names: a directory stands for all below it.
	kept, err := rs.Store().Show(ctx, taken.ID)
	if err != nil {
		return "", nil, err
	}

	holds := make(map[string]bool, len(kept.Entries))
	for _, f := range kept.Entries {
		holds[f.Path] = true
	}

	for _, l := range taken.LeftOut {
		// Its entry may say something else of it.
		delete(holds, l.Path)
	}

	return taken.ID, slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return holds[p] }), nil
}

// KeepTips keeps commits of a branch that is about to go, in refs of the user's repository, which it returns. It
// isn't an operation: those on tasks call it.
func (rs *Restorer) KeepTips(ctx context.Context, common, branch string, tips []string) (refs []string, err error) {
	var lost []rescue.Tip
	for _, commit := range tips {
		lost = append(lost, rescue.Tip{Of: "refs/heads/" + branch, Commit: commit})
	}

	kept, err := rs.Store().KeepTips(ctx, common, lost, stick.At(rs.core.Now()))
	for _, k := range kept {
		refs = append(refs, k.Ref)
	}
	return refs, err
}
