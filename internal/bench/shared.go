//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"talkingstick/internal/engine"
	"talkingstick/internal/pgserver"
)

// measurePostgres measures what a database on a server costs that several hosts share. The server runs on the
// same machine, with TLS and a password, and syncs every commit to disk. Each data directory is a host.
func (b *bench) measurePostgres() error {
	if !pgserver.Installed() {
		fmt.Fprintln(os.Stderr, "  the rows of PostgreSQL aren't measured: PostgreSQL 15 isn't installed")
		return nil
	}

	server, err := pgserver.New(
		"-c", "fsync=on", "-c", "shared_buffers=128MB", "-c", "autovacuum=on", "-c", "max_connections=200",
	)
	if err != nil {
		return err
	}
	defer server.Stop()

	admin, err := pgconn.Connect(context.Background(), server.URL())
	if err != nil {
		return err
	}
	defer admin.Close(context.Background())

	// The role has a password and no superuser's rights, as in a real installation.
	const password = "a long one"
	err = execSQL(admin, "CREATE ROLE needs_word LOGIN PASSWORD '"+password+"'; "+
		"GRANT CREATE ON DATABASE postgres TO needs_word")
	if err != nil {
		return err
	}

	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("needs_word", password),
		Host:     "localhost:" + strconv.Itoa(server.Port),
		Path:     "/postgres",
		RawQuery: url.Values{"sslrootcert": {filepath.Join(server.Dir, "server.crt")}}.Encode(),
	}

	on := serverBench{b, server, u.String(), admin}

	for _, measure := range []func() error{
		on.measureServerWake, on.measureServerHooks, on.measureServerTurns, on.measureServerCrowd,
	} {
		if err := measure(); err != nil {
			return err
		}
	}

	return nil
}

// serverBench measures with a database on a server.
type serverBench struct {
	*bench
	server   *pgserver.Server
	database string         // its address
	admin    *pgconn.PgConn // of its superuser
}

// measureServerTime returns how long the server runs on a processor for what fn does n times, in milliseconds
// each.
func (b serverBench) measureServerTime(n func() int, fn func() error) (ms float64, err error) {
	before := b.server.CPU()
	err = fn()
	return float64((b.server.CPU() - before).Milliseconds()) / float64(max(n(), 1)), err
}

// execSQL runs statements and discards their rows.
func execSQL(conn *pgconn.PgConn, text string) error {
	_, err := conn.Exec(context.Background(), text).ReadAll()
	return err
}

// newServerPlace returns a place whose database is on the server.
func (b serverBench) newServerPlace() place {
	p := b.bench.newPlace("")
	p.database = b.database
	return p
}

// joinFromOtherHost lets bench:two join the room of p on another host, and returns its place there.
func (p place) joinFromOtherHost() (place, error) {
	there := p
	there.data = p.data + "-elsewhere"

	join := p.commandAs("bench:one", "join", "--json")
	out, err := join.Output()
	if err != nil {
		return there, fmt.Errorf("join: %w", err)
	}

	var joined struct {
		Key string `json:"room_key"`
	}

	if err := json.Unmarshal(out, &joined); err != nil {
		return there, err
	}

	return there, there.runAs("bench:two", "join", "--room", joined.Key)
}

