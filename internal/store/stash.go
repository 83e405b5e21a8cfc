package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// Stashed returns who made these entries of the stash, and where, of those of which it is noted. They are by
// their commits; of an entry it fills in Commit, By and Checkout.
func (tx *Tx) Stashed(room stick.RoomID, commits []string) (map[string]edits.StashEntry, error) {
	entries := map[string]edits.StashEntry{}
	for chunk := range slices.Chunk(commits, maxMarks) {
		marks, args := placeholders(chunk)
		err := tx.scan(`SELECT commit_id, checkout, made_by FROM stashes
			WHERE room_id = ? AND commit_id IN (`+marks+") ORDER BY commit_id",
			slices.Concat([]any{room}, args), func(scan rowScan) error {
				var e edits.StashEntry
				var text string
				if err := scan(&e.Commit, &e.Checkout, &text); err != nil {
					return err
				}
				if err := json.Unmarshal([]byte(text), &e.By); err != nil {
					return fmt.Errorf("read who stashed %s: %w", stick.Clip(e.Commit, 100), err)
				}

				e.Checkout, _ = tx.ofThisHost(e.Checkout)
				entries[e.Commit] = e
				return nil
			})
		if err != nil {
			return nil, err
		}
	}

	return entries, nil
}

// PutStashed notes who made entries of the stash, and where. It replaces what was noted of them.
func (tx *Tx) PutStashed(room stick.RoomID, entries []edits.StashEntry) error {
	for _, e := range entries {
		text, err := json.Marshal(e.By)
		if err != nil {
			return err
		}

		err = tx.execIn(room, `INSERT INTO stashes (room_id, commit_id, checkout, made_by, made_at)
			VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (room_id, commit_id) DO UPDATE
			SET checkout = excluded.checkout, made_by = excluded.made_by, made_at = excluded.made_at`,
			room, e.Commit, tx.onHost(e.Checkout), string(text), e.By.At)
		if err != nil {
			return err
		}
	}

	return nil
}

// ForgetStashed forgets who made the entries of the stash that were noted before a time, and those beyond the
// newest most.
func (tx *Tx) ForgetStashed(room stick.RoomID, before stick.Time, most int) error {
	if err := tx.lockRoom(room); err != nil {
		return err
	}

	// The oldest that stays, of as many as may stay.
	var oldest stick.Time
	query := "SELECT made_at FROM stashes WHERE room_id = ? ORDER BY made_at DESC LIMIT 1 OFFSET ?"
	if _, err := tx.queryOne(query, []any{room, most - 1}, &oldest); err != nil {
		return err
	}

	return tx.exec("DELETE FROM stashes WHERE room_id = ? AND made_at < ?", room, max(before, oldest))
}
