package store_test

import (
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestAPersonIsToldOnce: a person is told of each need in a room once. Other persons are told of it, too, and
// other rooms have needs of their own.
func TestAPersonIsToldOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id, other := played(t, db), newRoom(t, db, "/other").ID
		for _, c := range []struct {
			room stick.RoomID
			who  stick.AgentID
			keys string
			want string
		}{
			{id, "human:ann", "review/a merge/b", "review/a merge/b"},
			{id, "human:ann", "review/a merge/b", ""},
			{id, "human:ann", "review/a answer/c", "answer/c"},
			{id, "human:bob", "review/a", "review/a"},
			{other, "human:ann", "review/a", "review/a"},
			{other, "human:ann", "", ""},
		} {
			update(t, db, func(tx *store.Tx) error {
				got, err := tx.TakeNotices(c.room, c.who, strings.Fields(c.keys))
				if strings.Join(got, " ") != c.want {
					t.Errorf("%s is told of %q of %q, want %q", c.who, got, c.keys, c.want)
				}
				return err
			})
		}
	})
}
