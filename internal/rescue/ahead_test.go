package rescue

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
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
	<-a.answered

	r := s.call()
	r.Ahead = a
	working := s.store.Git
	s.store.Git = git.Client{Path: filepath.Join(t.TempDir(), "none")}
	g, err := s.store.isolateGit(context.Background(), r)
	if err != nil {
		t.Fatalf("it was asked again: %v", err)
	}
	if answer := runStatus(context.Background(), g, nil, nil); answer.err != nil {
		t.Errorf("the git that was asked ahead doesn't work: %v", answer.err)
	}

	// A file that came later shows whose answer it is.
	s.store.Git = working
	s.write("later", "two")
	taken := s.must(s.store.Take(context.Background(), r))
	if slices.Contains(taken.Paths, "later") {
		t.Error("git was asked again what is uncommitted")
	}
	if got := s.blob(taken.ID, "new"); got != "one" {
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

	waiting := &Ahead{tree: workspace.Checkout{Top: "/t"}, isolated: make(chan struct{}), answered: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()

	_, err := (&Store{}).isolateGit(ctx, Request{Tree: waiting.tree, Ahead: waiting})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it returned %v", err)
	}
	if answer := waiting.awaitStatus(ctx); !errors.Is(answer.err, context.Canceled) {
		t.Errorf("it answered %+v", answer)
	}
}

// A rescue of named paths gets an answer about these.
func TestAskAhead_OfMoreThanIsWanted(t *testing.T) {
	s := newScratch(t)
	s.write("new", "one")
	a := s.store.AskAhead(context.Background(), s.tree)
	defer a.Stop()
	<-a.answered

	s.write("later", "two")
	r := s.request()
	r.Paths, r.Ahead = []string{"later"}, a
	if got := s.blob(s.must(s.store.Take(context.Background(), r)).ID, "later"); got != "two" {
		t.Errorf("later was kept as %q", got)
	}
}
