package store

import (
	"errors"
	"strconv"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// seqJump is how far the event counter jumps when a generation ends: past every number that can have been
// issued. A power loss may undo the last commits. They fit into a write-ahead log of 16 MiB, and an event
// takes more than 16 bytes.
const seqJump = 1 << 20

// requireReader refuses a database that needs a newer program.
func (tx *Tx) requireReader() error {
	if tx.meta.MovedTo != "" {
		return dialect.ErrMoved(tx.meta.MovedTo)
	}

	if tx.meta.MinReader > tx.db.schema {
		return stick.Errorf(stick.CodeUpgraded, "the database was upgraded by a newer tt while this one ran").
			Hintf("run the command again with the newer tt")
	}

	return nil
}

func (tx *Tx) setMeta(key, value string) error {
	return tx.exec(`INSERT INTO meta (key, value) VALUES (?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
		key, value)
}

// noticeBoot tells the database of the boot of this host, if it doesn't know it.
func (tx *Tx) noticeBoot() error {
	if tx.db.ManyHosts() {
		return tx.noticeHost()
	}
	return tx.noticeReboot()
}

// noticeReboot begins a new generation when this is the first write of a host after it started again. All
// leases and reservations end then; each room says so in its log when it is next written.
//
// Every boot that has written is kept, and one that is known is never news. So two hosts with the same
// machine id (copies of one image) end each other's leases at most once when one of them starts, and not at
// every write; and of a host and its containers, which have one boot and several machine ids, only the first
// to write begins anything.
func (tx *Tx) noticeReboot() error {
	boot, machine := tx.db.opt.Boot, tx.db.opt.Machine
	if boot == "" || tx.db.bootKnown {
		return nil
	}

	known, err := tx.readBoots()
	if err != nil || known.both {
		return err
	}

	// A host that is new here has left nothing that could end.
	if known.host && !known.boot && !tx.generationBegun {
		if err := tx.newGeneration(stick.Generation{Cause: stick.RebootCause}); err != nil {
			return err
		}
	}

	// What was known without an id was this host's, or is over.
	if machine != "" {
		if err := tx.exec("DELETE FROM boots WHERE machine = ''"); err != nil {
			return err
		}
	}

	return tx.exec("INSERT INTO boots (machine, boot) VALUES (?, ?)", machine, boot)
}

// bootsKnown says what the database knows of this process's boot and host, and whether it knows them
// together.
type bootsKnown struct{ boot, host, both bool }

func (tx *Tx) readBoots() (known bootsKnown, err error) {
	boot, machine := tx.db.opt.Boot, tx.db.opt.Machine
	err = tx.scan("SELECT machine, boot FROM boots ORDER BY boot, machine", nil, func(scan rowScan) error {
		var m, b string
		err := scan(&m, &b)
		known.boot = known.boot || b == boot
		known.host = known.host || m == machine || m == "" // without an id it may have been this host's
		known.both = known.both || b == boot && m == machine
		return err
	})

	return known, err
}

// newGeneration begins the generation g, which ends the leases and reservations of the one before. It gives g its number.
// See docs/decisions/damage-and-repair.md#a-reboot.
func (tx *Tx) newGeneration(g stick.Generation) error {
	was := tx.Generation()
	g.Number, g.Above = was.Number+1, max(was.Above, g.Above)
	tx.meta.Generation, tx.generationBegun = g, true

	err := errors.Join(
		tx.setMeta("generation", strconv.FormatInt(g.Number, 10)),
		tx.setMeta("world", g.Cause), // the key is an older word
		tx.beginAbove(g.Above),
	)
	if err != nil {
		return err
	}

	// What a lost commit has issued is never given out again.
	return tx.db.dialect.SkipNumbers(seqJump)
}

// beginAbove has the turns of new rooms, and of the next generation, begin above this one.
func (tx *Tx) beginAbove(turn int64) error {
	tx.meta.Generation.Above = turn
	if turn == 0 {
		return nil
	}
	return tx.setMeta("turns_above", strconv.FormatInt(turn, 10))
}
