package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
)

// examples are what the help of each command shows, one line each. A test requires one of every command, and
// finds each line in a script of testdata/script, which runs it.
var examples = map[string][]string{
	"tt":         {"tt init", "tt watch", "tt task new ui-7 --description 'Retry failed uploads'"},
	"tt handoff": {"tt handoff save 'the lexer is done'"},
	"tt handoff save": {
		"tt handoff save --status 'the lexer is done, the parser fails' --next-action 'fix src/parse.go'",
		"tt handoff save --stdin <findings.md",
	},
	"tt heartbeat": {"tt heartbeat"},
	"tt pass":      {"tt pass codex --status 'found a race in claim' --next-action 'check the fence'"},
	"tt release": {
		"tt release --status 'wrote the parser; tests pass' --next-action 'review src/parse.go' " +
			"--artifact src/parse.go:1-80:review",
		"tt release --stdin <handoff.json",
	},
	"tt take":  {"tt take --reason 'codex crashed'"},
	"tt try":   {"tt try"},
	"tt wait":  {"tt wait", "tt wait --timeout 100s", "tt wait --park"},
	"tt close": {"tt close --reason 'the project is done'"},
	"tt events": {
		"tt events", "tt events --after 7 --limit 20", "tt events --event claim,release --from codex",
		"tt events --follow --after 7 --target any",
	},
	"tt log":           {"tt log", "tt log -f", "tt log --since-seen", "tt log --task ui-7"},
	"tt timeline":      {"tt timeline", "tt timeline --since 24h", "tt timeline --svg >turns.svg"},
	"tt join":          {"tt join", "tt join src/parser --force-new"},
	"tt kick":          {"tt kick codex --reason 'its machine was switched off'"},
	"tt leave":         {"tt leave", "tt leave --abandon 'wrong branch'"},
	"tt list":          {"tt list", "tt ls --all"},
	"tt notes":         {"tt notes list"},
	"tt notes add":     {"tt notes add 'the build needs go 1.26'", "tt notes add --turn --stdin <findings.md"},
	"tt notes list":    {"tt notes list --all"},
	"tt notes resolve": {"tt notes resolve 14"},
	"tt policy":        {"tt policy", "tt policy enforce=stick"},
	"tt policy set":    {"tt policy set owner_lease_ttl=90m order=sequence"},
	"tt pause":         {"tt pause 'a demo for the customer until noon'"},
	"tt resume":        {"tt resume"},
	"tt reorder":       {"tt reorder claude codex"},
	"tt status":        {"tt status"},
	"tt watch":         {"tt watch", "tt watch . --json"},
	"tt notify":        {"tt notify", "tt notify . --json"},
	"tt state":         {"tt state", "tt state --all --json"},
	"tt serve":         {"tt serve", "tt serve --host box.example.ts.net"},
	"tt whoami":        {"tt whoami --explain"},

	"tt conflicts":      {"tt conflicts"},
	"tt may-edit":       {"tt may-edit src/parse.go", "tt may-edit --tree"},
	"tt reservations":   {"tt reservations", "tt reservations --of claude"},
	"tt reserve":        {"tt reserve src/parser 'docs/*.md'", "tt reserve web --strict --ttl 30m"},
	"tt unreserve":      {"tt unreserve web", "tt unreserve --all"},
	"tt rescue":         {"tt rescue list"},
	"tt rescue diff":    {"tt rescue diff 1m819e", "tt rescue diff 1m819e src/parse.go"},
	"tt rescue forget":  {"tt rescue forget 1m819e", "tt rescue forget .env"},
	"tt rescue list":    {"tt rescue list", "tt rescue ls --all"},
	"tt rescue restore": {"tt rescue restore 1m819e", "tt rescue restore 1m819e src/parse.go docs"},
	"tt rescue show":    {"tt rescue show 1m819e"},
	"tt changes":        {"tt changes", "tt changes --agent codex", "tt changes --diff codex"},
	"tt changes adopt": {
		"tt changes adopt src/parse.go --reason 'codex left it half done'",
		"tt changes adopt 'stash@{0}' --reason 'codex has no use for it'",
	},
	"tt calls":        {"tt calls", "tt calls --agent codex --all"},
	"tt undo":         {"tt undo", "tt undo 4", "tt undo 4 guide.md"},
	"tt changes mine": {"tt changes mine docs"},

	"tt helper":          {"tt helper -- claude"},
	"tt roster":          {"tt roster", "tt roster --all"},
	"tt session":         {"tt session start"},
	"tt session end":     {"tt session end"},
	"tt session env":     {`eval "$(tt session env)"`},
	"tt session list":    {"tt session list --all"},
	"tt session path":    {"tt session path"},
	"tt session promote": {"tt session promote"},
	"tt session role":    {"tt session role"},
	"tt session start":   {"tt session start", "tt session start --helper"},

	"tt ack":         {"tt ack 7"},
	"tt agent":       {"tt agent inbox --agent codex"},
	"tt agent ack":   {"tt agent ack --agent codex --message 11"},
	"tt agent inbox": {"tt agent inbox --agent codex"},
	"tt agent read":  {"tt agent read --agent codex --message 11"},
	"tt agent send": {
		"tt agent send --from claude --to codex --bead ui-7 --category BLOCKED --blocker 'no API key' " +
			"--requested-action 'create one' --urgency high --body 'uploads fail'",
	},
	"tt inbox":    {"tt inbox", "tt inbox --sent"},
	"tt msg":      {"tt msg send codex 'where does the parser keep its state?'"},
	"tt msg read": {"tt msg read 5"},
	"tt msg recv": {"tt msg recv --after 0"},
	"tt msg send": {
		"tt msg send codex 'where does the parser keep its state?'",
		"tt msg send room 'the build is green again'", "tt msg send codex --requires-ack --stdin <plan.md",
	},
	"tt msg show":     {"tt msg show 7"},
	"tt msg withdraw": {"tt msg withdraw 6"},

	"tt task":         {"tt task list"},
	"tt task approve": {"tt task approve ui-7", "tt task approve ui-7 --merge"},
	"tt task cancel":  {"tt task cancel ui-8 --delete --reason 'not needed any more'"},
	"tt task comment": {
		"tt task comment ui-7 upload.txt:1 'why three times?'",
		"tt task comment ui-7 --resolve 1",
	},
	"tt task diff":            {"tt task diff ui-7", "tt task diff ui-7 --stat"},
	"tt task done":            {"tt task done", "tt task done --evidence tests='go test ./...'"},
	"tt task export":          {"tt task export ui-7"},
	"tt task fail":            {"tt task fail 'the library has no streaming'"},
	"tt task heartbeat":       {"tt task heartbeat"},
	"tt task init":            {"tt task init", "tt task init --branch main"},
	"tt task logs":            {"tt task logs ui-8", "tt task logs ui-8 -f"},
	"tt task pr":              {"tt task pr lexer"},
	"tt task merge":           {"tt task merge", "tt task merge --all", "tt task merge --wait"},
	"tt task prompt":          {`claude -p "$(tt task prompt)"`},
	"tt task request-changes": {"tt task request-changes ui-7 'retry at most three times'"},
	"tt task retry":           {"tt task retry ui-9"},
	"tt task rollback":        {"tt task rollback ui-7 --reason 'uploads are slower'"},
	"tt task run":             {"tt task run ui-8", `tt task run ui-8 -- 'claude -p "$(tt task prompt)"'`},
	"tt task show":            {"tt task show ui-7"},
	"tt task new": {
		"tt task new ui-7 --description 'Retry failed uploads'", "tt task new ui-9 --after ui-7,ui-8 --label backend",
		`tt task new ui-8 --spec ui-8.md --run 'claude -p "$(tt task prompt)"'`,
	},
	"tt task after": {"tt task after ui-9 ui-7 ui-8", "tt task after ui-9 --none"},
	"tt task edit":  {"tt task edit ui-7 --description 'Retry failed uploads twice'", "tt task edit ui-8 --priority high"},
	"tt task next":  {"tt task next", "tt task next --wait", "tt task next --review --label backend"},
	"tt task start": {"tt task start"},
	"tt task list":  {"tt task list", "tt task list --label backend", "tt task list --watch"},
	"tt task stop":  {"tt task stop ui-8"},

	"tt hook":                  {"tt hook claude <input.json"},
	"tt hook git":              {"tt hook git pre-commit"},
	"tt mcp":                   {"tt mcp --tools all"},
	"tt completion":            {"tt completion bash"},
	"tt completion bash":       {"tt completion bash"},
	"tt completion fish":       {"tt completion fish"},
	"tt completion powershell": {"tt completion powershell"},
	"tt completion zsh":        {"tt completion zsh"},
	"tt config":                {"tt config"},
	"tt demo":                  {"tt demo", "tt demo --fast", "tt demo --serve", "tt demo --watch"},
	"tt doctor":                {"tt doctor"},
	"tt migrate-db":            {"tt migrate-db"},
	"tt backup":                {"tt backup", "tt backup --keep 7", "tt backup rooms-backup.sqlite --rescues"},
	"tt export":                {"tt export >room.jsonl"},
	"tt import":                {"tt import room.jsonl"},
	"tt prune":                 {"tt prune", "tt prune --older-than 30d", "tt prune --yes"},
	"tt restore":               {"tt restore", "tt restore rooms-backup.sqlite"},
	"tt help":                  {"tt help wait", "tt help --all", "tt help environment"},
	"tt init":                  {"tt init", "tt init --enforce stick --integration main --gate 'make test'"},
	"tt self-update":           {"tt self-update"},
	"tt install":               {"tt install --print", "tt install claude codex", "tt install --project claude"},
	"tt uninstall":             {"tt uninstall claude", "tt uninstall --project --yes", "tt uninstall --data --yes"},
	"tt version":               {"tt version"},
}

// exampleText returns the examples of a command as its help shows them.
func exampleText(c *cobra.Command) string {
	if lines := examples[c.CommandPath()]; len(lines) > 0 {
		return "  " + strings.Join(lines, "\n  ")
	}
	return ""
}

// Commands returns the command tree of tt-full with its examples, from which the manual pages are made.
func Commands(full []app.Command) *cobra.Command {
	root := commandTree(&app.Run{Env: app.Env{Full: full}})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("tt")
	var add func(*cobra.Command)
	add = func(c *cobra.Command) {
		c.Example = exampleText(c)
		for _, sub := range c.Commands() {
			add(sub)
		}
	}

	add(root)
	return root
}
