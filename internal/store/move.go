package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/sqlite"
	"talkingstick/stick"
)

// Moved is what a move brought over.
type Moved struct {
	Rooms, Events, Tasks int
	Persons              map[stick.AgentID]stick.AgentID // their names before and now
	Already              bool                            // it was done before: only the file didn't know of it yet
}

const (
	// movedFrom is the key in the meta of the database on a server: the sum of the file that it came from.
	movedFrom = "moved_from"
	// noReader is a schema that no program knows. Those that don't know of moves refuse a file with it.
	noReader = "1000000000"
)

// Move copies the database in a file into an empty one on a server, all or nothing, and ends the file:
// programs refuse it then, and say where its rooms are. keys has the key of each room there. Nobody writes to
// the file meanwhile. What is copied is checked against its log before and after. If a move was interrupted
// between its two commits, the next one finds that out. Move fails with [stick.CodeAlreadyExists] if the
// other database has rooms of its own, and with [stick.CodeDatabaseCorrupt] if the file is damaged.
func Move(ctx context.Context, from, to *DB, keys func(stick.Room) string) (m Moved, err error) {
	err = from.Update(ctx, func(src *Tx) error {
		// Damage would be copied along.
		if err := requireSound(src, "the database in the file"); err != nil {
			return err
		}

		rooms, err := src.Rooms(nil, "")
		if err != nil {
			return err
		}

		c := &copying{src: src, rooms: rooms, keys: map[stick.RoomID]string{}}
		for _, r := range rooms {
			c.keys[r.ID] = keys(r)
		}

		// A database that can't take over the rooms gets no outputs either.
		if err := to.View(ctx, c.compareTarget); err != nil {
			return err
		}

		if !c.Already {
			if err := c.copyOutputs(to); err != nil {
				return err
			}
			if err := to.Update(ctx, c.copyAll); err != nil {
				return err
			}
		}

		// The copy is committed. Only now may the file stop being the database.
		m = c.Moved
		if err := src.setMeta(dialect.MovedTo, to.dialect.DisplayName()); err != nil {
			return err
		}

		return src.setMeta("min_reader", noReader)
	})

	return m, err
}

// requireSound refuses a database that isn't what its log says.
func requireSound(tx *Tx, what stick.Words) error {
	found := ""
	err := tx.checkRooms(nil, func(format string, args ...any) {
		if found == "" {
			found = fmt.Sprintf(format, args...)
		}
	})
	if err == nil && found != "" {
		err = stick.Errorf(stick.CodeDatabaseCorrupt, "%s isn't what its log says: %s", what, stick.Words(found)).Hintf("see more: %s; nothing was moved", stick.Cmd("tt doctor"))
	}

	return err
}

// copying is one move.
type copying struct {
	Moved
	src, dst *Tx
	rooms    []stick.Room // of the file
	keys     map[stick.RoomID]string
	sum      string // of the file
	queued   int    // rows that the server hasn't answered

	checkpoints map[stick.RoomID]movedCheckpoint
}

// compareTarget finds out whether the file can be moved, or has been.
func (c *copying) compareTarget(dst *Tx) (err error) {
	c.dst, c.queued, c.Moved = dst, 0, Moved{Rooms: len(c.rooms), Persons: map[stick.AgentID]stick.AgentID{}}
	if c.sum, err = c.fingerprintFile(); err != nil {
		return err
	}

	var was string
	if _, err := c.dst.queryOne("SELECT value FROM meta WHERE key = ?", []any{movedFrom}, &was); err != nil {
		return err
	}

	var has int
	if _, err := c.dst.queryOne("SELECT COUNT(*) FROM rooms", nil, &has); err != nil {
		return err
	}

	if c.Already = has > 0 && was == c.sum; has > 0 && !c.Already {
		return stick.Errorf(stick.CodeAlreadyExists, "%s already has %s, and tt moves a file's rooms only into an empty database", stick.Words(c.dst.db.dialect.DisplayName()), stick.Count(has, "room")).
			Hintf("choose another database, or another schema: ?search_path=<name> at the end of its address; or leave the rooms of the file, and start each anew: %s", stick.Cmd("tt join"))
	}

	return nil
}

// copyAll copies everything but the outputs.
func (c *copying) copyAll(dst *Tx) error {
	// Nobody else makes rooms or names meanwhile.
	for _, all := range []dialect.Class{dialect.PathsClass, dialect.NamesClass} {
		if _, err := dst.lockClass(all); err != nil {
			return err
		}
	}

	// Another host may have begun to use the database until it was locked.
	if err := c.compareTarget(dst); err != nil || c.Already {
		return err
	}

	for _, step := range []func() error{c.namePersons, c.copyTables, c.recordPlaces} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := dst.setMeta(movedFrom, c.sum); err != nil {
		return err
	}

	return requireSound(dst, "the copy")
}

