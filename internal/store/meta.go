package store

import (
	"strconv"

	"talkingstick/stick"
)

// seqJump is how far the event counter jumps when a world ends: past anything that can have
// been issued. The last commits before a power loss may be gone; they fit into a write-ahead log
// of 16 MiB, and an event takes more than 16 bytes.
const seqJump = 1 << 20

type meta struct {
	schema     int64
	minReader  int64
	generation int64
	boot       string
	world      string
}

func (tx *Tx) readMeta() error {
	m := &tx.meta
	err := tx.scan("SELECT key, value FROM meta ORDER BY key", nil, func(scan func(...any) error) error {
		var key, value string
		if err := scan(&key, &value); err != nil {
			return err
		}
		switch key {
		case "schema":
			m.schema, _ = strconv.ParseInt(value, 10, 64)
		case "min_reader":
			m.minReader, _ = strconv.ParseInt(value, 10, 64)
		case "generation":
			m.generation, _ = strconv.ParseInt(value, 10, 64)
		case "boot":
			m.boot = value
		case "world":
			m.world = value
		}
		return nil
	})
	if err != nil {
		return err
	}
	if m.minReader > tx.db.schema() {
		return stick.Errorf(stick.CodeUpgraded, "the database was upgraded by a newer tt while this one ran").
			Hintf("run the command again with the newer tt")
	}
	return nil
}

func (tx *Tx) setMeta(key, value string) error {
	return tx.exec("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
}

// enterWorld begins a new generation when this is the first write after another boot. All leases
// and reservations end then; each room says so in its log when it is next written.
func (tx *Tx) enterWorld() error {
	boot := tx.db.opt.Boot
	if boot == "" || boot == tx.meta.boot {
		return nil
	}
	if tx.meta.boot != "" {
		if err := tx.newGeneration("reboot"); err != nil {
			return err
		}
	}
	tx.meta.boot = boot
	return tx.setMeta("boot", boot)
}

// newGeneration ends the world in which leases were granted.
func (tx *Tx) newGeneration(world string) error {
	tx.meta.generation++
	tx.meta.world = world
	if err := tx.setMeta("generation", strconv.FormatInt(tx.meta.generation, 10)); err != nil {
		return err
	}
	if err := tx.setMeta("world", world); err != nil {
		return err
	}
	return tx.exec("UPDATE counters SET value = value + ? WHERE name = 'event_seq'", seqJump)
}
