package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/full"
	"talkingstick/stick"
)

// typed runs the program as a person types at a terminal, or as an agent, and returns what it says.
func typed(line string, isPerson bool) (status int, said string) {
	var out, err bytes.Buffer
	env := app.Env{
		Name: "tt", Full: full.Commands(), Args: strings.Fields(line), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err,
		Getenv: func(string) string { return "" },
	}
	if isPerson {
		env.ErrColumns = func() int { return 80 }
	}
	status = Main(env)
	return status, err.String()
}

// firstTyped are words that people type before they have read the help, each with the command that its hint
// names.
var firstTyped = [][2]string{
	{"start", "tt init"},
	{"start", "tt task start"},
	{"setup", "tt init"},
	{"lock", "tt wait"},
	{"acquire", "tt wait"},
	{"claim", "tt wait"},
	{"who-has", "tt status"},
	{"unlock", "tt release"},
	{"done", "tt release"},
	{"done", "tt task done"},
	{"finish", "tt release"},
	{"steal", "tt take"},
	{"send claude hello", "tt msg send"},
	{"say hello", "tt msg send"},
	{"messages", "tt inbox"},
	{"msg list", "tt inbox"},
	{"msg inbox", "tt inbox"},
	{"agents", "tt status"},
	{"ps", "tt status"},
	{"who", "tt status"},
	{"members", "tt status"},
	{"tasks", "tt task list"},
	{"new login", "tt task new"},
	{"spawn login", "tt task new"},
	{"task create login", "tt task new"},
	{"task claim", "tt task next"},
	{"task finish", "tt task done"},
	{"task reject", "tt task request-changes"},
	{"task delete x", "tt task cancel"},
	{"task log x", "tt task logs"},
	{"task restart x", "tt task retry"},
	{"worker create x", "tt task new"},
	{"review", "tt task diff"},
	{"approve ui-7", "tt task approve"},
	{"merge", "tt task merge"},
	{"diff ui-7", "tt task diff"},
	{"diff", "tt changes"},
	{"give codex", "tt pass"},
	{"blame cart.go", "tt calls"},
	{"snapshot", "tt rescue list"},
	{"strict", "tt policy set enforce=stick"},
	{"enforce on", "tt policy set enforce=stick"},
	{"worktree", "tt task list"},
	{"run ui-7", "tt task run"},
	{"stop", "tt pause"},
	{"stop", "tt task stop"},
	{"continue", "tt resume"},
	{"ui", "tt watch"},
	{"tui", "tt watch"},
	{"dashboard", "tt watch"},
	{"web", "tt serve"},
	{"update", "tt self-update"},
	{"upgrade", "tt self-update"},
	{"docs", "tt help --all"},
	{"logs", "tt log"},
	{"history", "tt log"},
	{"show", "tt status"},
	{"snapshots", "tt rescue list"},
	{"revert", "tt undo"},
	{"settings", "tt config"},
	{"note hello", "tt notes add"},
	{"rooms", "tt list --all"},
	{"files", "tt changes"},
	{"locks", "tt reservations"},
	{"me", "tt whoami"},
	{"check", "tt doctor"},
	{"alerts", "tt notify"},
	{"quit", "tt leave"},
	{"rm codex", "tt kick"},
	{"branch", "tt task init"},
	{"hello", "tt demo"},
	{"claude", "tt install"},
	{"create-task login", "tt task new"},
	{"handoff done", "tt handoff save"},
	{"hand codex", "tt release"},
	{"next", "tt task next"},
	{"reset", "tt undo"},
	{"kill codex", "tt kick"},
	{"off", "tt uninstall"},
	{"disable", "tt policy"},
	{"enable", "tt init"},
	{"msg codex hi", "tt msg send"},
	{"rescue 1", "tt rescue list"},
	{"task ui-7", "tt task show"},
	{"config set enforce stick", "tt config --help"},
	{"doctor fix", "tt doctor --help"},
	{"whois claude-otter", "tt status"},
	{"turns", "tt timeline"},
	{"waiting", "tt status"},
	{"yield", "tt release"},
	{"unstick", "tt take"},
	{"stick", "tt status"},
	{"token", "tt status"},
	{"mutex", "tt status"},
	{"ping claude-otter", "tt msg send"},
	{"wake claude-otter", "tt msg send"},
	{"clone x", "tt status"},
	{"fetch", "tt status"},
	{"pull", "tt status"},
	{"sync", "tt status"},
	{"remote", "tt status"},
	{"add cart.go", "tt reserve"},
	{"add login", "tt task new"},
	{"checkout cart.go", "tt rescue list"},
	{"task assign login codex", "tt task new"},
	{"issue list", "tt task list"},
	{"pr list", "tt task show"},
	{"env", "tt config"},
	{"search cart", "tt log"},
	{"find cart", "tt log"},
	{"cleanup", "tt doctor"},
	{"gc", "tt doctor"},
	{"rename codex bob", "tt join --as"},
	{"agent list", "tt status"},
	{"notes rm 3", "tt notes resolve"},
	{"changes cart.go", "tt changes"},
	{"cat 3", "tt msg show"},
	{"policy warn", "tt policy set enforce=warn"},
	{"policy stick", "tt policy set enforce=stick"},
	{"policy off", "tt policy set enforce=off"},
}