// fingerprintFile tells this state of the file from all others.
func (c *copying) fingerprintFile() (string, error) {
	h := sha256.New()
	query := "SELECT room_id, last_event_seq, last_sum FROM rooms ORDER BY room_id"
	err := c.src.scan(query, nil, func(scan rowScan) error {
		var room, sum string
		var seq int64
		err := scan(&room, &seq, &sum)
		fmt.Fprintln(h, room, seq, sum)
		return err
	})

	return hex.EncodeToString(h.Sum(nil)), err
}

// namePersons finds out which names persons have from now on: where hosts share a database, they name the
// host.
func (c *copying) namePersons() error {
	host, err := c.dst.HostName()
	if err != nil {
		return err
	}

	query := "SELECT DISTINCT agent_id FROM members UNION SELECT DISTINCT from_agent_id FROM events ORDER BY 1"
	return c.src.scan(query, nil, func(scan rowScan) error {
		var a stick.AgentID
		err := scan(&a)

		// Only the names of persons are the same on several hosts.
		if a.Human() && !strings.Contains(string(a), "@") {
			c.Persons[a] = a + stick.AgentID("@"+host)
		}

		return err
	})
}

// movedTables lists what is copied, in an order in which nothing refers to what comes later. What one host
// alone has isn't among it: its boots, its waits, and the counter.
var movedTables = []string{
	"rooms", "members", "sessions", "processes", "cursors",
	"checkpoints", "events", "receipts", "notes", "reservations",
	"tasks", "task_attempts", "reviews", "comments", "task_views", "task_runs", "past_runs", "task_setups",
	"intents", "blobs", "edits", "calls", "reads", "commits", "stashes", "tellings", "drafts",
	"accepted_commands", "notices",
}

func (c *copying) copyTables() error {
	for _, t := range movedTables {
		fill := c.copyTable
		switch t {
		case "events":
			fill = c.copyEvents
		case "checkpoints":
			fill = c.copyCheckpoints
		}
		if err := fill(t); err != nil {
			return fmt.Errorf("copy %s: %w", t, err)
		}
	}

	return nil
}

// copyTable copies the rows of a table. The same columns are there in both databases.
func (c *copying) copyTable(table string) error {
	columns, err := c.src.db.dialect.(*sqlite.DB).ColumnsOf(table)
	if err != nil {
		return err
	}

	at := make(map[string]int, len(columns))
	for i, name := range columns {
		at[name] = i
	}

	names, marks := strings.Join(columns, ", "), strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	insert := "INSERT INTO " + table + " (" + names + ") VALUES (" + marks + ")"
	query := "SELECT " + names + " FROM " + table + " ORDER BY 1"
	return c.src.scan(query, nil, func(scan rowScan) error {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := scan(into...); err != nil {
			return err
		}

		// Any column may name a person.
		for i, v := range values {
			if text, ok := v.(string); ok {
				values[i] = c.renamePersons(text)
			}
		}

		// These rows name directories, which other hosts have as well.
		switch table {
		case "rooms":
			id, _ := values[at["room_id"]].(string)
			values[at["canonical_path"]] = c.keys[stick.RoomID(id)]
		case "edits", "calls", "reads":
			top, _ := values[at["checkout"]].(string)
			values[at["checkout"]] = c.dst.onHost(top)
		case "tasks":
			c.Tasks++
		}
		return c.addRow(insert, values...)
	})
}

