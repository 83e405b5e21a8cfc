//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// A working day of agents: how many calls they make, one each three seconds. Each tenth is a command, of
// which all of the tree is read.
const (
	dayOfCalls   = 10_000
	callEvery    = 3 * time.Second
	commandEvery = 10
)

// workday is what a working day of calls has left, and what it has cost.
type workday struct {
	place
	calls    int
	restored int     // snapshots of which the changed file came back as the call had left it
	bytes    int64   // of all that is kept
	files    int     // in which that lies
	edits    float64 // how often as long as its first edits its last ones take, without a process around each
	commands float64
	figures  map[string]float64
}

// dayCall is a call that has been played: what it has kept of one file.
type dayCall struct {
	id   string // of the snapshot after it
	path string
	text []byte
}

// playDay makes the snapshots and the rows of the calls of a day that ends now. Then it prunes them as
// hooks do once an hour, and restores of each the file that its call has changed.
func (p place) playDay(count int) (day workday, err error) {
	tree, ok := workspace.FindCheckout(p.dir, workspace.Env{})
	if !ok {
		return day, fmt.Errorf("there is no checkout at %s", p.dir)
	}

	copies := rescue.New(p.data, git.Client{})

	// Whatever isn't kept in time would make the day smaller.
	copies.Limits.Time, copies.Limits.Status = time.Minute, time.Minute

	day = workday{place: p, calls: count}
	calls, took, err := p.playCalls(copies, tree, count)
	if err != nil {
		return day, err
	}
	if err := p.putDay(calls); err != nil {
		return day, err
	}

	day.figures = took.figures()
	day.edits = took.p50("last edits") / took.p50("first edits")
	day.commands = took.p50("last commands") / took.p50("first commands")

	copies.Prune(context.Background(), stick.At(time.Now()))
	for i, c := range calls {
		if err := p.checkRestore(copies, c); err != nil {
			return day, fmt.Errorf("call %d: %w", i, err)
		}
		day.restored++
	}

	day.bytes, day.files, err = sizeOf(filepath.Join(p.data, "rescue"))
	return day, err
}

// playCalls changes files, and makes a snapshot after each call. The samples are of the first and the last
// hundred of each kind.
func (p place) playCalls(
	copies *rescue.Store, tree workspace.Checkout, count int,
) (calls []dayCall, took series, err error) {
	random, began := rand.New(rand.NewPCG(1, 2)), time.Now()
	var edits, commands []time.Duration
	for i := range count {
		isCommand := i%commandEvery == commandEvery-1
		changed := 1
		if isCommand {
			changed = random.IntN(20)
		}

		last := dayCall{}
		for range changed {
			last = p.changeFile(random, i)
		}

		// Only a command's snapshot covers the tree; that of an edit covers its file.
		facts := rescue.Facts{Agent: "bench:day", Cause: rescue.CauseCall, Command: last.path}
		r := rescue.Request{
			Tree:   tree,
			Nested: true,
			Facts:  facts,
			At:     stick.At(began.Add(-time.Duration(count-i) * callEvery)),
		}
		keep, all := copies.Take, &commands
		if !isCommand {
			r.Paths, keep, all = []string{last.path}, copies.KeepFiles, &edits
		}

		// The call of the store is timed alone, without the process of a hook around it.
		start := time.Now()
		kept, err := keep(context.Background(), r)
		*all = append(*all, time.Since(start))
		if err != nil || kept.ID == "" || len(kept.LeftOut) > 0 {
			return nil, nil, fmt.Errorf("call %d of the day: snapshot %q lacks %v, %w",
				i, kept.ID, kept.LeftOut, err)
		}
		last.id = kept.ID

		calls = append(calls, last)
	}

	took = series{}
	for name, all := range map[string][]time.Duration{"edits": edits, "commands": commands} {
		const some = 100
		n := min(some, len(all)/2)
		for i := range n {
			took.addSample("first "+name, all[i])
			took.addSample("last "+name, all[len(all)-n+i])
		}
	}
	return calls, took, nil
}

// changeFile changes a line of one of the dirty files of the tree.
func (p place) changeFile(random *rand.Rand, call int) dayCall {
	i := random.IntN(rescuedChanged) * rescuedAmong / rescuedChanged
	lines := make([]string, 150)
	for k := range lines {
		lines[k] = fmt.Sprintf("line %d of %d: some words that differ %d", k, i, (k*7919+i*31)%1000)
	}
	lines[call%len(lines)] = fmt.Sprint("call ", call)

	c := dayCall{
		path: fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i%300, i),
		text: []byte(strings.Join(lines, "\n")),
	}
	must(os.WriteFile(filepath.Join(p.dir, c.path), c.text, 0o600))
	return c
}

