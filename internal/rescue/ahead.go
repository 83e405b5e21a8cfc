package rescue

import (
	"context"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/workspace"
)

// Ahead is what git says of a checkout before [Store.Take] asks for anything else: which filters are to be turned
// off there, and what is uncommitted.
type Ahead struct {
	tree  workspace.Checkout
	begun time.Time // before git was asked
	stop  context.CancelFunc

	isolated chan struct{}   // closed once these are set
	index    plainfile.Stamp // before git was asked
	git      git.Isolated
	err      error

	answered chan struct{} // closed once this is set
	status   statusAnswer
}

// AskAhead begins to ask git, for a caller that has something else to do before it knows whether it calls
// [Store.Take] for a snapshot. Ask after everything whose outcome the copy is to have, and call [Ahead.Stop] in
// the end.
func (s *Store) AskAhead(ctx context.Context, tree workspace.Checkout) *Ahead {
	ctx, stop := context.WithCancel(ctx)
	a := &Ahead{
		tree: tree, begun: s.now(), stop: stop,
		isolated: make(chan struct{}), answered: make(chan struct{}),
	}

	go func() {
		defer close(a.answered)
		r := wholeRequest(Request{Tree: tree})
		a.index = stampIndex(r, a.begun)
		a.git, a.err = s.isolateGit(ctx, r)
		close(a.isolated)

		if a.err == nil {
			a.status = s.askStatus(ctx, a.git, statusFlags(r), nil)
		}
	}()

	return a
}

// Stop ends the asking if it goes on still. It waits for nothing: a disk may not answer.
func (a *Ahead) Stop() {
	if a != nil {
		a.stop()
	}
}

// isOf reports whether git was asked what a request is about.
func (a *Ahead) isOf(r Request) bool { return a != nil && a.tree == r.Tree && r.Index == "" }

// isWholeOf reports whether git was asked for all that is uncommitted, and a request wants just that.
func (a *Ahead) isWholeOf(r Request) bool {
	return a.isOf(r) && r.Untracked && r.Ignored && len(r.Paths) == 0
}

// isolateGit returns the git for the checkout of a request. It was asked ahead, or is asked now.
func (s *Store) isolateGit(ctx context.Context, r Request) (git.Isolated, error) {
	a := r.Ahead
	if !a.isOf(r) {
		return s.Git.Isolate(ctx, r.Tree.Top, gitVariables(r.Tree, r.Index)...)
	}

	select {
	case <-a.isolated:
		return a.git, a.err
	case <-ctx.Done():
		return git.Isolated{}, ctx.Err()
	}
}

// awaitStatus returns what git has answered.
func (a *Ahead) awaitStatus(ctx context.Context) statusAnswer {
	select {
	case <-a.answered:
		return a.status
	case <-ctx.Done():
		return statusAnswer{err: ctx.Err()}
	}
}
