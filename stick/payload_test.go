package stick_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// payload is a row of testdata/payloads.txt: a payload that an earlier program stored.
type payload struct {
	Type stick.EventType
	JSON string
}

func storedPayloads(t *testing.T) []payload {
	t.Helper()
	f, err := os.Open("testdata/payloads.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	var out []payload
	for s := bufio.NewScanner(f); s.Scan(); {
		typ, text, _ := strings.Cut(s.Text(), "\t")
		out = append(out, payload{stick.EventType(typ), text})
	}

	return out
}

// TestStoredPayloads reads stored payloads and writes them again. Not a byte may change, because the sums of
// the log cover them.
func TestStoredPayloads(t *testing.T) {
	seen := map[stick.EventType]bool{}
	for _, p := range storedPayloads(t) {
		seen[p.Type] = true
		e := stick.Event{Type: p.Type, Payload: []byte(p.JSON)}
		sticktest.Equal(t, string(p.Type), string(stick.EncodePayload(e.Decode())), p.JSON)
	}

	for _, info := range stick.EventTypes {
		if !seen[info.Type] {
			t.Errorf("no payload of %s is in testdata/payloads.txt: add one with all its fields", info.Type)
		}
	}
}

// TestEventRows names an event type that lacks its row or a part of it.
func TestEventRows(t *testing.T) {
	rows := map[stick.EventType]stick.EventInfo{}
	for _, info := range stick.EventTypes {
		if _, twice := rows[info.Type]; twice {
			t.Errorf("%s has two rows", info.Type)
		}
		rows[info.Type] = info
		for _, part := range info.Lacks() {
			t.Errorf("the row of %s lacks %s", info.Type, part)
		}
	}

	named := constants(t, "EventType")
	for name, value := range named {
		if _, ok := rows[stick.EventType(value)]; !ok {
			t.Errorf("%s (%s) has no row in EventTypes", name, value)
		}
	}
	sticktest.Equal(t, "how many constants have a row", len(rows), len(named))
}

// TestPayloadFields: every type has a payload of its own, and no field hides another of the same JSON name.
func TestPayloadFields(t *testing.T) {
	owner := map[reflect.Type]stick.EventType{}
	for _, info := range stick.EventTypes {
		typ := reflect.TypeOf(info.Payload())
		if other, ok := owner[typ]; ok {
			t.Errorf("%s and %s share the payload %s", info.Type, other, typ.Name())
		}

		owner[typ] = info.Type
		for name, n := range jsonNames(typ) {
			if n > 1 {
				t.Errorf("%d fields of %s, the payload of %s, are %q in JSON", n, typ.Name(), info.Type, name)
			}
		}

		if f, ok := typ.FieldByName("Task"); ok && info.IsOfTask() {
			for name, n := range jsonNames(f.Type.Elem()) {
				if n > 1 {
					t.Errorf("%d fields of %s, the facts of %s, are %q in JSON",
						n, f.Type.Elem().Name(), info.Type, name)
				}
			}
		}
	}
}

// TestPayloadExamples: every field of every payload has a stored example, so that neither its name nor its
// place can change unnoticed.
func TestPayloadExamples(t *testing.T) {
	seen := map[stick.EventType]map[string]bool{}
	for _, p := range storedPayloads(t) {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(p.JSON), &m); err != nil {
			t.Fatalf("%s: %v", p.JSON, err)
		}

		if task, ok := m["task"]; ok {
			if err := json.Unmarshal(task, &m); err != nil {
				t.Fatalf("%s: %v", p.JSON, err)
			}
		}

		if seen[p.Type] == nil {
			seen[p.Type] = map[string]bool{}
		}
		for name := range m {
			seen[p.Type][name] = true
		}
	}

	for _, info := range stick.EventTypes {
		typ := reflect.TypeOf(info.Payload())
		names := jsonNames(typ)
		if f, ok := typ.FieldByName("Task"); ok && info.IsOfTask() {
			maps.Copy(names, jsonNames(f.Type.Elem()))
		}

		for name := range names {
			if !seen[info.Type][name] {
				t.Errorf("no payload of %s in testdata/payloads.txt has %s", info.Type, name)
			}
		}
	}
}

// jsonNames counts the JSON names of a struct's fields, including those of embedded structs.
func jsonNames(t reflect.Type) map[string]int {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	names := map[string]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for name, n := range jsonNames(f.Type) {
				names[name] += n
			}
		default:
			names[name]++
		}
	}

	return names
}

