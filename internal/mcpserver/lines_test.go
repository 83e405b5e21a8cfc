package mcpserver

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/params"
	"talkingstick/stick"
)

// TestGarbage: a line that isn't a message is answered, and the server goes on. A text that isn't UTF-8
// doesn't get in.
func TestGarbage(t *testing.T) {
	d := newDesk(t)
	d.join(agent, other)
	w := d.wire()

	const ask = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_room_state"}}`
	for i, line := range []string{
		"garbage", "{", "[]]", `{"jsonrpc":"2.0","id":1,"method":"ping"} trailing`, "42", `"text"`, "null",
		`{"jsonrpc":"1.0","method":"x"}`, "[1]",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"to":["codex:b"],"body":"a` + "\xff" + `b"}}}`,
		`{"deep":"` + strings.Repeat("x", maxLine) + `"}`,
	} {
		w.write(line)
		if m := w.read(); m.ID != nil || m.Error["code"] == nil {
			t.Errorf("%.60q is answered with %+v", line, m)
		}

		w.write("") // blank lines are nothing
		w.write(fmt.Sprintf(ask, i))
		if m := w.read(); m.ID == nil || *m.ID != i || m.answer()["room_id"] == nil {
			t.Errorf("after %.60q the server answers %+v", line, m)
		}
	}

	w.write("[" + fmt.Sprintf(ask, 101) + "," + fmt.Sprintf(ask, 102) + "]") // older clients send batches
	if sum := *w.read().ID + *w.read().ID; sum != 203 {
		t.Error("a batch isn't answered")
	}
	if got := bodies(t, d.client().ok("wait_for_turn", doc{"park": true, "max_wait_ms": 0})); len(got) > 0 {
		t.Errorf("a message that isn't UTF-8 was sent: %q", got)
	}
}

// TestHintsNameTools: a client may have no shell. What no tool that it has does stays a command.
func TestHintsNameTools(t *testing.T) {
	core, all := Options{}.offersTool, Options{All: true}.offersTool
	for _, c := range []struct {
		hint stick.Hint
		in   func(string) bool
		want string
	}{
		{stick.Hintf("wait: %s", stick.Cmd("tt wait")), core, "wait: wait_for_turn"},
		{
			stick.Hintf("%s", stick.Cmd("tt wait --turn --replace")),
			core,
			"wait_for_turn (turn_only: true, replace: true)",
		},
		{
			stick.Hintf("ask: %s or %s", stick.Cmd("tt msg send <agent> …", "codex:b"), stick.Cmd("tt inbox")),
			core,
			"ask: send_message (to: codex:b, body: …) or get_inbox",
		},
		{stick.Hintf("%s", stick.Cmd("tt take --reason …")), core, "takeover_stick (reason: …)"},
		{
			stick.Hintf("%s", stick.Cmd("tt reserve --takeover-stale <path>", "src")),
			core,
			"tt reserve --takeover-stale src",
		},
		{stick.Hintf("%s", stick.Cmd("tt doctor")), all, "tt doctor"},
		{stick.Hintf("%s", stick.Cmd("tt msg show <message_id>", 7)), all, "get_message (message_id: 7)"},
	} {
		if got := inTools(c.hint, c.in).String(); got != c.want {
			t.Errorf("%s is %s, want %s", c.hint, got, c.want)
		}
	}

	known := map[string][]string{}
	for _, t := range tools() {
		known[t.name] = params.Names(t.params)
	}

	for command, row := range commands {
		names, ok := known[row[0]]
		for _, p := range row[1:] {
			ok = ok && strings.Contains(" "+strings.Join(names, " ")+" ", " "+p+" ")
		}
		if !ok {
			t.Errorf("%s becomes %v, which is no tool, or not its parameters", command, row)
		}
	}

	d := newDesk(t)
	d.join(agent)
	if res, failed := d.client().call("ack_message", doc{"message_ids": doc{}}); !failed {
		t.Errorf("%v", res)
	}
	if res, _ := d.client().call("get_message", doc{"message_id": 999}); strings.Contains(fmt.Sprint(res["hint"]), "tt ") {
		t.Errorf("the hint names a command: %v", res)
	}
}

// TestHintsNameOnlyToolsThatAreOffered takes the commands of all hints that a user can read. A client of the
// core tools reads the name of a tool only if it has that tool, and the command otherwise.
func TestHintsNameOnlyToolsThatAreOffered(t *testing.T) {
	golden, err := os.ReadFile("../cli/testdata/refusals.golden")
	if err != nil {
		t.Fatal(err)
	}
	kept, named := map[string]bool{}, map[string]bool{}
	for _, hint := range regexp.MustCompile(`(?m)^hint: .*`).FindAllString(string(golden), -1) {
		for _, line := range regexp.MustCompile(`\btt( [a-z-]+)+`).FindAllString(hint, -1) {
			for _, o := range []Options{{}, {All: true}} {
				tool, _, _ := strings.Cut(inTools(stick.Hintf("%s", stick.Cmd(line)), o.offersTool).String(), " ")
				switch {
				case tool == "tt":
					kept[line] = true
				case !o.offersTool(tool):
					t.Errorf("%s is %s, which isn't offered (all: %v)", line, tool, o.All)
				default:
					named[tool] = true
				}
			}
		}
	}

	if len(named) < 10 || len(kept) < 10 {
		t.Errorf("only %v and %v were found: the search for hints is broken", named, kept)
	}

	// a hint as a client gets it, and the tools that the client sees
	for all, want := range map[bool]string{false: `leave a note for whoever comes next: tt notes add "…"`, true: "leave a note for whoever comes next: add_note (body: …)"} {
		d := newDesk(t)
		d.o.All = all
		d.join(agent)
		c := d.client()
		if res, _ := c.call("send_message", doc{"to": []string{"room"}, "body": "hello"}); res["hint"] != want {
			t.Errorf("all: %v: the hint is %v, want %s", all, res["hint"], want)
		}

		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}

		for _, tool := range list.Tools {
			if !d.o.offersTool(tool.Name) {
				t.Errorf("all: %v: %s is offered, but hints don't know it", all, tool.Name)
			}
		}
	}
}
