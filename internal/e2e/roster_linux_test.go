package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

var (
	rosterSessions = flag.Int("roster.sessions", 40, "how many sessions start at the same instant")
	rosterCrashes  = flag.Int("roster.crashes", 5, "how many primaries crash, one after the other")
)

// started is tt's answer to a session's start.
type sessionStart struct {
	Agent     stick.AgentID   `json:"agent_id"`
	Role      stick.Role      `json:"role"`
	Verdict   stick.StartKind `json:"verdict"`
	Context   string          `json:"context_path"`
	Recovered *struct {
		Agent   stick.AgentID  `json:"agent_id"`
		Path    string         `json:"context_path"`
		Handoff *stick.Handoff `json:"handoff"`
	} `json:"recovered"`
}

// starter is a harness that starts a session when its gate opens, prints tt's answer, and lives on. It is a
// shell with the name of a harness, because there are many of them.
type starter struct {
	*exec.Cmd
	out  bytes.Buffer
	said chan struct{} // closed when it has answered
}

// starters starts harnesses that all wait at one gate, which open opens.
func (w *world) starters(n int, name string) (all []*starter, open func()) {
	w.t.Helper()
	gateRead, gate, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	defer gateRead.Close()

	for i := range n {
		s := &starter{said: make(chan struct{})}
		answer, answerEnd, err := os.Pipe()
		if err != nil {
			w.t.Fatal(err)
		}
		s.Cmd = exec.Command("/bin/bash", "--norc", "-c",
			"read -r _ <&3; exec 3<&-; tt session start --json >&4 2>&4; exec 4>&-; read -r _; :")
		s.Args[0] = name
		s.Dir, s.Env = w.work, overlay(w.env, []string{
			fmt.Sprintf("%s_SESSION_ID=%s-%d-%d",
				map[string]string{"claude": "CLAUDE_CODE", "codex": "CODEX"}[name], name, os.Getpid(), i),
		})
		s.ExtraFiles = []*os.File{gateRead, answerEnd}
		in, err := s.StdinPipe()
		if err != nil {
			w.t.Fatal(err)
		}

		if err := s.Start(); err != nil {
			w.t.Fatal(err)
		}
		answerEnd.Close()

		w.t.Cleanup(func() {
			s.crash()
			in.Close()
		})

		go func() { // ends with the answer, or the harness
			s.out.ReadFrom(answer)
			answer.Close()
			close(s.said)
		}()
		all = append(all, s)
	}

	return all, func() { gate.Close() }
}

// crash kills only the harness's own process, and waits until it is gone.
func (s *starter) crash() {
	if s.ProcessState == nil {
		s.Process.Signal(syscall.SIGKILL)
		s.Wait()
	}
}

func (s *starter) answer(t *testing.T) (a sessionStart) {
	t.Helper()
	<-s.said
	if err := json.Unmarshal(s.out.Bytes(), &a); err != nil {
		t.Fatalf("tt session start said %q: %v", s.out.String(), err)
	}
	return a
}

// TestSimultaneousStarts: many sessions start at the same instant, before there is a room. One becomes the
// primary and the others are helpers, each with its own context file. Then the primary crashes, again and
// again. Each time one of the next sessions recovers, and there are never two primaries.
func TestSimultaneousStarts(t *testing.T) {
	storetest.SkipQuick(t, "sessions that start at the same instant")
	w := newWorld(t)
	all, open := w.starters(*rosterSessions, "claude")
	open()
	var primary *starter

	names := map[string]bool{}
	for _, s := range all {
		a := s.answer(t)
		name := strings.ToLower(a.Context)
		if names[name] || !strings.HasPrefix(a.Context, filepath.Join(w.work, ".talking-stick")+"/") {
			t.Errorf("%s has the context file %s", a.Agent, a.Context)
		}

		names[name] = true
		first, err := os.ReadFile(a.Context)
		switch {
		case err != nil:
			t.Error(err)
		case a.Role == stick.RoleHelper &&
			!strings.HasPrefix(string(first), strings.TrimSuffix(filepath.Base(a.Context), ".md")+"\n"):
			t.Errorf("%s begins with %q", a.Context, first)
		}

		switch {
		case a.Role == stick.RolePrimary && primary == nil && a.Verdict == stick.StartFresh:
			primary = s
		case a.Role != stick.RoleHelper || a.Verdict != stick.StartHelper:
			t.Errorf("%s is %s, %s, and somebody else is the primary", a.Agent, a.Role, a.Verdict)
		}
	}

	if primary == nil {
		t.Fatal("nobody is the primary")
	}
	ok(t, w.person("try", "--as", "writer"))
	ok(t, w.person("release", "--as", "writer", "--status", "wrote it", "--next-action", "review it"))

	leader := primary.answer(t)
	for round := range *rosterCrashes {
		note := fmt.Sprintf("of round %d\n", round)
		f, err := os.OpenFile(leader.Context, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(note)
		f.Close()
		primary.crash()
		next, open := w.starters(2, []string{"codex", "claude"}[round%2])
		open()

		primary = nil
		for _, s := range next {
			a := s.answer(t)
			if a.Role != stick.RolePrimary {
				continue
			}
			if primary != nil {
				t.Fatalf("round %d: two primaries", round)
			}

			if a.Verdict != stick.StartRecover ||
				a.Recovered == nil ||
				a.Recovered.Agent != leader.Agent ||
				a.Recovered.Path != leader.Context ||
				a.Recovered.Handoff == nil || a.Recovered.Handoff.NextAction != "review it" {
				t.Fatalf("round %d: after %s: %s", round, leader.Agent, s.out.String())
			}
			if text, err := os.ReadFile(a.Context); err != nil || !strings.HasSuffix(string(text), note) {
				t.Errorf("round %d: what was left is lost: %q, %v", round, text, err)
			}
			primary, leader = s, a
		}

		if primary == nil {
			t.Fatalf("round %d: nobody is the primary: %s %s", round, next[0].out.String(), next[1].out.String())
		}
	}

	leads := 0
	var listed struct {
		Sessions []struct {
			Agent   stick.AgentID `json:"agent_id"`
			Role    stick.Role    `json:"role"`
			Verdict stick.Verdict `json:"verdict"`
		} `json:"sessions"`
	}

	if err := json.Unmarshal([]byte(ok(t, w.person("session", "list")).Out), &listed); err != nil {
		t.Fatal(err)
	}

	for _, s := range listed.Sessions {
		if s.Role == stick.RolePrimary {
			leads++
		}
	}

	if want := *rosterSessions + *rosterCrashes; leads != 1 || len(listed.Sessions) != want {
		t.Errorf("%d primaries among %d sessions; %d were started and not ended", leads, len(listed.Sessions), want)
	}
	w.healthy()
}