// constants returns the constants of a type of this package, by name.
func constants(t *testing.T, typ string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}

		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil || len(spec.Values) != 1 {
				return true
			}

			if id, ok := spec.Type.(*ast.Ident); ok && id.Name == typ {
				if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
					if out[spec.Names[0].Name], err = strconv.Unquote(lit.Value); err != nil {
						t.Fatal(err)
					}
				}
			}

			return true
		})
	}

	return out
}

// TestStoredLog reads the log of a whole database that commit 8cc1f78 made. It must replay, and its payloads
// must be written again without a change.
func TestStoredLog(t *testing.T) {
	rooms := map[stick.RoomID]*stick.Record{}
	for _, e := range storedLog(t) {
		sticktest.Equal(t, fmt.Sprintf("event %d (%s)", e.Seq, e.Type),
			string(stick.EncodePayload(e.Decode())), string(e.Payload))
		if rooms[e.Room] == nil {
			rooms[e.Room] = &stick.Record{}
		}
		if err := rooms[e.Room].Replay(e); err != nil {
			t.Error(err)
		}
	}

	// What the program that wrote the log made of it.
	got := map[string]bool{}
	for id, c := range rooms {
		got[fmt.Sprintf("%s: turn %d %s of %d events, last handoff %d, prior %q; %d receipts, %d notes, %d reservations, %d tasks, %d attempts, %d reviews, %d sessions",
			id, c.Turn, c.State, c.Events, c.HandoffSeq, c.Prior, len(c.Receipts), len(c.Notes), len(c.Reservations), len(c.Tasks), len(c.Attempts), len(c.Reviews), len(c.Sessions))] = true
	}

	for _, want := range storedRooms {
		sticktest.Equal(t, want, got[want], true)
	}
	sticktest.Equal(t, "rooms", len(got), len(storedRooms))
}

// storedLog is the log of a whole database that commit 8cc1f78 made.
func storedLog(t *testing.T) (log []stick.Event) {
	t.Helper()
	f, err := os.Open("testdata/log-8cc1f78.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)

	for lines.Scan() {
		var row struct {
			Seq       int64           `json:"event_seq"`
			ID        string          `json:"event_id"`
			Room      stick.RoomID    `json:"room_id"`
			Turn      int64           `json:"turn_id"`
			Type      stick.EventType `json:"event_type"`
			From      stick.AgentID   `json:"from_agent_id"`
			To        stick.AgentID   `json:"to_agent_id"`
			Session   string          `json:"session_id"`
			Task      string          `json:"task_id"`
			Handoff   string          `json:"handoff"`
			Reason    string          `json:"reason"`
			Payload   string          `json:"payload"`
			CreatedAt int64           `json:"created_at"`
			Sum       string          `json:"sum"`
		}

		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}

		e := stick.Event{
			Seq: row.Seq, ID: row.ID, Room: row.Room, Turn: row.Turn, Type: row.Type, From: row.From, To: row.To,
			Session: row.Session, Task: row.Task, Reason: row.Reason, Payload: []byte(row.Payload),
			CreatedAt: stick.Time(row.CreatedAt), Sum: row.Sum,
		}

		if row.Handoff != "" {
			e.Handoff = &stick.Handoff{}
			if err := json.Unmarshal([]byte(row.Handoff), e.Handoff); err != nil {
				t.Fatal(err)
			}
		}

		log = append(log, e)
	}

	return log
}

var storedRooms = []string{
	"room-5eab697a27d58f9b: turn 0 idle of 29 events, last handoff 0, prior \"\"; 11 receipts, 0 notes, 0 reservations, 6 tasks, 6 attempts, 4 reviews, 0 sessions",
	"room-9562107a00228aaf: turn 0 idle of 9 events, last handoff 0, prior \"\"; 3 receipts, 0 notes, 0 reservations, 1 tasks, 1 attempts, 1 reviews, 0 sessions",
	"room-bfdb1042eb032fe7: turn 4097 idle of 15 events, last handoff 0, prior \"\"; 5 receipts, 0 notes, 0 reservations, 2 tasks, 2 attempts, 2 reviews, 0 sessions",
	"room-cef0bc5270517e29: turn 4113 owned of 157 events, last handoff 52, prior \"\"; 69 receipts, 2 notes, 0 reservations, 9 tasks, 10 attempts, 8 reviews, 5 sessions",
}
