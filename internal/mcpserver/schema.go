package mcpserver

import (
	"reflect"
	"strings"

	"talkingstick/stick"
)

// meanings explains the parameters whose names don't explain them. Every session of every agent pays for each word.
var meanings = map[string]string{
	override:             "another name for you, on this connection",
	"max_wait_ms":        "0 checks once",
	"park":               "events only, never the turn",
	"turn_only":          "ignore events",
	"replace":            "end your other wait",
	contract:             "HANDOFF: done, remaining, next_action; BLOCKED: blocker, requested_action, urgency",
	"path":               "in the workspace",
	"lines":              "[from, to]",
	"to":                 "members by full or short name, or room",
	"to_agent_id":        "a member, or next",
	"state":              "default: still open for you",
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

// enums are the values of parameters that have few.
var enums = map[string][]string{
	"role":     stick.Roles,
	"category": {"INFO", "HANDOFF", "BLOCKED"}, // the program makes the others

	"delivery_hint": {stick.Interrupt},
	"state":         {"unread", "read", "acked", "all"},
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
	if hasContract(t.params) {
		names = append(names, contract)
	}
	return names
}

// hasContract reports whether the parameters have the fields of a message's contract. A schema shows one object instead of
// them all, because every session pays for each; given by themselves they are accepted, too.
func hasContract(t reflect.Type) bool {
	f, ok := t.FieldByName("Contract")
	return ok && f.Anonymous && f.Type == reflect.TypeFor[stick.Contract]()
}

// schema returns the tool's input schema, as short as it can be.
func (t tool) schema() map[string]any {
	s := object(t.params)
	properties := s["properties"].(map[string]any)
	if t.kind&names != 0 {
		properties[override] = map[string]any{"type": "string", "description": meanings[override]}
	}
	if len(t.required) > 0 {
		s["required"] = t.required
	}
	if _, ok := properties["handoff"]; ok && t.name != "release_stick" { // every session pays for each copy
		properties["handoff"] = map[string]any{"type": "object", "description": "as for release_stick"}
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
	inContract := map[string]bool{}
	if hasContract(t) {
		for _, f := range stick.ContractFields {
			inContract[f.Name] = true
		}
		properties[contract] = map[string]any{"type": "object", "description": meanings[contract]}
	}
	for _, f := range fields(t) {
		if inContract[f.name] {
			continue
		}
		p := schemaOf(f.Type)
		if values := enums[f.name]; values != nil && f.Type.Kind() == reflect.String {
			p["enum"] = values
		}
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
