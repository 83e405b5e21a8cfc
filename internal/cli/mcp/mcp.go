// Package mcp serves the operations as MCP tools, to one client.
package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/bell"
	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/hooklog"
	"talkingstick/internal/cli/setup"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/internal/mcpserver"
	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// callLimit is how long a wait through the server lasts if its caller sets no limit. The most impatient
// harness ends a call after a minute.
const callLimit = 50 * time.Second

// Cmd makes tt mcp.
func Cmd(a *app.Run) *cobra.Command {
	var tools string
	var plugin bool
	c := &cobra.Command{
		Use: "mcp", Short: app.MCPShort, Args: app.NoArgs,
		Long: "Serve tt's operations as tools of the Model Context Protocol. " +
			"Harnesses start this server, and it ends with its client. The\n" +
			"tools do the same as the commands, for the same member.",
	}

	c.Flags().StringVar(&tools, "tools", "core", "core (what an agent needs all the time) or all")
	c.Flags().BoolVar(&plugin, "plugin", false,
		"as a plugin of the harness starts it: without tools, if tt install has registered a server that has them")
	c.RunE = func(c *cobra.Command, args []string) error {
		if tools != "core" && tools != "all" {
			return stick.Errorf(stick.CodeUsage, "--tools must be core or all, not %q",
				stick.Clip(tools, 40)).With("field", "tools")
		}

		return serveTools(c.Context(), a, tools == "all", plugin)
	}

	return c
}

// serveTools serves until the client closes its side, or the harness that started the server ends.
func serveTools(ctx context.Context, a *app.Run, all, plugin bool) error {
	in, procs, err := a.ReadSurroundings()
	if err != nil {
		return err
	}

	if plugin {
		leavePlugin(a, procs, in.Chain)
	}

	c := &connection{in: in, dir: a.KernelConfig(procs).Dir}
	if c.server, err = procs.Self(); err != nil {
		return err
	}

	defer c.freeNumber()
	ctx, stop := whileParent(ctx, procs, in.Chain)
	defer stop()
	cfg := a.KernelConfig(procs)

	// Calls come while others wait.
	cfg.Alone = false
	cfg.Lost = c.keepLoss

	// What a server starts may end with the sandbox of its client. A guardian serves nobody else, so it may, and
	// whoever comes next starts the process that merges again.
	ops := app.NewOperations(cfg, app.Starters{Guardian: a.GuardianStarter(), Lander: a.LanderStarter()})
	by, err := harness.Resolve(in)
	if err != nil {
		return err
	}

	err = mcpserver.Run(ctx, mcpserver.Options{
		Engine: ops.Engine, Tasks: ops.Tasks, Version: app.Version(), All: all, Wait: callLimit,
		Note:   string(app.UpperFirst(hooklog.OlderHooks(a, by.Harness))),
		Caller: c.callerOf, Warning: c.takeWarning,
		None: plugin && setup.HasInstalledBeside(a, by.Harness, install.HasOwnServer),
	}, io.NopCloser(a.Stdin), nopWriteCloser{a.Stdout})
	if err == nil || errors.Is(err, io.EOF) || ctx.Err() != nil {
		// A server ends when its client is gone.
		return nil
	}

	return err
}

// pluginRoot is the variable in which harnesses name the directory of a plugin to what they start from it.
const pluginRoot = "CLAUDE_PLUGIN_ROOT"

// leavePlugin has a plugin's server work where its harness works. Some harnesses start it in the directory of
// the plugin.
func leavePlugin(a *app.Run, procs *proc.Table, chain []proc.Info) {
	root, err := os.Stat(a.Getenv(pluginRoot))
	if err != nil || len(chain) == 0 {
		return
	}

	if here, err := os.Stat(a.Dir); err != nil || !os.SameFile(root, here) {
		return
	}

	if dir, ok := procs.WorkingDir(chain[0].ID); ok {
		a.Dir = dir
	}
}

// connection is the one connection of a server. It resolves who calls.
type connection struct {
	in     harness.Input
	server stick.Process
	dir    string // the data directory

	mu     sync.Mutex // guards the rest
	number int        // among the live connections of the client's process; 0 before the first call of such a client
	lock   *bell.FileLock
	says   stick.Words // what the next answer has to say beside its result
}

// keepLoss keeps what the database has lost until a call is answered.
func (c *connection) keepLoss(warning stick.Words) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.says = "Talking Stick: " + warning + "."
}

// takeWarning returns what the next answer has to say, once.
func (c *connection) takeWarning() stick.Words {
	c.mu.Lock()
	defer c.mu.Unlock()
	says := c.says
	c.says = ""
	return says
}

// callerOf resolves who makes a call.
func (c *connection) callerOf(call mcpserver.Call) (core.Caller, error) {
	in := c.in
	in.Connection = &harness.Connection{Client: call.Client, Server: c.server}
	in.SessionHarness, in.SessionID = harness.SessionOfCall(call.Meta)
	if call.As != "" {
		in.As, in.AsSource = call.As, "agent_id_override"
	}

	by, err := harness.Resolve(in)
	if err == nil && by.Client && !by.Process.IsZero() {
		by.Number, err = c.connectionNumber(by)
	}
	return by, err
}

// connectionNumber returns the number of this connection among the live ones of its client's process. The
// number stays the same until the connection ends, and is free then.
func (c *connection) connectionNumber(by core.Caller) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	// A connection keeps its number, so that its member stays the same.
	if c.number > 0 {
		return c.number, nil
	}

	dir, err := bell.Open(c.dir)
	if err != nil {
		return 0, err
	}

	sum := sha256.Sum256([]byte(by.First().Seed()))
	n, lock, err := dir.TakeConnection(hex.EncodeToString(sum[:16]))
	if err != nil {
		return 0, stick.Errorf(stick.CodeDataDirNotWritable,
			"the connection can't be told apart from others: %v", err).With("path", c.dir).
			Hintf("make the data directory writable for the MCP server")
	}

	c.number, c.lock = n, lock
	return n, nil
}

// freeNumber makes the connection's number free.
func (c *connection) freeNumber() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lock != nil {
		// The end of the process frees the number as well.
		_ = c.lock.Unlock()
	}
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// whileParent ends ctx when the process that started this one ends. The end of its streams isn't enough:
// other processes may hold them open.
func whileParent(ctx context.Context, procs *proc.Table, chain []proc.Info) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	if len(chain) == 0 {
		return ctx, cancel
	}

	w, err := procs.Watch(chain[0].ID)
	if err != nil {
		return ctx, cancel
	}

	go func() {
		// This goroutine ends with the parent or with ctx.
		select {
		case <-w.C:
			cancel()
		case <-ctx.Done():
		}
	}()

	return ctx, func() {
		cancel()
		w.Close()
	}
}
