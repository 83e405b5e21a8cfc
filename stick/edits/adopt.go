package edits

import (
	"slices"
	"strings"

	"talkingstick/stick"
)

// NotesEdits says why nobody notes in this room who edits what, and nil if somebody does. It fails with
// [stick.CodeRoomClosed] and [stick.CodeNotEnforced].
func NotesEdits(r stick.Room) error {
	switch {
	case r.Closed:
		return r.ErrClosed()
	case !Enforces(r):
		return stick.Errorf(stick.CodeNotEnforced, "this room has enforce=%s, so tt doesn't record "+
			"who edits what",
			r.Policy.Enforce).
			With("enforce", r.Policy.Enforce).
			Hintf("to record it from now on: %s", stick.Cmd("tt policy set enforce=warn"))
	}

	return nil
}

// Mine makes the changes of files a person's own, or with not takes that back: then nobody is known to have
// made them. It returns the files of which that is news. It fails with [stick.CodePersonOnly] for an agent, with
// [stick.CodeRoomClosed] and with [stick.CodeNotEnforced].
func Mine(r stick.Room, by Editor, person, not bool, files []EditedFile) (out []EditedFile, err error) {
	if err := NotesEdits(r); err != nil {
		return nil, err
	}

	if !person {
		return nil, stick.Errorf(stick.CodePersonOnly,
			"only a person can claim changes this way; for an agent, hooks record what it edits").
			Hintf("to keep what you have edited for yourself, reserve it: %s", stick.Cmd("tt reserve <path>"))
	}

	// A claim outlives the turn: what a person says isn't taken back by who holds the stick.
	by.Claim = true
	for _, f := range files {
		claimed := slices.ContainsFunc(f.Editors, func(e Editor) bool { return e.Agent == by.Agent && e.Claim })
		unknown := slices.ContainsFunc(f.Editors, func(e Editor) bool { return e.Agent == "" })

		as := by
		switch {
		// Nothing is new about a file that is claimed already, or that was never claimed.
		case claimed == !not && !(claimed && unknown):
			continue
		case not:
			as = Editor{At: by.At}
		}

		// The claim also takes the place of somebody whom no hook has noted.
		others := slices.DeleteFunc(slices.Clone(f.Editors),
			func(e Editor) bool { return e.Agent == by.Agent || e.Agent == "" })
		f.Editors = append(others, as)
		out = append(out, f)
	}

	return out, nil
}

// Adoption says why one makes the changes of others its own.
type Adoption struct {
	By     Editor
	Reason string
	Rescue string // the rescue that has a copy of the changes; empty if there is none
}

// Check fails with [stick.CodeUsage] without a valid reason.
func (q Adoption) Check() error {
	if err := stick.CheckReason("reason", q.Reason); err != nil {
		return err
	}

	if strings.TrimSpace(q.Reason) == "" {
		return stick.Errorf(stick.CodeUsage, "adopting others' changes needs a reason").
			With("field", "reason").
			Hintf("say why: %s", stick.Cmd("tt changes adopt <path> --reason …"))
	}

	return nil
}

// Adopt makes the changes of files the caller's, whoever has edited them, with an event for each former
// editor. It fails with [stick.CodeRoomClosed] and [stick.CodeNotEnforced].
func Adopt(r stick.Room, q Adoption, files []EditedFile) (out []EditedFile, events []stick.Event, err error) {
	if err := NotesEdits(r); err != nil {
		return nil, nil, err
	}

	// A person's word counts whatever the stick does, as in Mine.
	q.By.Claim = q.By.Agent.Human()
	var former []stick.AgentID
	theirs := map[stick.AgentID][]string{}

	for _, f := range files {
		for _, e := range f.Editors {
			if e.Agent == "" || e.Agent == q.By.Agent {
				continue
			}
			if theirs[e.Agent] == nil {
				former = append(former, e.Agent)
			}

			theirs[e.Agent] = append(theirs[e.Agent], f.Path)
		}

		// From now on nobody but the caller has edited the file.
		f.Editors = []Editor{q.By}
		out = append(out, f)
	}

	// An editor that was never a member has no inbox to be told in.
	for _, a := range former {
		if _, ok := r.Member(a); !ok {
			continue
		}

		e := r.NewEvent(stick.EventChangesAdopted, q.By.Agent, a).WithPayload(stick.ChangesAdoptedPayload{
			Paths: clipPaths(theirs[a]), Count: len(theirs[a]), Rescue: q.Rescue,
		})
		e.Reason = strings.TrimSpace(q.Reason)
		events = append(events, e)
	}

	return out, events, nil
}
