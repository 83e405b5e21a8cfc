package core

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// PlaceOf returns the place of a call, even if its directory is gone. For a room by its id, that is the place
// of the room's path. It fails with [stick.CodeInvalidPath] and [stick.CodeNoRoom].
func (k *Kernel) PlaceOf(ctx context.Context, w Where) (*workspace.Place, error) {
	place, err := k.PlaceToRead(w)
	if err != nil {
		return nil, err
	}
	if place != nil {
		return place, k.findRoot(ctx, place)
	}

	path, err := k.PathOf(ctx, w.RoomID)
	if err != nil {
		return nil, err
	}

	// The room stays, though its directory is gone.
	if IsGone(path) {
		return &workspace.Place{Path: path, Root: path, Found: workspace.FoundPath, Chain: []string{path}}, nil
	}

	return k.PlaceToRead(Where{Path: path})
}

// findRoot completes a place where nothing says where the workspace begins: the nearest room above does.
func (k *Kernel) findRoot(ctx context.Context, place *workspace.Place) error {
	if place.Found != workspace.FoundPath {
		return nil
	}

	path, err := k.RoomAt(ctx, place)
	if path != "" {
		place.Root = path
	}

	return err
}

// PathOf returns the path of a room.
func (k *Kernel) PathOf(ctx context.Context, id stick.RoomID) (path string, err error) {
	reader := Caller{Person: true, Harness: "human"}
	err = k.ReadRoom(ctx, Where{RoomID: id}, reader, func(_ *store.Tx, _ *Probes, r stick.Room) error {
		path = r.Path
		return nil
	})

	return path, err
}

// RoomAt returns the path of the room of a place, and "" if there is none.
func (k *Kernel) RoomAt(ctx context.Context, place *workspace.Place) (path string, err error) {
	db, err := k.Open(ctx, false)
	if err == store.ErrAbsent {
		return "", nil
	}
	if err != nil {
		return "", err
	}

	return path, db.View(ctx, func(tx *store.Tx) error {
		r, _, err := tx.RoomAt(place.Chain)
		path = r.Path
		return err
	})
}

// IsGone reports whether there is nothing at a path. A directory that can't be read isn't gone.
func IsGone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
