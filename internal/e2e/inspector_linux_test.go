package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/internal/testenv"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// The agents of the scene before each call of the inspector: the caller has the stick, and the other
// has sent it a message and got one.
const (
	inspector stick.AgentID = "claude:inspector"
	partner   stick.AgentID = "codex:partner"
)

// inspections are a call for each tool, as arguments of the inspector. Names in braces stand for values of
// the scene. want is a part of the answer.
var inspections = map[string]struct{ arguments, want string }{
	"list_rooms":    {"", `"relation": "here"`},
	"join_path":     {"context_path={path}", `"joined": false`},
	"wait_for_turn": {"max_wait_ms=0", `"status": "your_turn"`},
	"save_draft":    {"room_id={room} lease_id={lease} expected_turn_id={turn} text=half", `"turn_id": {turn}`},
	"heartbeat":     {"room_id={room} lease_id={lease} expected_turn_id={turn}", `"turn_id": {turn}`},
	"release_stick": {
		`room_id={room} lease_id={lease} expected_turn_id={turn} handoff={"status":"done","next_action":"look"}`,
		`"room_state"`,
	},
	"pass_stick": {
		`room_id={room} lease_id={lease} expected_turn_id={turn} to_agent_id=codex:partner handoff={"status":"done","next_action":"look"}`,
		`"reserved_for": "codex:partner"`,
	},
	"takeover_stick":   {"reason=asked operator_requested=true", `"taken_from": "claude:inspector"`},
	"get_room_state":   {"room_id={room} all=true", `"owner": "claude:inspector"`},
	"get_room_events":  {`event=["join"] limit=1`, `"event_type": "join"`},
	"send_message":     {`to=["codex:partner"] body=hello category=INFO`, `"message_id"`},
	"get_inbox":        {"state=unread", `"message_id": {mine}`},
	"ack_message":      {"message_ids=[{mine}]", `"state": "acked"`},
	"read_message":     {"message_ids=[{mine}]", `"state": "read"`},
	"get_message":      {"message_id={mine}", `"body": "for the inspector"`},
	"withdraw_message": {"message_id={sent}", `"withdrawn_from"`},
	"wait_for_events":  {"target=any after=1 limit=1 max_wait_ms=10000", `"cursor"`},
	"add_note":         {"body=remember", `"note_id"`},
	"list_notes":       {"", `"body": "a note"`},
	"resolve_note":     {"note_id={note}", `"resolved_by": "claude:inspector"`},
	"leave_room":       {"abandon=enough", `"abandoned": true`},
	"kick_member":      {"agent_id=codex:partner force=true reason=asked", `"agent_id": "codex:partner"`},
	"close_room":       {`handoff={"status":"done","next_action":"nothing"}`, `"canonical_path"`},
	"reorder_members":  {`order=["codex:partner"]`, `"changed": true`},
	"set_room_policy":  {`set=["order=sequence"]`, `"changed": true`},
	"get_roster":       {"", `"agent_id": "codex:partner"`},

	"reserve_paths":     {`paths=["src/"]`, `"pattern": "src"`},
	"release_paths":     {"all=true", `"room_id": "{room}"`},
	"list_reservations": {"", `"reservations"`},
	"may_edit":          {`paths=["src/x.go"]`, `"allowed": true`},
	"get_conflicts":     {"", `"room_id"`},

	"list_calls": {"", `"agent_id": "claude:inspector"`},
	"undo_call":  {"call_id={call}", `"kept.txt"`},

	"worker_next":      {"", `"task_id": "lexer"`},
	"worker_comment":   {"task_id=lexer at=lexer:1 body=why? head=feat/lexer", `"drafts": 1`},
	"worker_start":     {"task_id=lexer", `"state": "WORKING"`},
	"worker_done":      {"task_id=lexer", `"state": "IN_REVIEW"`},
	"worker_fail":      {"task_id=lexer reason=enough", `"state": "FAILED"`},
	"worker_heartbeat": {"task_id=lexer", `"state": "WORKING"`},
	"worker_context":   {"task_id=lexer", `"worker": "claude:inspector"`},
}

// inspectors are the callers of tools that the inspector can't call under its own name. Nobody else has such
// a name: its process ends with the call.
var inspectors = map[string]stick.AgentID{"takeover_stick": "codex:taker", "worker_comment": "codex:taker"}

