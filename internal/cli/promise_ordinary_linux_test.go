package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/testenv"
)

// oddTrees are what people have in their checkouts, and what a hook has to get along with.
var oddTrees = []struct {
	name, make string
	asUser     bool // it means nothing to root
}{
	{"a large file", "head -c 62914560 /dev/zero >big.bin", false},
	{
		"a repository inside",
		"git init -q inside && echo x >inside/a.txt && git -C inside add . && git -C inside commit -qm x && echo y >inside/a.txt",
		false,
	},
	{"a submodule with changes", "echo x >lib/l.txt && echo x >lib/new.txt", false},
	{"a FIFO", "mkfifo fifo sub/fifo", false},
	{
		"an index whose stats all differ",
		"cp -r ../app ../copied && rm -rf ../app && mv ../copied ../app && find . -name '*.txt' -exec touch {} +",
		false,
	},
	{
		"a merge in conflict",
		"git stash -q; git switch -q -c side HEAD~1 && echo side >clean.txt && git commit -qam side && ! git merge -q main 2>&1",
		false,
	},
	{"a directory that nobody reads", "mkdir locked && echo x >locked/a.txt && chmod 0 locked", true},
	{"a data directory that nobody writes", `chmod -R a-w "$TALKING_STICK_DATA_DIR"`, true},
	{"links that lead nowhere, and around", "ln -s nowhere dangling && ln -s . around && ln -s ../../.. out", false},
}

// TestOrdinaryCommandsInOddTrees: whatever lies in a checkout, its holder is denied nothing of a working day,
// and each hook answers, with JSON or with nothing. Only what takes a file of which there can't be a copy is
// refused.
func TestOrdinaryCommandsInOddTrees(t *testing.T) {
	testenv.Alone(t)
	skipOnServer(t)

	// Each tree gets other commands than the next.
	commands := testenv.Some(t, testenv.Every, "commands of a working day in odd trees", readOrdinary(t),
		testenv.EveryNth[string](48))
	every := 1
	if testenv.LeavesToFull(t, *promiseAll, "the commands of a working day in each of the odd trees") {
		every = len(oddTrees)
	}

	w := newWard(t, "ann", "bob")
	w.build()

	holds := w.variant("stick", "ann")
	for i, odd := range oddTrees {
		if odd.asUser && os.Getuid() == 0 {
			t.Logf("%s: root is stopped by no mode", odd.name)
			continue
		}

		t.Run(odd.name, func(t *testing.T) {
			w := &ward{t, w.dir, w.work, w.app, w.bin, w.agents, w.copies, w.roomID}
			w.putBack(holds)
			w.person("git reset -q --hard && git clean -fdq && git -C lib checkout -q .") // nobody else's work is left
			w.person(odd.make)
			for n := i % every; n < len(commands); n += every {
				w.isOrdinary(commands[n])
			}
			w.person(`chmod -R u+rwX . "$TALKING_STICK_DATA_DIR"`)
		})
	}
}

// readOrdinary reads the commands of a working day.
func readOrdinary(t *testing.T) (all []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash("../shell/testdata/ordinary.txt"))
	if err != nil {
		t.Fatal(err)
	}

	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, text)
		} else if text, ok := strings.CutPrefix(line, "> "); ok || line == ">" {
			all[len(all)-1] += "\n" + text
		}
	}

	return all
}

// isOrdinary plays the hooks around a command that isn't run.
func (w *ward) isOrdinary(command string) {
	w.Helper()
	for file, event := range map[string]string{"before": "PreToolUse", "after": "PostToolUse"} {
		w.give("ann."+file+".json", hook{
			Session: w.agents["ann"].session, Dir: w.app, Name: event, Tool: "Bash", Call: "toolu",
			Input: map[string]any{"command": command},
		})
	}

	for _, when := range []string{"before", "after"} {
		out, status := w.as("ann", `cd "$WORK/app" && tt hook <"$IO/ann.`+when+`.json"`)
		if out != "" && !json.Valid([]byte(out)) || status != 0 {
			w.Errorf("the hook %s %q: status %d, %q", when, command, status, out)
		}
		if strings.Contains(out, `"deny"`) && !strings.Contains(out, "no copy") {
			w.Errorf("%q is denied: %s", command, out)
		}
	}
}
