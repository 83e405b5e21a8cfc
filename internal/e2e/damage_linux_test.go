package e2e

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// damagedWorld is a world whose data directory is damaged in many ways, each in a copy of its own.
type damagedWorld struct {
	*world
	event, turn int64    // the highest that were given out
	olds        []string // copies of the data directory, the oldest first
	now         string   // the last one
	other       string   // another data directory
}

// databaseFiles are the files that belong together.
var databaseFiles = []string{store.FileName, store.FileName + "-wal", store.IssuedName}

// run runs a command on a data directory, as a process that ends without closing the database.
func (w *damagedWorld) run(dir string, args ...string) (r reply) {
	w.t.Helper()
	c := exec.Command(filepath.Join(w.bin, "tt"), args...)
	c.Env, c.Dir = overlay(w.env, []string{"TALKING_STICK_DATA_DIR=" + dir}), w.work
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints

	if err := c.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			w.t.Fatal(err)
		}
	}

	return reply{Exit: c.ProcessState.ExitCode(), Out: out.String(), Err: complaints.String()}
}

// said runs a command that has to succeed, and returns its answer and the number of the message that it has
// sent.
func (w *damagedWorld) said(dir string, args ...string) (a answer, message int64) {
	w.t.Helper()
	r := w.run(dir, args...)
	var m struct {
		ID int64 `json:"message_id"`
	}
	if r.Exit != 0 || json.Unmarshal([]byte(r.Out), &a) != nil || json.Unmarshal([]byte(r.Out), &m) != nil {
		w.t.Fatalf("tt %v: exit status %d\n%s\n%s", args, r.Exit, r.Out, r.Err)
	}
	return a, m.ID
}

// keep copies a data directory.
func (w *damagedWorld) keep(dir string) string {
	w.t.Helper()
	to := w.t.TempDir()
	w.copy(dir, to, databaseFiles...)
	return to
}

func (w *damagedWorld) copy(from, to string, names ...string) {
	w.t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// moveLog moves the log of a database into its file.
func (w *damagedWorld) moveLog(dir string) {
	w.t.Helper()
	raw, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		w.t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		w.t.Fatal(err)
	}
}

// use uses a database: n turns of two agents, with a message in each.
func (w *damagedWorld) use(dir string, n int) {
	w.t.Helper()
	for range n {
		for _, who := range []string{"claude:a", "codex:b"} {
			w.turn = w.takeTurn(dir, who)
			_, w.event = w.said(dir, "msg", "send", "room", "what it says", "--as", who)
			w.said(dir, "release", "--status", "did it", "--next-action", "go on", "--as", who)
		}
	}
}

func (w *damagedWorld) takeTurn(dir, who string) int64 {
	w.t.Helper()
	a, _ := w.said(dir, "wait", "--timeout", "20s", "--as", who)
	if a.Status != "your_turn" {
		w.t.Fatalf("%s got %+v", who, a)
	}
	return a.Turn
}

// newDamagedWorld uses a database, and keeps copies of it on the way. The newest half of it is in its log.
func newDamagedWorld(t *testing.T) *damagedWorld {
	w := &damagedWorld{world: newWorld(t)}
	for _, who := range []string{"claude:a", "codex:b"} {
		w.said(w.data, "join", "--as", who)
		w.said(filepath.Join(filepath.Dir(w.data), "other"), "join", "--as", who)
	}

	w.other = filepath.Join(filepath.Dir(w.data), "other")
	w.use(w.other, 2)
	w.moveLog(w.other)
	w.use(w.other, 2)

	for n := range 4 {
		w.use(w.data, 1)
		w.olds = append(w.olds, w.keep(w.data))
		if n == 1 {
			w.moveLog(w.data)
		}
	}

	w.turn = w.takeTurn(w.data, "claude:a")
	_, w.event = w.said(w.data, "msg", "send", "codex:b", "the last word", "--as", "claude:a")
	w.now = w.keep(w.data)
	return w
}

// damage is a way to damage the files of a database.
type damage struct {
	name  string
	spoil func(dir string)
	aside bool // nothing of it can be used: a person sets it aside
}

// damages are the trials: bits flipped all over the log, no log, older copies, and the log of another
// database.
func (w *damagedWorld) damages(n int) (all []damage) {
	const log = store.FileName + "-wal"
	info, err := os.Stat(filepath.Join(w.now, log))
	if err != nil {
		w.t.Fatal(err)
	}
	pages := info.Size() / 4096
	for i := range int64(n) {
		switch i % 5 {
		case 0:
			all = append(all, damage{name: "no log", spoil: func(dir string) { os.Remove(filepath.Join(dir, log)) }})
		case 1:
			old := w.olds[rand.IntN(len(w.olds))]
			all = append(all, damage{
				name:  "an older copy of its files",
				spoil: func(dir string) { w.copy(old, dir, store.FileName, log) },
			})
		case 2:
			all = append(all, damage{
				name: "the log of another database", aside: true,
				spoil: func(dir string) { w.copy(w.other, dir, log) },
			})

		default:
			at := (i*pages/int64(n))*4096 + rand.Int64N(4096)
			all = append(all, damage{name: fmt.Sprintf("a bit flipped in byte %d of %d of the log",
				at, info.Size()), spoil: func(dir string) {
				b, err := os.ReadFile(filepath.Join(dir, log))
				if err == nil {
					b[at] ^= 1 << rand.IntN(8)
					err = os.WriteFile(filepath.Join(dir, log), b, 0o600)
				}
				if err != nil {
					w.t.Fatal(err)
				}
			}})
		}
	}

	return all
}

