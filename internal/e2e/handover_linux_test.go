package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/testenv"
)

// TestHandOver: tt has tt-full, which lies beside it, run what only that has, and says what is wrong where there is none or another one.
func TestHandOver(t *testing.T) {
	testenv.SkipShort(t, testenv.Every, "tt and tt-full as they are built")
	t.Parallel()
	tt, err := program()
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	linked := filepath.Join(dir, "linked")
	if err := os.Symlink(tt, linked); err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(dir, "alone", "tt")
	if err := os.Mkdir(filepath.Dir(alone), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", tt, alone).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	full := tt + "-full"
	for _, c := range []struct {
		name    string
		program string
		args    string
		env     string
		status  int
		says    string
	}{
		{"watch", tt, "watch", "", 0, "Nothing needs you."},
		{"mcp", tt, "mcp --tools some", "", 2, "--tools must be core or all"},
		{"help", tt, "help serve", "", 0, "--sign-out"},
		{"flag for help", tt, "notify --help", "", 0, "--room"},
		{"flags before the command", tt, "--json watch", "", 0, `"rooms"`},
		{"completion", tt, "__complete watch --ro", "", 0, "--room"},
		{"wrong flag", tt, "serve --bogus", "", 2, "unknown flag: --bogus"},
		{"demo on a screen", tt, "demo --watch", "", 2, "--watch needs a terminal"},
		{"through a link", linked, "watch", "", 0, "Nothing needs you."},
		{"called itself", full, "watch", "", 0, "Nothing needs you."},
		{"what tt has", full, "version", "", 0, "tt "},
		{"list of commands", alone, "help --all", "", 0, "watch"},
		{"none beside it", alone, "watch", "", 3, "this command is in tt-full, which isn't beside " + alone},
		{"what the doctor says of none", alone, "doctor", "", 0, "tt-full isn't beside " + alone},
		{"a demo whose pages nobody can serve", alone, "demo --fast --serve", "", 3, "this command is in tt-full, which isn't beside " + alone},
		{"another build", full, "watch", "TT_HANDED_BY=0.0.1", 7, "tt is 0.0.1, but the tt-full beside it is "},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := exec.Command(c.program, strings.Fields(c.args)...)
			run.Dir = dir
			run.Env = []string{"HOME=" + dir, "USER=ann", "PATH=/usr/bin:/bin", c.env}
			out, err := run.CombinedOutput()
			if status := run.ProcessState.ExitCode(); status != c.status || !strings.Contains(string(out), c.says) {
				t.Errorf("tt %s ends with %d (%v), want %d, and says\n%s\nwithout %q", c.args, status, err, c.status, out, c.says)
			}
		})
	}
}
