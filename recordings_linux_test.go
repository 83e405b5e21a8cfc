package talkingstick_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/clitest"
	"talkingstick/internal/recording"
)

// recordings are the terminals that the README shows, by the name of their picture in docs/pictures.
var recordings = map[string]func(*stage) *recording.Film{"turns": recordTurns, "watch": recordWatch}

// TestRecordings plays what the recordings show, by real programs on real terminals, and compares each picture with the one in docs/pictures:
// it has to show the commands and sentences of today. -docs.update writes it there instead.
//
// The clock stands still. Ids that differ each time are replaced by others of the same form, and the scratch directory by the root. How long a
// picture is shown is ours: nobody types that evenly, and tt is faster.
func TestRecordings(t *testing.T) {
	for name, record := range recordings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{
				reader: &reader{t: t, bin: t.TempDir(), now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)},
				ids:    map[string]string{},
			}
			if err := clitest.Install(s.bin); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.end() })
			is := record(s).SVG()
			harmless(t, is)
			path := filepath.Join("docs", "pictures", name+".svg")
			was, err := os.ReadFile(path)
			switch {
			case *updateDocs && !t.Failed():
				if err := os.WriteFile(path, is, 0o644); err != nil {
					t.Fatal(err)
				}

			case err != nil:
				t.Error(err)
			case !bytes.Equal(was, is):
				t.Errorf(
					"%s isn't what the programs show\nit has:\n%s\nthey show:\n%s\nwrite it by: make generate",
					path, words(was, is), words(is, was),
				)
			}
		})
	}
}

// words are the texts of a picture that another one hasn't, or all if they have the same.
func words(picture, other []byte) string {
	var only, all []string
	for _, m := range regexp.MustCompile(`<text[^>]*>([^<]*)</text>`).FindAllSubmatch(picture, -1) {
		if all = append(all, string(m[1])); !bytes.Contains(other, append(append([]byte(">"), m[1]...), '<')) {
			only = append(only, string(m[1]))
		}
	}

	if len(only) == 0 {
		only = all
	}
	return strings.Join(only, "\n")
}

// harmless fails the test for a picture that isn't XML, has a script, or asks for something that isn't in it.
func harmless(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Errorf("the picture isn't XML: %v", err)
			return
		}

		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "svg", "title", "style", "rect", "path", "g", "text":
			default:
				t.Errorf("the picture has the element %s", token.Name.Local)
			}

			for _, a := range token.Attr {
				name := strings.ToLower(a.Name.Local)
				if strings.HasPrefix(name, "on") ||
					strings.Contains(name, "href") ||
					name == "src" ||
					name == "style" ||
					name == "base" {
					t.Errorf("the picture has the attribute %s", a.Name.Local)
				}
			}

		case xml.ProcInst, xml.Directive:
			t.Errorf("the picture has %v", token)
		}

		if i := bytes.Index(svg, []byte("@import")); i >= 0 || bytes.Contains(svg, []byte("url(")) {
			t.Error("the picture's styles ask for something")
			return
		}
	}
}

// stage is a scene of the README that is recorded.
type stage struct {
	*reader
	ids map[string]string // what is shown instead of ids, by their first ten digits
}

// What differs each time: hashes of commits, and leases. Agents have shorter ids, which come from their sessions.
var (
	id     = regexp.MustCompile(`\b[0-9a-f]{10,64}\b`)
	helper = regexp.MustCompile(`\bhelper-[0-9a-f]{4}\b`) // the end of its name
)

// masked replaces what differs each time in what a program has written.
func (s *stage) masked(b []byte) []byte {
	b = helper.ReplaceAll(bytes.ReplaceAll(b, []byte(s.root), nil), []byte("helper-4f2a"))
	return id.ReplaceAllFunc(b, func(b []byte) []byte {
		begin := string(b[:10])
		if s.ids[begin] == "" {
			sum := sha256.Sum256([]byte{byte(len(s.ids))})
			s.ids[begin] = hex.EncodeToString(sum[:])
		}
		return []byte(s.ids[begin][:len(b)])
	})
}

// program starts a program on a terminal, as a harness does where env names one's session.
func (s *stage) program(width, height int, env []string, args ...string) *recording.Session {
	s.t.Helper()
	c := s.shell("")
	c.Path, c.Args = args[0], args
	if !filepath.IsAbs(c.Path) {
		c.Path = filepath.Join(s.bin, c.Path)
	}
	c.Env = append(append(c.Env, "TERM=xterm", "PS1=$ "), env...)
	return recording.Start(s.t, c, width, height, s.masked)
}

// types types a command word by word, and takes a picture of each word.
func (s *stage) types(f *recording.Film, on *recording.Session, command string) {
	s.t.Helper()
	on.Prompt()
	f.Shot(700 * time.Millisecond)

	for _, word := range strings.SplitAfter(command, " ") {
		on.Type(word)
		f.Shot(110 * time.Millisecond)
	}
	f.Shot(300 * time.Millisecond)
}

// runs types a command and waits until it has ended.
func (s *stage) runs(f *recording.Film, on *recording.Session, command string, long time.Duration) {
	s.t.Helper()
	s.types(f, on, command)
	on.Keys("\n")
	on.Prompt()
	f.Shot(long)
}

// waits returns how many members wait.
func (s *stage) waits() int {
	state, err := s.shell("tt state --json --all").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return bytes.Count(state, []byte(`"listening":`))
}

