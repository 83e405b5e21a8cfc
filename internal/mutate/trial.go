package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The ends of a mutant.
const (
	killed  = "killed"
	late    = "killed by the limit of time"
	lives   = "lives"
	unbuilt = "doesn't build" // so it shows nothing about the tests
)

// trial is one run of tests in a binary, with a mutant or with none.
type trial struct {
	binary, dir string
	tests       []string      // patterns for -test.run
	flags, env  []string      // besides those that all trials have
	limit       time.Duration // of processor time; 0 for none
}

type outcome struct {
	end, test, said string // the test that killed the mutant; what the tests printed
	took            time.Duration
}

// memory is the largest size of a trial, in KiB.
const memory = 4_000_000

// runTests runs the tests with limits: a mutant may loop for ever, and take all memory. The limit is of
// processor time, so that it doesn't matter what else the machine does. A mutant that sleeps instead meets
// another, which is much longer.
func (t trial) runTests(ctx context.Context) outcome {
	shell := fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$@"`, memory)
	if t.limit > 0 {
		// The shell limits the processor time; the context ends mutants that sleep.
		shell = fmt.Sprintf("ulimit -t %d; ", int(t.limit.Seconds())) + shell
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Minute+20*t.limit)
		defer stop()
	}

	args := []string{
		"-c", shell, "sh", t.binary, "-test.v", "-test.failfast", "-test.timeout=0",
		"-test.run=" + strings.Join(t.tests, "|"),
	}
	c := exec.CommandContext(ctx, "sh", append(args, t.flags...)...)
	c.Dir = t.dir

	// The collector takes a quarter of the time otherwise.
	c.Env = slices.Concat(os.Environ(), []string{"GOMAXPROCS=1", "GOGC=400", "GOMEMLIMIT=1500MiB"}, t.env)

	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()

	got := outcome{end: killed, said: out.String()}

	// A process that couldn't be started has no state.
	if c.ProcessState != nil {
		got.took = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}

	overTime := t.limit > 0 && got.took >= t.limit-time.Second

	// A process that a signal ended near its limit was ended by the limit.
	switch {
	case err == nil:
		got.end = lives
		return got
	case ctx.Err() != nil || overTime && c.ProcessState.ExitCode() < 0:
		got.end = late
	}

	got.test = failedTest(got.said)
	return got
}

var (
	failLine = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	runLine  = regexp.MustCompile(`(?m)^=== RUN +([^\s/]+)`)
)

// failedTest finds the first test that failed in what `go test -v` prints. If none says so, the process ended
// in the midst of one: the last that began.
func failedTest(said string) string {
	if m := failLine.FindStringSubmatch(said); m != nil {
		return m[1]
	}
	if all := runLine.FindAllStringSubmatch(said, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	return "the start"
}

// listTests lists the tests of a binary, in the order in which they run.
func listTests(ctx context.Context, binary, dir string) ([]string, error) {
	c := exec.CommandContext(ctx, binary, "-test.list=.")
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		return nil, err
	}

	var tests []string
	for name := range strings.Lines(string(out)) {
		if name = strings.TrimSpace(name); name != "" && !strings.HasPrefix(name, "Benchmark") {
			tests = append(tests, name)
		}
	}

	return tests, nil
}
