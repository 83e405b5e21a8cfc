package stick

import (
	"slices"
	"strings"
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
func (r Room) WhoseStash(e StashEntry, q Editing, s *Probed) (Share, AgentID) {
	by := e.By
	switch {
	case by.Agent == "":
		return ShareNobody, ""
	case by.Agent == q.By || by.Under == q.By || r.startedBy(by.Agent, q.Above):
		return ShareOwn, ""
	case by.Claim, !by.Held && !r.isGone(by.Agent, s):
		return ShareOthers, by.Agent
	}

	// What was made with the stick passes on with it.
	if holder := r.otherHolder(q, s); holder != "" {
		return ShareOthers, holder
	}

	holds := r.Turn.State == Owned && (r.Turn.Owner == q.By || r.startedBy(r.Turn.Owner, q.Above))
	if holds || r.isGone(by.Agent, s) {
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
	Said []string  // the entries of others and of nobody, and the caller's own from other checkouts, in words
	Of   []AgentID // the others whose they are
	Keep []string  // the commits that leave the stash and should be kept, because they aren't the caller's
}

// MayUseStash judges such a command, and says what there is to tell of it. Only entries of others stop it,
// and only where edits are denied. An entry that nobody has noted may be a person's; one of the caller's own
// may have been made for another checkout.
func (r Room) MayUseStash(q StashUse, s *Probed) (used StashUsed, j Judgement) {
	if q.Person || !r.Enforces() {
		return used, j
	}

	var theirs []StashEntry
	for _, e := range q.Takes {
		share, owner := r.WhoseStash(e, q.Editing, s)
		switch {
		case share == ShareOthers:
			theirs = append(theirs, e)
			used.Of = mergeUnique(used.Of, []AgentID{owner})
			used.Said = append(used.Said, e.nameWithMessage()+stashOf+string(owner))
		case share == ShareNobody:
			used.Said = append(used.Said, e.nameWithMessage()+stashOfNobody)
		case e.Checkout != "" && e.Checkout != q.Checkout:
			used.Said = append(used.Said, e.nameWithMessage()+stashFrom+Clip(e.Checkout, 256))
		}

		// Only apply leaves the entry in the stash.
		if share != ShareOwn && q.Verb != "apply" {
			used.Keep = append(used.Keep, e.Commit)
		}
	}

	if len(theirs) == 0 {
		return used, j
	}

	return used, r.asEnforced(r.errEditDenied(q.describeUse(theirs, used.Of), nil).With("command", q.Form).With("of", used.Of).
		Hintf("%s", r.stashStep(q, theirs[0], used.Of[0], s)))
}

// shortName names an entry without its message, which its maker wrote.
func (e StashEntry) shortName() Words {
	if !e.inStash() {
		return "commit " + cutName(e.Name, 12)
	}
	return cutName(e.Name, 60)
}

// nameWithMessage names an entry with its message, as the log has it.
func (e StashEntry) nameWithMessage() string {
	if !e.inStash() {
		return "commit " + Clip(e.Name, 12)
	}
	return Clip(e.Name, 60) + " (" + Clip(e.Message, 80) + ")"
}

// What stands after an entry in [StashUsed].
const (
	stashOf       = " of "
	stashFrom     = ", made in "
	stashOfNobody = ", of which nobody has noted who made it, maybe a person's"
)

// stashWords tells our words in an entry of [StashUsed] from those of others.
func stashWords(said string) Words {
	if entry, ok := strings.CutSuffix(said, stashOfNobody); ok {
		return cutName(entry, maxShownName) + stashOfNobody
	}
	for _, between := range []string{stashFrom, stashOf} {
		if i := strings.LastIndex(said, between); i > 0 {
			return cutName(said[:i], maxShownName) + Words(between) + cutName(said[i+len(between):], maxShownName)
		}
	}
	return cutName(said, maxShownName)
}

// stashList lists entries as [Names] does.
func stashList(all []string) Words {
	shown := make([]Words, min(len(all), maxDenied))
	for i := range shown {
		shown[i] = stashWords(all[i])
	}
	list := JoinWords(shown, ", ")
	if more := len(all) - len(shown); more > 0 {
		list += Wordsf(" and %d more", more)
	}
	return list
}

// inStash reports whether the stash still has an entry. Otherwise only its commit is known.
func (e StashEntry) inStash() bool { return e.Name != e.Commit }

// describeUse says what is against the rules in using entries of others.
func (q StashUse) describeUse(theirs []StashEntry, of []AgentID) Words {
	what := theirs[0].shortName()
	if more := len(theirs) - 1; more > 0 {
		what += Wordsf(" and %d more", more)
	}

	s := Wordsf("%s would %s %s of %s", q.Form, q.Verb, what, agentNames(of))
	if from := theirs[0].Checkout; from != "" && from != q.Checkout {
		s += ", made in " + cutName(from, 256)
	}
	if q.Empty {
		s += "; there is nothing here to stash before"
	}

	return s
}

// stashStep is what an agent can do instead of using an entry of another: use its own, ask, or make the entry
// its own.
func (r Room) stashStep(q StashUse, their StashEntry, owner AgentID, s *Probed) Hint {
	// A commit that has left the stash can't be adopted by a name.
	others := Hintf("ask: %s", Cmd("tt msg send <agent> …", owner))
	if their.inStash() {
		others = Hintf("%s; or make it yours: %s", others, Cmd("tt changes adopt <entry> --reason …", their.Name))
	}

	i := r.ownStash(q, s)
	if i < 0 {
		return Hintf("none of the entries is yours; %s", others)
	}

	return Hintf("yours is %s: %s; %s", q.Has[i].Name, Cmd("git stash "+q.Verb+" <entry>", q.Has[i].Name), others)
}

// ownStash finds the newest entry of the caller, one from its checkout first. It is negative if there is
// none.
func (r Room) ownStash(q StashUse, s *Probed) int {
	own := func(e StashEntry) bool {
		share, _ := r.WhoseStash(e, q.Editing, s)
		return share == ShareOwn
	}

	here := slices.IndexFunc(q.Has, func(e StashEntry) bool { return e.Checkout == q.Checkout && own(e) })
	if here >= 0 {
		return here
	}

	return slices.IndexFunc(q.Has, own)
}

// OthersInCall reports whether a tool call of another member is in progress, which may have made an entry.
func (r Room) OthersInCall(me AgentID, s *Probed, now Time) bool {
	return slices.ContainsFunc(r.Members, func(m Member) bool {
		return m.Agent != me && m.State == Joined && r.inCall(m, now) && m.Verdict(s) != Gone
	})
}

// AdoptStash makes entries of the stash the caller's, whoever has made them, with an event for each former
// owner. checkout is where the caller is. It returns the entries of which that is news. It fails with
// [CodeRoomClosed] and [CodeNotEnforced].
func (r Room) AdoptStash(q Adoption, ask Editing, checkout string, entries []StashEntry, s *Probed) (
	out []StashEntry, events []Event, err error,
) {
	if err := r.NotesEdits(); err != nil {
		return nil, nil, err
	}

	q.By.Claim = q.By.Agent.Human()

	var former []AgentID
	theirs := map[AgentID][]string{}
	for _, e := range entries {
		share, owner := r.WhoseStash(e, ask, s)
		if share == ShareOwn && e.By.Agent == q.By.Agent && e.Checkout == checkout {
			continue
		}

		// Its maker is told as well as the holder to whom it has passed.
		for _, a := range []AgentID{owner, e.By.Agent} {
			if a == "" || a == q.By.Agent || slices.Contains(theirs[a], e.nameWithMessage()) {
				continue
			}
			former, theirs[a] = mergeUnique(former, []AgentID{a}), append(theirs[a], e.nameWithMessage())
		}

		e.By, e.Checkout = q.By, checkout
		out = append(out, e)
	}

	for _, a := range former {
		if _, ok := r.Member(a); ok {
			ev := r.newEvent(EventChangesAdopted, q.By.Agent, a).withPayload(ChangesAdoptedPayload{
				Stash: clipPaths(theirs[a]),
			})
			ev.Reason = strings.TrimSpace(q.Reason)
			events = append(events, ev)
		}
	}

	return out, events, nil
}
