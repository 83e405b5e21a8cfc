//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"talkingstick/internal/store"
)

// hookPlan says what the process in the part of a harness has to run: each variant in turn, first in rounds
// for warming up, then in rounds that count.
type hookPlan struct {
	Setup        []hookVariant // run once before the rounds
	Warm, Rounds int
	Variants     []hookVariant
	WithCPUTime  bool // also measure the processor time of a hook and of its children
	GroupSize    int  // so many variants stay in their order, because one needs the one before it; 0 for one
}

type hookVariant struct {
	Name         string // empty for what isn't measured
	Args         []string
	Dir          string
	Env          []string // beside the process's own
	Stdin        []byte
	MustBeSilent bool // it has to say nothing, whatever it is asked
	AnyOutput    bool // it may say anything
}

// measureHooks measures how long a harness waits for each of its hooks. A process in the part of a harness
// runs them.
func (b *bench) measureHooks() error {
	p := b.newPlace("")
	if err := p.fillHookRoom(); err != nil {
		return err
	}

	outside := filepath.Join(b.dir, "no-room")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		return err
	}

	hook := []string{b.tt, "hook"}

	// This is how tt install writes a hook.
	installed := []string{"/bin/sh", "-c", fmt.Sprintf("[ ! -x %s ] || %s hook || true", b.tt, b.tt)}

	plan := hookPlan{Warm: 10, Rounds: b.sampleCount(200, 40), Variants: []hookVariant{
		{Name: "empty Go", Args: []string{b.empty}, Dir: p.dir},
		{Name: "Go + one read", Args: []string{b.read, filepath.Join(p.data, store.FileName)}, Dir: p.dir},
		{Name: "sh", Args: []string{"/bin/sh", "-c", ":"}, Dir: p.dir},
		{Name: "after a tool", Args: hook, Dir: p.dir, Stdin: b.hookInput("PostToolUse", p.dir)},
		{Name: "after a tool, by sh", Args: installed, Dir: p.dir, Stdin: b.hookInput("PostToolUse", p.dir)},
		{Name: "after a tool, no room", Args: hook, Dir: outside, Stdin: b.hookInput("PostToolUse", outside)},
		{Name: "denied", Args: hook, Dir: p.dir, Stdin: b.hookInput("PreToolUse", p.dir)},
		{Name: "denied, by sh", Args: installed, Dir: p.dir, Stdin: b.hookInput("PreToolUse", p.dir)},
		{Name: "session start", Args: hook, Dir: p.dir, Stdin: b.hookInput("SessionStart", p.dir)},
		{Name: "session start, by sh", Args: installed, Dir: p.dir, Stdin: b.hookInput("SessionStart", p.dir)},
	}}

	s, err := p.runHookPlan(plan)
	if err != nil {
		return err
	}

	floors := fmt.Sprintf("floors of the hook rows: empty Go %s, Go + one read %s, `sh -c :` %s",
		s.formatTimes("empty Go"), s.formatTimes("Go + one read"), s.formatTimes("sh"))

	// Only the first row carries the samples.
	samples := s

	for _, r := range []struct {
		name, what, more string
		most             float64
	}{
		{
			"after a tool", "hook after a tool call, nothing new, whole process",
			"; in a directory without a room: " + s.formatTimes("after a tool, no room"), 8,
		},
		{"denied", "hook before an edit, denied, whole process", "", 8},
		{"session start", "hook when a session starts, with its scan, whole process", "", 20},
	} {
		p50, p99 := s.p50(r.name), s.p99(r.name)
		b.addRow(row{
			What: r.what,
			Goal: fmt.Sprintf("≤ %.0f ms p50, ≤ 20 ms p99", r.most),
			Measured: fmt.Sprintf("%s, %.2f × Go + one read",
				s.formatTimes(r.name), p50/s.p50("Go + one read")),
			Met:     p50 <= r.most && p99 <= 20,
			Figures: s.figures(),
			Samples: samples,
			Notes: []string{floors, fmt.Sprintf("%s: through a shell, as `tt install` writes it: %s%s",
				r.what, s.formatTimes(r.name+", by sh"), r.more)},
		})
		samples = nil
	}

	return nil
}

// fillHookRoom makes the room of a hook: two members, one of whom holds the stick, and the messages between
// them.
func (p place) fillHookRoom() error {
	for _, agent := range []string{"bench:one", "bench:two"} {
		if err := p.runAs(agent, "join"); err != nil {
			return err
		}
	}

	if err := p.runAs("bench:one", "wait"); err != nil {
		return err
	}

	// Enforcement makes the hook before an edit deny, as a row says.
	if err := p.runAs("bench:one", "policy", "set", "enforce=stick"); err != nil {
		return err
	}

	// The log of a real room has messages between others.
	for range 20 {
		err := p.runAs("bench:one", "msg", "send", "bench:two", "the parser keeps its state in a table")
		if err != nil {
			return err
		}
	}

	return nil
}

