package store

import "talkingstick/stick"

// PutDraft stores the draft of a turn, in place of an earlier one.
func (tx *Tx) PutDraft(room stick.RoomID, d stick.Draft) error {
	args, err := draftTable().insertArgs(&d, room)
	if err != nil {
		return err
	}
	return tx.execIn(room, draftTable().upsert, args...)
}

// Drafts lists the drafts of a room since its last handoff, the newest first.
func (tx *Tx) Drafts(room stick.RoomID) (drafts []stick.Draft, err error) {
	query := "SELECT " + draftTable().names + " FROM drafts WHERE room_id = ? ORDER BY turn_id DESC"
	err = tx.scan(query, []any{room}, func(scan rowScan) error {
		var d stick.Draft
		err := draftTable().read(scan, &d)
		drafts = append(drafts, d)
		return err
	})

	return drafts, err
}

// dropDrafts removes the drafts of a room when a turn ends with a handoff, which says more than they do.
func (tx *Tx) dropDrafts(e stick.Event) error {
	if e.Handoff == nil {
		return nil
	}
	return tx.exec("DELETE FROM drafts WHERE room_id = ?", e.Room)
}
