// Package stash knows who has made which entries of git's stash, which all worktrees of a repository share. It
// finds which entries a command would use and asks the rules whether it may, notes the entries that a call has
// made, lets agents adopt those of others, and keeps their commits for as long as it knows of them.
//
// Package guard asks it before a tool call, and tells it afterwards. What it decides are rules of package
// [talkingstick/stick/edits].
//
// See docs/decisions/stash-sweeps-and-stale-reads.md#the-stash.
package stash

import (
	"context"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// Of how many entries of the stash it is noted for a room who made them, and how long: as long as their
// commits are kept.
const (
	maxEntries  = 1000
	keepEntries = 14 * 24 * time.Hour
)

// Config is what a keeper needs.
type Config struct {
	Kernel *core.Kernel
	Store  func() *rescue.Store // which keeps commits

	// FindCheckout returns the top level of the checkout of a place, and the git directory of its repository. It
	// fails where there is none.
	FindCheckout func(context.Context, core.Where) (top, common string, err error)
}

// Keeper performs the operations on entries of the stash. Several goroutines may use it.
type Keeper struct {
	core         *core.Kernel
	store        func() *rescue.Store
	findCheckout func(context.Context, core.Where) (top, common string, err error)
}

// New returns a keeper. It touches no file.
func New(cfg Config) *Keeper {
	return &Keeper{core: cfg.Kernel, store: cfg.Store, findCheckout: cfg.FindCheckout}
}

// ToolCall is a tool call of a caller, as far as it may be about the stash.
type ToolCall struct {
	Caller core.Caller
	Place  *workspace.Place  // where it works; nil if that isn't known
	Trees  []workspace.Place // the checkouts in which it may have changed anything
	Acts   []shell.Act       // what its text shows

	// HasWork reports whether an act would find something to stash. With nothing git makes no entry, and no error.
	HasWork func(context.Context, shell.Act) (bool, error)
}

// Place is a checkout in which a command works with the stash of its repository.
type Place struct {
	Top    string   // its top level
	Common string   // the git directory of its repository
	chain  []string // of its rooms, as in [workspace.Place]
}

// findPlace finds the checkout in which an act works. ok is false outside of git.
func (k *Keeper) findPlace(at *workspace.Place, dir string) (p Place, ok bool) {
	env := k.core.Config.Workspace
	if env.Dir = ""; at != nil {
		env.Dir = at.Path
	}

	place, err := workspace.NewTargets(env).ResolveDir(dir)
	if err != nil || place.CheckoutTop() == "" {
		return p, false
	}

	p.Top = place.CheckoutTop()
	p.chain, _ = place.RoomChain()
	tree, ok := workspace.FindCheckout(p.Top, workspace.Env{})
	p.Common = tree.Common
	return p, ok
}

// askedBy is a question of the caller about what all checkouts share.
func askedBy(me core.Identity) edits.Editing {
	return edits.Editing{By: me.Agent, Above: me.Above, Person: me.Person(), Tree: true}
}

// notedEntries adds to entries of the stash who made them, as far as that is noted.
func notedEntries(tx *store.Tx, room stick.RoomID, entries []edits.StashEntry) ([]edits.StashEntry, error) {
	commits := make([]string, len(entries))
	for i, e := range entries {
		commits[i] = e.Commit
	}

	made, err := tx.Stashed(room, commits)
	out := slices.Clone(entries)
	for i, e := range out {
		out[i].By, out[i].Checkout = made[e.Commit].By, made[e.Commit].Checkout
	}

	return out, err
}

// Keep keeps commits of the stash, which otherwise only its log names, and returns the refs that keep
// them.
func (k *Keeper) Keep(ctx context.Context, common string, commits []string) (refs []string, err error) {
	if len(commits) == 0 {
		return nil, nil
	}

	var tips []rescue.Tip
	for _, c := range commits {
		tips = append(tips, rescue.Tip{Of: rescue.StashName, Commit: c})
	}

	kept, err := k.store().KeepTips(ctx, common, tips, stick.At(k.core.Now()))
	for _, t := range kept {
		refs = append(refs, t.Ref)
	}

	return refs, err
}