// TestInspectorCallsEveryTool has the inspector, a client by other authors, list the tools and call each of
// them, in a room of its own.
func TestInspectorCallsEveryTool(t *testing.T) {
	leavesMost := testenv.LeavesToFull(t, *allPairs, "a call of each tool, where one in six is called")
	client := realharness.Inspector(t)

	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	inspect := func(t *testing.T, as stick.AgentID, work string, args ...string) string {
		t.Helper()
		c := exec.Command(client, append([]string{"--cli", program, "mcp"}, args...)...)
		c.Dir = work

		c.Env = []string{
			"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TALKING_STICK_DATA_DIR=" + filepath.Join(dir, "data"),
			"TT_HARNESS_AGENT_ID=" + string(as),
		}

		out, err := c.Output() // standard error has the notices of npm's programs
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}

		return string(out)
	}

	var all []string
	for _, which := range []struct {
		args []string
		n    int
	}{{[]string{"--tools", "all"}, len(inspections)}, {nil, 12}} {
		var listed struct {
			Tools []struct {
				Name        string         `json:"name"`
				Description string         `json:"description"`
				InputSchema map[string]any `json:"inputSchema"`
			} `json:"tools"`
		}

		if err := json.Unmarshal([]byte(inspect(t, inspector, dir, append(which.args, "--method", "tools/list")...)), &listed); err != nil {
			t.Fatal(err)
		}

		for _, tool := range listed.Tools {
			if tool.Description == "" || tool.InputSchema["type"] != "object" {
				t.Errorf("%+v", tool)
			}
			if !slices.Contains(all, tool.Name) {
				all = append(all, tool.Name)
			}
			if inspections[tool.Name].want == "" {
				t.Errorf("nobody inspects the tool %s", tool.Name)
			}
		}

		if len(listed.Tools) != which.n {
			t.Errorf("with %v there are %d tools, want %d", which.args, len(listed.Tools), which.n)
		}
	}

	e, tasks := sceneEngine(t, dir)
	for i, name := range all {
		if leavesMost && i%6 > 0 {
			continue
		}

		t.Run(name, func(t *testing.T) {
			work := filepath.Join(dir, name)
			room := inspected(t, e, tasks, work)
			t.Parallel()
			args := []string{"--tools", "all", "--method", "tools/call", "--tool-name", name}
			for _, a := range strings.Fields(inspections[name].arguments) {
				args = append(args, "--tool-arg", room.Replace(a))
			}
			out := inspect(t, cmp.Or(inspectors[name], inspector), work, args...)
			if want := room.Replace(inspections[name].want); strings.Contains(out, `"isError": true`) ||
				!strings.Contains(result(t, out), want) {
				t.Errorf("it answered %s, without %s", out, want)
			}
		})
	}
}

// result is the result of a tool in what the inspector printed: its text, indented as the inspector indents
// JSON.
func result(t *testing.T, printed string) string {
	t.Helper()
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}

	if err := json.Unmarshal([]byte(printed), &r); err != nil || len(r.Content) != 1 {
		t.Fatalf("the inspector printed %s: %v", printed, err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(r.Content[0].Text), "", "  "); err != nil {
		return r.Content[0].Text
	}

	return b.String()
}

func sceneEngine(t *testing.T, dir string) (*engine.Engine, *task.Tasks) {
	t.Helper()
	procs, err := proc.Host()
	if err != nil {
		t.Fatal(err)
	}
	database := storetest.Address(t)
	procs.OneHost = database == ""
	kernel := core.New(core.Config{
		Dir: filepath.Join(dir, "data"), Database: database, Procs: procs,
		Workspace: workspace.Env{Dir: dir, Home: dir},
	})
	e := engine.New(engine.Config{Kernel: kernel})
	t.Cleanup(func() {
		if res, err := e.Upkeep.Doctor(context.Background(), upkeep.DoctorParams{}); err == nil && !res.Healthy {
			t.Errorf("the doctor found %+v", res.Findings)
		}
		e.Close()
	})

	return e, task.New(task.Config{Kernel: kernel})
}

