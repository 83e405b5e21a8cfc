package store

import (
	"encoding/json"
	"fmt"

	"talkingstick/stick"
)

// PutDraft stores the draft of a turn, in place of an earlier one.
func (tx *Tx) PutDraft(room stick.RoomID, d stick.Draft) error {
	// An empty text stands for no handoff.
	handoff := ""
	if d.Handoff != nil {
		b, err := json.Marshal(d.Handoff)
		if err != nil {
			return fmt.Errorf("draft: %w", err)
		}

		handoff = string(b)
	}

	return tx.execIn(room, `INSERT INTO drafts (room_id, turn_id, agent_id, saved_at, body, handoff)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (room_id, turn_id) DO UPDATE
		SET agent_id = excluded.agent_id, saved_at = excluded.saved_at, body = excluded.body,
		handoff = excluded.handoff`,
		room, d.Turn, d.Agent, d.SavedAt, d.Text, handoff)
}

// Drafts lists the drafts of a room since its last handoff, the newest first.
func (tx *Tx) Drafts(room stick.RoomID) (drafts []stick.Draft, err error) {
	query := "SELECT turn_id, agent_id, saved_at, body, handoff FROM drafts WHERE room_id = ? ORDER BY turn_id DESC"
	err = tx.scan(query, []any{room}, func(scan rowScan) error {
		var d stick.Draft
		handoff := ""
		if err := scan(&d.Turn, &d.Agent, &d.SavedAt, &d.Text, &handoff); err != nil {
			return err
		}

		if handoff != "" {
			if err := json.Unmarshal([]byte(handoff), &d.Handoff); err != nil {
				return fmt.Errorf("draft of turn %d: %w", d.Turn, err)
			}
		}

		drafts = append(drafts, d)
		return nil
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
