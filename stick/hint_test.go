package stick_test

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// A hint reads as a sentence, and what is quoted in it is what a shell would need.
func TestHintReadsAsASentence(t *testing.T) {
	for _, c := range []struct {
		hint stick.Hint
		want string
	}{
		{stick.Hintf("ask a person"), "ask a person"},
		{stick.Hintf("%s", stick.Cmd("tt doctor")), "tt doctor"},
		{stick.Hintf("100 %% sure, %d times: %s", 2, stick.Cmd("tt wait")), "100 % sure, 2 times: tt wait"},
		{
			stick.Hintf("ask: %s; or %s", stick.Cmd("tt msg send <agent> …", "codex:1"),
				stick.Hintf("wait: %s", stick.Cmd("tt wait"))),
			`ask: tt msg send codex:1 "…"; or wait: tt wait`,
		},
		{stick.Hintf("look: %s", stick.Cmd("tt task show <task_id>")), "look: tt task show <task_id>"},
		{
			stick.Hintf("reserve it: %s", stick.Cmd("tt reserve <path>", "it's here")),
			`reserve it: tt reserve 'it'\''s here'`,
		},
		{
			stick.Hintf("%s is no command of %q: %s", "x", "y", stick.Cmd("tt --help")),
			`x is no command of "y": tt --help`,
		},
	} {
		sticktest.Equal(t, "hint", c.hint.String(), c.want)
	}
}

// Whoever acts under a name by a flag needs the flag in every command, or it would act as somebody else.
func TestHintCarriesTheNameOfItsReader(t *testing.T) {
	h := stick.Hintf("commit, and wait: %s; %s, then %s", stick.Cmd("tt wait"), stick.Cmd("git status"),
		stick.Cmd("tt pass <agent> --status …"))
	const plain = `commit, and wait: tt wait; git status, then tt pass <agent> --status "…"`
	sticktest.Equal(t, "as alice", h.As("alice").String(),
		`commit, and wait: tt wait --as alice; git status, then tt pass <agent> --status "…" --as alice`)
	sticktest.Equal(t, "no name", h.As("").String(), plain)
	sticktest.Equal(t, "the original", h.String(), plain)
	sticktest.Equal(t, "help", stick.Hintf("%s", stick.Cmd("tt wait --help")).As("alice").String(), "tt wait --help")
}

// A hint for a reader in another place names the room in every command.
func TestHintNamesTheRoom(t *testing.T) {
	h := stick.Hintf("wait: %s; or %s; %s", stick.Cmd("tt wait"), stick.Cmd("git status"), stick.Cmd("tt wait --help"))
	sticktest.Equal(t, "in another place",
		h.At("/work/my lib").String(), `wait: tt wait --path '/work/my lib'; or git status; tt wait --help`)
	sticktest.Equal(t, "the original", h.String(), "wait: tt wait; or git status; tt wait --help")
	e := stick.Errorf(stick.CodeEditDenied, "a.go isn't yours to change now").
		Hintf("wait: %s", stick.Cmd("tt wait")).In("/work/lib")
	sticktest.Equal(t, "the error", e.Message+"; "+e.Hint.String(),
		"in the room of /work/lib, a.go isn't yours to change now; wait: tt wait --path /work/lib")
	sticktest.Equal(t, "the fact", e.Fields["workspace"], any("/work/lib"))
}

// The facts of an error fill the blanks that no value filled, whether they are set before or after the hint.
func TestFactsFillTheBlanksOfAHint(t *testing.T) {
	show := func() *stick.Error {
		return stick.Errorf(stick.CodeNotFound, "gone").Hintf("look: %s", stick.Cmd("tt task show <task_id>"))
	}
	sticktest.Equal(t, "fact after hint", show().With("task_id", "ui-7").Hint.String(), "look: tt task show ui-7")
	sticktest.Equal(t, "fact before hint",
		stick.Errorf(stick.CodeNotFound, "gone").With("task_id", "ui-7").
			Hintf("%s", stick.Cmd("tt task show <task_id>")).Hint.String(),
		"tt task show ui-7")

	given := stick.Errorf(stick.CodeNotFound, "gone").With("task_id", "ui-7").
		Hintf("%s", stick.Cmd("tt task show <task_id>", "api-1"))
	sticktest.Equal(t, "value before fact", given.Hint.String(), "tt task show api-1")
	sticktest.Equal(t, "another fact", show().With("branch", "b").Hint.String(), "look: tt task show <task_id>")
}

// A command in a hint keeps its words apart from the sentence around it.
func TestHintKeepsTheWordsOfItsCommands(t *testing.T) {
	h := stick.Hintf("ask: %s; or wait: %s", stick.Cmd("tt msg send <agent> …", "codex:1"), stick.Cmd("tt wait"))
	sticktest.Equal(t, "steps", len(h), 4)
	sticktest.Equal(t, "words", len(h[1].Command), 5)
	sticktest.Equal(t, "agent", h[1].Command[3], stick.Word{Text: "codex:1", Blank: "agent"})
	sticktest.Equal(t, "own words", h[1].Command[4], stick.Word{Blank: stick.Own})
	sticktest.Equal(t, "second command", h[3].Command.String(), "tt wait")
}

// TestWordsOfCommands: whoever types a word of a command as it is printed types exactly what is meant.
func TestWordsOfCommands(t *testing.T) {
	for word, want := range map[string]string{
		"a  b.txt":    "'a  b.txt'",
		"it's":        `'it'\''s'`,
		"tab\there's": `$'tab\011here\'s'`,
		"a\\\n":       `$'a\\\012'`,
		"\xff\u202e":  `$'\377\342\200\256'`,
		"\ufffd":      "'\ufffd'",
	} {
		sticktest.Equal(t, word, stick.Cmd("cat <path>", word).String(), "cat "+want)
	}
	sticktest.Equal(t, "a file that looks like a flag",
		stick.Comment{Path: "--old", Lines: stick.Lines{3, 3}}.Arg(), "./--old:3")
}
