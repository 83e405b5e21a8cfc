package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// desk is a workspace with a database and the server's options for it. The caller of a call is the
// agent that its connection's agent_id_override names, else ann's agent.
type desk struct {
	*testing.T
	work   string
	engine *engine.Engine
	procs  *proc.Table
	self   stick.Process
	o      Options
}

// agent makes the calls that name no agent.
const agent stick.AgentID = "claude:a"

func newDesk(t *testing.T) *desk {
	t.Helper()
	procs, err := proc.Host()
	if err != nil {
		t.Skipf("SKIPPED: the processes of this machine can't be seen: %v", err)
	}
	database := storetest.Address(t)
	procs.OneHost = database == ""
	self, err := procs.Self()
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	d := &desk{T: t, work: filepath.Join(dir, "work"), procs: procs, self: self}
	if err := os.MkdirAll(filepath.Join(d.work, ".talking-stick"), 0o755); err != nil {
		t.Fatal(err)
	}
	kernel := core.New(core.Config{
		Dir: filepath.Join(dir, "data"), Database: database, Procs: procs,
		Workspace: workspace.Env{Dir: d.work, Home: d.work},
	})
	d.engine = engine.New(engine.Config{Kernel: kernel})

	t.Cleanup(func() {
		res, err := d.engine.Upkeep.Doctor(context.Background(), upkeep.DoctorParams{})
		if err == nil && !res.Healthy {
			t.Errorf("the doctor found %+v", res.Findings)
		}

		if err := d.engine.Close(); err != nil {
			t.Error(err)
		}
	})

	d.o = Options{Engine: d.engine, Tasks: task.New(task.Config{Kernel: kernel}), Version: "test", All: true, Wait: time.Minute, Caller: func(c Call) (core.Caller, error) {
		if c.As == "" {
			c.As = string(agent)
		}
		return d.caller(stick.AgentID(c.As)), nil
	}}

	return d
}

// caller is an agent whose name is assumed; its process is the test's, which lives. It is ann's agent that
// runs in it: it only carries the others, so that they aren't ann's under other names.
func (d *desk) caller(name stick.AgentID) core.Caller {
	proof := stick.ProvesCarrier
	if name == agent {
		proof = stick.ProvesSession
	}
	return harness.Caller{
		As: string(name), AsSource: "test", Harness: "claude", Process: d.self, Proof: proof, User: "ann",
		Host: "here",
	}
}

func (d *desk) at() core.Where { return core.Where{Path: d.work} }

// join has agents join the room.
func (d *desk) join(names ...stick.AgentID) stick.RoomID {
	d.Helper()
	var room stick.RoomID
	for _, name := range names {
		res, err := d.engine.JoinPath(d.Context(), engine.JoinPathParams{Caller: d.caller(name), Path: d.work})
		if err != nil {
			d.Fatal(err)
		}
		room = res.RoomID
	}

	return room
}

// git runs git in the workspace.
func (d *desk) git(args ...string) {
	d.Helper()
	c := exec.Command("git", args...)
	c.Dir = d.work

	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.work, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann",
		"GIT_AUTHOR_EMAIL=ann@example.invalid",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.invalid",
	}

	if out, err := c.CombinedOutput(); err != nil {
		d.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// task makes the workspace a repository with a task.
func (d *desk) task(id string) {
	d.Helper()
	d.git("init", "--quiet")
	d.git("symbolic-ref", "HEAD", "refs/heads/integration")
	d.git("config", "user.name", "Ann")
	d.git("config", "user.email", "ann@example.invalid")
	d.git("commit", "--quiet", "--allow-empty", "--message", "first")
	_, err := d.o.Tasks.WorkerSpawn(d.Context(), task.WorkerSpawnParams{
		Caller: d.caller("codex:b"), Where: d.at(), TaskID: id,
	})
	if err != nil {
		d.Fatal(err)
	}
}

// taskForLater makes a task that nobody has begun.
func (d *desk) taskForLater(id string) {
	d.Helper()
	_, err := d.o.Tasks.WorkerSpawn(d.Context(), task.WorkerSpawnParams{
		Caller: d.caller("codex:b"), Where: d.at(), TaskID: id, Later: true,
	})
	if err != nil {
		d.Fatal(err)
	}
}

// say has an agent send a message to another.
func (d *desk) say(from, to stick.AgentID, body string) int64 {
	d.Helper()
	res, err := d.engine.SendMessage(d.Context(), engine.SendMessageParams{
		Caller: d.caller(from), Where: d.at(), To: []stick.AgentID{to}, Body: body,
	})
	if err != nil {
		d.Fatal(err)
	}

	return res.MessageID
}

// listeners counts the members that listen.
func (d *desk) listeners() (n int) {
	d.Helper()
	res, err := d.engine.GetRoomState(d.Context(), engine.GetRoomStateParams{
		Caller: d.caller("claude:watcher"), Where: d.at(),
	})
	if err != nil {
		d.Fatal(err)
	}

	for _, m := range res.Members {
		if m.Listening != "" {
			n++
		}
	}

	return n
}

// soon waits until something has happened, and fails the test if it doesn't happen.
func (d *desk) soon(what string, happened func() bool) {
	d.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if happened() {
			return
		}
	}
	d.Fatalf("%s: it didn't happen in time", what)
}

