package stick

import "testing"

// A hint reads as a sentence, and what is quoted in it is what a shell would need.
func TestHintReadsAsASentence(t *testing.T) {
	for _, c := range []struct {
		hint Hint
		want string
	}{
		{Hintf("ask a person"), "ask a person"},
		{Hintf("%s", Cmd("tt doctor")), "tt doctor"},
		{Hintf("100 %% sure, %d times: %s", 2, Cmd("tt wait")), "100 % sure, 2 times: tt wait"},
		{Hintf("ask: %s; or %s", Cmd("tt msg send <agent> …", "codex:1"), Hintf("wait: %s", Cmd("tt wait"))), `ask: tt msg send codex:1 "…"; or wait: tt wait`},
		{Hintf("look: %s", Cmd("tt task show <task_id>")), "look: tt task show <task_id>"},
		{Hintf("reserve it: %s", Cmd("tt reserve <path>", "it's here")), `reserve it: tt reserve 'it'\''s here'`},
		{Hintf("%s is no command of %q: %s", "x", "y", Cmd("tt --help")), `x is no command of "y": tt --help`},
	} {
		equal(t, "hint", c.hint.String(), c.want)
	}
}

// Whoever acts under a name by a flag needs the flag in every command, or it would act as somebody else.
func TestHintCarriesTheNameOfItsReader(t *testing.T) {
	h := Hintf("commit, and wait: %s; %s, then %s", Cmd("tt wait"), Cmd("git status"), Cmd("tt pass <agent> --status …"))
	const plain = `commit, and wait: tt wait; git status, then tt pass <agent> --status "…"`
	equal(t, "as alice", h.As("alice").String(), `commit, and wait: tt wait --as alice; git status, then tt pass <agent> --status "…" --as alice`)
	equal(t, "no name", h.As("").String(), plain)
	equal(t, "the original", h.String(), plain)
	equal(t, "help", Hintf("%s", Cmd("tt wait --help")).As("alice").String(), "tt wait --help")
}

// A hint for a reader in another place names the room in every command.
func TestHintNamesTheRoom(t *testing.T) {
	h := Hintf("wait: %s; or %s; %s", Cmd("tt wait"), Cmd("git status"), Cmd("tt wait --help"))
	equal(t, "in another place", h.At("/work/my lib").String(), `wait: tt wait --path '/work/my lib'; or git status; tt wait --help`)
	equal(t, "the original", h.String(), "wait: tt wait; or git status; tt wait --help")
	e := Errorf(CodeEditDenied, "a.go isn't yours to change now").Hintf("wait: %s", Cmd("tt wait")).In("/work/lib")
	equal(t, "the error", e.Message+"; "+e.Hint.String(), "in the room of /work/lib, a.go isn't yours to change now; wait: tt wait --path /work/lib")
	equal(t, "the fact", e.Fields["workspace"], any("/work/lib"))
}

// The facts of an error fill the blanks that no value filled, whether they are set before or after the hint.
func TestFactsFillTheBlanksOfAHint(t *testing.T) {
	show := func() *Error { return Errorf(CodeNotFound, "gone").Hintf("look: %s", Cmd("tt task show <task_id>")) }
	equal(t, "fact after hint", show().With("task_id", "ui-7").Hint.String(), "look: tt task show ui-7")
	equal(t, "fact before hint", Errorf(CodeNotFound, "gone").With("task_id", "ui-7").Hintf("%s", Cmd("tt task show <task_id>")).Hint.String(), "tt task show ui-7")
	given := Errorf(CodeNotFound, "gone").With("task_id", "ui-7").Hintf("%s", Cmd("tt task show <task_id>", "api-1"))
	equal(t, "value before fact", given.Hint.String(), "tt task show api-1")
	equal(t, "another fact", show().With("branch", "b").Hint.String(), "look: tt task show <task_id>")
}

// A command in a hint keeps its words apart from the sentence around it.
func TestHintKeepsTheWordsOfItsCommands(t *testing.T) {
	h := Hintf("ask: %s; or wait: %s", Cmd("tt msg send <agent> …", "codex:1"), Cmd("tt wait"))
	equal(t, "steps", len(h), 4)
	equal(t, "words", len(h[1].Command), 5)
	equal(t, "agent", h[1].Command[3], Word{Text: "codex:1", Blank: "agent"})
	equal(t, "own words", h[1].Command[4], Word{Blank: Own})
	equal(t, "second command", h[3].Command.String(), "tt wait")
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
		equal(t, word, Cmd("cat <path>", word).String(), "cat "+want)
	}
	equal(t, "a file that looks like a flag", Comment{Path: "--old", Lines: Lines{3, 3}}.Arg(), "./--old:3")
}
