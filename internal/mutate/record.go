package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// result is how a mutant ended: one line of a record.
type result struct {
	name, end string
	by        string // the phase and the test that killed it
}

func (r result) recordLine() string {
	return strings.TrimRight(r.name+"\t"+r.end+"\t"+r.by, "\t") + "\n"
}

// readRecord reads what -out has written. Lines may have names only.
func readRecord(path string) ([]result, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}

	var out []result
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := append(strings.SplitN(line, "\t", 3), "", "")
		out = append(out, result{name: parts[0], end: parts[1], by: parts[2]})
	}

	return out, nil
}

// record writes results into a file as they come, and at the end again, in the order of their names.
type record struct {
	path    string // none for no file
	results []result
}

func (r *record) addResult(res result) error {
	r.results = append(r.results, res)
	if r.path == "" {
		return nil
	}

	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}

	// It is written at once: a run that is interrupted keeps what it has found.
	_, err = f.WriteString(res.recordLine())
	return cmp.Or(err, f.Close())
}

func (r *record) writeSorted() error {
	if r.path == "" {
		return nil
	}

	slices.SortFunc(r.results, func(a, b result) int { return strings.Compare(a.name, b.name) })
	var text strings.Builder
	for _, res := range r.results {
		text.WriteString(res.recordLine())
	}

	return os.WriteFile(r.path, []byte(text.String()), 0o644)
}

// namesOf returns the names of the mutants that ended in one of these ways.
func (r *record) namesOf(ends ...string) []string {
	var out []string
	for _, res := range r.results {
		if slices.Contains(ends, res.end) {
			out = append(out, res.name)
		}
	}
	return out
}

// compareWith returns an error that names each mutant which was killed before and lives now. Those that are
// no mutants any more are printed apart.
func (r *record) compareWith(before []result, known map[string]bool) error {
	live := map[string]bool{}
	for _, name := range r.namesOf(lives) {
		live[name] = true
	}

	var wrong []string
	gone := 0
	for _, b := range before {
		switch wasKilled := b.end == killed || b.end == late; {
		case !known[b.name]:
			fmt.Printf("is no mutant any more: %s\n", b.name)
			gone++
		case wasKilled && live[b.name]:
			wrong = append(wrong, "lives, and was killed by "+b.by+": "+b.name)
		}
	}

	fmt.Printf("%d of the %d mutants before live and were killed; %d are no mutants any more\n",
		len(wrong), len(before), gone)
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n  "))
	}
	return nil
}

// findUnexpected returns an error that names the mutants whose ends the list doesn't allow, and the names in
// the list that don't belong there.
func (r *record) findUnexpected(allowed map[string]string, known map[string]bool, list string) error {
	var wrong []string

	for _, name := range r.namesOf(lives) {
		if allowed[name] == "" {
			wrong = append(wrong, "lives, and isn't in "+list+": "+name)
		}
	}

	for _, name := range r.namesOf(killed, late) {
		if allowed[name] != "" {
			wrong = append(wrong, "is killed, and stands in "+list+": "+name)
		}
	}

	for name := range maps.Keys(allowed) {
		if !known[name] {
			wrong = append(wrong, "is no mutant any more, and stands in "+list+": "+name)
		}
	}

	slices.Sort(wrong)
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n  "))
	}
	return nil
}

// readSurvivors reads the list of mutants that may live: one name a line, with the reason in the comment
// above.
func readSurvivors(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}

	out := map[string]string{}
	reason := ""
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		switch text, comment := strings.CutPrefix(line, "#"); {
		case line == "":
			reason = ""
		case comment:
			reason = strings.TrimSpace(reason + " " + strings.TrimSpace(text))
		case reason == "":
			return nil, fmt.Errorf("%s:%d: a survivor without a reason", path, i+1)
		default:
			out[line] = reason
		}
	}
	return out, nil
}