// typingErrors are mistyped commands and flags, each with what a person at a terminal is asked about.
var typingErrors = [][2]string{
	{"wiat", "tt wait"},
	{"waitt", "tt wait"},
	{"wai", "tt wait"},
	{"relase", "tt release"},
	{"realese", "tt release"},
	{"stauts", "tt status"},
	{"statsu", "tt status"},
	{"stat", "tt status"},
	{"Status", "tt status"},
	{"joni", "tt join"},
	{"lst", "tt list"},
	{"lits", "tt list"},
	{"watc", "tt watch"},
	{"wacth", "tt watch"},
	{"inti", "tt init"},
	{"uninstal", "tt uninstall"},
	{"instal", "tt install"},
	{"docter", "tt doctor"},
	{"pas codex", "tt pass"},
	{"tkae", "tt take"},
	{"puase", "tt pause"},
	{"resmue", "tt resume"},
	{"polcy", "tt policy"},
	{"heartbeet", "tt heartbeat"},
	{"resrve a", "tt reserve"},
	{"unreserv a", "tt unreserve"},
	{"changs", "tt changes"},
	{"rescu", "tt rescue"},
	{"tsk", "tt task"},
	{"taks list", "tt task"},
	{"worke", "tt task"},
	{"task aprove x", "tt task approve"},
	{"task lsit", "tt task list"},
	{"task spwan x", "tt task new"},
	{"task shwo x", "tt task show"},
	{"task megre", "tt task merge"},
	{"worker aprove x", "tt task approve"},
	{"msg sned x", "tt msg send"},
	{"notes ad x", "tt notes add"},
	{"rescue resotre x", "tt rescue restore"},
	{"session strat", "tt session start"},
	{"kik codex", "tt kick"},
	{"leav", "tt leave"},
	{"clos", "tt close"},
	{"timelin", "tt timeline"},
	{"sevre", "tt serve"},
	{"noify", "tt notify"},
	{"undoo", "tt undo"},
	{"whoam", "tt whoami"},
	{"verison", "tt version"},
	{"log --folow", "--follow"},
	{"wait --waitt", "tt wait --help"},
	{"status --jsn", "--json"},
	{"wait --pakr", "--park"},
	{"wait --timout 5s", "--timeout"},
	{"release --message done", "--status"},
	{"release --staus x", "--status"},
	{"take --why x", "--reason"},
	{"task new x --desc y", "--description"},
	{"task cancel x --delet", "--delete"},
	{"init --enforc stick", "--enforce"},
	{"install --dry-run", "--print"},
	{"events --tail", "--follow"},
	{"--colour never", "--color"},
	{"log -n 5", "--limit"},
	{"wait -t 30s", "--timeout"},
	{"serve --port 8080", "--addr"},
	{"serve -p 8080", "--addr"},
	{"wiat --park", "tt wait"},
	{"realese -m done", "tt release"},
	{"task lsit --all", "tt task list"},
	{"log --author codex", "--from"},
	{"calls --author codex", "--agent"},
	{"log -1", "--limit"},
	{"ls -a", "--all"},
	{"restore x -y", "--yes"},
	{"kick codex -f", "--force"},
	{"take --force", "--reason"},
	{"take -f", "--reason"},
	{"task new x -m y", "--description"},
	{"join --name bob", "--as"},
}

// TestAPersonIsLedOnFromAnyWord types words that no command has, at a terminal. Each ends with the right
// next step.
func TestAPersonIsLedOnFromAnyWord(t *testing.T) {
	for _, row := range append(firstTyped, typingErrors...) {
		status, said := typed(row[0], true)
		_, hint, _ := strings.Cut(said, "hint: ")
		if status != stick.ExitUsage || !strings.Contains(hint, row[1]) {
			t.Errorf("tt %s: exit status %d, and it doesn't name %s:\n%s", row[0], status, row[1], said)
		}
	}
}

// TestAnAgentIsLedToNoActByATypingError: whoever follows a hint runs it, so a guess of what was meant only
// reads there.
func TestAnAgentIsLedToNoActByATypingError(t *testing.T) {
	for _, row := range typingErrors {
		_, said := typed(row[0], false)
		_, guess, guessed := strings.Cut(said, "did you mean ")
		guess, _, _ = strings.Cut(guess, "?")
		for command := range strings.SplitSeq(guess, " or ") {
			if guessed && !slices.Contains(guesses, command) {
				t.Errorf("tt %s: an agent is asked whether it meant %s", row[0], command)
			}
		}
	}
}

// TestOtherWordsNameCommands: each row names a command as it can be typed, and no word of it is a command
// itself.
func TestOtherWordsNameCommands(t *testing.T) {
	root := commandTree(&app.Run{Env: app.Env{Full: full.Commands()}})
	for _, row := range otherWordRows {
		if err := understood(stick.Cmd(row.command)[1:]); err != nil {
			t.Errorf("%q leads to %s: %v", row.words, row.command, err)
		}
		parent, _, err := root.Find(strings.Fields(row.parent)[1:])
		if err != nil {
			t.Fatal(err)
		}

		for _, word := range strings.Fields(row.words) {
			for _, c := range parent.Commands() {
				if !c.Hidden && (c.Name() == word || c.HasAlias(word)) {
					t.Errorf("%s %s is a command, and a row says what it stands for", row.parent, word)
				}
			}
		}
	}
}
