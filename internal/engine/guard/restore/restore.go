// Package restore brings uncommitted work back: it holds the operations on rescues and on the calls of tools, of
// which one can be undone. It also makes the copies that no judgement of a tool call asks for, such as the one
// after a takeover.
//
// Package guard, which makes the copies around tool calls, hands it the question whether a caller may change
// files.
//
// See docs/decisions/snapshots-and-undo.md.
package restore

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Config is what a restorer needs.
type Config struct {
	Kernel *core.Kernel

	// Never returns which files of a checkout are never copied, by their paths relative to its top level.
	Never func(workspace.Checkout) func(path string) bool

	// AskEdit asks whether a caller may change paths of a checkout now, whose top level is top. An error says
	// why not. told is what is against the rules, though it is allowed, and step the next safe step.
	AskEdit func(
		ctx context.Context, by core.Caller, top string, paths []string,
	) (told stick.Words, step stick.Hint, err error)
}

// Restorer performs the operations on rescues and on calls. Several goroutines may use it.
type Restorer struct {
	Limit func(*rescue.Limits) // for tests: changes what a copy may cost; nil for nothing

	core    *core.Kernel
	never   func(workspace.Checkout) func(path string) bool
	askEdit func(context.Context, core.Caller, string, []string) (stick.Words, stick.Hint, error)
}

// New returns a restorer. It touches no file.
func New(cfg Config) *Restorer {
	return &Restorer{core: cfg.Kernel, never: cfg.Never, askEdit: cfg.AskEdit}
}

// op is one run of an operation inside its transaction.
type op struct{ *core.Op }

// writeRoom is [core.Kernel.Write] for the operations of this package.
func (rs *Restorer) writeRoom(
	ctx context.Context, w core.Where, by core.Caller, j core.Joining, rule func(*op) error,
) error {
	return rs.core.Write(ctx, w, by, j, func(o *core.Op) error { return rule(&op{o}) }, nil)
}
