package mcpserver

import (
	"reflect"
	"slices"
	"strings"

	"talkingstick/stick"
)

// meanings explains the parameters whose names don't explain them. Every session of every agent pays for each word.
var meanings = map[string]string{
	"room_id":            "from join_path; default: the room of the working directory",
	"context_path":       "default: the working directory",
	"max_wait_ms":        "0 checks once",
	"park":               "events only, never the turn",
	"turn_only":          "ignore events",
	"replace":            "end your other wait",
	"next_action":        "what the next holder should do", // of a HANDOFF message
	"path":               "in the workspace",
	"role":               strings.Join(stick.Roles, ", "),
	"lines":              "[from, to]",
	"to":                 "members by full or short name, or room",
	"to_agent_id":        "a member, or next",
	"category":           "INFO, HANDOFF, BLOCKED, RESUME or INCURSION",
	"reason":             "why",
	"reply_to":           "a message_id",
	"state":              "unread, read, acked, all; default: still open for you",
	"event":              "only these types",
	"target":             "self, any or an agent",
	"after":              "a cursor",
	"operator_requested": "a person told you to",
	"force":              "even if they aren't gone; only on a person's word",
	"force_new":          "a nested room at the path",
	"abandon":            "why the turn ends without a handoff",
	"set":                "key=value each",
	"about_turn":         "for this turn only",
	"sent":               "messages you sent that are still open",
}

// meaning returns what a parameter of a struct means. Of a handoff's fields it explains only those that are required.
func meaning(of reflect.Type, name string) string {
	if of != reflect.TypeFor[stick.Handoff]() {
		return meanings[name]
	}
	for _, f := range stick.HandoffFields {
		if f.Name == name && f.Required {
			return f.Meaning
		}
	}
	return ""
}

// hidden are the parameters that tools don't offer: those that make sense only on the command line, and those that the
// program fills in.
var hidden = map[string]bool{"workspace": true, "room_path": true, "from_now": true, "from_start": true, "name": true}

// hiddenIn reports whether a parameter is hidden in one struct, although others offer it.
func hiddenIn(of reflect.Type, name string) bool {
	return name == "path" && of.Name() == "Where"
}

// names lists a tool's parameters.
func (t tool) names() []string {
	var names []string
	for _, f := range fields(t.params) {
		names = append(names, f.name)
	}
	return names
}

// schema returns the tool's input schema, as short as it can be.
func (t tool) schema() map[string]any {
	s := object(t.params)
	properties := s["properties"].(map[string]any)
	properties[override] = map[string]any{"type": "string"}
	if len(t.required) > 0 {
		s["required"] = t.required
	}
	if slices.Contains(t.required, "room_id") {
		properties["room_id"].(map[string]any)["description"] = "from join_path"
	}
	return s
}

type field struct {
	name     string
	optional bool
	reflect.StructField
}

// fields lists what encoding/json reads into a struct, without hidden parameters.
func fields(t reflect.Type) (out []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			out = append(out, fields(f.Type)...)
		case name == "-" || !f.IsExported() || hidden[name] || hiddenIn(t, name):
		default:
			out = append(out, field{name, strings.Contains(options, "omit") || f.Type.Kind() == reflect.Pointer, f})
		}
	}
	return out
}

// object returns the schema of a struct.
func object(t reflect.Type) map[string]any {
	properties := map[string]any{}
	var required []string
	for _, f := range fields(t) {
		p := schemaOf(f.Type)
		if w := meaning(t, f.name); w != "" {
			p["description"] = w
		}
		properties[f.name] = p
		if !f.optional {
			required = append(required, f.name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Struct:
		return object(t)
	case reflect.Map:
		return map[string]any{"type": "object"}
	}
	return map[string]any{"type": "integer"}
}
