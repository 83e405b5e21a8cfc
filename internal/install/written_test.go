package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/harness"
	"talkingstick/stick"
)

const skillOfClaude = "home/.claude/skills/talking-stick/SKILL.md"

// A skill that another version has installed is replaced, and said to be of another version, also when this
// version has never seen its text. One that somebody has edited stays.
func TestSkillOfAnotherVersion(t *testing.T) {
	w := newMachine(t)
	row, _ := harness.ByName("claude")
	w.install("claude", "opencode")
	if says := OlderSkillText(w.t, row); says != "" {
		t.Errorf("of this version's it says %q", says)
	}

	for _, x := range []struct{ name, text string }{
		{skillOfClaude, "A skill of tomorrow.\n"},
		{"home/.config/opencode/plugin/talking-stick.js", "const TT = \"/elsewhere/tt\"\n// a plugin of tomorrow\n"},
	} {
		now := w.read(x.name)
		path := filepath.Join(w.root, x.name)
		w.t.willWrite(path, []byte(x.text)) // as the version of that time does
		w.write(x.name, x.text)

		if x.name == skillOfClaude {
			want := stick.Words("the skill talking-stick of Claude Code is of another version of tt: ask your user to run tt install claude")
			if says := OlderSkillText(w.t, row); says != want {
				t.Errorf("it says %q", says)
			}
		} else if open, _ := harness.ByName("opencode"); !strings.Contains(string(OlderHooksText(w.t, open)), "tt install opencode") {
			t.Errorf("of the plugin it says %q", OlderHooksText(w.t, open))
		}

		w.install("claude", "opencode")
		if w.read(x.name) != now {
			t.Errorf("%s is still of the other version", x.name)
		}

		w.write(x.name, x.text+"Edited.\n")
		if says := OlderSkillText(w.t, row); says != "" {
			t.Errorf("of an edited skill it says %q", says)
		}

		w.install("claude", "opencode")
		if !strings.HasSuffix(w.read(x.name), "Edited.\n") {
			t.Errorf("%s was edited, and is gone", x.name)
		}
		w.write(x.name, now)
	}

	w.uninstall("claude", "opencode")
	if b, err := os.ReadFile(w.t.writtenList()); err == nil {
		t.Errorf("after uninstall it still remembers:\n%s", b)
	}
}

// TestWrittenList: the list has a line for each text, however often it is installed. Removing a file takes
// its own lines off, not those of files whose paths begin or end like its own.
func TestWrittenList(t *testing.T) {
	w := newMachine(t)
	w.install(allNames...)
	once, err := os.ReadFile(w.t.writtenList())
	if err != nil {
		t.Fatal(err)
	}

	w.install(allNames...)
	if twice, err := os.ReadFile(w.t.writtenList()); err != nil || string(twice) != string(once) {
		t.Errorf("after a second install the list is\n%s(%v), not\n%s", twice, err, once)
	}

	text := []byte("a text")
	path := filepath.Join(w.root, "a")
	others := []string{
		path + "b",
		path + "/a",
		path + " a",
		filepath.Join(w.root, "b", "a"),
		filepath.Join(w.root, "b ") + path,
		"/b" + path,
	}
	for _, p := range append(others, path) {
		w.t.willWrite(p, text)
	}
	w.t.willWrite(path, []byte("another text"))
	w.t.hasRemoved(path)

	for _, p := range others {
		if !w.t.hasWritten(p, text) {
			t.Errorf("removing %q takes %q off the list", path, p)
		}
	}

	for _, removed := range []string{"a text", "another text"} {
		if w.t.hasWritten(path, []byte(removed)) {
			t.Errorf("%q is still on the list, with %s", path, removed)
		}
	}
}