// client is a client of the SDK, with its server in this process.
type client struct {
	*desk
	*mcp.ClientSession
	progress chan float64
}

func (d *desk) client() *client {
	d.Helper()
	c := &client{desk: d, progress: make(chan float64, 1000)}
	here, there := mcp.NewInMemoryTransports()
	server, err := newServer(d.Context(), d.o).Connect(d.Context(), there, nil)
	if err != nil {
		d.Fatal(err)
	}

	c.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, q *mcp.ProgressNotificationClientRequest) {
			c.progress <- q.Params.Progress
		},
	}).Connect(d.Context(), here, nil)
	if err != nil {
		d.Fatal(err)
	}

	d.Cleanup(func() {
		c.Close()
		server.Wait()
	})

	return c
}

// named is a client on whose connection the caller has another name.
func (d *desk) named(name stick.AgentID) *client {
	d.Helper()
	c := d.client()
	c.ok("join_path", doc{"context_path": d.work, "agent_id_override": string(name)})
	return c
}

// doc is a JSON object.
type doc = map[string]any

// call calls a tool and returns its result.
func (c *client) call(tool string, arguments any) (result doc, failed bool) {
	c.Helper()
	res, err := c.CallTool(c.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		c.Fatalf("%s: %v", tool, err)
	}
	return c.result(res)
}

func (d *desk) result(res *mcp.CallToolResult) (result doc, failed bool) {
	d.Helper()
	text := res.Content[0].(*mcp.TextContent).Text
	err := json.Unmarshal([]byte(text), &result)
	if err != nil || len(res.Content) != 1 || res.IsError == (res.StructuredContent == nil) {
		d.Fatalf("the text is %s, and the structure %v: %v", text, res.StructuredContent, err)
	}
	return result, res.IsError
}

// ok calls a tool, which has to succeed.
func (c *client) ok(tool string, arguments any) doc {
	c.Helper()
	res, failed := c.call(tool, arguments)
	if failed {
		c.Fatalf("%s failed: %v", tool, res)
	}
	return res
}

// same reports whether two texts are the same JSON.
func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}

	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// wire is a client that writes lines, for what the SDK's client can't send.
type wire struct {
	*desk
	in    io.WriteCloser
	out   *bufio.Reader
	stop  context.CancelFunc // tells the server to end
	ended chan error
}

func (d *desk) wire() *wire {
	d.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ctx, stop := context.WithCancel(context.WithoutCancel(d.Context()))
	w := &wire{desk: d, in: send, out: bufio.NewReader(receive), stop: stop, ended: make(chan error, 1)}
	go func() { w.ended <- Run(ctx, d.o, io.NopCloser(in), out) }() // nobody closes a process's standard input under it

	d.Cleanup(func() {
		stop()
		send.Close()
		receive.Close()
	})

	w.write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"wire","version":"1"}}}`)
	w.read()
	w.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) write(line string) {
	w.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.Fatal(err)
	}
}

// message is a line of the server.
type message struct {
	ID     *int   `json:"id"`
	Method string `json:"method"`
	Error  doc    `json:"error"`
	Result struct {
		Content []struct{ Text string }
		IsError bool `json:"isError"`
	} `json:"result"`
}

// answer is the result of a tool.
func (m message) answer() (res doc) {
	if len(m.Result.Content) == 1 && json.Unmarshal([]byte(m.Result.Content[0].Text), &res) == nil {
		return res
	}
	return doc{}
}

func (w *wire) read() (m message) {
	w.Helper()
	line, err := w.out.ReadBytes('\n')
	if err != nil {
		w.Fatal(err)
	}
	if err := json.Unmarshal(line, &m); err != nil {
		w.Fatalf("%s: %v", line, err)
	}

	return m
}

// over waits for the server's end. It reads what the server still writes, so that the server doesn't block.
func (w *wire) over() {
	w.Helper()
	go io.Copy(io.Discard, w.out)
	select {
	case err := <-w.ended:
		if err != nil && !errors.Is(err, context.Canceled) {
			w.Error(err)
		}
	case <-time.After(30 * time.Second):
		w.Fatal("the server doesn't end")
	}
}
