package rescue

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"talkingstick/internal/git"
	"talkingstick/internal/workspace"
)

// Git is asked nothing twice: without a git, only what was asked ahead is known.
func TestAskAhead_AsksOnce(t *testing.T) {
	s := newScratch(t)
	s.write("new", "one")
	a := s.store.AskAhead(context.Background(), s.tree)
	defer a.Stop()
	<-a.done

	r := s.call()
	r.Ahead = a
	working := s.store.Git
	s.store.Git = git.Client{Path: filepath.Join(t.TempDir(), "none")}
	g, err := s.store.isolateGit(context.Background(), r)
	if err != nil {
		t.Fatalf("it was asked again: %v", err)
	}
	if _, err := g.Run(context.Background(), nil, nil, "status"); err != nil {
		t.Errorf("the git that was asked ahead doesn't work: %v", err)
	}

	s.store.Git = working
	if got := s.blob(s.must(s.store.Take(context.Background(), r)).ID, "new"); got != "one" {
		t.Errorf("new was kept as %q", got)
	}
}

// What was asked ahead of another checkout is of no use.
func TestAskAhead_OfAnotherCheckout(t *testing.T) {
	s, other := newScratch(t), newScratch(t)
	s.write("new", "one")
	a := s.store.AskAhead(context.Background(), other.tree)
	defer a.Stop()

	r := s.call()
	r.Ahead = a
	taken := s.must(s.store.Take(context.Background(), r))
	if got := s.blob(taken.ID, "new"); got != "one" {
		t.Errorf("new was kept as %q", got)
	}
}

// Whoever has asked for nothing, or no longer wants to know, isn't held up.
func TestAskAhead_Stopped(t *testing.T) {
	(*Ahead)(nil).Stop()

	waiting := &Ahead{tree: workspace.Checkout{Top: "/t"}, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()

	_, err := (&Store{}).isolateGit(ctx, Request{Tree: waiting.tree, Ahead: waiting})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it returned %v", err)
	}
}
