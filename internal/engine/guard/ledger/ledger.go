// Package ledger writes down who has edited which files and which calls of tools have run, and counts what is
// noted. Its functions run inside the transactions of operations.
//
// See docs/decisions/whose-changes.md#the-ledger.
package ledger

import (
	"cmp"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// maxEdited is of how many files of a checkout it is noted who has edited them. With more, it is noted for
// whole directories.
const maxEdited = 5000

// AddEdited writes down what is known of some files of a checkout, beside what was noted of the others. top is its
// top level.
func AddEdited(tx *store.Tx, room stick.RoomID, top string, noted []edits.EditedFile) error {
	n, err := tx.CountEdited(room, top)
	if err != nil || n+len(noted) <= maxEdited {
		return cmp.Or(err, tx.PutEdited(room, top, noted))
	}

	// There are too many files, so some of them are folded into directories.
	all, err := tx.Edited(room, top, nil)
	if err != nil {
		return err
	}

	rest := slices.DeleteFunc(slices.Clone(all), func(f edits.EditedFile) bool {
		return slices.ContainsFunc(noted, func(n edits.EditedFile) bool { return n.Path == f.Path })
	})
	return ReplaceEdited(tx, room, top, all, append(rest, noted...))
}

// ReplaceEdited replaces what was noted of a checkout, whose top level is top.
func ReplaceEdited(tx *store.Tx, room stick.RoomID, top string, before, after []edits.EditedFile) error {
	after = slices.DeleteFunc(after, func(f edits.EditedFile) bool { return f.Forgotten(tx.Now()) })
	after = edits.Fold(after, maxEdited)
	rows := map[string]edits.EditedFile{}

	for _, f := range before {
		rows[f.Path] = f
	}

	// Only what differs is written.
	var put []edits.EditedFile
	for _, f := range after {
		b, ok := rows[f.Path]
		delete(rows, f.Path)
		if !ok || b.State != f.State || b.Asleep != f.Asleep || !slices.Equal(b.Editors, f.Editors) {
			put = append(put, f)
		}
	}

	var gone []string
	for path := range rows {
		gone = append(gone, path)
	}

	slices.Sort(gone)
	return cmp.Or(tx.DropEdited(room, top, gone), tx.PutEdited(room, top, put))
}

// EditorNow describes the caller as one who edits now.
func EditorNow(r stick.Room, me core.Identity, s *stick.Probed, now stick.Time) edits.Editor {
	by := edits.Editor{
		Agent: me.Agent, Helper: me.Caller.Helper, Turn: r.Turn.ID, At: now, Under: edits.Starter(r, me.Above),
	}

	_, under := r.Parent(me.Agent, me.Above, s)
	by.Held = under || r.Turn.State == stick.Owned && r.Turn.Owner == me.Agent
	return by
}
