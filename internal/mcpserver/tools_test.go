package mcpserver

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
	"talkingstick/internal/task"
	"talkingstick/stick"
)

var updateGolden = flag.Bool("update", false, "write the golden files instead of comparing them")

// TestTools compares what clients are told of the tools with testdata: a change there is one that
// every agent sees and pays for.
func TestTools(t *testing.T) {
	for _, c := range []struct {
		name string
		all  bool
	}{{"core", false}, {"all", true}} {
		d := newDesk(t)
		d.o.All = c.all
		listed, err := d.client().ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}

		var b strings.Builder
		for _, tool := range listed.Tools {
			schema, err := json.MarshalIndent(tool.InputSchema, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			hints, err := json.Marshal(tool.Annotations)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s: %s\n%s\n%s\n\n", tool.Name, tool.Description, hints, schema)
		}

		golden := filepath.Join("testdata", c.name+".golden")
		if *updateGolden {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}

		want, err := os.ReadFile(golden)
		if err != nil || string(want) != b.String() {
			t.Errorf(
				"%s is out of date (%v); go test ./internal/mcpserver -run TestTools -update, and read what changed",
				golden, err,
			)
		}
	}
}

// TestBudget: what every session of every agent pays for the list of tools stays small.
func TestBudget(t *testing.T) {
	const most = 1900 // tokens, of four bytes each
	d := newDesk(t)
	d.o.All = false
	listed, err := d.client().ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}

	b, err := json.Marshal(listed)
	if err != nil {
		t.Fatal(err)
	}
	tokens := (len(b) + len(instructions) + 3) / 4
	t.Logf("the core tools and the instructions are %d bytes, %d tokens", len(b)+len(instructions), tokens)
	if tokens > most {
		t.Errorf("the core tools cost %d tokens, and at most %d is agreed", tokens, most)
	}
}

// exempt are the operations that aren't tools, or aren't commands, with the reason.
var exempt = map[string]string{
	"NextReview":   "worker_status lists what waits for a review, and each tool costs every session",
	"StartSession": "hooks: the harness asks; an agent without hooks asks on the command line, before it calls any tool",
	"ReadNews":     "hooks: the harness asks, not the agent",
	"AskDraft":     "hooks: the harness asks, not the agent",
	"CheckStop":    "hooks: the harness asks, not the agent",
	"CheckEdit":    "hooks: the harness asks, not the agent",
	"CheckEdited":  "hooks: the harness asks, not the agent",
	"CheckCommit":  "hooks: git asks, not the agent",
	"CheckPush":    "hooks: git asks, not the agent",
	"WaitForWake":  "hooks: it waits for an agent that is idle, which calls nothing",
	"Doctor":       "care of the database: people's, at a terminal",
	"BackupDB":     "care of the database: people's, at a terminal",
	"RestoreDB":    "care of the database: people's, at a terminal",
	"ExportRoom":   "care of the database: people's, at a terminal",
	"ImportRoom":   "care of the database: people's, at a terminal",
	"Prune":        "care of the database: people's, at a terminal",
	"MigrateDB":    "care of the database: people's, at a terminal",
	"RemoveData":   "a part of tt uninstall --data, which asks a person first",
	"GetDigest":    "a person asks what it has missed; an agent gets its messages and its task",
	"GetTimeline":  "a picture for people; what an agent needs of it, get_room_state and get_room_events tell",
	"Whoami":       "every result tells agent_id; the explanation is people's, at a terminal",

	"PauseRoom":            "people's, at a terminal: a caller through MCP is never a person",
	"ResumeRoom":           "people's, at a terminal: a caller through MCP is never a person",
	"EndSession":           "hooks: the harness asks; the agent's own wrap-up removes files, as its shell does",
	"GetSession":           "the paths and variables of a session are for its shell",
	"ListSessions":         "get_roster and get_room_state tell who is there; the list with its files is for a shell",
	"PromoteSession":       "on the command line: it is rare, and get_roster says whether it is due",
	"RestoreRescue":        "on the command line, which the answer of a takeover names: it is rare, and a tool costs every session",
	"ForgetRescue":         "people's, at a terminal: a caller through MCP is never a person",
	"ListChanges":          "whoever cares what is uncommitted works in a shell; what is others' is counted in get_room_state and in a grant",
	"ClaimChanges":         "people's, at a terminal",
	"AdoptChanges":         "on the command line: it is rare, and what follows it is done by git in a shell",
	"WorkerInit":           "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerSpawn":          "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerStatus":         "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerShow":           "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerApprove":        "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerRequestChanges": "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerPR":             "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerMerge":          "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerEdit":           "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerAfter":          "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"StartReady":           "it is a part of the operations that make tasks ready, and of worker run --all",
	"WorkerReady":          "it is a part of the operations that make tasks ready",
	"WorkerCancel":         "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerRetry":          "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerRollback":       "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerDiff":           "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerExport":         "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
	"WorkerRun":            "who starts, watches and stops workers does it at a command line: a process that MCP started would end with its client's sandbox",
	"TakeNotices":          "a part of tt notify and tt watch, which tell a person",
	"DropRun":              "it is a part of worker run, which somebody interrupts",
	"WorkerStop":           "who starts, watches and stops workers does it at a command line",
	"WorkerLogs":           "who starts, watches and stops workers does it at a command line, where the output doesn't fill a context",
	"WorkerOutput":         "who makes, reviews and merges tasks does it at a command line: the agent's shell, or a person's",
}

