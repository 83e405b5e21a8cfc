package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/testenv"
)

var long = flag.Bool("release.long", false,
	"build for all systems, build again without a cache, and let an older and a newer program meet")

// nativeEnv has the test binary stand in for the program that the wrapper of npm starts.
const nativeEnv = "TT_TEST_NATIVE"

func TestMain(m *testing.M) {
	if os.Getenv(nativeEnv) != "" {
		native()
	}
	status := testenv.Run(m)
	if madeDir != "" {
		os.RemoveAll(madeDir)
	}
	os.Exit(status)
}

// native does what its first argument says: it ends with a status, by a signal, or when it gets a signal,
// which it then names.
func native() {
	switch os.Args[1] {
	case "exit":
		fmt.Println(strings.Join(os.Args[2:], "|"))
		os.Exit(5)

	case "die":
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		select {}

	case "listen":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM, os.Interrupt)
		fmt.Println("ready")

		select {
		case s := <-c:
			fmt.Println(s)
		case <-time.After(time.Minute):
			fmt.Println("no signal came")
		}
		os.Exit(9)
	}
}

var (
	madeOnce sync.Once
	madeDir  string // what the tests share: git, the repository; one and two, two releases
	madeErr  error
)

// host is the system on which the tests run.
var host = system{runtime.GOOS, runtime.GOARCH}

// made returns a directory with two releases for this system, one and two. They are made from one commit,
// which holds the files of the working tree, in different surroundings.
func made(t *testing.T) string {
	t.Helper()
	testenv.SkipShort(t, testenv.Every, "a release, which takes long to build")
	madeOnce.Do(func() {
		if madeDir, madeErr = os.MkdirTemp("", "tt-made-"); madeErr != nil {
			return
		}
		if madeErr = commitTree(filepath.Join(madeDir, "git")); madeErr != nil {
			return
		}
		if madeErr = makeRelease(filepath.Join(madeDir, "one"), host); madeErr != nil {
			return
		}

		for name, value := range map[string]string{"TZ": "Asia/Tokyo", "GOFLAGS": "-tags=nothing", "TMPDIR": madeDir} {
			if was, ok := os.LookupEnv(name); ok {
				defer os.Setenv(name, was)
			} else {
				defer os.Unsetenv(name)
			}
			os.Setenv(name, value)
		}
		madeErr = makeRelease(filepath.Join(madeDir, "two"), host)
	})

	if madeErr != nil {
		t.Fatal(madeErr)
	}
	return madeDir
}

// commitTree makes a repository with one commit of the files of the working tree, as git would add them.
func commitTree(repo string) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}

	for _, args := range [][]string{
		{"init", "--quiet", "--bare", repo},
		{"--git-dir", repo, "--work-tree", root, "add", "--all"},
		{"--git-dir", repo, "--work-tree", root, "commit", "--quiet", "--message", "a commit"},
	} {
		c := exec.Command("git", args...)
		c.Dir = root
		c.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-02-03T04:05:06Z")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}

	return nil
}

func makeRelease(out string, systems ...system) error {
	var said bytes.Buffer
	r := release{repo: filepath.Join(madeDir, "git"), rev: "HEAD", out: out, systems: systems, progress: &said}
	if err := r.makeFiles(context.Background()); err != nil {
		return fmt.Errorf("%w\n%s", err, &said)
	}
	return nil
}
