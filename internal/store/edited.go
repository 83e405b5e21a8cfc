package store

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// Edited returns what was noted of the files of a checkout, by their paths: of those with these paths, or of
// all if there are none.
func (tx *Tx) Edited(room stick.RoomID, checkout string, paths []string) (out []edits.EditedFile, err error) {
	if len(paths) == 0 {
		return tx.scanEdited(room, checkout, "")
	}

	for chunk := range slices.Chunk(paths, maxMarks) {
		marks, args := placeholders(chunk)
		files, err := tx.scanEdited(room, checkout, " AND path IN ("+marks+")", args...)
		if err != nil {
			return nil, err
		}

		out = append(out, files...)
	}

	return out, nil
}

func (tx *Tx) scanEdited(room stick.RoomID, checkout, where string, args ...any) (out []edits.EditedFile, err error) {
	err = tx.scan(`SELECT `+editTable().names+` FROM edits
		WHERE room_id = ? AND checkout = ?`+where+" ORDER BY path",
		slices.Concat([]any{room, tx.onHost(checkout)}, args), func(scan rowScan) error {
			var f edits.EditedFile
			if err := editTable().read(scan, &f); err != nil {
				return fmt.Errorf("read who edited %s: %w", stick.Clip(f.Path, 100), err)
			}

			out = append(out, f)
			return nil
		})

	return out, err
}

// EditedCheckouts returns the top levels of the checkouts of a room on this host in which somebody's edits
// are noted.
func (tx *Tx) EditedCheckouts(room stick.RoomID) (tops []string, err error) {
	query := "SELECT DISTINCT checkout FROM edits WHERE room_id = ? ORDER BY checkout"
	err = tx.scan(query, []any{room}, func(scan rowScan) error {
		var top string
		if err := scan(&top); err != nil {
			return err
		}
		if top, here := tx.ofThisHost(top); here {
			tops = append(tops, top)
		}

		return nil
	})

	return tops, err
}

// onHost names a checkout of this host where several share the database: two hosts may have one at the same
// path.
func (tx *Tx) onHost(checkout string) string {
	if host := tx.db.dialect.CurrentHost(); host != "" {
		return host + ":" + checkout
	}
	return checkout
}

// ofThisHost is the checkout that [Tx.onHost] has named, and whether it is one of this host.
func (tx *Tx) ofThisHost(name string) (checkout string, here bool) {
	return strings.CutPrefix(name, tx.onHost(""))
}

// PutEdited notes who has edited files of a checkout. It leaves out a path that isn't text, of which nothing
// can be noted.
func (tx *Tx) PutEdited(room stick.RoomID, checkout string, files []edits.EditedFile) error {
	for _, f := range files {
		// A path in another encoding can't be a text of the database.
		if !utf8.ValidString(f.Path) {
			continue
		}

		args, err := editTable().insertArgs(&f, room, tx.onHost(checkout))
		if err == nil {
			err = tx.execIn(room, editTable().upsert, args...)
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// DropEdited forgets who has edited files of a checkout.
func (tx *Tx) DropEdited(room stick.RoomID, checkout string, paths []string) error {
	for chunk := range slices.Chunk(paths, maxMarks) {
		marks, args := placeholders(chunk)
		query := "DELETE FROM edits WHERE room_id = ? AND checkout = ? AND path IN (" + marks + ")"
		if err := tx.execIn(room, query, slices.Concat([]any{room, tx.onHost(checkout)}, args)...); err != nil {
			return err
		}
	}

	return nil
}

// CountEdited counts the files of a checkout of which something is noted.
func (tx *Tx) CountEdited(room stick.RoomID, checkout string) (n int, err error) {
	_, err = tx.queryOne("SELECT COUNT(*) FROM edits WHERE room_id = ? AND checkout = ?",
		[]any{room, tx.onHost(checkout)}, &n)
	return n, err
}
