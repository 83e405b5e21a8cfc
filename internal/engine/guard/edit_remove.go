package guard

import (
	"talkingstick/internal/engine/core"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// removal is a directory, or a part of a repository, that a command removes or moves away.
type removal struct {
	workspace.Target
	by         string // the command, as a person names it
	repository bool   // there is no repository at the target's place without it
}

// findRemovals finds what the acts of a command remove. It leaves out what can't be told, as everywhere.
// See docs/decisions/guard-what-a-command-changes.md#where-a-file-lies-decides.
func findRemovals(targets *workspace.Targets, acts []shell.Act) (all []removal) {
	for _, act := range acts {
		if act.Kind != shell.Removes || act.Some {
			continue
		}

		for _, path := range act.Paths {
			found, _ := targets.ResolveNamed(path)
			for _, x := range found {
				all = append(all, removal{x, act.Form, x.Place.MakesRepository(x.Full)})
			}
		}
	}

	return all
}

// addRemovals adds what is removed to the parts of the rooms that can't do without it: those whose root goes,
// and the one that the repository serves.
func (q editQuestion) addRemovals(tx *store.Tx, parts *roomQuestions, me stick.AgentID) error {
	for _, x := range q.gone {
		var rooms []store.Place
		var err error
		if x.repository {
			rooms, err = tx.RoomsAt([][]string{x.Place.Chain})
		} else if x.Dir {
			rooms, err = tx.RoomsBelow(x.Full)
		}
		if err != nil {
			return err
		}

		for _, at := range rooms {
			if at.Room == "" {
				continue
			}

			a, err := parts.questionFor(tx, at, me)
			if err != nil {
				return err
			}

			gone := edits.Removing{By: x.by, Full: a.room.Path, Path: ".", Repository: x.repository}
			if x.repository {
				gone.Full = x.Full
				gone.Path, _ = workspace.RelBelow(x.Full, x.Place.Root)
			}

			a.gone = append(a.gone, gone)
		}
	}

	return nil
}

// mayRemove judges what the room can't do without.
func (a *roomQuestion) mayRemove(me core.Identity) edits.Judgement {
	for _, x := range a.gone {
		x.Person = me.Person()
		if j := edits.MayRemove(a.room, x); j != (edits.Judgement{}) {
			return j
		}
	}

	return edits.Judgement{}
}
