package mcpserver

import (
	"reflect"

	"talkingstick/internal/params"
	"talkingstick/stick"
)

// meanings explains the parameters whose names don't explain them. Every session of every agent pays for each
// word.
var meanings = map[string]string{
	override:             "another name for you, on this connection",
	"max_wait_ms":        "0 checks once",
	"park":               "events only, never the turn",
	"turn_only":          "ignore events",
	"replace":            "end your other wait",
	params.Contract:      "HANDOFF: done, remaining, next_action; BLOCKED: blocker, requested_action, urgency",
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

// meaningOf returns what a parameter of a struct means. Of a handoff's fields it explains only those that are
// required.
func meaningOf(of reflect.Type, name string) string {
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

// inputSchema returns the tool's input schema, as short as it can be.
func (t tool) inputSchema() map[string]any {
	s := schemaOfStruct(t.params)
	properties := s["properties"].(map[string]any)

	if t.kind&names != 0 {
		properties[override] = map[string]any{"type": "string", "description": meanings[override]}
	}

	if len(t.required) > 0 {
		s["required"] = t.required
	}

	// Every session pays for each copy.
	if _, ok := properties["handoff"]; ok && t.name != "release_stick" {
		properties["handoff"] = map[string]any{"type": "object", "description": "as for release_stick"}
	}

	return s
}

// schemaOfStruct returns the schema of a struct.
func schemaOfStruct(t reflect.Type) map[string]any {
	properties := map[string]any{}
	var required []string
	inContract := map[string]bool{}

	// One object stands for all fields of a contract: every session pays for each.
	if params.HasContract(t) {
		for _, f := range stick.ContractFields {
			inContract[f.Name] = true
		}
		properties[params.Contract] = map[string]any{"type": "object", "description": meanings[params.Contract]}
	}

	for _, f := range params.Fields(t) {
		if inContract[f.Name] {
			continue
		}

		p := schemaOf(f.Type)
		if values := enums[f.Name]; values != nil && f.Type.Kind() == reflect.String {
			p["enum"] = values
		}

		if w := meaningOf(t, f.Name); w != "" {
			p["description"] = w
		}

		properties[f.Name] = p
		if !f.Optional {
			required = append(required, f.Name)
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
		return schemaOfStruct(t)
	case reflect.Map:
		return map[string]any{"type": "object"}
	}
	return map[string]any{"type": "integer"}
}
