package guard

import (
	"context"
	"path/filepath"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// findUnkept finds an uncommitted file of which a snapshot could keep nothing, whatever time it had. What git
// ignores is no reason to tell anybody.
func findUnkept(t rescue.Taken) (unkept rescue.LeftOut) {
	for _, l := range t.LeftOut {
		isImpossible := l.Why == rescue.WhyLimit || l.Why == rescue.WhyUnreadable
		if isImpossible && slices.Contains(t.Paths, l.Path) {
			return l
		}
	}

	return rescue.LeftOut{}
}

// unkeptWork is what no copies can be kept of: all of a checkout, or a file.
type unkeptWork struct {
	path      string // absolute
	why, hint stick.Words
}

// newRefusal says that no copies can be kept where git refuses to work.
func newRefusal(q editQuestion, refusal *stick.Error) unkeptWork {
	top, _ := refusal.Fields["path"].(string)
	if top == "" && q.at != nil {
		top = q.at.CheckoutTop()
	}

	return unkeptWork{top, "uncommitted work there: " + refusal.Words(), refusal.Hint.Words()}
}

// unkeptIn says of what no copies can be kept in checkouts where a call has ended.
func unkeptIn(ended []*checkout) unkeptWork {
	for _, c := range ended {
		if l := c.unkept; l.Path != "" {
			return unkeptWork{
				filepath.Join(c.top, filepath.FromSlash(l.Path)),
				stick.Wordsf("%s (%s)", stick.Name(l.Path).Cut(256), l.Why), "commit it, or copy it yourself",
			}
		}
	}

	return unkeptWork{}
}

// tellUnkept tells the caller once in its session that there is something of which no copies can be kept.
func (g *Guard) tellUnkept(
	ctx context.Context, p core.HookParams, unkept unkeptWork,
) (out EditedResult, err error) {
	known := false
	ask := func(o *op) error {
		last, err := o.readTellings()
		known = edits.ToldUnkept(o.Room, o.Me.Agent, last) || !edits.KeepsSnapshots(o.Room)
		return err
	}

	if err := g.runHookOp(ctx, p, false, ask); err != nil || known {
		return out, err
	}

	// The question is asked again under the lock, so that two hooks don't both tell.
	return out, g.runHookOp(ctx, p, true, func(o *op) error {
		out = EditedResult{}
		if err := ask(o); err != nil || known {
			return err
		}

		out = EditedResult{Told: "no copies can be kept of " + unkept.why, Hint: unkept.hint}
		o.Events = append(o.Events, edits.UnkeptTold(o.Room, o.Me.Agent, unkept.path))
		return nil
	})
}