// measureServerWake measures how soon a release has woken the next holder on another host.
func (b serverBench) measureServerWake() error {
	p := b.newServerPlace()
	there, err := p.joinFromOtherHost()
	if err != nil {
		return err
	}

	e := p.openEngine()
	defer e.Close()

	if err := p.runAs("bench:one", "wait", "--turn"); err != nil {
		return err
	}

	s := series{}
	const warm = 5

	for i := range b.sampleCount(100, 20) + warm {
		waiter := there.commandAs("bench:two", "wait", "--turn")
		blocked := func() error { return p.awaitListeners(e, 1) }
		began, released, woken, err := p.handOver("bench:one", waiter, blocked)
		if err != nil {
			return err
		}

		if i >= warm {
			s.addSample("release exits to wait has exited", woken.Sub(released))
			s.addSample("release starts to wait has exited", woken.Sub(began))
		}

		// The stick comes back to the first host, so that each round goes the same way.
		err = there.runAs("bench:two", "pass", "bench:one", "--status", "measured", "--next-action", "again")
		if err != nil {
			return err
		}
		if err := p.runAs("bench:one", "wait", "--turn"); err != nil {
			return err
		}
	}

	r := s.medianRow("release exits to wait has exited",
		"PostgreSQL: release exits → `tt wait` on another host has exited", "≤ 10 ms p50", 10)
	r.Notes = []string{"PostgreSQL runs on the same machine, with TLS and a password, " +
		"and syncs each commit to disk; " +
		"from the start of `tt release`: " + s.formatTimes("release starts to wait has exited")}
	b.addRow(r)
	return nil
}

