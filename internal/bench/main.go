//go:build linux

// Command bench measures what Talking Stick costs, and compares that with the goals of its design:
//
//	go run ./internal/bench           everything, in about seven minutes; writes docs/bench
//	go run ./internal/bench -quick    less of everything; writes no files
//	go run ./internal/bench -rows start,wake
//
// The cost of a command is that of a whole process, as a harness pays it. Variants to compare run in turn
// in one loop, so that whatever else the machine does affects them alike. For a time between the ends of two
// processes, their common parent takes both times, when the kernel reports the ends.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run of the program.
type bench struct {
	quick bool
	dir   string // scratch, removed at the end
	tt    string
	empty string // the floors
	read  string
	seq   int // counts scratch rooms
	waits *idleWaits
	rows  []row
}

// row is a line of the table.
type row struct {
	What     string `json:"what"`
	Goal     string `json:"goal"`
	Measured string `json:"measured"`
	Met      bool   `json:"met"`

	// Unsettled means that a quick run measured too early, so that the figure says nothing about the goal.
	Unsettled bool `json:"unsettled,omitempty"`

	Notes   []string             `json:"notes,omitempty"`
	Figures map[string]float64   `json:"figures"`
	Samples map[string][]float64 `json:"samples,omitempty"`
}

// section is a group of rows that one function measures.
type section struct {
	name string
	run  func(*bench) error
}

// sections are in the order in which they run. Idle waits start before everything else and are measured
// last, because a wait has settled only when its slow net has reached its longest interval.
var sections = []section{
	{"size", (*bench).measureSize},
	{"start", (*bench).measureStart},
	{"hook", (*bench).measureHooks},
	{"scope", (*bench).measureReservations},
	{"git", (*bench).measureGitHooks},
	{"look", (*bench).measureTreeHook},
	{"silent", (*bench).measureSilentServer},
	{"shared", (*bench).measurePostgres},
	{"rescue", (*bench).measureRescue},
	{"snapshot", (*bench).measureSnapshots},
	{"roster", (*bench).measureRoster},
	{"wake", (*bench).measureWake},
	{"message", (*bench).measureMessages},
	{"death", (*bench).measureOwnerDeath},
	{"turns", (*bench).measureTurns},
	{"scale", (*bench).measureScale},
	{"crowd", (*bench).measureCrowd},
	{"worker", (*bench).measureWorker},
	{"next", (*bench).measureNextTask},
	{"pages", (*bench).measurePages},
	{"watch", (*bench).measureWatch},
	{"idle", (*bench).measureIdleWaits},
}

func main() {
	// In processes that bench has started for a part, this doesn't return.
	runPart()

	quick := flag.Bool("quick", false, "measure less of everything, and write no files")
	rows := flag.String("rows", "", "only these sections: "+
		"size, start, hook, scope, git, look, silent, shared, rescue, snapshot, "+
		"roster, wake, message, death, turns, scale, crowd, worker, next, pages, watch, idle")
	out := flag.String("out", "", "directory for the table and the raw figures (default: docs/bench after a full run)")
	against := flag.String("against", "", "another tt, built like this one: only measure what both take, in pairs")

	flag.Parse()
	if err := runBench(*quick, *rows, *against, *out); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func runBench(quick bool, rows, against, out string) (err error) {
	chosen, err := chooseSections(rows)
	if err != nil {
		return err
	}

	b := &bench{quick: quick}
	if b.dir, err = os.MkdirTemp("", "tt-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	defer func() { b.waits.killProcesses() }()

	m := readMachine()
	fmt.Printf("%s\n", m)
	began := time.Now()
	if err := b.buildPrograms(); err != nil {
		return err
	}

	// With another program, only what both take is measured.
	if against != "" {
		compared, err := b.comparePrograms(against)
		if err != nil {
			return err
		}
		for _, r := range compared {
			b.addRow(r)
		}
		return b.finishReport(m, began).writeRaw(out, "-against")
	}

	if err := b.runSections(chosen); err != nil {
		return err
	}

	// Without -out, only a full run replaces the published figures.
	r := b.finishReport(m, began)
	if out == "" && (quick || len(chosen) > 0) {
		return nil
	}
	return r.writeFiles(cmp.Or(out, filepath.Join("docs", "bench")))
}

// chooseSections returns the names of a list of sections, separated by commas; none means all of them.
func chooseSections(rows string) ([]string, error) {
	if rows == "" {
		return nil, nil
	}

	chosen := strings.Split(rows, ",")
	for _, name := range chosen {
		if !slices.ContainsFunc(sections, func(s section) bool { return s.name == name }) {
			return nil, fmt.Errorf("there is no section %q", name)
		}
	}
	return chosen, nil
}

// runSections measures the chosen sections, or all.
func (b *bench) runSections(chosen []string) error {
	// These waits settle while everything else is measured.
	if len(chosen) == 0 || slices.Contains(chosen, "idle") {
		if err := b.beginIdle(); err != nil {
			return fmt.Errorf("idle: %w", err)
		}
	}

	for _, s := range sections {
		if len(chosen) > 0 && !slices.Contains(chosen, s.name) {
			continue
		}

		at := time.Now()
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(os.Stderr, "%-7s took %.0f s\n", s.name, time.Since(at).Seconds())
	}

	return nil
}

// finishReport returns the report of a run that has ended now, and prints its table.
func (b *bench) finishReport(m machine, began time.Time) report {
	r := report{
		Machine:   m,
		Quick:     b.quick,
		Seconds:   time.Since(began).Seconds(),
		LoadAfter: loadAverage(),
		Rows:      b.rows,
	}
	fmt.Print("\n", r.formatTable())
	return r
}

// addRow adds a row and prints it.
func (b *bench) addRow(r row) {
	b.rows = append(b.rows, r)
	fmt.Fprintf(os.Stderr, "  %s: %s (goal %s) %s\n", r.What, r.Measured, r.Goal, r.verdict())
}

func (r row) verdict() string {
	switch {
	case r.Unsettled:
		return "not settled"
	case r.Met:
		return "ok"
	}
	return "MISSED"
}

// sampleCount returns n, or quick in a quick run.
func (b *bench) sampleCount(n, quick int) int {
	if b.quick {
		return quick
	}
	return n
}
