package pull

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/forge"
	"talkingstick/stick"
)

// TestProgram_NoAnswer: a program that hangs is killed with all that it started, and one that prints
// without end is read only so far.
func TestProgram_NoAnswer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	script := func(text string) string {
		path := filepath.Join(dir, "gh")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}

	rq := New(Config{
		Kernel: core.New(core.Config{
			Dir: dir,
			Environ: append(os.Environ(), "GIT_DIR=/nowhere", "GH_REPO=evil/evil", "GH_TOKEN=sesame",
				"CLICOLOR_FORCE=1", "DEBUG=1"),
		}),
	})
	rq.limit = 200 * time.Millisecond
	run := rq.programRunner(forge.Repo{Host: "github.com", Path: "acme/app"})
	_, err := run(t.Context(), forge.Command{Args: []string{script("sleep 1000\n")}})
	if stick.CodeOf(err) != stick.CodeForgeFailed || !strings.Contains(err.Error(), "didn't answer within 200ms") {
		t.Errorf("it hung: %v", err)
	}

	rq.limit = time.Minute
	pipe := filepath.Join(dir, "pipe") // a child of the program holds it open as long as it lives
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		f, err := os.Open(pipe)
		if err == nil {
			cancel() // the child runs
			_, err = io.Copy(io.Discard, f)
			f.Close()
		}
		gone <- err
	}()

	if _, err := run(ctx, forge.Command{Args: []string{script("sleep 1000 >" + pipe + " & wait\n")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("it was interrupted: %v", err)
	}

	select {
	case err := <-gone:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("what it had started went on")
	}

	out, err := run(t.Context(), forge.Command{Args: []string{script("head -c 5000000 /dev/zero\n")}})
	if err != nil || len(out) != maxProgramOutput {
		t.Errorf("it printed much: %d bytes, %v", len(out), err)
	}

	out, err = run(t.Context(), forge.Command{
		Input: "body",
		Args: []string{
			script("cat; echo \" $GIT_DIR $GH_REPO $GH_TOKEN $CLICOLOR_FORCE$DEBUG$GH_PROMPT_DISABLED\"\n"),
		},
	})
	if err != nil || string(out) != "body   sesame 1\n" {
		t.Errorf("its environment: %q, %v", out, err)
	}
}

func TestProgram_ReasonsHideSecrets(t *testing.T) {
	failed := errors.New("exit status 1")
	for said, want := range map[string]string{
		"":                                  "exit status 1",
		"\n  \nfirst\nsecond":               "first",
		"bad credentials for ghp_abcDEF123": "bad credentials for [hidden]",
		"github_pat_11AB_xyz is over":       "[hidden] is over",
		"glpat-abcdefghijklmnop is over":    "[hidden] is over",
		"can't read https://x:y@host/z":     "can't read https[hidden]host/z",
		"Authorization: Bearer abc":         "[hidden]",
		"the value sesame-open is wrong":    "the value [hidden] is wrong",
		"\x1b[31mred\x1b[0m " + "and so on": "red and so on",
	} {
		if got := reasonOf(said, []string{"GITLAB_TOKEN=sesame-open", "HOME=first"}, failed); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// TestTitle_LosesNothing: what the title of a pull request doesn't hold stands in its text.
func TestTitle_LosesNothing(t *testing.T) {
	long := strings.Repeat("word ", 30) + "end"
	for _, c := range []struct{ said, title, text string }{
		{"", "lexer", ""},
		{"Write it", "Write it", ""},
		{"Write it\n\nas C does\n", "Write it", "as C does"},
		{long, long[:99] + "…", long},
		{long + "\nas C does", long[:99] + "…", long + "\nas C does"},
	} {
		if title, text := titleAndText(stick.Task{ID: "lexer", Description: c.said}); title != c.title ||
			text != c.text {
			t.Errorf("%q: %q and %q", c.said, title, text)
		}
	}
}
