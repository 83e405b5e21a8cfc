//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"talkingstick/stick/scope"
)

// checkedPaths is how many paths to check at once.
const checkedPaths = 100

// measureReservations measures checking whether many paths may be edited, in rooms with few and many
// reservations.
func (b *bench) measureReservations() error {
	rooms := []struct {
		name           string
		elsewhere, met int
	}{
		{"100 elsewhere", 100, 0},
		{"10,000 elsewhere", 10_000, 0},
		{"10,000, each path in one", 10_000 - checkedPaths, checkedPaths},
	}

	var paths []string
	for i := range checkedPaths {
		paths = append(paths, fmt.Sprintf("src/part%02d/deep/file%02d.go", i%20, i))
	}

	var places []place
	for _, r := range rooms {
		p, err := b.newReservedPlace(r.elsewhere, paths[:r.met])
		if err != nil {
			return err
		}
		places = append(places, p)
	}

	// The rooms take turns, so that other load on the machine affects them alike.
	s := series{}
	args := append([]string{"may-edit"}, paths...)
	for i := range b.sampleCount(200, 40) + 5 {
		for k, p := range places {
			took, err := timeCommand(p.commandAs("bench:one", args...), 0)
			if err != nil {
				return err
			}
			if i >= 5 {
				s.addSample(rooms[k].name, took)
			}
		}
	}

	few, many, met := s.p50(rooms[0].name), s.p50(rooms[1].name), s.p50(rooms[2].name)
	b.addRow(row{
		What: fmt.Sprintf("`may-edit` of %d paths, 10,000 reservations in the room, whole process",
			checkedPaths),
		Goal: "≤ 15 ms, elsewhere ≤ 1.2 × its cost at 100",
		Measured: fmt.Sprintf("%s where each path is reserved; elsewhere %.2f × (%s)",
			s.formatTimes(rooms[2].name), many/few, s.formatTimes(rooms[1].name)),
		Met:     met <= 15 && many <= 15 && many <= 1.2*few,
		Figures: s.figures(),
		Samples: s,
	})

	return nil
}

// newReservedPlace makes a room with so many reservations of paths that nobody checks, and reservations of
// met, which are checked.
func (b *bench) newReservedPlace(elsewhere int, met []string) (place, error) {
	p := b.newPlace("")

	// The directories exist, as those of real paths do.
	for i := range 20 {
		must(os.MkdirAll(filepath.Join(p.dir, fmt.Sprintf("src/part%02d/deep", i)), 0o700))
	}

	if err := p.runAs("bench:one", "join"); err != nil {
		return p, err
	}

	var patterns []string
	for i := range elsewhere {
		patterns = append(patterns, fmt.Sprintf("other/dir%03d/file%05d*.go", i%500, i))
	}
	patterns = append(patterns, met...)

	// The patterns of one command have a limit, so it takes several.
	for len(patterns) > 0 {
		n := min(len(patterns), scope.MaxPatterns)
		if err := p.runAs("bench:one", append([]string{"reserve"}, patterns[:n]...)...); err != nil {
			return p, err
		}
		patterns = patterns[n:]
	}

	// Reservations that are met count only where the room enforces them.
	if len(met) > 0 {
		if err := p.runAs("bench:one", "policy", "set", "enforce=scopes"); err != nil {
			return p, err
		}
	}

	return p, nil
}
