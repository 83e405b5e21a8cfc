package e2e

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/testenv"
)

// program builds tt, with tt-full beside it, once: real harnesses run what users run.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tt-e2e-*")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "tt")
	out, err := exec.Command("go", "build", "-o", dir+"/", "talkingstick/cmd/tt", "talkingstick/cmd/tt-full").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}

	return path, err
})

// built is the directory of the program, which TestMain removes.
var built string

// stage is a home with tt installed for some harnesses, and a repository with a room.
type stage struct {
	t     *testing.T
	place realharness.Place
	tt    string
	api   *modelapi.Server
	env   []string // what else is in everybody's environment
}

func newStage(t *testing.T) *stage {
	t.Helper()
	tt, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t: t, place: realharness.NewPlace(t), tt: tt, api: modelapi.Start(t)}
}

// run runs tt as a person would, in a terminal outside of every harness.
func (s *stage) run(args ...string) string {
	s.t.Helper()
	return s.as(watcher, args...)
}

// as runs tt as an agent that is known only by its name.
func (s *stage) as(name string, args ...string) string {
	s.t.Helper()
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tt %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *stage) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(s.tt, args...)
	c.Dir = s.place.Repo
	c.Env = []string{
		"HOME=" + s.place.Home,
		"PATH=" + filepath.Dir(s.tt) + ":/usr/bin:/bin",
		"USER=ann",
		"TT_HARNESS_AGENT_ID=" + name,
	}
	c.Env = append(c.Env, s.env...)
	return c
}

// allPairs is set by `make pairs`. Without it each harness plays what shows most of it,
// TestHarnessesAreFenced, and for the rest it is enough that some play it: what each of them sends and
// understands is in the tests of internal/harness.
var allPairs = flag.Bool("pairs", false,
	"only what real harnesses play: every pair of them, and each of them every test that it can play")

// played returns those of the harnesses that play a test: all with -pairs, otherwise some. It says which are
// left out, and skips the test if there are none.
func played(t *testing.T, all []*realharness.Harness, some ...*realharness.Harness) []*realharness.Harness {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(all), func(h *realharness.Harness) bool { return slices.Contains(some, h) })
	what := "sessions of " + realharness.Names(rest)
	if len(some) == 0 {
		testenv.SkipToFull(t, *allPairs, what)
	}
	if len(rest) == 0 || !testenv.LeavesToFull(t, *allPairs, what) {
		some = all
	}

	realharness.Require(t, some...)
	return some
}

// skipInPairs skips a test without real harnesses where only these play.
func skipInPairs(t testing.TB) {
	t.Helper()
	if *allPairs {
		t.Skip("no real harness plays it, and only these do with -pairs")
	}
}

// onlyInPairs skips a test whose harnesses play it with -pairs only.
func onlyInPairs(t *testing.T, harnesses ...*realharness.Harness) {
	t.Helper()
	played(t, harnesses)
}

// watcher is the name under which the test reads the room, so that it passes inside a harness, too.
const watcher = "watcher"

// state returns the room's state.
func (s *stage) state() (r struct {
	Owner   *string `json:"owner"`
	TurnID  int     `json:"turn_id"`
	Members []struct {
		Agent string `json:"agent_id"`
		Name  string `json:"name"`
	} `json:"members"`
},
) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.run("state", "--all", "--json")), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// agents returns the members that run in a harness.
func (s *stage) agents(harness string) (out []string) {
	for _, m := range s.state().Members {
		if strings.HasPrefix(m.Agent, harness+":") {
			out = append(out, m.Agent)
		}
	}
	return out
}

// nameOf returns what people call an agent of the room.
func (s *stage) nameOf(agent string) string {
	for _, m := range s.state().Members {
		if m.Agent == agent {
			return m.Name
		}
	}

	s.t.Fatalf("%s isn't a member", agent)
	return ""
}

// configure configures a harness as its user has it before there is tt.
func (s *stage) configure(h *realharness.Harness, script modelapi.Script) (*realharness.Agent, *modelapi.Session) {
	s.t.Helper()
	session := s.api.Session(h.Name, script)
	return h.Prepare(s.t, s.place, realharness.Config{API: session.URL(), Servers: []string{"tt"}}), session
}

