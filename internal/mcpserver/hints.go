package mcpserver

import (
	"slices"
	"strings"

	"talkingstick/stick"
)

// commands names the tool that does the same as a command, and the parameters that the command's words fill.
var commands = map[string][]string{
	"tt list":           {"list_rooms"},
	"tt join":           {"join_path", "context_path"},
	"tt wait":           {"wait_for_turn"},
	"tt try":            {"wait_for_turn"},
	"tt heartbeat":      {"heartbeat"},
	"tt release":        {"release_stick"},
	"tt handoff save":   {"save_draft", "text"},
	"tt pass":           {"pass_stick", "to_agent_id"},
	"tt take":           {"takeover_stick"},
	"tt state":          {"get_room_state"},
	"tt events":         {"get_room_events"},
	"tt msg send":       {"send_message", "to", "body"},
	"tt msg show":       {"get_message", "message_id"},
	"tt msg read":       {"read_message", "message_ids"},
	"tt msg withdraw":   {"withdraw_message", "message_id"},
	"tt inbox":          {"get_inbox"},
	"tt ack":            {"ack_message", "message_ids"},
	"tt notes add":      {"add_note", "body"},
	"tt notes list":     {"list_notes"},
	"tt reserve":        {"reserve_paths", "paths"},
	"tt unreserve":      {"release_paths", "paths"},
	"tt reservations":   {"list_reservations"},
	"tt may-edit":       {"may_edit", "paths"},
	"tt leave":          {"leave_room"},
	"tt kick":           {"kick_member", "agent_id"},
	"tt close":          {"close_room"},
	"tt policy":         {"set_room_policy"},
	"tt policy set":     {"set_room_policy", "set"},
	"tt roster":         {"get_roster"},
	"tt conflicts":      {"get_conflicts"},
	"tt task start":     {"worker_start"},
	"tt task next":      {"worker_next"},
	"tt task done":      {"worker_done"},
	"tt task fail":      {"worker_fail", "reason"},
	"tt task heartbeat": {"worker_heartbeat"},
}

// parameters are flags that are called otherwise as parameters.
var parameters = map[string]string{"turn": "turn_only", "takeover-stale": "takeover_stale", "task": "task_id"}

// inTools is a hint for a client that may have no shell: with tools in place of the commands that they do.
// What no tool that is offered does stays a command.
func inTools(h stick.Hint, offered func(name string) bool) stick.Hint {
	var out stick.Hint
	for _, s := range h {
		if call, ok := inTool(s.Command, offered); ok {
			s = stick.Step{Text: call}
		}
		out = append(out, s)
	}
	return out
}

// inTool is the call of the tool that does the same as a command.
func inTool(c stick.Command, offered func(name string) bool) (call stick.Words, ok bool) {
	var words []string
	for _, w := range c {
		if w.Blank != "" || strings.HasPrefix(w.Text, "-") {
			break
		}
		words = append(words, w.Text)
	}

	// The longest prefix that is a command counts; what follows are its arguments.
	n := len(words)
	for n > 0 && commands[strings.Join(words[:n], " ")] == nil {
		n--
	}
	if n == 0 {
		return "", false
	}

	row := commands[strings.Join(words[:n], " ")]
	if !offered(row[0]) {
		return "", false
	}

	// A flag becomes a parameter by its name; other words fill the places in their order.
	var given []stick.Words
	places, rest := row[1:], c[n:]
	for i := 0; i < len(rest); i++ {
		name := strings.TrimPrefix(rest[i].Text, "--")
		switch {
		case name != rest[i].Text:
			if known, ok := parameters[name]; ok {
				name = known
			}
			value := stick.Words("true")
			if i+1 < len(rest) && rest[i+1].Blank != "" {
				i++
				value = valueOf(rest[i])
			}
			given = append(given, stick.Wordsf("%s: %s", strings.ReplaceAll(name, "-", "_"), value))
		case len(places) > 0:
			given = append(given, stick.Wordsf("%s: %s", places[0], valueOf(rest[i])))
			places = places[1:]
		}
	}

	if len(given) == 0 {
		return stick.Words(row[0]), true
	}
	return stick.Wordsf("%s (%s)", row[0], stick.JoinWords(given, ", ")), true
}

// valueOf is a word as a value. One that the caller has to choose is an ellipsis.
func valueOf(w stick.Word) stick.Words {
	if w.Text == "" {
		return "…"
	}
	return stick.Wordsf("%s", w.Text)
}

// offersTool tells which tools a server offers.
func (o Options) offersTool(name string) bool {
	return !o.None && slices.ContainsFunc(tools(), func(t tool) bool {
		return t.name == name && (o.All || t.kind&always != 0)
	})
}
