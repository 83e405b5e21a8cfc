package core

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/names"
)

// personID returns the id of the person that calls. Where several hosts share the database, it names the
// host, too, such as human:ann@laptop: two people may have one user name.
func personID(tx *store.Tx, by Caller) (stick.AgentID, error) {
	if !tx.ManyHosts() {
		return HumanID(by), nil
	}
	host, err := tx.HostName()
	return humanAt(by, host), err
}

func humanAt(by Caller, host string) stick.AgentID { return HumanID(by) + stick.AgentID("@"+host) }

// HumanID returns the id of the person that calls, such as human:ann.
func HumanID(by Caller) stick.AgentID { return stick.AgentID(by.Harness + ":" + by.User) }

// shortName makes an agent's id from the first n hexadecimal digits of the SHA-256 sum of seed.
func shortName(prefix, seed string, n int) stick.AgentID {
	sum := sha256.Sum256([]byte(seed))
	return stick.AgentID(prefix + ":" + hex.EncodeToString(sum[:])[:n])
}

// nameFor makes the id of an agent that isn't known yet. A later connection of an MCP client has the id of
// the first, with its number.
func nameFor(tx *store.Tx, by Caller) (stick.AgentID, error) {
	if by.Number <= 1 {
		return newName(tx, by.Harness, by.Seed())
	}

	// The first connection may not be recorded yet.
	first, known, err := tx.AgentOf(by.First().Seed())
	if err == nil && !known {
		first, err = newName(tx, by.Harness, by.First().Seed())
	}
	if err != nil {
		return "", err
	}

	return numberedName(tx, first, by.Number)
}

// numberedName makes the id of another agent of the same origin: a's with the first free number from n.
func numberedName(tx *store.Tx, a stick.AgentID, n int) (stick.AgentID, error) {
	for ; ; n++ {
		next := withNumber(a, n)
		if taken, err := tx.IsKnownName(next); err != nil || !taken {
			return next, err
		}
	}
}

func withNumber(a stick.AgentID, n int) stick.AgentID {
	return stick.AgentID(fmt.Sprintf("%s-%d", a, n))
}

// nameKept is for how long nobody else gets the name of an agent that isn't seen any more.
const nameKept = 30 * 24 * time.Hour

// nameOf returns what people call an agent that is about to join a room: as in its other rooms, or else a name that
// nothing else has. m is the member that it was or is in this room, if any.
func nameOf(tx *store.Tx, room stick.RoomID, m stick.Member, a stick.AgentID) (string, error) {
	if m.Name != "" || m.State == stick.Joined {
		return m.Name, nil
	}

	given, err := tx.NameOf(a)
	if given != "" || err != nil {
		return given, err
	}

	return names.Choose(a, func(name string) (bool, error) {
		return tx.IsTakenName(room, name, tx.Now().Add(-nameKept))
	})
}

// newName makes the id of an agent that isn't known yet. It takes more digits while the id is in use.
func newName(tx *store.Tx, prefix, seed string) (stick.AgentID, error) {
	for n := 8; ; n++ {
		a := shortName(prefix, seed, n)
		if taken, err := tx.IsKnownName(a); err != nil || !taken || n == 2*sha256.Size {
			return a, err
		}
	}
}
