package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// undoLongCall has ann make a call, in the middle of which bob makes one, and undo hers. Each file that she alone has changed is as it was before,
// and all others are as they are. Then she undoes that.
func (p *program) undoLongCall(text string) {
	p.Helper()
	f, g := p.chooseFiles()
	first := p.chooseCommand(f, g, text+" by ann, first")
	f, g = p.chooseFiles()
	second := p.chooseCommand(f, g, text+" by ann, then")
	beside := p.chooseStep("bob", text+" by bob, meanwhile")

	long := step{agent: "ann", command: first + "; " + second}
	if !p.begin(long) {
		return
	}

	was := p.held()
	p.act(step{agent: "ann", command: first})
	then := p.held()
	p.take(beside)
	byBob := changed(then, p.held())
	p.act(step{agent: "ann", command: second})
	is := p.held()
	p.around(long, "after")

	want := maps.Clone(is)
	for path := range changed(was, is) {
		if byBob[path] {
			continue
		}
		delete(want, path)
		if text, wasThere := was[path]; wasThere {
			want[path] = text
		}
	}

	if len(changed(want, is)) == 0 {
		return
	}
	if undo := p.undoes(p.lastCall("ann", "Bash"), want); undo != 0 {
		p.undoes(undo, is)
	}
}

// changed are the files that differ between two states of the tree, with those that are in only one of them.
func changed(from, to map[string]string) map[string]bool {
	all := map[string]bool{}
	for path, text := range from {
		if now, isThere := to[path]; !isThere || now != text {
			all[path] = true
		}
	}

	for path := range to {
		if _, wasThere := from[path]; !wasThere {
			all[path] = true
		}
	}

	return all
}

// lastCall is the number of an agent's last call of a tool.
func (p *program) lastCall(name, tool string) int64 {
	p.Helper()
	calls, id := p.listed(), p.idOf(name)
	i := slices.IndexFunc(calls, func(c edits.Call) bool { return string(c.Agent) == id && c.Tool == tool })
	if i < 0 {
		p.Fatalf("hooks have seen no call of %s", name)
	}
	return calls[i].ID
}

// listed are all calls that hooks have seen, the newest first.
func (p *program) listed() []edits.Call {
	p.Helper()
	var res struct {
		Calls []edits.Call `json:"calls"`
	}
	if err := json.Unmarshal([]byte(p.person("tt calls --all --json")), &res); err != nil {
		p.Fatal(err)
	}

	return res.Calls
}

// undoes has ann undo a call, after which the files have to be as wanted, but for those that the undo puts beside others. It returns the number of
// the call that the undo is, 0 if it has changed nothing.
func (p *program) undoes(call int64, want map[string]string) int64 {
	p.Helper()
	out, status := p.as("ann", fmt.Sprintf(`cd "$WORK/app" && tt undo %d --json`, call))
	var res struct {
		UndoID int64 `json:"undo_call_id"`
	}
	if err := json.Unmarshal([]byte(out), &res); err != nil || status != 0 && status != stick.ExitHands {
		p.Errorf("tt undo %d ends with %d: %s\nafter:\n  %s", call, status, out, strings.Join(p.lines, "\n  "))
		return 0
	}

	is := p.held()
	maps.DeleteFunc(is, func(path, _ string) bool { return strings.Contains(path, ".before-") })
	for path := range changed(want, is) {
		if !strings.Contains(path, ".before-") {
			p.Errorf("after tt undo %d, %s is %q instead of %q; it said\n%s\nafter:\n  %s",
				call, path, is[path], want[path], out, strings.Join(p.lines, "\n  "))
		}
	}

	return res.UndoID
}