// blocks types a command that waits, and comes back when it does.
func (s *stage) blocks(f *recording.Film, on *recording.Session, command string, long time.Duration) {
	s.t.Helper()
	s.types(f, on, command)
	before := s.waits()
	on.Keys("\n")
	s.until(command+" waits", func() bool { return s.waits() > before })
	f.Shot(long)
}

// recordTurns shows the main thing: one agent works while another waits, and hands the stick on.
func recordTurns(s *stage) *recording.Film {
	const width, height, below = 110, 13, 9
	s.begin("shop")
	f := &recording.Film{
		Title: "Two terminals. Claude has the stick and works, and codex waits. Claude releases the stick with a handoff; codex wakes and gets it.",
	}
	claude := s.program(width, height, []string{"CLAUDE_CODE_SESSION_ID=1"}, "claude", "/bin/sh", "-i")
	codex := s.program(width, below, []string{"CODEX_SESSION_ID=2"}, "codex", "/bin/sh", "-i")
	f.Add("claude, in ~/shop", width, height, claude.Screen)
	f.Add("codex, in ~/shop", width, below, codex.Screen)
	codex.Prompt()
	s.runs(f, claude, "tt wait", 2500*time.Millisecond)
	s.blocks(f, codex, "tt wait", 1500*time.Millisecond)
	s.runs(f, claude, "git diff --stat", 1500*time.Millisecond)
	s.types(f, claude, `tt release --status "totals are done, tests pass" --next-action "add discounts to cart.go"`)
	claude.Keys("\n")
	claude.Prompt()
	codex.Prompt()
	f.Shot(6 * time.Second)
	s.blocks(f, claude, "tt wait", 6*time.Second)
	return f
}

// recordWatch shows the screen of a person who looks after three agents: a task waits for a review, the stick goes on, the person approves and merges.
func recordWatch(s *stage) *recording.Film {
	const width, height = 100, 18
	s.begin("tasks")
	s.run("tt task init --branch main && tt task new ui-7 --description 'Retry failed uploads' && tt task new ui-8 --description 'Show progress'")
	worker := s.program(width, height, []string{"CLAUDE_CODE_SESSION_ID=3"}, "claude", "/bin/sh", "-i")
	s.does(worker,
		"cd worktrees/ui-7; tt task start; echo 'retries: 3' >upload.conf; git add .; git commit -qm 'Retry failed uploads'; tt task done")
	s.does(worker, hook("claude", "Stop", "3", `"stop_hook_active":false`))
	s.now = s.now.Add(8 * time.Minute)
	claude := s.program(width, height, []string{"CLAUDE_CODE_SESSION_ID=1"}, "claude", "/bin/sh", "-i")
	s.does(claude, "tt wait")
	s.does(claude, hook("claude", "UserPromptSubmit", "1", `"prompt":"Add up the cart"`))
	s.now = s.now.Add(12 * time.Minute)
	s.does(claude,
		hook("claude",
			"PostToolUse", "1",
			fmt.Sprintf(`"tool_name":"Edit","tool_input":{"file_path":"%s/cart.go"},"tool_response":{}`, s.dir)))
	s.now = s.now.Add(3 * time.Minute)
	codex := s.program(width, height, []string{"CODEX_SESSION_ID=2"}, "codex", "/bin/sh", "-i")
	s.does(codex, hook("codex", "UserPromptSubmit", "2", `"prompt":"Add discounts"`))
	before := s.waits()
	codex.Prompt()
	codex.Keys("tt wait\n")
	s.until("codex waits", func() bool { return s.waits() > before })

	f := &recording.Film{
		Title: "The screen of tt watch. A task waits for a review. The stick goes from claude to codex. The person opens the task, approves it and merges it.",
	}
	person := s.program(width, height, nil, "/bin/sh", "-i")
	f.Add("you, in ~/shop", width, height, person.Screen)
	s.types(f, person, "tt watch")
	person.Keys("\n")
	person.Until(`1 review +ui-7 waits for a review`,
		`claude-\w+ has the stick, 15 min; codex-\w+ waits for it +turn 1`)
	f.Shot(5 * time.Second)
	s.does(claude, `tt release --status "cart totals are done" --next-action "add discounts"`)
	person.Until(`codex-\w+ has the stick, now +turn 2`, `released the stick, next is codex`,
		`codex-\w+ took the stick`)
	f.Shot(4 * time.Second)
	person.Keys("1")
	person.Until(`> 1 review +ui-7`)
	f.Shot(1500 * time.Millisecond)
	person.Keys("d")
	person.Until(`\+retries: 3`)
	f.Shot(4 * time.Second)
	person.Keys("a")
	person.Until(`Approve commit`)
	f.Shot(3 * time.Second)
	person.Keys("m")
	person.Until(`is merged into main \(no gate\)`, `now +human:you merged ui-7`)
	f.Shot(6 * time.Second)
	return f
}

// hook is a command by which a harness says what it does.
func hook(harness, event, session, fields string) string {
	return fmt.Sprintf(
		`echo '{"hook_event_name":"%s","session_id":"%s","cwd":"'$PWD'",%s}' | tt hook %s >/dev/null`, event,
		session, fields, harness,
	)
}

// does runs a command that nobody sees.
func (s *stage) does(on *recording.Session, command string) {
	s.t.Helper()
	on.Prompt()
	on.Type(fmt.Sprintf("export %s=%d; %s", clitest.Still, s.now.UnixMilli(), command))
	on.Keys("\n")
	on.Prompt()
}

// until waits until something has happened that no terminal shows.
func (s *stage) until(what string, happened func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("it didn't happen that %s", what)
		}
	}
}
