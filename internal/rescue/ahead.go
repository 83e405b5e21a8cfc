package rescue

import (
	"context"

	"talkingstick/internal/git"
	"talkingstick/internal/workspace"
)

// Ahead is what git says of a checkout before [Store.Take] asks for anything else: which filters are to be turned
// off there. It doesn't depend on what is uncommitted.
type Ahead struct {
	tree workspace.Checkout
	stop context.CancelFunc

	done chan struct{} // closed once the rest is set
	git  git.Isolated
	err  error
}

// AskAhead begins to ask git, for a caller that has something else to do before it knows whether it calls
// [Store.Take]. Ask after everything whose outcome the copy is to have, and call [Ahead.Stop] in the end.
func (s *Store) AskAhead(ctx context.Context, tree workspace.Checkout) *Ahead {
	ctx, stop := context.WithCancel(ctx)
	a := &Ahead{tree: tree, stop: stop, done: make(chan struct{})}

	go func() {
		defer close(a.done)
		a.git, a.err = s.isolateGit(ctx, Request{Tree: tree})
	}()

	return a
}

// Stop ends the asking if it goes on still. It waits for nothing: a disk may not answer.
func (a *Ahead) Stop() {
	if a != nil {
		a.stop()
	}
}

// isolateGit returns the git for the checkout of a request. It was asked ahead, or is asked now.
func (s *Store) isolateGit(ctx context.Context, r Request) (git.Isolated, error) {
	a := r.Ahead
	if a == nil || a.tree != r.Tree || r.Index != "" {
		return s.Git.Isolate(ctx, r.Tree.Top, gitVariables(r.Tree, r.Index)...)
	}

	select {
	case <-a.done:
		return a.git, a.err
	case <-ctx.Done():
		return git.Isolated{}, ctx.Err()
	}
}
