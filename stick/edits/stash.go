package edits

import (
	"slices"
	"strings"

	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// StashEntry is an entry of a repository's stash, and who made it. All checkouts of a repository share one
// stash.
type StashEntry struct {
	Commit   string // its full id
	Name     string // as git names it now, such as stash@{1}, or its commit where somebody names that
	Message  string // such as "WIP on main: 1a2b3c4 first"
	By       Editor // who made it; without a name nobody has noted that
	Checkout string // in which it was made: its top level; empty if nobody has noted that
}

// WhoseStash says whose an entry of the stash is if an agent asks, and names its owner where that is another:
// the agent that made it. What was made with the stick, or by an agent that is gone, is the holder's. If
// nobody holds the stick, it stays its maker's as long as that is there.
func WhoseStash(r stick.Room, e StashEntry, q Editing, s *stick.Probed) (Share, stick.AgentID) {
	by := e.By
	switch {
	case by.Agent == "":
		return ShareNobody, ""
	case by.Agent == q.By || by.Under == q.By || startedBy(r, by.Agent, q.Above):
		return ShareOwn, ""
	case by.Claim, !by.Held && !r.IsGone(by.Agent, s):
		return ShareOthers, by.Agent
	}

	// What was made with the stick passes on with it.
	if holder := otherHolder(r, q, s); holder != "" {
		return ShareOthers, holder
	}

	holds := r.Turn.State == stick.Owned && (r.Turn.Owner == q.By || startedBy(r, r.Turn.Owner, q.Above))
	if holds || r.IsGone(by.Agent, s) {
		return SharePassed, ""
	}

	return ShareOthers, by.Agent
}

// StashUse is the question whether an agent may run a command that uses entries of the stash.
type StashUse struct {
	Editing
	Form     string       // the command, as a person names it
	Verb     string       // the command of git stash that does so with one entry: apply, drop or pop
	Checkout string       // where it runs: the top level
	Takes    []StashEntry // the entries that it uses
	Has      []StashEntry // all entries, of which it could use its own
	Empty    bool         // it makes an entry first, as far as its text tells, but there is nothing to stash
}

// StashUsed is what a command uses of the stash, as others are told.
type StashUsed struct {
	Said []string        // the entries of others and of nobody, and the caller's own from other checkouts, in words
	Of   []stick.AgentID // the others whose they are
	Keep []string        // the commits that leave the stash and should be kept, because they aren't the caller's
}

// MayUseStash judges such a command, and says what there is to tell of it. Only entries of others stop it,
// and only where edits are denied. An entry that nobody has noted may be a person's; one of the caller's own
// may have been made for another checkout.
func MayUseStash(r stick.Room, q StashUse, s *stick.Probed) (used StashUsed, j Judgement) {
	if q.Person || !Enforces(r) {
		return used, j
	}

	var theirs []StashEntry
	for _, e := range q.Takes {
		share, owner := WhoseStash(r, e, q.Editing, s)
		switch {
		case share == ShareOthers:
			theirs = append(theirs, e)
			used.Of = stick.MergeUnique(used.Of, []stick.AgentID{owner})
			used.Said = append(used.Said, e.nameWithMessage()+stick.StashOf+string(owner))
		case share == ShareNobody:
			used.Said = append(used.Said, e.nameWithMessage()+stick.StashOfNobody)
		case e.Checkout != "" && e.Checkout != q.Checkout:
			used.Said = append(used.Said, e.nameWithMessage()+stick.StashFrom+stick.Clip(e.Checkout, 256))
		}

		// Only apply leaves the entry in the stash.
		if share != ShareOwn && q.Verb != "apply" {
			used.Keep = append(used.Keep, e.Commit)
		}
	}

	if len(theirs) == 0 {
		return used, j
	}

	return used, asEnforced(r, errEditDenied(r, q.describeUse(theirs, used.Of), nil).With("command", q.Form).
		With("of", used.Of).
		Hintf("%s", stashStep(r, q, theirs[0], used.Of[0], s)))
}

// shortName names an entry without its message, which its maker wrote.
func (e StashEntry) shortName() stick.Words {
	if !e.inStash() {
		return "commit " + stick.CutName(e.Name, 12)
	}
	return stick.CutName(e.Name, 60)
}

// nameWithMessage names an entry with its message, as the log has it.
func (e StashEntry) nameWithMessage() string {
	if !e.inStash() {
		return "commit " + stick.Clip(e.Name, 12)
	}
	return stick.Clip(e.Name, 60) + " (" + stick.Clip(e.Message, 80) + ")"
}

// inStash reports whether the stash still has an entry. Otherwise only its commit is known.
func (e StashEntry) inStash() bool { return e.Name != e.Commit }

// describeUse says what is against the rules in using entries of others.
func (q StashUse) describeUse(theirs []StashEntry, of []stick.AgentID) stick.Words {
	what := theirs[0].shortName()
	if more := len(theirs) - 1; more > 0 {
		what += stick.Wordsf(" and %d more", more)
	}

	s := stick.Wordsf("%s would %s %s of %s", q.Form, q.Verb, what, stick.AgentNames(of))
	if from := theirs[0].Checkout; from != "" && from != q.Checkout {
		s += ", made in " + stick.CutName(from, 256)
	}
	if q.Empty {
		s += "; there is nothing here to stash before"
	}

	return s
}

// stashStep is what an agent can do instead of using an entry of another: use its own, ask, or make the entry
// its own.
func stashStep(r stick.Room, q StashUse, their StashEntry, owner stick.AgentID, s *stick.Probed) stick.Hint {
	// A commit that has left the stash can't be adopted by a name.
	others := stick.Hintf("ask: %s", stick.Cmd("tt msg send <agent> …", owner))
	if their.inStash() {
		others = stick.Hintf("%s; or make it yours: %s", others,
			stick.Cmd("tt changes adopt <entry> --reason …", their.Name))
	}

	i := ownStash(r, q, s)
	if i < 0 {
		return stick.Hintf("none of the entries is yours; %s", others)
	}

	return stick.Hintf("yours is %s: %s; %s", q.Has[i].Name,
		stick.Cmd("git stash "+q.Verb+" <entry>", q.Has[i].Name), others)
}

// ownStash finds the newest entry of the caller, one from its checkout first. It is negative if there is
// none.
func ownStash(r stick.Room, q StashUse, s *stick.Probed) int {
	own := func(e StashEntry) bool {
		share, _ := WhoseStash(r, e, q.Editing, s)
		return share == ShareOwn
	}

	here := slices.IndexFunc(q.Has, func(e StashEntry) bool { return e.Checkout == q.Checkout && own(e) })
	if here >= 0 {
		return here
	}

	return slices.IndexFunc(q.Has, own)
}

// OthersInCall reports whether a tool call of another member is in progress, which may have made an entry.
func OthersInCall(r stick.Room, me stick.AgentID, s *stick.Probed, now stick.Time) bool {
	return slices.ContainsFunc(r.Members, func(m stick.Member) bool {
		return m.Agent != me && m.State == stick.Joined && presence.InCall(r, m, now) && m.Verdict(s) != stick.Gone
	})
}

// AdoptStash makes entries of the stash the caller's, whoever has made them, with an event for each former
// owner. checkout is where the caller is. It returns the entries of which that is news. It fails with
// [stick.CodeRoomClosed] and [stick.CodeNotEnforced].
func AdoptStash(r stick.Room, q Adoption, ask Editing, checkout string, entries []StashEntry, s *stick.Probed) (
	out []StashEntry, events []stick.Event, err error,
) {
	if err := NotesEdits(r); err != nil {
		return nil, nil, err
	}

	q.By.Claim = q.By.Agent.Human()

	var former []stick.AgentID
	theirs := map[stick.AgentID][]string{}
	for _, e := range entries {
		share, owner := WhoseStash(r, e, ask, s)
		if share == ShareOwn && e.By.Agent == q.By.Agent && e.Checkout == checkout {
			continue
		}

		// Its maker is told as well as the holder to whom it has passed.
		for _, a := range []stick.AgentID{owner, e.By.Agent} {
			if a == "" || a == q.By.Agent || slices.Contains(theirs[a], e.nameWithMessage()) {
				continue
			}
			former, theirs[a] = stick.MergeUnique(former, []stick.AgentID{a}), append(theirs[a], e.nameWithMessage())
		}

		e.By, e.Checkout = q.By, checkout
		out = append(out, e)
	}

	for _, a := range former {
		if _, ok := r.Member(a); ok {
			ev := r.NewEvent(stick.EventChangesAdopted, q.By.Agent, a).WithPayload(stick.ChangesAdoptedPayload{
				Stash: clipPaths(theirs[a]),
			})
			ev.Reason = strings.TrimSpace(q.Reason)
			events = append(events, ev)
		}
	}

	return out, events, nil
}
