package ledger

import (
	"cmp"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// NotedWork counts the uncommitted files of the shared tree as hooks have noted them. Git wasn't asked, so
// some may have been committed since; tt changes asks.
type NotedWork struct {
	Own    int `json:"own,omitempty"`    // the caller's
	Passed int `json:"passed,omitempty"` // of earlier holders: they passed with the stick

	// of agents that are there and didn't hold the stick, and of people who said so
	Others int `json:"others,omitempty"`
	Nobody int `json:"nobody,omitempty"` // nobody has noted whose they are

	// whose those of others and of earlier holders are: at most three, the one with the most files first
	Of    []WorkOf `json:"of,omitempty"`
	Paths []string `json:"paths,omitempty"` // the first three that aren't the caller's

	// Held and HeldOthers are how many of Passed and of Others the present holder of the stick has edited.
	// They are 0 if the caller holds it.
	Held       int `json:"-"`
	HeldOthers int `json:"-"`
}

// WorkOf is how much of it one agent has edited.
type WorkOf struct {
	Agent stick.AgentID `json:"agent_id"`
	Files int           `json:"files"`
}

// maxNoted is how many agents, and how many files, are named.
const maxNoted = 3

// CountNotedWork counts what is noted for the caller. It is nil if there is nothing.
func CountNotedWork(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity) (*NotedWork, error) {
	if !edits.Enforces(r) {
		return nil, nil
	}

	files, err := sharedEdits(tx, r)
	q := edits.Editing{By: me.Agent, Above: me.Above, Person: me.Person()}
	var n NotedWork
	of := map[stick.AgentID]int{}

	for _, f := range files {
		if !f.Asleep.IsZero() {
			continue
		}

		// A reservation matters only for work that was done with the stick. To read them for each file would
		// cost more than that.
		share, _ := edits.WhoseEdit(r, f, q, nil, probes.Probed, tx.Now())
		held := r.Turn.State == stick.Owned && slices.ContainsFunc(f.Editors, func(e edits.Editor) bool {
			return e.Agent == r.Turn.Owner
		})

		switch share {
		case edits.ShareOwn:
			n.Own++
			continue
		case edits.SharePassed:
			n.Passed++
			n.Held += countIf(held)
		case edits.ShareOthers:
			n.Others++
			n.HeldOthers += countIf(held)
		case edits.ShareNobody:
			n.Nobody++
		}

		if len(n.Paths) < maxNoted {
			n.Paths = append(n.Paths, f.Path)
		}

		for _, e := range f.Editors {
			if e.Agent != "" && e.Agent != me.Agent {
				of[e.Agent]++
			}
		}
	}

	if n.Own+n.Passed+n.Others+n.Nobody == 0 {
		return nil, err
	}

	for a, files := range of {
		n.Of = append(n.Of, WorkOf{a, files})
	}

	slices.SortFunc(n.Of, func(a, b WorkOf) int {
		return cmp.Or(b.Files-a.Files, strings.Compare(string(a.Agent), string(b.Agent)))
	})

	n.Of = n.Of[:min(len(n.Of), maxNoted)]
	return &n, err
}

// countIf counts one thing if it is so.
func countIf(so bool) int {
	if so {
		return 1
	}
	return 0
}

// sharedEdits returns what was noted of the files in the shared tree of a room.
func sharedEdits(tx *store.Tx, r stick.Room) (all []edits.EditedFile, err error) {
	tops, err := tx.EditedCheckouts(r.ID)
	for _, top := range tops {
		if err != nil || !workspace.IsWithin(r.Path, top) {
			continue
		}

		var files []edits.EditedFile
		files, err = tx.Edited(r.ID, top, nil)
		all = append(all, files...)
	}

	return all, err
}

// CountEdited fills in how many files an agent has edited since an event that tells of the first, in the turn
// of that event. What it edited before, it had a right to.
func CountEdited(tx *store.Tx, r stick.Room, e stick.Event) (stick.Event, error) {
	if e.Type != stick.EventEditTold {
		return e, nil
	}

	files, err := sharedEdits(tx, r)
	n := 0
	for _, f := range files {
		hasEdited := func(by edits.Editor) bool {
			return by.Agent == e.From && by.Turn == e.Turn && by.At >= e.CreatedAt
		}

		if slices.ContainsFunc(f.Editors, hasEdited) {
			n++
		}
	}

	return stick.Amend(e, func(p *stick.EditToldPayload) { p.Count = max(p.Count, n) }), err
}
