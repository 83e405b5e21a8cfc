//go:build linux

package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// grown is a database of a size.
type grown struct {
	place
	engine *engine.Engine
	cursor int64 // near the end of the log
}

// fillers is a log by raw statements: every k-th event belongs to the room that is asked about,
// the others go around. It has no sums, which nothing but the doctor looks at.
const fillers = `
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO events (event_seq, event_id, room_id, turn_id, event_type, from_agent_id, to_agent_id, session_id, task_id, handoff, reason, payload, created_at, sum)
SELECT i + ?5, printf('filler-%012d', i), (SELECT room_id FROM fill WHERE k = CASE WHEN i % ?2 = 0 THEN 0 ELSE 1 + i % (?3 - 1) END), 0, 'policy_changed',
	'bench:filler', '', '', '', '', '', '{"policy":{"order":{"from":"fair","to":"sequence"}}}', ?4, '' FROM n`

// grow makes a database of so many events in so many rooms, every every-th event in the room that
// is asked about.
func (b *bench) grow(events, rooms, every int) (grown, error) {
	g := grown{place: b.place("")}
	if err := g.do("bench:one", "join"); err != nil {
		return g, err
	}
	if err := fill(filepath.Join(g.data, store.FileName), events, rooms, every); err != nil {
		return g, fmt.Errorf("fill the log: %w", err)
	}
	if err := g.do("bench:two", "wait", "--turn"); err != nil {
		return g, err
	}
	g.engine, g.cursor = g.place.engine(), int64(events-20*every)
	return g, nil
}

// fill adds the rooms and the log. The indexes are made anew afterwards, which is faster than
// keeping them.
func fill(file string, events, rooms, every int) error {
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // what follows belongs to one connection
	exec := func(text string, args ...any) {
		if err == nil {
			_, err = db.Exec(text, args...)
		}
	}
	var indexes []string
	rs, err := db.Query("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'events' AND sql IS NOT NULL ORDER BY name")
	if err != nil {
		return err
	}
	for rs.Next() {
		var text string
		if err := rs.Scan(&text); err != nil {
			return err
		}
		indexes = append(indexes, text)
	}
	if err := rs.Close(); err != nil {
		return err
	}
	var last int64
	if err := db.QueryRow("SELECT value FROM counters WHERE name = 'event_seq'").Scan(&last); err != nil {
		return err
	}
	exec("PRAGMA journal_mode=OFF")
	exec("PRAGMA synchronous=OFF")
	exec("DROP INDEX events_room")
	exec("DROP INDEX events_turn")
	exec("DROP INDEX events_to")
	exec("CREATE TEMP TABLE fill (k INTEGER PRIMARY KEY, room_id TEXT)")
	exec("INSERT INTO fill SELECT 0, room_id FROM rooms")
	exec("CREATE TEMP TABLE blank AS SELECT * FROM rooms")
	exec("BEGIN")
	for i := 1; i < rooms; i++ {
		id := fmt.Sprintf("room-filler-%06d", i)
		exec("UPDATE blank SET room_id = ?, canonical_path = ?, last_sum = ''", id, "/elsewhere/"+strconv.Itoa(i))
		exec("INSERT INTO rooms SELECT * FROM blank")
		exec("INSERT INTO fill VALUES (?, ?)", i, id)
	}
	exec(fillers, events, every, rooms, time.Now().UnixMilli(), last)
	exec("UPDATE counters SET value = ? WHERE name = 'event_seq'", last+int64(events))
	exec("COMMIT")
	for _, text := range indexes {
		exec(text)
	}
	exec("UPDATE rooms SET last_event_seq = (SELECT MAX(event_seq) FROM events e WHERE e.room_id = rooms.room_id)")
	exec("PRAGMA journal_mode=WAL")
	return err
}

// scale compares a small database with a large one.
func (b *bench) scale() error {
	small, err := b.grow(1000, 10, 10)
	if err != nil {
		return err
	}
	large, err := b.grow(1_000_000, 10_000, 100)
	if err != nil {
		return err
	}
	defer os.RemoveAll(large.data)
	info, err := os.Stat(filepath.Join(large.data, store.FileName))
	if err != nil {
		return err
	}
	size := fmt.Sprintf("the large database of the scale rows has %d MB", info.Size()/1e6)
	ctx := context.Background()
	ops := []struct {
		name   string
		status int
		args   func(grown) []string
		call   func(grown) error
	}{
		{
			"wait (try)", stick.ExitRefused,
			func(g grown) []string { return []string{"try"} },
			func(g grown) error {
				_, err := g.engine.WaitForTurn(ctx, engine.WaitForTurnParams{Caller: caller("bench:one"), MaxWaitMS: new(int64)})
				return err
			},
		},
		{
			"events --after", 0,
			func(g grown) []string { return []string{"events", "--after", strconv.FormatInt(g.cursor, 10)} },
			func(g grown) error {
				_, err := g.engine.GetRoomEvents(ctx, engine.GetRoomEventsParams{
					Caller: caller("bench:one"), EventFilter: engine.EventFilter{After: g.cursor, Limit: 50},
				})
				return err
			},
		},
		{
			"state", 0,
			func(g grown) []string { return []string{"state"} },
			func(g grown) error {
				_, err := g.engine.GetRoomState(ctx, engine.GetRoomStateParams{Caller: caller("bench:one")})
				return err
			},
		},
	}
	for _, op := range ops {
		s := series{}
		for i := range b.of(150, 40) + 5 {
			for name, g := range map[string]grown{"small, process": small, "large, process": large} {
				took, err := timed(g.as("bench:one", op.args(g)...), op.status)
				if err != nil {
					return err
				}
				if i >= 5 {
					s.add(name, took)
				}
			}
		}
		for i := range b.of(1000, 300) + 20 {
			for name, g := range map[string]grown{"small, query": small, "large, query": large} {
				began := time.Now()
				if err := op.call(g); err != nil {
					return err
				}
				if i >= 20 {
					s.add(name, time.Since(began))
				}
			}
		}
		process, query := s.p50("large, process")/s.p50("small, process"), s.p50("large, query")/s.p50("small, query")
		b.add(row{
			What: "`" + op.name + "` at 1,000,000 events and 10,000 rooms, against 1,000 events", Goal: "query ≤ 2 ×, process ≤ 1.2 ×",
			Measured: fmt.Sprintf("query %.2f × (%.3f ms), process %.2f × (%s)", query, s.p50("large, query"), process, s.span("large, process")),
			Met:      process <= 1.2 && query <= 2, Notes: []string{size}, Figures: s.figures(), Samples: s,
		})
	}
	return nil
}
