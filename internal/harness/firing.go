package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"talkingstick/internal/shell"
)

// Firing is a hook of a harness that fires. Several harnesses may run the same entry, because some of them
// run the hooks of others. So neither the entry's file nor its command tells who calls.
type Firing struct {
	Harness Row // the harness that runs the hook
	HookInput
	dialect Row // the harness whose words the input has. The answer has to have them too
}

// Answer writes an answer in the words of the input, see [Row.WriteHook]. It breaks tags that could be taken
// for the harness's own.
func (f Firing) Answer(a HookAnswer) []byte {
	for _, text := range []*string{&a.Context, &a.Block, &a.Deny, &a.Summary} {
		*text = BreakTags(*text)
	}
	return f.dialect.WriteHook(f.HookInput, a)
}

// ReadFiring reads a hook's standard input, and finds out which harness runs the hook: the nearest one among
// the ancestors, else the one that session variables name, else the one whose inputs look like this one. The
// session in the input is that harness's. Event is empty for what we don't listen to, and for whatever a
// harness without an entry in [Rows] says. ReadFiring fails if the input isn't JSON of the expected form;
// Harness may be known even then.
func ReadFiring(in Input, b []byte) (Firing, error) {
	row, seen, foreign := nearestOf(in)
	if foreign {
		return Firing{}, nil
	}

	var m hookMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return Firing{Harness: row}, fmt.Errorf("the input of a hook can't be read: %w", err)
	}

	// No ancestor tells, so the variables have to.
	if !seen {
		if row, seen, foreign = sessionOf(in, m.Session); foreign {
			return Firing{}, nil
		}
	}

	// A harness that runs another's hooks may send that one's words.
	dialect, ok := row, seen
	if !ok || !row.listensTo(m.Name) {
		dialect, ok = shapeOf(m, b)
	}

	switch {
	case !ok, seen && len(row.Hooks) == 0:
		// Nobody knows how that one takes an answer.
		return Firing{Harness: row}, nil
	case !seen:
		row = dialect
	}

	env := shell.Env{Home: in.Getenv("HOME"), Alias: in.Alias}
	return Firing{Harness: row, dialect: dialect, HookInput: dialect.readMessage(m, row, env)}, nil
}

// nearestOf finds the nearest harness among the ancestors. foreign says that it runs the hooks of others and
// has no row in [Rows]: what it does with an answer isn't known, so it gets none. The command of a worker
// ends the search: what runs below it isn't part of what is above it.
func nearestOf(in Input) (row Row, seen, foreign bool) {
	stranger, named := genericRow(in.Getenv)
	for _, p := range in.Chain {
		m, ok := recogniseProcess(p)
		switch {
		case ok && m.row.Name == workerRow.Name:
			return Row{}, false, false
		case ok && m.row.isProgramRow(), !ok && named && stranger.runsProcess(p):
			return Row{}, false, true
		case ok:
			return m.row, true, false
		}
	}

	return Row{}, false, false
}

// sessionOf finds a harness by variables: the one whose session variable has the session of the input.
// Without such a variable, one that says that it is a stranger comes first, because strangers inherit the
// variables of the harness that started them.
func sessionOf(in Input, session string) (row Row, seen, foreign bool) {
	r := resolver{in: in}
	for _, row := range Rows {
		if _, id := r.firstSet(row.SessionEnv); id != "" && id == session {
			return row, true, false
		}
	}

	// A stranger inherits the markers of the harness that started it, so its own name comes first.
	if _, ok := genericRow(in.Getenv); ok {
		return Row{}, false, true
	}
	if row := r.fromEnvironment(); row != nil {
		return *row, true, false
	}

	return Row{}, false, false
}

// listensTo reports whether the harness has an event with that name that we listen to.
func (r Row) listensTo(name string) bool {
	return slices.ContainsFunc(r.Hooks, func(h Hook) bool { return h.Name == name })
}

// shapeOf finds the harness whose inputs look like this one. If several harnesses have an event with that
// name, the path of the transcript decides, else a field that few of them have. Otherwise it is the first of
// the table.
func shapeOf(m hookMessage, b []byte) (Row, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil {
		return Row{}, false
	}

	first := slices.IndexFunc(Rows, func(r Row) bool { return r.listensTo(m.Name) })
	if first < 0 {
		return Row{}, false
	}

	// The path of the transcript leads through the directory of one harness's settings.
	transcript := strings.ReplaceAll(m.Transcript, `\`, "/")
	for _, r := range Rows[first:] {
		if r.listensTo(m.Name) && strings.Contains(transcript, "/"+r.Setup.Config+"/") {
			return r, true
		}
	}

	for _, r := range Rows[first:] {
		if _, has := fields[r.HookField]; has && r.HookField != "" && r.listensTo(m.Name) {
			return r, true
		}
	}

	return Rows[first], true
}
