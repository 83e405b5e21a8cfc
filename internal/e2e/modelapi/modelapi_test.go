package modelapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// post asks as a harness does, and gives the whole answer.
func post(t *testing.T, c *Session, path, body string) (status int, answer string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("X-Claude-Code-Session-Id", "their-session")
	q.Header.Set("Session-Id", "their-session")
	q.Header.Set("X-Session-Affinity", "their-session")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}

	return r.StatusCode, string(b)
}

// TestSideRequests sends what harnesses ask beside the conversation. No step is used up by it.
func TestSideRequests(t *testing.T) {
	c := Start(t).Session("x", Steps(Say("the only step")))
	for path, body := range map[string]string{
		"/v1/messages":                     `{"messages":[{"role":"user","content":"title?"}]}`,
		"/v1/messages/count_tokens":        `{"tools":[{"name":"Bash"}],"messages":[]}`,
		"/v1/responses":                    `{"input":"title?"}`,
		"/v1/chat/completions":             `{"stream":true,"messages":[]}`,
		"/v1beta/models/m:countTokens":     `{"contents":[]}`,
		"/v1beta/models/m:generateContent": `{"contents":[],"generationConfig":{"responseMimeType":"application/json"}}`,
	} {
		if status, answer := post(t, c, path, body); status != http.StatusOK ||
			answer == "" ||
			strings.Contains(answer, "step") {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}

	for path, want := range map[string]int{"/": 200, "/v1/models": 200, "/v1/else": 404} {
		r, err := http.Get(c.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("GET %s: %s", path, r.Status)
		}
	}

	if len(c.Requests()) != 0 || len(c.SideRequests()) != 9 {
		t.Errorf("%d requests, %d aside", len(c.Requests()), len(c.SideRequests()))
	}
	if _, answer := post(t, c, questions[0].path, questions[0].body); !strings.Contains(answer, "the only step") {
		t.Error(answer)
	}
}

// failing takes down what would fail a test.
type failing struct {
	testing.TB
	mu   sync.Mutex
	said []string // guarded by mu
}

func (f *failing) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

// TestWhatCannotBeAnsweredFailsTheTest also shows that the harness gets an answer nevertheless, and so
// comes to its end.
func TestWhatCannotBeAnsweredFailsTheTest(t *testing.T) {
	for name, c := range map[string]struct {
		script Script
		want   string
	}{
		"no step left":            {Steps(), ErrNoStep.Error()},
		"a tool that isn't there": {Do(Edit("/f", "a", "b")), "offers no tool Edit, but Bash, Write, mcp__srv__ping"},
		"text for an object":      {Do(Named("Bash", "ls")), "doesn't take a string"},
		"a failing script": {
			func(context.Context, *Request) (Reply, error) { return Reply{}, errors.New("oops") }, "oops",
		},
		"no such session": {nil, "belongs to no session"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &failing{TB: t}
			s := Start(f).Session("x", c.script)
			if c.script == nil {
				s.name = "y"
			}
			status, answer := post(t, s, questions[0].path, questions[0].body)
			if len(f.said) != 1 || !strings.Contains(f.said[0], c.want) {
				t.Errorf("the test was told %q", f.said)
			}
			if c.script != nil && (status != http.StatusOK || !strings.Contains(answer, "The script failed")) {
				t.Errorf("the harness was told %d %s", status, answer)
			}
		})
	}
}

// TestReply_Status: a harness of each dialect gets an error of the API, which fails no test.
func TestReply_Status(t *testing.T) {
	s := Start(t).Session("x", func(context.Context, *Request) (Reply, error) {
		return Reply{Status: http.StatusBadRequest, Text: "no credit"}, nil
	})
	for _, q := range questions {
		if status, answer := post(t, s, q.path, q.body); status != http.StatusBadRequest || !strings.Contains(answer, "no credit") {
			t.Errorf("%s: the harness was told %d %s", q.dialect, status, answer)
		}
	}
}

func TestSessionsDontSeeEachOther(t *testing.T) {
	s := Start(t)
	var all []*Session
	for i := range 4 {
		all = append(all,
			s.Session(fmt.Sprint("s", i), Steps(Say(fmt.Sprint("first of ", i)), Say(fmt.Sprint("second of ", i)))))
	}

	var wait sync.WaitGroup
	for i, c := range all {
		q := questions[i]
		wait.Go(func() {
			for _, nth := range []string{"first", "second"} {
				if _, answer := post(t, c, q.path, q.body); !strings.Contains(answer, fmt.Sprint(nth, " of ", i)) {
					t.Errorf("session %d: %s", i, answer)
				}
			}
		})
	}

	wait.Wait()
	for _, c := range all {
		if len(c.Requests()) != 2 {
			t.Errorf("session %s was asked %d times", c.name, len(c.Requests()))
		}
	}
}

func TestStepsInTheOrderOfTheTest(t *testing.T) {
	s := Start(t)
	reached, gate := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var order []string
	note := func(word string) Script {
		return func(context.Context, *Request) (Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, word)
			return Reply{Text: word}, nil
		}
	}

	waits := s.Session("waits", Steps(Seen(reached, When(gate, note("second")))))
	goes := s.Session("goes", Steps(note("first")))
	var wait sync.WaitGroup
	wait.Go(func() { post(t, waits, questions[0].path, questions[0].body) })
	<-reached
	post(t, goes, questions[1].path, questions[1].body)
	close(gate)
	wait.Wait()
	if d := cmp.Diff([]string{"first", "second"}, order); d != "" {
		t.Error(d)
	}
}

// TestEndWhileAScriptWaits shows that a test ends though its script still waits for something.
func TestEndWhileAScriptWaits(t *testing.T) {
	reached := make(chan struct{})
	ended := make(chan struct{})

	t.Run("it", func(t *testing.T) {
		c := Start(t).Session("x", Seen(reached, When(nil, Say("never"))))
		go func() {
			defer close(ended)
			r, err := http.Post(c.URL()+questions[0].path, "application/json", strings.NewReader(questions[0].body))
			if err == nil {
				r.Body.Close()
			}
		}()
		<-reached
	})

	<-ended
}
