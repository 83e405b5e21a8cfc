package demo_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/pty"
)

// TestDemoKeys: on a real terminal a key counts without Enter and isn't shown, and q gives the terminal back.
func TestDemoKeys(t *testing.T) {
	terminal, err := pty.Open(60, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	before, err := terminal.Modes()
	if err != nil {
		t.Fatal(err)
	}

	c, temp := command(t)
	c.Path = filepath.Join(filepath.Dir(c.Path), "tt")
	c.Args = []string{c.Path, "demo"}
	c.Env = append(c.Env, "TERM=xterm", "NO_COLOR=1", clitest.Race)
	if err := terminal.Start(c); err != nil {
		t.Fatal(err)
	}

	// The second prompt comes after the key, or when a reader has had the time for the step.
	shown := readUntil(t, terminal, pausePrompt)
	press(t, terminal, "z")
	shown += readUntil(t, terminal, pausePrompt)
	press(t, terminal, "q")
	shown += readUntil(t, terminal, "You left the demo")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}

	if !strings.Contains(shown, "1. You and five agents") || strings.Contains(shown, "z\r") {
		t.Errorf("it shows\n%s", shown)
	}
	if after, err := terminal.Modes(); err != nil || after.Lflag != before.Lflag {
		t.Errorf("the terminal is left as it was while the demo ran: %v", err)
	}
	empty(t, temp)
}

// readUntil reads what a terminal shows, up to a text.
func readUntil(t *testing.T, terminal *pty.Terminal, text string) string {
	t.Helper()
	var shown bytes.Buffer
	part := make([]byte, 4096)
	for !strings.Contains(shown.String(), text) {
		n, err := terminal.Read(part)
		shown.Write(part[:n])
		if err != nil && !os.IsTimeout(err) {
			t.Fatalf("it ended with %v before it showed %q:\n%s", err, text, shown.String())
		}
	}

	return shown.String()
}
