package store

import "talkingstick/stick"

// PutCommentDraft stores a comment that its author hasn't sent.
func (tx *Tx) PutCommentDraft(room stick.RoomID, task string, c stick.Comment) error {
	c.Sent, c.ResolvedAt, c.ResolvedBy = 0, 0, ""
	args, err := commentTable().insertArgs(&c, room, stick.TaskKey(task))
	if err != nil {
		return err
	}
	return tx.execIn(room, commentTable().insert, args...)
}

// DropCommentDraft removes a comment that wasn't sent.
func (tx *Tx) DropCommentDraft(room stick.RoomID, task string, id int) error {
	return tx.execIn(room, `DELETE FROM comments
		WHERE room_id = ? AND task_key = ? AND comment_id = ? AND event_seq = 0`,
		room, stick.TaskKey(task), id)
}

// putComments stores what an event changes about comments: those that a decision sends, or the one that was
// resolved.
func (tx *Tx) putComments(e stick.Event) error {
	switch e.Type {
	case stick.EventTaskApproved, stick.EventTaskChangesRequested:
		// They are all drafts of the reviewer.
		if len(stick.CommentsOf(e)) > 0 {
			return tx.exec(`UPDATE comments SET event_seq = ?
				WHERE room_id = ? AND task_key = ? AND author = ? AND event_seq = 0`,
				e.Seq, e.Room, stick.TaskKey(e.Task), e.From)
		}
	case stick.EventTaskCommentResolved:
		p, _ := stick.PayloadOf[stick.TaskCommentResolvedPayload](e)
		return tx.exec(`UPDATE comments SET resolved_at = ?, resolved_by = ?
			WHERE room_id = ? AND task_key = ? AND comment_id = ?`,
			e.CreatedAt, e.From, e.Room, stick.TaskKey(e.Task), p.CommentID)
	}

	return nil
}

// Comments lists the comments on a task, drafts of everybody among them, in the order in which they were
// made.
func (tx *Tx) Comments(room stick.RoomID, task string) (comments []stick.Comment, err error) {
	query := "SELECT " + commentTable().names + " FROM comments WHERE room_id = ? AND task_key = ? ORDER BY comment_id"
	err = tx.scan(query, []any{room, stick.TaskKey(task)}, func(scan rowScan) error {
		var c stick.Comment
		err := commentTable().read(scan, &c)
		comments = append(comments, c)
		return err
	})

	return comments, err
}

// OpenComments counts the comments that were sent and aren't resolved, by the keys of the tasks of a room, without
// those on earlier tasks of their names.
func (tx *Tx) OpenComments(room stick.RoomID) (open map[string]int, err error) {
	open = map[string]int{}
	err = tx.scan(`SELECT c.task_key, COUNT(*) FROM comments c
		LEFT JOIN tasks t ON t.room_id = c.room_id AND t.task_key = c.task_key
		WHERE c.room_id = ? AND c.event_seq > 0 AND c.resolved_at = 0
		AND c.created_at >= COALESCE(t.created_at, 0) GROUP BY c.task_key ORDER BY c.task_key`,
		[]any{room}, func(scan rowScan) error {
			var task string
			var n int
			err := scan(&task, &n)
			open[task] = n
			return err
		})

	return open, err
}