// checkRestore restores the file that a call has changed into an empty directory, and compares it.
func (p place) checkRestore(copies *rescue.Store, c dayCall) error {
	// The call has changed nothing, so its snapshot needs only be there.
	if c.path == "" {
		_, err := copies.Show(context.Background(), c.id)
		return err
	}
	dir, err := os.MkdirTemp(p.b.dir, "restored-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := rescue.RestoreRequest{ID: c.id, Paths: []string{c.path}, Tree: workspace.Checkout{Top: dir}}
	if _, err := copies.Restore(context.Background(), r); err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(dir, c.path))
	if err != nil || !bytes.Equal(got, c.text) {
		return fmt.Errorf("the snapshot %s has other bytes of %s: %w", c.id, c.path, err)
	}
	return nil
}

// putDay saves the calls of a day that ends now.
func (p place) putDay(played []dayCall) error {
	db, err := store.Open(context.Background(), store.Options{Dir: p.data}, false)
	if err != nil {
		return err
	}
	defer db.Close()
	var room stick.RoomID
	err = db.View(context.Background(), func(tx *store.Tx) error {
		r, _, err := tx.RoomAt([]string{p.dir})
		room = r.ID
		return err
	})
	if err != nil {
		return err
	}

	began := stick.At(time.Now().Add(-time.Duration(len(played)) * callEvery))
	var day []edits.Call
	for i, c := range played {
		at := began.Add(time.Duration(i) * callEvery)
		call := edits.Call{
			Agent:    "bench:day",
			Tool:     "Edit",
			Command:  c.path,
			Checkout: p.dir,
			After:    c.id,
			Files:    1,
			Started:  at,
			Ended:    at,
		}
		if i > 0 {
			call.Before = played[i-1].id
		}
		day = append(day, call)
	}
	return putCalls(db, room, day)
}

// putCalls saves calls, some hundred at a time.
func putCalls(db *store.DB, room stick.RoomID, calls []edits.Call) error {
	const most = 500
	for len(calls) > 0 {
		some := calls[:min(len(calls), most)]
		calls = calls[len(some):]
		err := db.Update(context.Background(), func(tx *store.Tx) error {
			for i := range some {
				// Another try of the transaction begins anew.
				some[i].ID = 0
				if err := tx.PutCall(room, &some[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addDayRow adds the row about the hooks that come after a working day, beside those that come first.
func (b *bench) addDayRow(day workday, s series) {
	worst, worked, at := 0.0, 0.0, ""
	for _, name := range []string{
		"before an edit", "after an edit", "before a command", "after a command", "before many", "after many",
	} {
		// The most grown hook decides.
		if grown := s.p50(name+dayOldSuffix) / s.p50(name); grown > worst {
			worst, at = grown, name
		}
		worked = max(worked, s.p50(name+dayOldSuffix+workedSuffix)/s.p50(name+workedSuffix))
	}

	const most, megabyte = 1000, 1e6
	day.figures["bytes"], day.figures["files"] = float64(day.bytes), float64(day.files)
	b.addRow(row{
		What: fmt.Sprintf("snapshots of a working day of %d calls, all of which can be restored", day.calls),
		Goal: fmt.Sprintf("the hooks after it ≤ 1.2 × the first ones; < %d MB", most),
		Measured: fmt.Sprintf("%.2f × at most (%s), of processor time %.2f ×; "+
			"without a process around each, the last hundred edits %.2f × the first, commands %.2f ×; "+
			"%.0f MB in %d files; %d restored",
			worst, at, worked, day.edits, day.commands, float64(day.bytes)/megabyte, day.files, day.restored),
		Met:     worst <= 1.2 && day.edits <= 1.2 && day.commands <= 1.2 && float64(day.bytes) < most*megabyte,
		Figures: day.figures,
	})
}

// sizeOf returns the bytes of all files in a directory, in whole blocks, and how many there are.
func sizeOf(dir string) (bytes int64, files int, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			const block = 4096
			bytes += (info.Size() + block - 1) / block * block
			files++
		}
		return err
	})
	return bytes, files, err
}
