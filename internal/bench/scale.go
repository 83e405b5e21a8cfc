//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// filledDatabase is a filled database, and the engine that has it open.
type filledDatabase struct {
	place
	engine *engine.Engine
	cursor int64 // near the end of the log
}

// growDatabase makes a database with so many events, of which asked are in the measured room.
func (b *bench) growDatabase(events, asked int) (filledDatabase, error) {
	g := filledDatabase{place: b.newPlace("")}
	if err := g.runAs("bench:one", "join"); err != nil {
		return g, err
	}

	// A check of the large database takes long, so a quick run leaves it out.
	result, err := fillDatabase(g.data, "bench:one", events, asked, !b.quick || events <= 1000)
	if err == nil && len(result.faults) > 0 {
		err = fmt.Errorf("the log has a fault: %s", result.faults[0])
	}
	if err != nil {
		return g, fmt.Errorf("fill the log: %w", err)
	}

	if err := g.runAs("bench:two", "wait", "--turn"); err != nil {
		return g, err
	}

	g.engine, g.cursor = g.place.openEngine(), result.cursor
	return g, nil
}

// measureScale compares a small database with a large one.
func (b *bench) measureScale() error {
	small, err := b.growDatabase(1000, 109)
	if err != nil {
		return err
	}

	large, err := b.growDatabase(1_000_000, 1_000_000-9_999*roomEvents)
	if err != nil {
		return err
	}
	defer os.RemoveAll(large.data)

	info, err := os.Stat(filepath.Join(large.data, store.FileName))
	if err != nil {
		return err
	}

	size := fmt.Sprintf("the large database of the scale rows has %d MB", info.Size()/1e6)
	for _, op := range scaleOps() {
		if err := b.scaleRow(op, small, large, size); err != nil {
			return err
		}
	}

	return nil
}

// scaleOp is an operation to measure: as a command with its exit status, and as a call of the engine.
type scaleOp struct {
	name   string
	status int
	args   func(filledDatabase) []string
	call   func(filledDatabase) error
}

func scaleOps() []scaleOp {
	ctx := context.Background()
	return []scaleOp{
		{
			"wait (try)", stick.ExitRefused,
			func(g filledDatabase) []string { return []string{"try"} },
			func(g filledDatabase) error {
				_, err := g.engine.WaitForTurn(ctx, engine.WaitForTurnParams{
					Caller:    callerNamed("bench:one"),
					MaxWaitMS: new(int64),
				})
				return err
			},
		},
		{
			"events --after", 0,
			func(g filledDatabase) []string { return []string{"events", "--after", strconv.FormatInt(g.cursor, 10)} },
			func(g filledDatabase) error {
				_, err := g.engine.Log.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
					Caller:      callerNamed("bench:one"),
					EventFilter: eventlog.EventFilter{After: g.cursor, Limit: 50},
				})
				return err
			},
		},
		{
			"inbox", 0,
			func(g filledDatabase) []string { return []string{"inbox"} },
			func(g filledDatabase) error {
				res, err := g.engine.GetInbox(ctx, engine.GetInboxParams{Caller: callerNamed("bench:one")})
				if err == nil && (res.Unread != openMessages || len(res.Messages) != openMessages) {
					err = fmt.Errorf("%d messages in the inbox, %d of them unread; there should be %d",
						len(res.Messages), res.Unread, openMessages)
				}
				return err
			},
		},
		{
			"state", 0,
			func(g filledDatabase) []string { return []string{"state"} },
			func(g filledDatabase) error {
				_, err := g.engine.GetRoomState(ctx, engine.GetRoomStateParams{Caller: callerNamed("bench:one")})
				return err
			},
		},
	}
}

// scaleRow measures an operation in both databases and adds its row.
func (b *bench) scaleRow(op scaleOp, small, large filledDatabase, size string) error {
	s := series{}

	// As whole processes, in turn.
	for i := range b.sampleCount(150, 40) + 5 {
		for name, g := range map[string]filledDatabase{"small, process": small, "large, process": large} {
			took, err := timeCommand(g.commandAs("bench:one", op.args(g)...), op.status)
			if err != nil {
				return err
			}
			if i >= 5 {
				s.addSample(name, took)
			}
		}
	}

	// As calls of an engine that has the database open, in turn.
	for i := range b.sampleCount(1000, 300) + 20 {
		for name, g := range map[string]filledDatabase{"small, query": small, "large, query": large} {
			began := time.Now()
			if err := op.call(g); err != nil {
				return err
			}
			if i >= 20 {
				s.addSample(name, time.Since(began))
			}
		}
	}

	process, query := s.p50("large, process")/s.p50("small, process"), s.p50("large, query")/s.p50("small, query")

	b.addRow(row{
		What: "`" + op.name + "` at 1,000,000 events and 10,000 rooms, against 1,000 events",
		Goal: "query ≤ 2 ×, process ≤ 1.2 ×",
		Measured: fmt.Sprintf("query %.2f × (%.3f ms), process %.2f × (%s)",
			query, s.p50("large, query"), process, s.formatTimes("large, process")),
		Met:     process <= 1.2 && query <= 2,
		Notes:   []string{size},
		Figures: s.figures(),
		Samples: s,
	})

	return nil
}
