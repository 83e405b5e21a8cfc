package upkeep

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// MigrateDBParams asks to move the database of this machine to a server.
type MigrateDBParams struct {
	Caller core.Caller `json:"-"`
}

// MigrateDBResult is what was moved.
type MigrateDBResult struct {
	From    string                          `json:"from"` // the file, which stays
	To      string                          `json:"to"`
	Rooms   []MovedRoom                     `json:"rooms"`
	Events  int                             `json:"events"`
	Tasks   int                             `json:"tasks"`
	Persons map[stick.AgentID]stick.AgentID `json:"persons,omitempty"` // whose names tell the host now
	Already bool                            `json:"already,omitempty"`
}

// MovedRoom is a room that was moved.
type MovedRoom struct {
	RoomID stick.RoomID `json:"room_id"`
	Path   string       `json:"canonical_path"`
	Key    string       `json:"room_key"`        // by which other clones find it
	Alone  bool         `json:"alone,omitempty"` // another room has the key of its repository, so other clones need its own
}

// MigrateDB moves the database of this machine to the server that commands are told to use, as a person, and
// closes the file: see [store.Move]. It fails as that does, and with [stick.CodeUsage],
// [stick.CodePersonOnly], [stick.CodeNotFound] and [stick.CodeDatabaseUnavailable].
func (u *Upkeep) MigrateDB(ctx context.Context, p MigrateDBParams) (MigrateDBResult, error) {
	res := MigrateDBResult{Rooms: []MovedRoom{}}
	cfg := u.core.Config
	switch {
	case !p.Caller.ActsAsPerson():
		return res, stick.Errorf(stick.CodePersonOnly,
			"only a person may move the database, because it affects all agents of this machine").
			Hintf("ask a person to run it")
	case cfg.Database == "":
		return res, stick.Errorf(stick.CodeUsage, "tt doesn't know where to move its database").
			Hintf(`put the address into config.toml: database = "postgres://…"; or set TALKING_STICK_DATABASE_URL`)
	}

	to, err := u.core.Open(ctx, true)
	if err != nil {
		return res, err
	}

	// The same configuration without a server means the file.
	cfg.Database = ""
	file := core.New(cfg)
	defer file.Close()
	from, err := file.Open(ctx, false)
	if err == store.ErrAbsent {
		return res, stick.Errorf(stick.CodeNotFound, "there is no database in %s to move", cfg.Dir).
			With("path", cfg.Dir).
			Hintf("there is nothing to do; to make the first room on the server: %s", stick.Cmd("tt join"))
	}

	// An earlier run has moved it there.
	if stick.CodeOf(err) == stick.CodeDatabaseMoved && stick.AsError(err).Fields["database"] == to.DisplayName() {
		res.To, res.Already = to.DisplayName(), true
		return res, nil
	}
	if err != nil {
		return res, err
	}

	if res.Rooms, err = u.movedRooms(ctx, from); err != nil {
		return res, err
	}

	m, err := store.Move(ctx, from, to, func(r stick.Room) string {
		for _, x := range res.Rooms {
			if x.RoomID == r.ID {
				return x.Key
			}
		}

		// The room was made meanwhile.
		return core.RandomKey(from)
	})

	res.From, res.To, res.Already = from.DisplayName(), to.DisplayName(), m.Already
	res.Events, res.Tasks, res.Persons = m.Events, m.Tasks, m.Persons
	return res, err
}

// movedRooms finds out by which keys the rooms of a file are found on a server. Of two with one repository,
// the second gets another one.
func (u *Upkeep) movedRooms(ctx context.Context, from *store.DB) ([]MovedRoom, error) {
	var rooms []stick.Room
	err := from.View(ctx, func(tx *store.Tx) (err error) {
		rooms, err = tx.Rooms(nil, "")
		return err
	})

	moved, taken := []MovedRoom{}, map[string]bool{}
	for _, r := range rooms {
		x := MovedRoom{RoomID: r.ID, Path: r.Path, Key: u.core.KeyOfPath(ctx, from, r.Path)}

		// Two rooms can't be found by one key.
		if x.Alone = taken[x.Key]; x.Alone {
			x.Key = core.RandomKey(from)
		}

		taken[x.Key] = true
		moved = append(moved, x)
	}

	return moved, err
}