// TestDamageIsSaid: whatever happens to the files of a database, the first command says it, the doctor names
// a way out, that works, and no number is given out twice.
func TestDamageIsSaid(t *testing.T) {
	storetest.SkipQuick(t, "what real processes say of a damaged database")
	storetest.NeedsFile(t)
	t.Parallel()
	w := newDamagedWorld(t)
	all := w.damages(40)
	for _, d := range testenv.Some(t, testenv.Every, "trials of damage to a database", all, func(i int, _ damage) bool {
		return i < 5
	}) {
		dir := w.keep(w.now)
		d.spoil(dir)
		w.requireSaid(dir, d)
		w.requireDoctor(dir, d)

		if d.aside {
			if r := w.run(dir, "doctor", "--set-aside", "--as", "codex:b"); r.Exit != stick.ExitRefused {
				t.Errorf("%s: an agent set it aside: %+v", d.name, r)
			}
			if r := w.run(dir, "doctor", "--set-aside"); r.Exit != 0 {
				t.Errorf("%s: it can't be set aside: %+v", d.name, r)
			}
		}
		w.requireNewNumbers(dir, d)
	}
}

// requireSaid fails the test unless the next command says what has happened, whether it reads or writes, in
// words of ours.
func (w *damagedWorld) requireSaid(dir string, d damage) {
	w.t.Helper()
	want, exit := "the database has lost its last ", 0
	if d.aside {
		want, exit = "belongs to another", stick.ExitEnvironment
	}

	for _, args := range [][]string{{"state"}, {"msg", "send", "codex:b", "hello", "--as", "claude:a"}} {
		copied := w.t.TempDir()
		for _, name := range databaseFiles {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				w.copy(dir, copied, name)
			}
		}

		if r := w.run(copied, args...); r.Exit != exit || !strings.Contains(r.Err, want) {
			w.t.Errorf("%s: tt %v: exit status %d\n%s\n%s", d.name, args, r.Exit, r.Out, r.Err)
		}
	}
}

// requireDoctor fails the test unless the doctor calls it a fault, with a way out.
func (w *damagedWorld) requireDoctor(dir string, d damage) {
	w.t.Helper()
	check, fix := "losses", "else go on"
	if d.aside {
		check, fix = "database", "a person runs tt doctor --set-aside"
	}
	r := w.run(dir, "doctor")
	var found struct {
		Findings []struct{ Check, Status, Fix string } `json:"findings"`
	}
	if err := json.Unmarshal([]byte(r.Out), &found); err != nil || r.Exit != stick.ExitEnvironment {
		w.t.Fatalf("%s: the doctor: %+v (%v)", d.name, r, err)
	}

	for _, f := range found.Findings {
		if f.Check == check && (f.Status != "fault" || !strings.Contains(f.Fix, fix)) {
			w.t.Errorf("%s: the doctor says %+v", d.name, f)
		}
	}
}

// requireNewNumbers fails the test unless commands go on with numbers above all that were given out, and the
// doctor has nothing to say against that.
func (w *damagedWorld) requireNewNumbers(dir string, d damage) {
	w.t.Helper()
	w.said(dir, "join", "--as", "claude:a")
	if turn := w.takeTurn(dir, "codex:b"); turn <= w.turn {
		w.t.Errorf("%s: turn %d comes after turn %d", d.name, turn, w.turn)
	}
	if _, event := w.said(dir, "msg", "send", "claude:a", "again", "--as", "codex:b"); event <= w.event {
		w.t.Errorf("%s: event %d comes after event %d", d.name, event, w.event)
	}
	w.said(dir, "release", "--status", "did it", "--next-action", "go on", "--as", "codex:b")
	if r := w.run(dir, "doctor"); r.Exit != 0 {
		w.t.Errorf("%s: after it the doctor says %s", d.name, r.Out)
	}
}

// TestOlderDataDirectory: the first caller that knows more than a copy of the whole data directory says so,
// and then no number is given out twice.
func TestOlderDataDirectory(t *testing.T) {
	storetest.SkipQuick(t, "what real processes say of an older data directory")
	storetest.NeedsFile(t)
	t.Parallel()
	w := newDamagedWorld(t)
	held, _ := w.said(w.data, "try", "--as", "claude:a")
	for _, old := range testenv.Some(t, testenv.Every, "older copies of a data directory", w.olds, func(i int, _ string) bool {
		return i == 1
	}) {
		dir := w.keep(old)
		r := w.run(dir, "release", "--status", "s", "--next-action", "n", "--turn", fmt.Sprint(held.Turn),
			"--lease", held.Lease, "--as", "claude:a")
		if r.Exit != stick.ExitFenced || !strings.Contains(r.Err, "it is an older copy") {
			t.Errorf("%s: a lease that the copy doesn't know: %+v", old, r)
		}
		w.requireNewNumbers(dir, damage{name: "an older directory"})

		dir = w.keep(old)
		r = w.run(dir, "events", "--after", fmt.Sprint(w.event), "--as", "claude:a")
		if r.Exit != stick.ExitUsage || !strings.Contains(r.Err, "either the number is wrong, or the database is an older copy") {
			t.Errorf("%s: a cursor that the copy doesn't know: %+v", old, r)
		}
		if _, event := w.said(dir, "msg", "send", "claude:a", "again", "--as", "codex:b"); event <= w.event {
			t.Errorf("event %d comes after event %d", event, w.event)
		}
	}
}
