package git

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
)

// roomKey is where the key of a repository's room is kept, so that it stays when the remote gets another
// address, and so that a copy of the repository finds the same room.
const roomKey = "talkingstick.room"

// RoomKey returns the key that is kept for the repository of dir, empty for none.
func (c Client) RoomKey(ctx context.Context, dir string) (string, error) {
	return c.readSetting(ctx, dir, "config", "--local", "--get", roomKey)
}

// KeepRoomKey keeps the key of the room of a repository in its configuration.
func (c Client) KeepRoomKey(ctx context.Context, dir, key string) error {
	return c.runReadOnly(ctx, dir, nil, "config", "--local", roomKey, key)
}

// RemoteAddress returns the address of origin or else of the only remote, with the insteadOf of the user's
// configuration. It is empty for a repository that has none of these.
func (c Client) RemoteAddress(ctx context.Context, dir string) (string, error) {
	var out bytes.Buffer
	if err := c.runReadOnly(ctx, dir, &out, "remote"); err != nil {
		return "", err
	}

	names := strings.Fields(out.String())
	name := ""
	for _, n := range names {
		if n == "origin" || len(names) == 1 {
			name = n
		}
	}

	if name == "" {
		return "", nil
	}

	return c.readSetting(ctx, dir, "remote", "get-url", "--", name)
}

// AddressOf returns the address of a remote, with the insteadOf of the user's configuration. It is empty for
// one that has none.
func (c Client) AddressOf(ctx context.Context, dir, remote string) (string, error) {
	// Git's get-url prints the name of a remote that has no address.
	err := c.runReadOnly(ctx, dir, nil, "config", "--get", "remote."+remote+".url")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "", nil
	}

	return c.readSetting(ctx, dir, "remote", "get-url", "--", remote)
}

// readSetting returns the first line of what git prints, empty where git ends with 1 and says nothing, as it
// does for what isn't set.
func (c Client) readSetting(ctx context.Context, dir string, args ...string) (string, error) {
	var out bytes.Buffer
	err := c.runReadOnly(ctx, dir, &out, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "", nil
	}

	text, _, _ := strings.Cut(out.String(), "\n")
	return text, err
}
