package guard

import (
	"slices"

	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// checkout is one checkout of a git repository, and its room.
type checkout struct {
	top string // its top level

	// the places of its room, as in [workspace.Place]; those of a submodule go on with the checkout around it
	chain []string
	apart bool     // it is a linked worktree, or lies in one, so nobody reserves anything there
	files []string // relative to top: those that a tool call has changed

	looks bool // everything in it may have changed

	named []edits.SeenFile // of files, as they are after the call

	// the files that a commit in progress takes; empty if git is to say what is uncommitted
	staged []git.Uncommitted

	room  stick.RoomID       // empty where nothing is to be noted
	known []edits.EditedFile // what was noted before of all files, where it has to be compared

	lastNoted string // the snapshot with which that was last brought up to date
	isNoted   bool   // the snapshot after the call is that one, and nothing has to be compared

	// when the caller's tool call began; zero if another agent's runs at the same time, or if that isn't
	// known
	since stick.Time
	found []edits.SeenFile

	call   edits.Call                   // that has ended
	beside []edits.Call                 // that ran in the same checkout meanwhile
	own    map[string]rescue.PathChange // what the call has changed, as far as that is sure

	// an edit may have changed work of others: somebody else's, or what nobody has noted
	compares bool

	unkept rescue.LeftOut // a file of which the snapshot after a call has nothing

	dirty []git.Uncommitted // what the snapshot after a call found uncommitted; nil if git is to say that
	fold  bool              // names that differ only in case are one file
	gone  bool              // the call has removed the checkout
	late  bool              // what the call has changed is found later, see [Guard.FinishSnapshots]

	finish restore.LateSnapshot // for another process, if there is too little time

	lost  string      // the git directory of the room's repository, if the call has removed that
	taken edits.Taken // what of others' work the call has changed
	off   bool        // its room wants no snapshots
	prune bool        // somebody has to look through the snapshots of its repository
}

// newCheckout returns the checkout that a place lies in. Its top is empty if there is none.
func newCheckout(p workspace.Place) *checkout {
	c := &checkout{top: p.CheckoutTop()}
	c.chain, c.apart = p.RoomChain()
	return c
}

// changedCheckouts returns the checkouts in which a tool call has changed files.
func (q editQuestion) changedCheckouts() (all []*checkout) {
	at := func(p workspace.Place) *checkout {
		top := p.CheckoutTop()
		i := slices.IndexFunc(all, func(c *checkout) bool { return c.top == top })
		if top == "" {
			// Outside of git nothing is noted, so the caller gets an empty checkout.
			return &checkout{}
		}
		if i < 0 {
			i, all = len(all), append(all, newCheckout(p))
		}

		return all[i]
	}

	for _, x := range q.in {
		if c := at(x.Place); c.top != "" && !x.Dir {
			rel, _ := workspace.RelBelow(x.Full, c.top)
			c.files = addPath(c.files, rel)
		}
	}

	if q.Unread && q.at != nil {
		at(*q.at).looks = true
		for _, p := range q.tree {
			at(p).looks = true
		}
	}

	return all
}
