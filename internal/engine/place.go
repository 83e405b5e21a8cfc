package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// placeOf returns the place of a call, even if its directory is gone. For a room by its id, that is the place of
// the room's path. It fails with [stick.CodeInvalidPath] and [stick.CodeNoRoom].
func (e *Engine) placeOf(ctx context.Context, w core.Where) (*workspace.Place, error) {
	place, err := e.core.PlaceToRead(w)
	if err != nil {
		return nil, err
	}
	if place != nil {
		return place, e.findRoot(ctx, place)
	}
	path, err := e.pathOf(ctx, w.RoomID)
	if err != nil {
		return nil, err
	}
	if isGone(path) {
		return &workspace.Place{Path: path, Root: path, Found: workspace.FoundPath, Chain: []string{path}}, nil
	}
	return e.core.PlaceToRead(core.Where{Path: path})
}

// findRoot completes a place where nothing says where the workspace begins: the nearest room above does.
func (e *Engine) findRoot(ctx context.Context, place *workspace.Place) error {
	if place.Found != workspace.FoundPath {
		return nil
	}
	path, err := e.roomAt(ctx, place)
	if path != "" {
		place.Root = path
	}
	return err
}

// pathOf returns the path of a room.
func (e *Engine) pathOf(ctx context.Context, id stick.RoomID) (path string, err error) {
	err = e.core.ReadRoom(ctx, core.Where{RoomID: id}, core.Caller{Person: true, Harness: "human"}, func(_ *store.Tx, _ *core.Probes, r stick.Room) error {
		path = r.Path
		return nil
	})
	return path, err
}

// isGone reports whether there is nothing at a path. A directory that can't be read isn't gone.
func isGone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
