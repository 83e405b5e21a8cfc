package store

import (
	"errors"
	"fmt"
	"slices"

	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/postgres"
	"talkingstick/stick"
)

const (
	// boot is known to live for this long after it was seen. What ran under the boot before it counts as
	// ended only then: a copy of the disk may be running.
	bootLifetime = 60_000
	// seenInterval is how often a host writes that it is there, at most. Both are milliseconds.
	seenInterval = 10_000
)

// hostBoot is a boot of a host.
type hostBoot struct {
	boot               string
	began, seen, ended stick.Time
}

// hostPlan is what is to be written about a host.
type hostPlan struct {
	moves  bool     // this boot needs another host id: the id has another boot, which began later
	begins bool     // this boot is new
	seen   bool     // it is time to write that the boot is there
	ends   []string // earlier boots that are over
}

func (p hostPlan) isEmpty() bool { return !p.moves && !p.begins && !p.seen && len(p.ends) == 0 }

// planHost decides what a write under a boot of a host tells about the host.
func planHost(boots []hostBoot, boot string, now stick.Time) (p hostPlan) {
	// A boot that isn't known begins now.
	i := slices.IndexFunc(boots, func(b hostBoot) bool { return b.boot == boot })
	p.begins = i < 0
	if i >= 0 {
		mine := boots[i]

		// A boot that counts as over, or that began before another one, shares its id with a copy of its
		// disk.
		p.moves = mine.ended != 0 || slices.ContainsFunc(boots, func(b hostBoot) bool { return b.began > mine.began })
		p.seen = mine.seen+seenInterval <= now
	}

	if p.moves {
		return hostPlan{moves: true}
	}

	// What was seen a short while ago may still run: see bootLifetime.
	for _, b := range boots {
		if b.boot != boot && b.ended == 0 && b.seen+bootLifetime <= now {
			p.ends = append(p.ends, b.boot)
		}
	}

	return p
}

// noticeHost records that this host is there, under its boot. When the host has started again, the processes
// of the boot before count as ended.
func (tx *Tx) noticeHost() error {
	db := tx.db
	if db.opt.Boot == "" || db.hostSeen != 0 && stick.At(db.Now()) < db.hostSeen+seenInterval {
		return nil
	}

	for {
		host, err := postgres.ReadHost(db.opt.Dir, true, db.opt.NewID)
		if err != nil {
			return dialect.ErrNotWritable(db.opt.Dir, err)
		}

		boots, err := tx.hostBoots(host)
		if err != nil {
			return err
		}

		plan := planHost(boots, db.opt.Boot, tx.Now())
		if plan.isEmpty() {
			return nil
		}

		// What was read before the lock may be old, so the plan is made again under it.
		if again, err := tx.lockClass(dialect.BootsClass); err != nil {
			return err
		} else if !again { // nobody else has written meanwhile
			return tx.saveHost(host, plan)
		}
	}
}

// saveHost writes what a plan says.
func (tx *Tx) saveHost(host string, plan hostPlan) error {
	boot := tx.db.opt.Boot
	if plan.moves {
		moved := tx.db.NewID()
		if err := postgres.WriteHost(tx.db.opt.Dir, moved); err != nil {
			return dialect.ErrNotWritable(tx.db.opt.Dir, err)
		}

		// What the other boot has found ended hadn't: it lives here.
		err := errors.Join(
			tx.exec("DELETE FROM host_boots WHERE host_id = ? AND boot = ?", host, boot),
			tx.exec("UPDATE processes SET gone_at = 0 WHERE boot = ?", boot),
			tx.exec(`INSERT INTO checkouts (host_id, path, room_id) SELECT ?, path, room_id FROM checkouts c
				WHERE c.host_id = ?`,
				moved, host),
		)
		if err != nil {
			return err
		}

		host, plan.begins = moved, true
	}

	// A host gets its name with its first boot.
	if plan.begins {
		if err := tx.nameHost(host); err != nil {
			return err
		}

		query := "INSERT INTO host_boots (host_id, boot, began_at, seen_at, ended_at) VALUES (?, ?, ?, ?, 0)"
		if err := tx.exec(query, host, boot, tx.Now(), tx.Now()); err != nil {
			return err
		}
	}

	if plan.seen {
		query := "UPDATE host_boots SET seen_at = ? WHERE host_id = ? AND boot = ?"
		if err := tx.exec(query, tx.Now(), host, boot); err != nil {
			return err
		}
	}

	for _, ended := range plan.ends {
		if err := tx.endBoot(host, ended); err != nil {
			return err
		}
	}

	return nil
}

func (tx *Tx) hostBoots(host string) (boots []hostBoot, err error) {
	query := "SELECT boot, began_at, seen_at, ended_at FROM host_boots WHERE host_id = ? ORDER BY began_at, boot"
	err = tx.scan(query, []any{host}, func(scan rowScan) error {
		var b hostBoot
		err := scan(&b.boot, &b.began, &b.seen, &b.ended)
		boots = append(boots, b)
		return err
	})

	return boots, err
}

// nameHost gives a host that has none a name that no other has.
func (tx *Tx) nameHost(host string) error {
	name, named, err := tx.hostName(host)
	if err != nil || named {
		return err
	}
	return tx.exec("INSERT INTO hosts (host_id, name) VALUES (?, ?)", host, name)
}

