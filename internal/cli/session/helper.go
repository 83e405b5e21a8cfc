package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// HelperCmd makes tt helper.
func HelperCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "helper -- <command>…", Short: "Start an agent as a helper, in a window of its own inside tmux",
		Args: app.ArgsBetween(1, -1, "a command"),
		Long: "Start a command with AI_HELPER=1 and an AI_AGENT_ID of its own, " +
			"so that its session is a helper. Inside tmux it gets a window\n" +
			"named <project>:helper-<id>; otherwise it runs here. " +
			"An agent that you start without this finds out by itself that others are\n" +
			"at work.",
	}
	c.RunE = func(c *cobra.Command, args []string) error { return startHelper(c.Context(), a, args) }
	return c
}

func startHelper(ctx context.Context, a *app.Run, command []string) error {
	path, err := lookPath(command[0], a.Getenv("PATH"), a.Dir)
	if err != nil {
		return stick.Errorf(stick.CodeUsage, "there is no program %q", stick.Clip(command[0], 60)).
			With("field", "command")
	}

	e, by, err := a.Open()
	if err != nil {
		return err
	}

	res, err := e.ListSessions(ctx, roster.ListSessionsParams{Caller: by})
	if err != nil {
		return err
	}

	// A helper without a primary works, but nobody does the startup work.
	hasPrimary := slices.ContainsFunc(res.Sessions, func(s roster.ListedSession) bool {
		return s.Role == stick.RolePrimary && s.Verdict != stick.Gone
	})
	if !hasPrimary {
		_ = a.Sayf("tt: there is no known primary here, so nobody does the primary's work")
	}

	id := helperName(res.Sessions)
	set := []string{"AI_AGENT_ID=" + id, "AI_HELPER=1"}
	if a.Getenv("TMUX") == "" {
		return runHelper(a, path, command, set)
	}

	window := presence.ContextName(filepath.Base(res.Path)) + ":" + id

	// A window has the environment of tmux's server, so ours is passed along.
	env := append(helperEnviron(os.Environ()), set...)
	tmux := exec.CommandContext(ctx, "tmux", tmuxWindow(window, a.Dir, env, command)...)
	if out, err := tmux.CombinedOutput(); err != nil {
		return stick.Errorf(stick.CodeInternal, "tmux couldn't open a window: %s", stick.Clip(string(out), 160))
	}

	return a.Print(HelperResult{AgentID: id, Window: window},
		func(p *term.Page) { p.Linef("%s runs in the window %s", id, window) })
}

// HelperResult is a helper that was started in a window.
type HelperResult struct {
	AgentID string `json:"ai_agent_id"` // the name of its context file
	Window  string `json:"window"`      // of tmux
}

// helperName makes a name that no session has.
func helperName(sessions []roster.ListedSession) string {
	for {
		var b [2]byte

		// Reading random bytes never fails.
		_, _ = rand.Read(b[:])
		name := "helper-" + hex.EncodeToString(b[:])
		if !slices.ContainsFunc(sessions, func(s roster.ListedSession) bool { return s.Name == name }) {
			return name
		}
	}
}

// tmuxWindow returns the command line that opens a window in which a command runs. tmux interprets its
// arguments: it expands formats in the directory, so a shell changes to that instead, and it takes a last
// semicolon for the end of a tmux command.
func tmuxWindow(name, dir string, env, command []string) []string {
	shell := []string{"sh", "-c", `cd "$1" && shift && exec env "$@"`, "sh", dir}
	line := slices.Concat([]string{"new-window", "-n", name}, shell, env, command)

	// A last semicolon would end the command of tmux.
	for i, arg := range line {
		if rest, ends := strings.CutSuffix(arg, ";"); ends {
			line[i] = rest + `\;`
		}
	}
	return line
}

// isCallerVariable reports whether a variable says who calls.
func isCallerVariable(v string) bool {
	name, _, _ := strings.Cut(v, "=")
	return slices.Contains(app.CallerVariables, name)
}

// helperEnviron returns those of our variables that hold for the helper, too. A window of tmux has the
// environment of tmux's server, which may have been started with other values.
func helperEnviron(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return isCallerVariable(v) || !strings.HasPrefix(v, "TT_") && !strings.HasPrefix(v, "TALKING_STICK_")
	})
}

// runHelper runs the command here, and ends when the command ends, with its status. A signal to us is passed
// on and doesn't end us first: the command may have something to clean up, and its hooks report the end of
// its session.
func runHelper(a *app.Run, path string, command, set []string) error {
	c := exec.Command(path, command[1:]...)
	c.Args[0] = command[0]
	c.Stdin, c.Stdout, c.Stderr, c.Dir = a.Stdin, a.Stdout, a.Stderr, a.Dir
	c.Env = append(slices.DeleteFunc(os.Environ(), isCallerVariable), set...)

	// The helper may need long to clean up after a signal.
	a.Interrupts.Tends.Store(true)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := c.Start(); err != nil {
		return err
	}

	ended := make(chan error, 1)

	// This goroutine ends with the command.
	go func() { ended <- c.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM || !atTerminal(a) {
				// A terminal sends SIGINT and SIGHUP to the command itself.
				// This fails when the command has just ended.
				_ = c.Process.Signal(s)
			}
		case err := <-ended:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				a.Status = app.ExitStatus(exit.ProcessState)
				return nil
			}

			return err
		}
	}
}

// atTerminal reports whether one of our streams is a terminal.
func atTerminal(a *app.Run) bool {
	return slices.ContainsFunc([]any{a.Stdin, a.Stdout, a.Stderr}, func(s any) bool {
		f, ok := s.(*os.File)
		return ok && app.IsTerminal(f)
	})
}

// lookPath finds a program as a shell in dir would.
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
