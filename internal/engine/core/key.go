package core

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// errNeedsKey ends a transaction that would make a room of which nobody has found out the key. git tells it,
// and git isn't started inside of a transaction.
var errNeedsKey = errors.New("find out the key of the room and run again")

// maxKey is how long a key may be, in bytes: PostgreSQL has it in an index.
const maxKey = 500

// WithKey runs attempt, and once more with the key of the room at a place if attempt asks for it. attempt
// returns the error of [MakeRoom].
func (k *Kernel) WithKey(
	ctx context.Context, db *store.DB, p *workspace.Place, root string, attempt func(key string) error,
) error {
	err := attempt("")

	// git is started only where a room has to be made.
	if !errors.Is(err, errNeedsKey) {
		return err
	}
	return attempt(k.roomKey(ctx, db, p, root))
}

// MakeRoom makes a room at a directory. Where several hosts share the database, it is the room with the key,
// which may be there already; created is false then.
func MakeRoom(tx *store.Tx, root, key string) (r stick.Room, created bool, err error) {
	if tx.ManyHosts() {
		if key == "" {
			return r, false, errNeedsKey
		}

		// Another host may have made the room.
		if r, ok, err := tx.RoomOf(key); err != nil {
			return r, false, err
		} else if ok {
			r, err = tx.Checkout(r, root)
			return r, false, err
		}
	}

	r, err = tx.NewRoom(root, key)
	return r, true, err
}

// RandomKey is a key that no repository has.
func RandomKey(db *store.DB) string { return "room/" + db.NewID() }

// KeyOfPath is the key of the room at a path: see [Kernel.roomKey]. Of a path that is gone it is a random
// one.
func (k *Kernel) KeyOfPath(ctx context.Context, db *store.DB, path string) string {
	p, err := workspace.Resolve(path, k.Config.Workspace)
	if err != nil {
		return RandomKey(db)
	}
	return k.roomKey(ctx, db, &p, path)
}

// roomKey returns the key of the room of a directory: that which is kept for its repository, or the address
// of its remote without what differs between clones, or else a random one. It keeps the key where it can.
func (k *Kernel) roomKey(ctx context.Context, db *store.DB, p *workspace.Place, root string) string {
	random := RandomKey(db)
	if p.Found != workspace.FoundGit {
		return random
	}

	// A key that was kept stays, even if the remote gets another address.
	dir := p.Repository()
	key, err := k.Config.Git.RoomKey(ctx, dir)
	if err != nil || !plainKey(key) {
		key = random
		if address, err := k.Config.Git.RemoteAddress(ctx, dir); err == nil {
			if of, ok := workspace.RepositoryKey(address); ok && plainKey(of) {
				key = of
			}
		}

		// If it can't be kept, the checkout still has its room.
		_ = k.Config.Git.KeepRoomKey(ctx, dir, key)
	}

	// A room below the top of the repository is another one.
	if rel, err := filepath.Rel(p.Root, root); err == nil && rel != "." {
		key += "//" + filepath.ToSlash(rel)
	}

	return key
}

// plainKey reports whether a text can be a key: it is short, has nothing that doesn't print, and doesn't look
// like a path.
func plainKey(key string) bool {
	if key == "" || len(key) > maxKey {
		return false
	}
	return !strings.HasPrefix(key, "/") && !filepath.IsAbs(key) && stick.Line(key) == key
}
