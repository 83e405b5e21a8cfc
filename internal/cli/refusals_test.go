//go:build unix

package cli_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"talkingstick/internal/cli"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

var updateGolden = flag.Bool("update", false, "write the golden files instead of comparing them")

// TestRefusals provokes every refusal, in text and as JSON, and compares what users read with
// testdata/refusals.golden.
func TestRefusals(t *testing.T) {
	testenv.Alone(t)

	const golden = "testdata/refusals.golden"
	r := playRefusals(t)
	for _, w := range r.wrong {
		t.Error(w)
	}
	if t.Failed() {
		return
	}

	if storetest.OnServer(t) { // without the refusals of SQLite's file
		golden, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}

		for _, refusal := range r.said {
			if !strings.Contains(string(golden), "\n"+refusal) {
				t.Errorf("on a server it is refused in other words:\n%s", refusal)
			}
		}

		return
	}

	for _, c := range stick.Codes {
		if _, exempt := notProvoked[c.Code]; !exempt && !r.seen[c.Code] {
			t.Errorf("no refusal with %s is provoked", c.Code)
		}
	}

	if *updateGolden {
		if err := os.WriteFile(golden, []byte(r.text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := compareTexts(string(want), r.text.String()); d != "" {
		t.Errorf("%s is out of date; go test ./internal/cli -run Refusals -update, and read it:\n%s", golden, d)
	}
}

// refusals are what comes of testdata/refusals.txtar.
type refusals struct {
	isPlayed bool
	text     strings.Builder // of the golden file
	said     []string        // each refusal in it
	seen     map[stick.Code]bool
	wrong    []string // refusals that differ from what they should be

	hints      int             // groups of commands of hints that were found
	followed   map[string]bool // those that were run, with who ran them
	ran        int             // hints whose commands were run
	wrongHints []string        // those of them that don't work
}

// played is nil until a test has begun to play the refusals. [TestRefusals] and [TestHintsWork] share one
// playing.
var played *refusals

// playRefusals plays testdata/refusals.txtar, unless another test has. The script has these commands of its
// own:
//
//	section TITLE               a heading
//	refused CODE … tt ARG…      the command is refused with this code and its exit status, and
//	                            changes nothing in the database. The commands of its hint work
//	byhand SHELL…               what the next hint asks of hands
func playRefusals(t *testing.T) *refusals {
	if played != nil {
		if !played.isPlayed {
			t.Fatal("the script of the refusals wasn't played to its end")
		}
		return played
	}

	r := &refusals{seen: map[stick.Code]bool{}, followed: map[string]bool{}}
	played = r
	r.text.WriteString("What tt says when it refuses. Read each refusal as if you had typed the command. TestRefusals makes this file from testdata/refusals.txtar.\n" +
		"Under each refusal: its code, the exit status, and the facts that --json adds.\n")
	find := commandFinder(cli.HintedCommands(t))

	r.isPlayed = t.Run("play", func(t *testing.T) {
		play(t, testscript.Params{Files: []string{"testdata/refusals.txtar"}}, map[string]func(*story, *testscript.TestScript, []string){
			"section": func(_ *story, _ *testscript.TestScript, args []string) {
				fmt.Fprintf(&r.text, "\n\n== %s\n", strings.Join(args, " "))
			},
			"byhand": func(s *story, _ *testscript.TestScript, args []string) { s.byHand = strings.Join(args, " ") },
			"refused": func(s *story, ts *testscript.TestScript, args []string) {
				r.provoke(s, ts, args)
				r.followHint(s, ts, args, find)
			},
		})
	})

	if !r.isPlayed {
		t.FailNow()
	}
	return r
}

// provoke has a command refused, and keeps what it says.
func (r *refusals) provoke(s *story, ts *testscript.TestScript, args []string) {
	code := stick.Code(args[0])
	r.seen[code] = true
	said, hint := s.refused(ts, code, args[1:])
	r.said = append(r.said, said)
	r.text.WriteString("\n" + said)
	r.wrong, s.hinted = s.wrong, hint
}

// notProvoked says where those codes are tested that a script can't provoke, or not fast enough.
var notProvoked = map[stick.Code]string{
	stick.CodeSetupFailed:         "testdata/script/worker_setup.txtar: the task and its worktree are there after it",
	stick.CodeLanding:             "testdata/script/worker_landing.txtar: a merge has to run at the same time",
	stick.CodeElsewhere:           "testdata/script/tasks_elsewhere.txtar: there have to be two hosts",
	stick.CodeGateFailed:          "testdata/script/worker_gate.txtar: the task goes back to its worker with it",
	stick.CodeGateEnded:           "testdata/script/worker_gate_ended.txtar: a signal has to end the gate, twice",
	stick.CodeTasksLeft:           "testdata/script/worker_left.txtar: what was merged goes with it",
	stick.CodeTasksReturned:       "testdata/script/worker_gate.txtar: the tasks go back with it",
	stick.CodeDatabaseBusy:        "package store: it takes 15 seconds",
	stick.CodeDatabaseUnavailable: "package store: PostgreSQL has to be away",
	stick.CodeOutputUnwritable:    "testdata/script/unwritable.txtar: standard output has to be full",
	stick.CodeUpgraded:            "package store: a newer program writes while this one runs",
	stick.CodeDatabaseMoved:       "moved_data_dir.txtar: the database is moved while a command waits",
	stick.CodeCanceled:            "testdata/script/interrupt.txtar",
	stick.CodeInternal:            "a fault of the program",
}

// refused runs a command twice, as text and as JSON, and returns the output without what differs from run to
// run, and the hint as it is.
func (s *story) refused(ts *testscript.TestScript, code stick.Code, args []string) (refusal, hint string) {
	q := s.parse(ts, false, args)
	before, err := s.dump()
	ts.Check(err)
	said := s.launch(ts, q)
	s.finish(ts, said)
	q.env = append(q.env, "TT_JSON=1")
	told := s.launch(ts, q)
	s.finish(ts, told)
	after, err := s.dump()
	ts.Check(err)
	if d := compareTexts(before, after); d != "" {
		ts.Fatalf("the database was changed:\n%s", d)
	}

	if said.out != "" || told.out != "" || said.status == 0 {
		s.wrong = append(s.wrong,
			fmt.Sprintf("%s: not refused, with %q and %q on standard output",
				strings.Join(args, " "), said.out, told.out))
		return "", ""
	}

	if strings.Count(told.err, "\n") != 1 {
		ts.Fatalf("the failure isn't one line: %q", told.err)
	}
	var facts map[string]any
	d := json.NewDecoder(strings.NewReader(told.err))
	d.UseNumber()
	ts.Check(d.Decode(&facts))
	exit := code.Info().Exit
	if facts["error"] != string(code) || said.status != exit || told.status != exit {
		s.wrong = append(s.wrong, fmt.Sprintf("%s: %v with exit status %d, with --json %d; it should be %s with %d",
			strings.Join(args, " "), facts["error"], said.status, told.status, code, exit))
	}

	want := fmt.Sprintf("tt: %s\n", stick.Line(facts["message"].(string)))
	if said, ok := facts["hint"].(string); ok {
		hint = said
		want += fmt.Sprintf("hint: %s\n", stick.Line(hint))
	}

	if s.normal(want) != s.normal(said.err) { // a second may lie between them
		ts.Fatalf("text and JSON differ: %q, %q", said.err, want)
	}

	line := "    " + string(code) + ", exit " + strconv.Itoa(exit)
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if name != "error" && name != "message" && name != "hint" {
			line += fmt.Sprintf(", %s %s", name, text(facts[name]))
		}
	}

	shown := make([]string, len(args))
	for i, word := range args {
		if shown[i] = word; word == "" || strings.ContainsAny(word, " #") {
			shown[i] = Quote(word)
		}
	}

	return s.normal("$ "+strings.Join(shown, " ")+"\n"+said.err+line) + "\n", hint
}

// changing matches what differs from run to run, with what replaces it.
var changing = []struct {
	pattern *regexp.Regexp
	fixed   string
}{
	{regexp.MustCompile(`process \d+`), "process 4711"},
	{regexp.MustCompile(`\bpid \d+`), "pid 4711"},
	{regexp.MustCompile(`\bsince (just now|\d+ s)`), "since 12 s"},
	{regexp.MustCompile(`\bhas (just taken the stick|held the stick for \d+ s)`), "has just taken the stick"},
	{regexp.MustCompile(`\b(just now|\d+ s ago)`), "just now"},
	{regexp.MustCompile(`\byou can take it in (a moment|\d+ s)`), "you can take it in 6 s"},
	{regexp.MustCompile(`\b([0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b`), "3f9a12bc…"},
	{regexp.MustCompile(`\b(commit|at|--output) ([0-9a-f]{12}|[0-9a-f]{10})\b`), "$1 3f9a12bc"},
	// texts have names, JSON has ids
	{regexp.MustCompile(`\b(claude|codex|opencode)(:[0-9a-f]{8}|-[a-z]{3,8})\b`), "$1:3f9a12bc"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "2026-01-02T15:04:05.678Z"},
}

func (s *story) normal(text string) string {
	text = strings.ReplaceAll(text, "@"+hostName, "") // in names of persons, on a server
	text = strings.ReplaceAll(strings.ReplaceAll(text, s.work, "/home/pat"), s.bin, "/home/pat/bin")
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.fixed)
	}
	return text
}