// hookSession is the session of the agent whose hooks are measured.
const hookSession = "5f0c2b9e-77d1-4c7e-90aa-71c3d1e0aa01"

// hookInput returns what a harness tells its hook about an event in a directory.
func (b *bench) hookInput(event, dir string) []byte {
	if event == "PreToolUse" {
		file := filepath.Join(dir, "src", "parse.go")
		return b.toolInput(event, dir, "Edit", map[string]any{"file_path": file, "old_string": "a", "new_string": "b"})
	}
	return b.toolInput(event, dir, "Bash", map[string]any{"command": "go test ./..."})
}

// toolInput returns what a harness tells its hook about a tool call.
func (b *bench) toolInput(event, dir, tool string, input map[string]any) []byte {
	in, err := json.Marshal(map[string]any{
		"session_id": hookSession, "transcript_path": filepath.Join(b.dir, "session.jsonl"),
		"cwd": dir, "hook_event_name": event,
		"permission_mode": "default", "tool_name": tool, "tool_use_id": "toolu_01", "source": "resume",
		"tool_input": input, "tool_response": map[string]any{"stdout": "ok", "stderr": ""},
	})
	must(err)
	return in
}

// runHookPlan runs the plan in a process that is named like a harness.
func (p place) runHookPlan(plan hookPlan) (series, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}

	harness := filepath.Join(p.dir, "claude")
	if err := os.Symlink(program, harness); err != nil {
		return nil, err
	}

	c, in, out, err := p.startPart(harness, "hooks", "CLAUDE_CODE_SESSION_ID="+hookSession)
	if err != nil {
		return nil, err
	}

	if err := json.NewEncoder(in).Encode(plan); err != nil {
		return nil, err
	}
	in.Close()

	s := series{}
	if err := json.NewDecoder(out).Decode(&s); err != nil {
		c.Process.Kill()
		return nil, fmt.Errorf("the process that runs the hooks printed nothing: %w", err)
	}

	return s, c.Wait()
}

// playHarness is the process that runs a hook plan. Its agent joins, then it runs the plan on its input, and
// prints how long each hook took, from before its start until the kernel has reported its end.
func playHarness() error {
	// The harness joins with a tt below it, so that its hooks belong to a member.
	join := exec.Command(os.Getenv(ttEnv), "join")
	join.Stderr = os.Stderr
	if err := join.Run(); err != nil {
		return err
	}

	fmt.Println("ready")

	var plan hookPlan
	if err := json.NewDecoder(os.Stdin).Decode(&plan); err != nil {
		return err
	}

	// What the rounds need is set up once, without being timed.
	for _, v := range plan.Setup {
		if _, _, err := v.runOnce(); err != nil {
			return err
		}
	}

	s := series{}
	for i := range plan.Warm + plan.Rounds {
		for _, v := range plan.variantsOf(i) {
			took, worked, err := v.runOnce()
			if err != nil {
				return err
			}

			// Rounds for warming up don't count, and neither do variants without a name.
			if i >= plan.Warm && v.Name != "" {
				s.addSample(v.Name, took)
				if plan.WithCPUTime {
					s.addSample(v.Name+workedSuffix, worked)
				}
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// variantsOf returns the variants of a round in their order.
func (plan hookPlan) variantsOf(i int) []hookVariant {
	together := slices.Collect(slices.Chunk(plan.Variants, max(plan.GroupSize, 1)))
	return slices.Concat(alternate(together, i)...)
}

// workedSuffix ends the names of samples of the time of processors.
const workedSuffix = ", processor time"

// runOnce runs a variant once, and says how long that took, and how long processors worked for it. It checks
// the output, because a hook that fails would be fast.
func (v hookVariant) runOnce() (took, worked time.Duration, err error) {
	c := exec.Command(v.Args[0], v.Args[1:]...)
	c.Dir, c.Env, c.Stdin = v.Dir, append(os.Environ(), v.Env...), bytes.NewReader(v.Stdin)
	var said bytes.Buffer
	c.Stdout = &said

	took, err = timeCommand(c, 0)
	if c.ProcessState != nil {
		worked = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}

	// A variant whose output differs from round to round can't be checked.
	if err != nil || v.AnyOutput {
		return took, worked, err
	}

	// Each of these events has a word in its answer that no other has.
	for event, word := range map[string]string{"SessionStart": "additionalContext", "PreToolUse": "deny"} {
		expected := bytes.Contains(v.Stdin, []byte(event)) && !v.MustBeSilent
		if expected != bytes.Contains(said.Bytes(), []byte(word)) {
			return took, worked, fmt.Errorf("the hook (%s) said %q", v.Name, said.String())
		}
	}

	return took, worked, nil
}
