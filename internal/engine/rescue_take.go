package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// rescues returns the store of rescues in the data directory.
func (e *Engine) rescues() *rescue.Store {
	s := rescue.New(e.core.Config.Dir, e.core.Config.Git)
	slack := time.Duration(max(e.core.Config.Slack, 1))
	s.Limits.Time *= slack
	s.Limits.Status *= slack
	return s
}

// takeRescue keeps a copy of what is uncommitted in a checkout. It changes nothing there. It fails as [rescue.Store.Take]
// does, and may be called only outside of transactions.
func (e *Engine) takeRescue(ctx context.Context, r rescue.Request) (rescue.Taken, error) {
	if r.At.IsZero() {
		r.At = stick.At(e.core.Now())
	}
	return e.rescues().Take(ctx, r)
}

// RescueFiles keeps a copy of files in a checkout that is about to go, also of those that git ignores. lacks names those of
// which it couldn't. It isn't an operation: those on tasks call it. It may be called only outside of transactions.
func (e *Engine) RescueFiles(ctx context.Context, room stick.RoomID, by stick.AgentID, top string, paths []string, command string) (id string, lacks []string, err error) {
	tree, ok := workspace.FindCheckout(top, workspace.Env{})
	if !ok {
		return "", paths, nil
	}
	taken, err := e.takeRescue(ctx, rescue.Request{
		Tree: tree, Paths: paths, Untracked: true, Ignored: true,
		Facts: rescue.Facts{Room: string(room), Agent: string(by), Cause: rescue.CauseCommand, Command: command},
	})
	if err != nil {
		return "", nil, err
	}
	for _, l := range taken.LeftOut {
		if slices.ContainsFunc(paths, func(p string) bool { return p == l.Path || strings.HasPrefix(p, strings.TrimSuffix(l.Path, "/")+"/") }) {
			lacks = append(lacks, l.Path)
		}
	}
	return taken.ID, lacks, nil
}
