package web

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
)

// exempt are the operations that aren't on HTTP, with the reason.
var exempt = map[string]string{
	"NextReview":   "the pages show all that waits for a review, the oldest first",
	"GetDigest":    "it sums up what its reader hasn't asked for before: the pages show what is new as it happens",
	"TakeNotices":  "a part of tt notify and tt watch: a page shows what needs its reader, and tells nobody",
	"StartSession": "hooks: the harness asks",
	"EndSession":   "hooks: the harness asks",
	"ReadNews":     "hooks: the harness asks",
	"AskDraft":     "hooks: the harness asks",
	"CheckStop":    "hooks: the harness asks",
	"CheckEdit":    "hooks: the harness asks",
	"CheckEdited":  "hooks: the harness asks",
	"CheckCommit":  "hooks: git asks",
	"CheckPush":    "hooks: git asks",
	"WaitForWake":  "hooks: it waits for an agent that is idle",
	"Doctor":       "care of the database: at a terminal, where its next steps can be taken",
	"BackupDB":     "care of the database: at a terminal",
	"RestoreDB":    "care of the database: at a terminal",
	"ExportRoom":   "care of the database: at a terminal",
	"ImportRoom":   "care of the database: at a terminal",
	"Prune":        "care of the database: at a terminal",
	"MigrateDB":    "care of the database: at a terminal",
	"RemoveData":   "a part of tt uninstall --data, which asks a person first",
	"Whoami":       "every result tells agent_id; the explanation is about a process's surroundings",

	"GetSession":     "the paths and variables of a session are for its shell",
	"PromoteSession": "an agent's, about its own session",
	"SaveDraft":      "an agent's, while it holds the stick",
	"Heartbeat":      "an agent's: a person's turn is kept by the process of the server's shell",
	"WaitForEvents":  "the stream of a page",

	"ForgetRescue": "nothing brings back what it removes, and it means files of the caller's checkout: at a terminal, where they are",
	"ListChanges":  "it reads a checkout by its path, on the page of a room's scopes; it has no names for parameters in JSON",
	"ClaimChanges": "it means files of the caller's checkout, where the caller's shell is",
	"AdoptChanges": "it means files of the caller's checkout, where the caller's shell is",

	"WorkerInit":      "what it writes and accepts has to be read first, in the repository",
	"WorkerSpawn":     "a task begins with its specification in a file and the command of its worker, at a terminal",
	"WorkerNext":      "a worker's, in its shell",
	"WorkerStart":     "a worker's, in its worktree",
	"WorkerDone":      "a worker's, in its worktree",
	"WorkerFail":      "a worker's, in its worktree",
	"WorkerHeartbeat": "a worker's",
	"WorkerExport":    "a stream of JSON for programs, which the log of a room is, too",
	"WorkerReady":     "it is a part of the operations that make tasks ready",
}

// TestEveryOperationIsOnHTTP counts: an operation is on HTTP under its own name, with its own parameters, or
// is exempt.
func TestEveryOperationIsOnHTTP(t *testing.T) {
	left := map[string]operation{}
	for name, o := range operationsByName() {
		left[name] = o
	}

	methods := map[string]bool{}
	for _, of := range []reflect.Type{
		reflect.TypeFor[*engine.Engine](), reflect.TypeFor[*guard.Guard](),
		reflect.TypeFor[*restore.Restorer](), reflect.TypeFor[*upkeep.Upkeep](),
		reflect.TypeFor[*eventlog.Log](), reflect.TypeFor[*roster.Roster](), reflect.TypeFor[*scopes.Scopes](), reflect.TypeFor[*task.Tasks](),
	} {
		for i := range of.NumMethod() {
			m := of.Method(i)
			if !isOperation(m.Type) {
				continue
			}

			methods[m.Name] = true
			o, on := operationsByName()[snake(m.Name)]
			switch {
			case on && exempt[m.Name] != "":
				t.Errorf("%s is exempt, and is on HTTP", m.Name)
			case !on && exempt[m.Name] == "":
				t.Errorf("%s isn't on HTTP, and isn't exempt", m.Name)
			case on && o.Type != m.Type.In(2):
				t.Errorf("%s takes %s, and the operation %s", o.Name, o.Type, m.Type.In(2))
			}
			delete(left, snake(m.Name))
		}
	}

	for name := range left {
		t.Errorf("%s is called like no operation", name)
	}

	for name := range exempt {
		if !methods[name] {
			t.Errorf("%s is exempt, and is no operation", name)
		}
	}
}

// isOperation reports whether a method has the shape of an operation: a context and a struct called …Params,
// and a struct called …Result or nothing beside the error.
func isOperation(m reflect.Type) bool {
	return m.NumIn() == 3 &&
		m.NumOut() == 2 &&
		m.In(1) == reflect.TypeFor[context.Context]() &&
		m.Out(1) == reflect.TypeFor[error]() &&
		m.In(2).Kind() == reflect.Struct && strings.HasSuffix(m.In(2).Name(), "Params") && m.Out(0).Kind() == reflect.Struct
}

// snake is a name of Go as the surfaces write it.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(s[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}

	return b.String()
}

// TestAProgramCalls: a program sends JSON and gets the result of the operation, or its failure with the same
// fields as everywhere.
func TestAProgramCalls(t *testing.T) {
	s := scene.New(t)
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	d := newDesk(s, nil)
	room := string(s.Room().ID)
	if status, got := d.call("get_room_state", doc{"room_id": room}); status != 200 ||
		got["owner"] != string(claude.ID) ||
		got["agent_id"] != string(d.ann.ID) {
		t.Errorf("the state is %d %v", status, got)
	}
	if status, got := d.call("send_message", doc{"room_id": room, "to": string(claude.ID), "body": "hello"}); status != 200 ||
		got["message_id"] == nil {
		t.Errorf("a message: %d %v", status, got)
	}

	for _, c := range []struct {
		name, operation string
		parameters      any
		status          int
		code, field     string
	}{
		{"no such operation", "dance", doc{}, 404, "not_found", ""},
		{"a misspelt parameter", "get_room_state", doc{"room_id": room, "al": true}, 400, "usage", "al"},
		{"a parameter that is missing", "ack_message", doc{"room_id": room}, 400, "usage", "message_ids"},
		{
			"a parameter of another kind",
			"get_message",
			doc{"room_id": room, "message_id": "x"},
			400,
			"usage",
			"message_id",
		},
		{
			"who calls isn't a parameter",
			"get_room_state",
			doc{"room_id": room, "Caller": doc{"Person": false}},
			400,
			"usage",
			"Caller",
		},
		{"no object", "get_room_state", []int{1}, 400, "usage", "arguments"},
		{"no such room", "get_room_state", doc{"room_id": "nothing"}, 404, "no_room", ""},
		{
			"refused",
			"release_stick",
			doc{"room_id": room, "handoff": doc{"status": "x", "next_action": "y"}},
			409,
			"not_your_turn",
			"",
		},
		{
			"a message that says nothing",
			"send_message",
			doc{"room_id": room, "to": []string{"room"}, "body": " "},
			400,
			"usage",
			"body",
		},
	} {
		status, got := d.call(c.operation, c.parameters)
		if status != c.status || got["error"] != c.code || c.field != "" && got["field"] != c.field {
			t.Errorf("%s: %d %v", c.name, status, got)
		}
	}
}
