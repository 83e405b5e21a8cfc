package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/stick"
)

func (a *app) helperCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "helper -- <command>…", Short: "Start an agent as a helper, in a window of its own inside tmux", Args: between(1, -1, "a command"),
		Long: "Start a command with AI_HELPER=1 and an AI_AGENT_ID of its own, so that its session is a helper's. Inside tmux it gets a window\n" +
			"named <project>:helper-<id>; elsewhere it runs here. An agent that is started without this finds out by itself, too.",
		Example: "  tt helper -- claude",
	}
	c.RunE = func(c *cobra.Command, args []string) error { return a.helper(c.Context(), args) }
	return c
}

func (a *app) helper(ctx context.Context, command []string) error {
	path, err := lookPath(command[0], a.Getenv("PATH"), a.Dir)
	if err != nil {
		return stick.Errorf(stick.CodeUsage, "there is no program %q", stick.Clip(command[0], 60)).With("field", "command")
	}
	e, by, err := a.open()
	if err != nil {
		return err
	}
	res, err := e.ListSessions(ctx, engine.ListSessionsParams{Caller: by})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(res.Sessions, func(s engine.ListedSession) bool { return s.Role == stick.RolePrimary && s.Verdict != stick.Gone }) {
		fmt.Fprintln(a.Stderr, "tt: no primary is known here; what is the primary's has nobody who does it")
	}
	id := helperName(res.Sessions)
	set := []string{"AI_AGENT_ID=" + id, "AI_HELPER=1"}
	if a.Getenv("TMUX") == "" {
		return a.runHelper(ctx, path, command, set)
	}
	window := stick.ContextName(filepath.Base(res.Path)) + ":" + id
	line := append([]string{"new-window", "-n", window, "-c", a.Dir, "env"}, append(set, command...)...)
	tmux := exec.CommandContext(ctx, "tmux", line...)
	if out, err := tmux.CombinedOutput(); err != nil {
		return stick.Errorf(stick.CodeInternal, "tmux can't open a window: %s", stick.Clip(string(out), 160))
	}
	return a.print(helperResult{AgentID: id, Window: window}, func(p *page) { p.linef("%s runs in the window %s", id, stick.Line(window)) })
}

// helperResult is a helper that was started in a window.
type helperResult struct {
	AgentID string `json:"ai_agent_id"` // the name of its context file
	Window  string `json:"window"`      // of tmux
}

// helperName makes a name that no session has.
func helperName(sessions []engine.ListedSession) string {
	for {
		var b [2]byte
		_, _ = rand.Read(b[:]) // it never fails
		name := "helper-" + hex.EncodeToString(b[:])
		if !slices.ContainsFunc(sessions, func(s engine.ListedSession) bool { return s.Name == name }) {
			return name
		}
	}
}

// runHelper runs the command here, and ends as it does.
func (a *app) runHelper(ctx context.Context, path string, command, set []string) error {
	c := exec.CommandContext(ctx, path, command[1:]...)
	c.Args[0] = command[0]
	c.Stdin, c.Stdout, c.Stderr, c.Dir = a.Stdin, a.Stdout, a.Stderr, a.Dir
	c.Env = append(os.Environ(), set...)
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		a.status = max(exit.ExitCode(), 1)
		return nil
	}
	return err
}

// lookPath finds a program as the shell in dir would.
func lookPath(name, path, dir string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	for _, d := range filepath.SplitList(path) {
		if p, err := exec.LookPath(filepath.Join(d, name)); err == nil {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}