// copyEvents copies the log. The events of tasks say where their worktrees are, and each sum is computed
// anew: it covers what was changed.
func (c *copying) copyEvents(string) error {
	sums := map[stick.RoomID]string{}
	err := c.src.scan("SELECT "+eventTable().namesOf("e")+" FROM events e ORDER BY e.event_seq", nil, func(scan rowScan) error {
		var e stick.Event
		if err := eventTable().read(scan, &e); err != nil {
			return err
		}

		e.From, e.To = stick.AgentID(c.renamePersons(string(e.From))), stick.AgentID(c.renamePersons(string(e.To)))
		payload := c.renamePersons(string(e.Payload))
		if e.Type == stick.EventTaskAssigned || e.Type == stick.EventTaskBegun || e.Type == stick.EventTaskRetried {
			in, err := json.Marshal(c.checkoutOf(e.Room))
			if err != nil {
				return err
			}

			payload = strings.Replace(payload, `"task":{`, `"task":{"in":`+string(in)+`,`, 1)
		}

		if m, ok := c.checkpoints[e.Room]; ok && e.Type == stick.EventCheckpoint {
			payload = strings.Replace(payload, `"`+m.was+`"`, `"`+m.is+`"`, 1)
		}

		if payload != "" {
			e.Payload = json.RawMessage(payload)
		}

		e.Sum = e.Chain(c.sumBefore(e, sums[e.Room]))
		if e.Seq > c.checkpoints[e.Room].to {
			sums[e.Room] = e.Sum
		}
		c.Events++
		if err := c.dst.putEvent(e); err != nil {
			return err
		}

		return c.flushRows()
	})
	if err != nil {
		return err
	}

	for room, sum := range sums {
		if err := c.addRow("UPDATE rooms SET last_sum = ? WHERE room_id = ?", sum, room); err != nil {
			return err
		}
	}

	return nil
}

// copyOutputs copies what gates and checks have printed. Until a row names it, it costs only space.
func (c *copying) copyOutputs(to *DB) error {
	return c.src.scan("SELECT sum FROM blobs ORDER BY sum", nil, func(scan rowScan) error {
		var sum string
		if err := scan(&sum); err != nil {
			return err
		}

		content, ok, err := c.src.db.dialect.ReadBlob(sum)
		if err == nil && ok {
			_, err = to.WriteBlob(content)
		}

		return err
	})
}

// renamePersons gives persons their names: in a text that is one, and in JSON.
func (c *copying) renamePersons(text string) string {
	if now, ok := c.Persons[stick.AgentID(text)]; ok {
		return string(now)
	}
	if text == "" || text[0] != '{' && text[0] != '[' || !json.Valid([]byte(text)) {
		return text
	}

	// In JSON only a text that is nothing else has quotes on both sides.
	for was, now := range c.Persons {
		text = strings.ReplaceAll(text, `"`+string(was)+`"`, `"`+string(now)+`"`)
	}

	return text
}

// checkoutOf is where a room of the file lies.
func (c *copying) checkoutOf(room stick.RoomID) stick.Checkout {
	for _, r := range c.rooms {
		if r.ID == room {
			return stick.Checkout{Host: c.dst.db.dialect.CurrentHost(), Path: r.Path}
		}
	}

	return stick.Checkout{}
}

// recordPlaces tells where everything lies: on this host. It also takes over the generation and the counter,
// and ends what an earlier boot of the host has left.
func (c *copying) recordPlaces() error {
	for _, r := range c.rooms {
		in := c.checkoutOf(r.ID)
		for _, text := range []string{
			"UPDATE members SET host_id = ?, checkout = ? WHERE room_id = ?",
			"UPDATE tasks SET host_id = ?, checkout = ? WHERE room_id = ?",
			"UPDATE intents SET host_id = ?, checkout = ? WHERE room_id = ?",
			"INSERT INTO checkouts (host_id, path, room_id) VALUES (?, ?, ?)",
		} {
			if err := c.addRow(text, in.Host, in.Path, r.ID); err != nil {
				return err
			}
		}
	}

	// The host has started again since these were seen.
	query := "UPDATE processes SET gone_at = ? WHERE boot <> ? AND gone_at = 0"
	if err := c.addRow(query, c.dst.Now(), c.dst.db.opt.Boot); err != nil {
		return err
	}

	// Numbers that the file has issued are never given out again.
	last, err := c.src.db.dialect.LastDrawn()
	if err != nil {
		return err
	}

	c.dst.meta.Generation = c.src.meta.Generation
	if err := c.dst.setMeta("generation", fmt.Sprint(c.src.meta.Generation.Number)); err != nil {
		return err
	}
	if err := c.dst.setMeta("world", c.src.meta.Generation.Cause); err != nil {
		return err
	}
	if err := c.dst.beginAbove(c.src.meta.Generation.Above); err != nil {
		return err
	}

	return c.dst.db.dialect.SkipNumbers(last)
}

// mostQueued is how many rows wait to be sent together.
const mostQueued = 500

// addRow writes a row.
func (c *copying) addRow(text string, args ...any) error {
	if err := c.dst.exec(text, args...); err != nil {
		return err
	}
	return c.flushRows()
}

// flushRows waits for the server after some rows.
func (c *copying) flushRows() error {
	if c.queued++; c.queued < mostQueued {
		return nil
	}

	c.queued = 0
	var n int

	// Any query sends what is queued before it.
	_, err := c.dst.queryOne("SELECT 1", nil, &n)
	return err
}