// hostName returns the name of a host, or the one that it would get now.
func (tx *Tx) hostName(host string) (name string, named bool, err error) {
	if named, err = tx.queryOne("SELECT name FROM hosts WHERE host_id = ?", []any{host}, &name); named || err != nil {
		return name, named, err
	}

	// Two machines may call themselves the same.
	name = tx.db.opt.HostName
	for n := 2; ; n++ {
		var taken int
		if ok, err := tx.queryOne("SELECT 1 FROM hosts WHERE name = ?", []any{name}, &taken); !ok || err != nil {
			return name, false, err
		}

		name = fmt.Sprintf("%s-%d", tx.db.opt.HostName, n)
	}
}

// ManyHosts is [DB.ManyHosts].
func (tx *Tx) ManyHosts() bool { return tx.db.ManyHosts() }

// HostName is the name of this host among those that share the database. No other has it.
func (tx *Tx) HostName() (string, error) {
	name, _, err := tx.hostName(tx.db.dialect.CurrentHost())
	return name, err
}

// NameOfHost is the name of another host among those that share the database; empty for this one, and for one
// that has none.
func (tx *Tx) NameOfHost(host string) (name string, err error) {
	// A transaction may ask for the same host many times.
	name, known := tx.hosts[host]
	if known || host == tx.db.dialect.CurrentHost() {
		return name, nil
	}
	if _, err = tx.queryOne("SELECT name FROM hosts WHERE host_id = ?", []any{host}, &name); err == nil {
		tx.hosts[host] = name
	}

	return name, err
}

// endBoot ends what ran under a boot of a host that is over.
func (tx *Tx) endBoot(host, boot string) error {
	rooms, err := tx.roomIDs(`SELECT r.room_id FROM rooms r
		WHERE r.room_id IN (SELECT l.room_id FROM listeners l WHERE l.boot = ?)
		OR r.owner IN (SELECT p.agent_id FROM processes p WHERE p.boot = ?)
		OR r.reserved_for IN (SELECT p.agent_id FROM processes p WHERE p.boot = ?)
		ORDER BY r.room_id`, boot, boot, boot)
	if err != nil {
		return err
	}

	// Who waits in these rooms sees another state now, though their logs say nothing.
	for _, r := range rooms {
		tx.Ring(r)
	}

	// The processes of members were loaded with their rooms.
	clear(tx.evidence)
	return errors.Join(
		tx.exec("UPDATE host_boots SET ended_at = ? WHERE host_id = ? AND boot = ?", tx.Now(), host, boot),
		tx.exec("UPDATE processes SET gone_at = ? WHERE boot = ? AND gone_at = 0", tx.Now(), boot),
		tx.exec("DELETE FROM listeners WHERE boot = ?", boot),
	)
}

// LocalProcesses lists the processes of one boot and pid namespace that carry members of rooms or wait there
// and that aren't known to have ended. holds is true for those of a member that has a stick, or for whom one
// is reserved.
func (tx *Tx) LocalProcesses(boot, pidNS string) (holds map[stick.Process]bool, err error) {
	holds = map[stick.Process]bool{}
	err = tx.scan(`SELECT p.machine, p.boot, p.pid_ns, p.pid, p.start_time,
		MAX(CASE WHEN r.owner = m.agent_id OR r.reserved_for = m.agent_id THEN 1 ELSE 0 END)
		FROM processes p LEFT JOIN members m ON m.agent_id = p.agent_id LEFT JOIN rooms r ON r.room_id = m.room_id
		WHERE p.boot = ? AND p.pid_ns = ? AND p.gone_at = 0
		GROUP BY p.machine, p.boot, p.pid_ns, p.pid, p.start_time ORDER BY p.pid, p.start_time`,
		[]any{boot, pidNS}, func(scan rowScan) error {
			var p stick.Process
			var n int
			err := scan(&p.Machine, &p.Boot, &p.PIDNS, &p.PID, &p.Start, &n)
			holds[p] = n > 0
			return err
		})
	if err != nil {
		return nil, err
	}

	err = tx.scan(`SELECT machine, boot, pid_ns, pid, start_time FROM listeners
		WHERE boot = ? AND pid_ns = ? AND pid > 0 ORDER BY listener_id`,
		[]any{boot, pidNS}, func(scan rowScan) error {
			var p stick.Process
			err := scan(&p.Machine, &p.Boot, &p.PIDNS, &p.PID, &p.Start)
			if _, known := holds[p]; !known {
				holds[p] = false
			}
			return err
		})

	return holds, err
}

// ReportGone records that a process of this host has ended, which other hosts can't see. It ends the waits of
// the process, and wakes who waits in the rooms of the members that it carried.
func (tx *Tx) ReportGone(p stick.Process) error {
	rooms, err := tx.roomIDs(`SELECT r.room_id FROM rooms r
		WHERE r.room_id IN (SELECT m.room_id FROM members m JOIN processes p ON p.agent_id = m.agent_id
			WHERE p.process_key = ? AND p.gone_at = 0)
		OR r.room_id IN (SELECT l.room_id FROM listeners l
			WHERE l.boot = ? AND l.pid_ns = ? AND l.pid = ? AND l.start_time = ?)
		ORDER BY r.room_id`,
		p.Key(), p.Boot, p.PIDNS, p.PID, p.Start)
	if err != nil {
		return err
	}

	for _, r := range rooms {
		tx.Ring(r)
	}

	clear(tx.evidence)
	return errors.Join(
		tx.exec("UPDATE processes SET gone_at = ? WHERE process_key = ? AND gone_at = 0", tx.Now(), p.Key()),
		tx.exec("DELETE FROM listeners WHERE boot = ? AND pid_ns = ? AND pid = ? AND start_time = ?",
			p.Boot, p.PIDNS, p.PID, p.Start),
	)
}
