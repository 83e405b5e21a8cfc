package core

import (
	"errors"
	"io/fs"

	"talkingstick/internal/harness"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Where says which room a call means: by its id or a unique start of that, or by a path inside of its
// workspace. The zero Where means the working directory.
type Where struct {
	RoomID stick.RoomID `json:"room_id,omitempty"`
	Path   string       `json:"path,omitempty"`

	place *workspace.Place // what the path was resolved to, see [Kernel.Located]
}

// Located returns w with its path resolved, for an operation that asks for its place in several steps: each
// of them then means the same place, and only the first reads the disk. A wait or a command that runs for
// long resolves anew, because directories come and go meanwhile. If w can't be resolved, each step says why.
func (k *Kernel) Located(w Where) Where {
	if place, err := k.Place(w); err == nil {
		w.place = place
	}
	return w
}

// Caller is the agent that calls, as far as the surface (CLI, hook or MCP server) knows it: a person or a
// harness, its session and its process.
type Caller = harness.Caller

// NoRoom returns the error for a path that belongs to no room, [stick.CodeNoRoom].
func NoRoom(path string) *stick.Error {
	return stick.Errorf(stick.CodeNoRoom, "there is no room for %s", path).With("path", path).
		Hintf("make one and join it: %s", stick.Cmd("tt join"))
}

// errBroad is the error for an operation that would make a room of the whole home directory, or of all files,
// in passing.
func errBroad(p *workspace.Place) error {
	return stick.Errorf(stick.CodeNoRoom, "there is no room for %s, and tt makes one for a whole home directory or disk only on request", p.Root).
		With("path", p.Path).Hintf("go to a project's directory; or make the room anyway: %s", stick.Cmd("tt join"))
}

// errNoRoom is the error where there is no database, and so no room: w names it by its id, or p is its place.
func errNoRoom(w Where, p *workspace.Place, by Caller) error {
	if p == nil {
		return stick.Errorf(stick.CodeNoRoom, "there is no room %q", stick.Clip(string(w.RoomID), 60))
	}
	if err := p.CheckRepository(); err != nil {
		return err
	}

	no := NoRoom(p.Path)
	hintInit(no, w, p, by)
	return no
}

// hintInit gives a person the step that also protects the room, where it can be taken: in the repository of
// the working directory.
func hintInit(no *stick.Error, w Where, p *workspace.Place, by Caller) {
	if by.Person && by.As == "" && w.Path == "" && p != nil && p.Found == workspace.FoundGit && !p.Broad {
		no.Hintf("set this repository up: %s; or only make a room and join it: %s", stick.Cmd("tt init"), stick.Cmd("tt join"))
	}
}

// Place resolves the path of w. It returns nil when w names a room by its id. Of a call that names both it
// can't tell which one is meant, and fails with [stick.CodeUsage].
func (k *Kernel) Place(w Where) (*workspace.Place, error) {
	switch {
	case w.RoomID != "" && w.Path != "":
		return nil, stick.Errorf(stick.CodeUsage, "give a room or a path, not both: %q and %q", stick.Clip(string(w.RoomID), 60), stick.Clip(w.Path, 60)).
			With("field", "room_id")
	case w.RoomID != "":
		return nil, nil
	case w.place != nil:
		// Who gets a place may complete it.
		place := *w.place
		return &place, nil
	}

	path := w.Path
	if path == "" {
		path = "."
	}

	p, err := workspace.Resolve(path, k.Config.Workspace)

	// Only the working directory can be gone without having been named.
	if w.Path == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, stick.Errorf(stick.CodeInvalidPath, "the working directory was deleted").
			Hintf("go to a directory that exists, or name one: --path <directory>; to see the rooms: %s",
				stick.Cmd("tt list --all"))
	}
	if err != nil {
		return nil, err
	}

	return &p, nil
}

// PlaceToRead is [Kernel.Place] for operations that make no room. It also finds the room of a working
// directory that was deleted.
func (k *Kernel) PlaceToRead(w Where) (*workspace.Place, error) {
	p, err := k.Place(w)
	if err == nil || w.Path != "" {
		return p, err
	}

	// Its room may still be found by the directories above it.
	gone, gerr := workspace.ResolveGone(k.Config.Workspace.Dir, k.Config.Workspace)
	if gerr != nil {
		return nil, err
	}

	return &gone, nil
}

// PlaceOfHook is [Kernel.PlaceToRead] for hooks. A session still runs in a directory that was deleted, and
// its harness passes that path.
func (k *Kernel) PlaceOfHook(w Where) (*workspace.Place, error) {
	p, err := k.PlaceToRead(w)
	if err == nil || w.Path == "" {
		return p, err
	}

	gone, gerr := workspace.ResolveGone(w.Path, k.Config.Workspace)
	if gerr != nil {
		return nil, err
	}

	return &gone, nil
}

// FindRoom loads the room that w means. p is the place of w, as [Kernel.Place] resolved it. It fails with
// [stick.CodeNoRoom].
func FindRoom(tx *store.Tx, w Where, p *workspace.Place) (stick.Room, error) {
	if p == nil {
		return tx.RoomNamed(w.RoomID)
	}

	r, ok, err := tx.RoomAt(p.Chain)
	if err == nil && !ok {
		err = NoRoom(p.Path)
	}

	return r, err
}

// CheckRepository fails with [stick.CodeRepositoryMissing] if w means a checkout whose repository can't be
// found.
func (k *Kernel) CheckRepository(w Where) error {
	place, err := k.Place(w)
	if err != nil || place == nil {
		// The operation itself says what is wrong.
		return nil
	}
	return place.CheckRepository()
}