// inspected makes a room, and returns a replacer that puts its values in place of their names.
func inspected(t *testing.T, e *engine.Engine, tasks *task.Tasks, work string) *strings.Replacer {
	t.Helper()
	if out, err := exec.Command("git", "init", "-q", work).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	at, none := core.Where{Path: work}, int64(0)
	by := func(name stick.AgentID) core.Caller {
		return harness.Caller{As: string(name), AsSource: "test", Harness: "claude", User: "ann", Host: "here"}
	}

	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	ctx := t.Context()
	grant, err := e.WaitForTurn(ctx, engine.WaitForTurnParams{Caller: by(inspector), Where: at, MaxWaitMS: &none})
	must(err)
	_, err = e.JoinPath(ctx, engine.JoinPathParams{Caller: by(partner), Path: work})
	must(err)
	mine, err := e.SendMessage(ctx, engine.SendMessageParams{
		Caller: by(partner), Where: at, To: []stick.AgentID{inspector}, Body: "for the inspector",
	})
	must(err)
	sent, err := e.SendMessage(ctx, engine.SendMessageParams{
		Caller: by(inspector), Where: at, To: []stick.AgentID{partner}, Body: "a mistake",
	})
	must(err)
	note, err := e.AddNote(ctx, engine.AddNoteParams{Caller: by(partner), Where: at, Body: "a note"})
	must(err)

	if strings.HasPrefix(filepath.Base(work), "worker_") {
		_, err = e.JoinPath(ctx, engine.JoinPathParams{Caller: by(inspectors["worker_comment"]), Path: work})
		must(err)
		must(tasked(ctx, tasks, work, by))
	}

	call, err := hookedEdit(ctx, e, by(inspector), filepath.Join(work, "kept.txt"))
	must(err)
	return strings.NewReplacer("{path}", work, "{room}", string(grant.RoomID), "{lease}", string(grant.LeaseID), "{turn}", fmt.Sprint(grant.TurnID),
		"{mine}", fmt.Sprint(mine.MessageID), "{sent}", fmt.Sprint(sent.MessageID), "{note}", fmt.Sprint(note.ID), "{call}", fmt.Sprint(call))
}

// hookedEdit writes a file, with the hooks of an edit tool around it, and returns the number of the call.
func hookedEdit(ctx context.Context, e *engine.Engine, by core.Caller, file string) (int64, error) {
	at := core.Where{Path: filepath.Dir(file)}
	p := guard.CheckEditParams{HookParams: core.HookParams{Caller: by, Where: at, Tool: "Edit"}, Paths: []string{file}}

	may, err := e.Guard.CheckEdit(ctx, p)
	if err != nil {
		return 0, err
	}
	if err := e.Guard.EditChecked(ctx, p, may); err != nil {
		return 0, err
	}

	if err := os.WriteFile(file, []byte("a draft\n"), 0o600); err != nil {
		return 0, err
	}
	if _, err := e.Guard.CheckEdited(ctx, p); err != nil {
		return 0, err
	}

	listed, err := e.Guard.Restorer.ListCalls(ctx, restore.ListCallsParams{Caller: by, Where: at})
	if err != nil || len(listed.Calls) == 0 {
		return 0, fmt.Errorf("no call is listed: %w", err)
	}

	return listed.Calls[0].ID, nil
}

// tasked gives the inspector a task with a commit.
func tasked(ctx context.Context, tasks *task.Tasks, work string, by func(stick.AgentID) core.Caller) error {
	git := func(args ...string) error {
		c := exec.Command("git",
			append([]string{"-C", work, "-c", "user.name=Ann", "-c", "user.email=ann@example.invalid"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, out)
		}
		return nil
	}

	at := core.Where{Path: work}
	for _, args := range [][]string{
		{"config", "user.name", "Ann"},
		{"config", "user.email", "ann@example.invalid"},
		{"commit", "--quiet", "--allow-empty", "--message", "first"},
		{"branch", "integration"},
	} {
		if err := git(args...); err != nil {
			return err
		}
	}

	made, err := tasks.WorkerSpawn(ctx, task.WorkerSpawnParams{Caller: by(partner), Where: at, TaskID: "lexer"})
	if err != nil {
		return err
	}
	if _, err := tasks.WorkerStart(ctx, task.WorkerStartParams{
		Caller: by(inspector), Where: at, TaskID: "lexer",
	}); err != nil {
		return err
	}

	if err := os.WriteFile(filepath.Join(made.Worktree, "lexer"), []byte("tokens\n"), 0o600); err != nil {
		return err
	}
	if err := git("-C", made.Worktree, "add", "lexer"); err != nil {
		return err
	}

	return git("-C", made.Worktree, "commit", "--quiet", "--message", "the lexer")
}