// prepare configures a harness and installs tt in it, as its user would.
func (s *stage) prepare(h *realharness.Harness, script modelapi.Script) (*realharness.Agent, *modelapi.Session) {
	s.t.Helper()
	a, session := s.configure(h, script)
	s.run("install", h.Name)
	return a, session
}

func (s *stage) options(h *realharness.Harness) realharness.Options {
	o := realharness.Options{Path: []string{filepath.Dir(s.tt)}, Env: s.env, BypassHookTrust: true}
	if h == realharness.Codex {
		o.Sandbox = "workspace-write"
	}
	return o
}

// git runs git as a person whom no hook asks.
func (s *stage) git(args ...string) string {
	s.t.Helper()
	c := exec.Command("git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	c.Dir, c.Env = s.place.Repo, []string{"HOME=" + s.place.Home, "PATH=/usr/local/bin:/usr/bin:/bin"}
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}

	return strings.TrimSpace(string(out))
}

// faults returns what hooks wrote into tt's log.
func (s *stage) faults() string {
	b, err := os.ReadFile(filepath.Join(s.data(), "tt.log"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(b)
}

// TestHarnessesTakeTurns: after tt install, two real harnesses load the skill, start the MCP server and run
// the hooks. One takes the turn and releases it with a handoff. The other, which waits, wakes and gets both.
func TestHarnessesTakeTurns(t *testing.T) {
	pairs := [][2]*realharness.Harness{{realharness.Pi, realharness.Copilot}}
	if !testenv.LeavesToFull(t, *allPairs, "every other pair of harnesses, each way") {
		pairs = nil
		for _, a := range realharness.All {
			for _, b := range realharness.All {
				if a != b {
					pairs = append(pairs, [2]*realharness.Harness{a, b})
				}
			}
		}
	}

	realharness.Require(t, realharness.Pi, realharness.Copilot)
	for _, p := range pairs {
		t.Run(p[0].Name+" and "+p[1].Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")

			s.takeTurns(p[0], p[1], func(both ...*realharness.Agent) {
				for _, a := range both {
					s.run("install", a.Harness.Name)
				}
			})
		})
	}
}

// takeTurns plays two harnesses that take one turn each, after both were connected to tt.
func (s *stage) takeTurns(first, second *realharness.Harness, connect func(both ...*realharness.Agent)) {
	t := s.t
	owns, waits := make(chan struct{}), make(chan struct{})
	a, left := s.configure(first, modelapi.Steps(
		modelapi.Do(modelapi.Shell(s.tt+" wait --turn")),
		modelapi.Seen(owns, modelapi.When(waits, modelapi.Do(modelapi.Shell(
			s.tt+` release --status "the first half is done" --next-action "do the second half"`)))),
		modelapi.Say("done"),
	))

	b, right := s.configure(second, modelapi.Steps(
		modelapi.When(owns, modelapi.Do(modelapi.Shell(s.tt+" wait"))),
		modelapi.Do(modelapi.Shell(s.tt+` release --status "all is done" --next-action "nothing"`)),
		modelapi.Say("done"),
	))

	connect(a, b)
	one := a.Start(t, "Please do the first half.", s.options(first))
	two := b.Start(t, "Please do the second half.", s.options(second))

	go func() {
		s.listening(second.Name)
		close(waits)
	}()

	for _, r := range []realharness.Result{one.Wait(), two.Wait()} {
		if r.Exit != 0 || !strings.Contains(r.Text, "done") {
			t.Errorf("%s", r)
		}
	}

	for _, side := range []struct {
		h       *realharness.Harness
		session *modelapi.Session
	}{{first, left}, {second, right}} {
		requests := side.session.Requests()
		if len(requests) == 0 {
			t.Fatalf("%s never asked its model", side.h.Name)
		}

		said := requests[0].Text()
		if !strings.Contains(said, "Talking Stick: you are "+side.h.Name+"-") {
			t.Errorf("%s wasn't briefed:\n%s", side.h.Name, said)
		}
		if !strings.Contains(said, "talking-stick") {
			t.Errorf("%s doesn't know the skill", side.h.Name)
		}
		if members := s.agents(side.h.Name); len(members) != 1 {
			t.Errorf("%s is %d members: %v", side.h.Name, len(members), members)
		}
	}

	got := results(right)
	if len(got) == 0 ||
		!strings.Contains(got[0], "your turn, turn 2") ||
		!strings.Contains(got[0], "handoff from "+first.Name+"-") ||
		!strings.Contains(got[0], "do the second half") {
		t.Errorf("%s was woken with\n%s", second.Name, strings.Join(got, "\n---\n"))
	}
	if st := s.state(); st.Owner != nil || st.TurnID != 2 {
		t.Errorf("at the end the room is %+v", st)
	}
}

// results returns the answers of the tools, in order.
func results(s *modelapi.Session) (out []string) {
	requests := s.Requests()
	if len(requests) == 0 {
		return nil
	}

	for _, m := range requests[len(requests)-1].Results() {
		out = append(out, m.Text)
	}
	return out
}

// listening waits until a member of a harness waits for the turn.
func (s *stage) listening(harness string) {
	soon(s.t, harness+" waits", func() bool {
		out, _ := s.command(watcher, "state", "--json").Output()
		var r struct {
			Members []struct {
				Agent     string `json:"agent_id"`
				Listening string `json:"listening"`
			} `json:"members"`
		}

		if json.Unmarshal(out, &r) != nil {
			return false
		}

		for _, m := range r.Members {
			if strings.HasPrefix(m.Agent, harness+":") && m.Listening == "work" {
				return true
			}
		}

		return false
	})
}

// TestCodexOnAFreshHome: on a home without a data directory, or with one that a variable moves, Codex's
// sandboxed shell makes the database where its MCP server and its user find it. Codex passes its servers no
// such variable.
func TestCodexOnAFreshHome(t *testing.T) {
	onlyInPairs(t, realharness.Codex)

	for name, variable := range map[string]string{
		"the default": "", "a data directory": "TALKING_STICK_DATA_DIR", "XDG": "XDG_DATA_HOME",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			usual := filepath.Join(s.place.Home, ".local", "share", "talking-stick")
			if variable != "" {
				s.env = []string{variable + "=" + filepath.Join(s.place.Home, "elsewhere")}
			}

			a, session := s.prepare(realharness.Codex, modelapi.Steps(
				modelapi.Do(modelapi.Shell(s.tt+" join")),
				modelapi.Do(modelapi.MCP("tt", "get_room_state", map[string]any{})),
				modelapi.Say("done"),
			))

			s.finished(a.Run(t, "Please.", s.options(realharness.Codex)))
			if got := results(session); len(got) != 2 || !strings.Contains(got[1], `"member":true`) {
				t.Errorf("shell and server say\n%s", strings.Join(got, "\n---\n"))
			}
			if members := s.agents("codex"); len(members) != 1 {
				t.Errorf("its user sees the members %v", members)
			}
			if _, err := os.Stat(usual); (err == nil) != (variable == "") {
				t.Errorf("%s: %v", usual, err)
			}
		})
	}
}

// TestGeminiReadsTheProject: after tt install gemini --project, Gemini's model reads what the project says of
// the stick.
func TestGeminiReadsTheProject(t *testing.T) {
	onlyInPairs(t, realharness.Gemini)

	t.Parallel()
	s := newStage(t)
	session := s.api.Session("gemini", modelapi.Say("done"))
	a := realharness.Gemini.Prepare(t, s.place, realharness.Config{API: session.URL()})
	s.run("install", "gemini", "--project")
	s.finished(a.Run(t, "Please.", s.options(realharness.Gemini)))
	said := session.Requests()[0].Text()
	if !strings.Contains(said, "Only the holder of the stick changes files") {
		t.Errorf("Gemini reads\n%s", said)
	}
}
