package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// Commits returns who made these commits, of those of which it is noted.
func (tx *Tx) Commits(room stick.RoomID, ids []string) (map[string]edits.Editor, error) {
	by := map[string]edits.Editor{}
	for chunk := range slices.Chunk(ids, maxMarks) {
		marks, args := placeholders(chunk)
		err := tx.scan("SELECT commit_id, made_by FROM commits WHERE room_id = ? AND commit_id IN ("+marks+`)
			ORDER BY commit_id`,
			slices.Concat([]any{room}, args), func(scan rowScan) error {
				var id, text string
				if err := scan(&id, &text); err != nil {
					return err
				}

				var e edits.Editor
				if err := json.Unmarshal([]byte(text), &e); err != nil {
					return fmt.Errorf("read who made %s: %w", stick.Clip(id, 100), err)
				}

				by[id] = e
				return nil
			})
		if err != nil {
			return nil, err
		}
	}

	return by, nil
}

// PutCommits notes who made commits. Of a commit that is known already, that stays.
func (tx *Tx) PutCommits(room stick.RoomID, ids []string, by edits.Editor) error {
	text, err := json.Marshal(by)
	if err != nil {
		return err
	}

	for _, id := range ids {
		if err := tx.execIn(room, `INSERT INTO commits (room_id, commit_id, made_by, made_at)
			VALUES (?, ?, ?, ?) ON CONFLICT (room_id, commit_id) DO NOTHING`,
			room, id, string(text), by.At); err != nil {
			return err
		}
	}

	return nil
}

// DropCommits forgets who made commits.
func (tx *Tx) DropCommits(room stick.RoomID, ids []string) error {
	for chunk := range slices.Chunk(ids, maxMarks) {
		marks, args := placeholders(chunk)
		query := "DELETE FROM commits WHERE room_id = ? AND commit_id IN (" + marks + ")"
		if err := tx.execIn(room, query, slices.Concat([]any{room}, args)...); err != nil {
			return err
		}
	}

	return nil
}

// ForgetCommits forgets who made the commits of a room that were noted before a time, and those beyond the
// newest most.
func (tx *Tx) ForgetCommits(room stick.RoomID, before stick.Time, most int) error {
	if err := tx.lockRoom(room); err != nil {
		return err
	}

	// The oldest that stays, of as many as may stay.
	var oldest stick.Time
	query := "SELECT made_at FROM commits WHERE room_id = ? ORDER BY made_at DESC LIMIT 1 OFFSET ?"
	if _, err := tx.queryOne(query, []any{room, most - 1}, &oldest); err != nil {
		return err
	}

	return tx.exec("DELETE FROM commits WHERE room_id = ? AND made_at < ?", room, max(before, oldest))
}