// TestEveryOperationIsOnEverySurface counts: an exported method of the engine, of the guard or of tasks that
// has the shape of an operation is a command and a tool, or is exempt. A tool is called like its operation.
func TestEveryOperationIsOnEverySurface(t *testing.T) {
	commands := called(t, "../cli")
	rows := map[string]tool{}
	for _, row := range tools() {
		if _, twice := rows[row.name]; twice {
			t.Errorf("there are two tools %s", row.name)
		}
		rows[row.name] = row
	}

	methods := map[string]reflect.Method{}
	for _, of := range []reflect.Type{
		reflect.TypeFor[*engine.Engine](), reflect.TypeFor[*guard.Guard](),
		reflect.TypeFor[*restore.Restorer](), reflect.TypeFor[*upkeep.Upkeep](),
		reflect.TypeFor[*eventlog.Log](), reflect.TypeFor[*roster.Roster](), reflect.TypeFor[*scopes.Scopes](), reflect.TypeFor[*task.Tasks](),
	} {
		for i := range of.NumMethod() {
			if m := of.Method(i); operation(m.Type) {
				methods[m.Name] = m
			}
		}
	}

	operations := 0
	for _, m := range methods {
		operations++
		row, isTool := rows[snake(m.Name)]
		switch reason := exempt[m.Name]; {
		case reason != "" && isTool && commands[m.Name]:
			t.Errorf("%s is exempt, and is on both surfaces", m.Name)
		case reason == "" && !isTool:
			t.Errorf("%s is no tool, and isn't exempt", m.Name)
		case reason == "" && !commands[m.Name]:
			t.Errorf("no command calls %s, and it isn't exempt", m.Name)
		case isTool && row.params != m.Type.In(2):
			t.Errorf("the tool %s takes %s, and the operation %s", row.name, row.params, m.Type.In(2))
		}
		delete(rows, snake(m.Name))
	}

	for name := range rows {
		t.Errorf("the tool %s is called like no operation", name)
	}

	for name := range exempt {
		if _, ok := methods[name]; !ok {
			t.Errorf("%s is exempt, and is no operation", name)
		}
	}

	if operations < len(tools())+len(exempt) {
		t.Errorf("only %d operations were seen", operations)
	}
}

// operation reports whether a method has the shape of an operation: a context and a struct with the
// caller in it, and a struct and an error back.
func operation(m reflect.Type) bool {
	if m.NumIn() != 3 ||
		m.NumOut() != 2 ||
		m.In(1) != reflect.TypeFor[context.Context]() ||
		m.Out(1) != reflect.TypeFor[error]() {
		return false
	}
	if m.In(2) == reflect.TypeFor[upkeep.DoctorParams]() {
		return true // the only one without a caller
	}
	if m.In(2).Kind() != reflect.Struct {
		return false
	}

	_, ok := m.In(2).FieldByName("Caller")
	return ok
}

// called returns the names of the methods that the code of a package and of those in its folders calls.
func called(t *testing.T, dir string) map[string]bool {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}

	names := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}

		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				names[s.Sel.Name] = true
			}
			return true
		})
	}

	return names
}

// snake writes a method's name as a tool's.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}

	return b.String()
}

// TestHandoffSchema: the tool takes every field of a handoff, and requires those that must be there.
func TestHandoffSchema(t *testing.T) {
	s := schemaOfStruct(reflect.TypeFor[stick.Handoff]())
	properties := s["properties"].(map[string]any)
	required, _ := s["required"].([]string)
	for _, f := range stick.HandoffFields {
		p, ok := properties[f.Name].(map[string]any)
		if !ok {
			t.Errorf("%s isn't in the schema of a handoff", f.Name)
			continue
		}
		if f.Required != slices.Contains(required, f.Name) {
			t.Errorf("that %s is required is %v, and the schema says %v", f.Name, f.Required, !f.Required)
		}
		if f.Required && p["description"] != f.Meaning {
			t.Errorf("%s is explained as %v, want %q", f.Name, p["description"], f.Meaning)
		}
	}

	if len(properties) != len(stick.HandoffFields) {
		t.Errorf("the schema of a handoff has %d fields, want %d", len(properties), len(stick.HandoffFields))
	}
}