// measureServerHooks measures what hooks cost where the database is on the server.
func (b serverBench) measureServerHooks() error {
	p := b.newServerPlace()
	if err := p.fillHookRoom(); err != nil {
		return err
	}

	plan := hookPlan{Warm: 10, Rounds: b.sampleCount(100, 20)}
	env := []string{"TALKING_STICK_DATABASE_URL=" + b.database}

	for _, event := range []string{"PreToolUse", "PostToolUse"} {
		plan.Variants = append(plan.Variants, hookVariant{
			Name:  event,
			Args:  []string{b.tt, "hook"},
			Dir:   p.dir,
			Env:   env,
			Stdin: b.hookInput(event, p.dir),
		})
	}

	var s series
	each, err := b.measureServerTime(func() int { return 2 * (plan.Warm + plan.Rounds) }, func() (err error) {
		s, err = p.runHookPlan(plan)
		return err
	})
	if err != nil {
		return err
	}

	// A connection that asks for one row is the least that a hook can cost the server.
	const connections = 100
	alone, err := b.measureServerTime(func() int { return connections }, func() error {
		for range connections {
			conn, err := pgconn.Connect(context.Background(), b.database)
			if err == nil {
				err = errors.Join(execSQL(conn, "SELECT 1"), conn.Close(context.Background()))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}

	figures := s.figures()
	figures["server ms each"], figures["server ms a connection"] = each, alone

	b.addRow(row{
		What: "PostgreSQL: hook before an edit, denied, whole process",
		Goal: "≤ 40 ms p50, with TLS and SCRAM",
		Measured: fmt.Sprintf("%s; after a tool %s",
			s.formatTimes("PreToolUse"), s.formatTimes("PostToolUse")),
		Met:     s.p50("PreToolUse") <= 40 && s.p50("PostToolUse") <= 40,
		Figures: figures,
		Samples: s,
		Notes: []string{fmt.Sprintf("a hook costs the server %.1f ms of processor time; "+
			"a connection that asks for one row, %.1f ms",
			each, alone)},
	})

	return nil
}

// measureServerTurns measures how many turns a second eight rooms have together, each with a process of its
// own.
func (b serverBench) measureServerTurns() error {
	const rooms = 8
	span := time.Duration(b.sampleCount(10, 4)) * time.Second

	places := make([]place, rooms)
	for i := range places {
		places[i] = b.newServerPlace()

		// A shared data directory makes all rooms those of one host.
		places[i].data = places[0].data
	}

	var sum tally
	each, err := b.measureServerTime(func() int { return sum.Turns }, func() error {
		all, _, err := runWorkers(places, "polite", span)
		for _, t := range all {
			sum.addTally(t)
		}
		return err
	})
	if err != nil {
		return err
	}

	rate := float64(sum.Turns) / span.Seconds()

	b.addRow(row{
		What:     "PostgreSQL: 8 rooms, a long-lived process in each, loops of try + release",
		Goal:     "≥ 400 turns/s, no busy error",
		Measured: fmt.Sprintf("%.0f turns/s, %d busy errors", rate, sum.Busy),
		Met:      rate >= 400 && sum.Busy == 0,
		Figures: map[string]float64{
			"turns/s": rate, "busy errors": float64(sum.Busy), "asks": float64(sum.Asks), "server ms each": each,
		},
		Notes: []string{fmt.Sprintf("a turn of the eight rooms costs the server %.1f ms of processor time, "+
			"over connections that stay",
			each)},
	})
	return nil
}

// restTime is how long a wait sleeps at most while another hears for it. In a shorter time all waits of a
// crowd read once more, or none does, by when they began.
const restTime = 8 * time.Minute

// measureServerCrowd measures what a thousand waiting processes of a host cost while idle: connections, their
// time on the processor, and the server's memory for a connection.
func (b serverBench) measureServerCrowd() error {
	n, why := b.crowdSize()
	var notes []string
	if why != "" {
		notes = append(notes, why)
	}

	p := b.newServerPlace()
	if err := p.runAs("bench:owner", "wait", "--turn"); err != nil {
		return err
	}

	w := &idleWaits{place: p}
	defer w.killProcesses()
	e := p.openEngine()
	if err := errors.Join(w.startWaits(e, n), e.Close()); err != nil {
		return err
	}

	window := b.sleepUntilSettled(time.Now())
	if !b.quick {
		window = restTime
	}

	before := cpuTimes(w.pids)
	time.Sleep(window)
	used := cpuTimes(w.pids) - before
	share := 100 * used.Seconds() / window.Seconds()

	connections, private, err := b.measureConnections()
	if err != nil {
		return err
	}

	notes = append(notes, fmt.Sprintf(
		"of the waits' connections to PostgreSQL "+
			"the largest has %.1f MB of memory that it shares with no other", private))
	b.addRow(row{
		What:      fmt.Sprintf("PostgreSQL: %d idle waits of one host", n),
		Goal:      "≤ 5 connections, < 1 % of a core",
		Measured:  fmt.Sprintf("%d connections, %.2f %% of a core over %s", connections, share, window),
		Met:       connections <= 5 && share < 1,
		Unsettled: b.quick,
		Figures: map[string]float64{
			"percent of a core":  share,
			"connections":        float64(connections),
			"MB of a connection": private,
		},
		Notes: notes,
	})

	return nil
}

// startWaits starts n waits for work, each of an agent of its own, and returns when all of them block.
func (w *idleWaits) startWaits(e *engine.Engine, n int) error {
	agents := make([]string, n)

	// All join before the first waits, because every join wakes the waiting.
	for i := range agents {
		agents[i] = "bench:w" + strconv.Itoa(i)
		_, err := e.JoinPath(context.Background(), engine.JoinPathParams{Caller: callerNamed(agents[i])})
		if err != nil {
			return err
		}
	}

	for i, agent := range agents {
		c := w.place.commandAs(agent, "wait")
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			return err
		}
		w.cmds, w.pids = append(w.cmds, c), append(w.pids, c.Process.Pid)

		// More at once would wait for each other, and give up.
		if i%20 == 19 {
			if err := w.place.awaitListeners(e, i+1); err != nil {
				return err
			}
		}
	}

	return w.place.awaitListeners(e, n)
}

// measureConnections returns how many connections the measured role has, and how many MB of private memory
// the largest of their processes uses.
func (b serverBench) measureConnections() (n int, private float64, err error) {
	const list = "SELECT pid FROM pg_stat_activity WHERE usename = 'needs_word'"
	res, err := b.admin.Exec(context.Background(), list).ReadAll()
	if err != nil {
		return 0, 0, err
	}

	for _, r := range res[0].Rows {
		pid, err := strconv.Atoi(string(r[0]))
		if err != nil {
			return 0, 0, err
		}
		private = max(private, memoryOf(pid, "RssAnon"))
	}

	return len(res[0].Rows), private, nil
}
