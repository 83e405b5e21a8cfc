package harness

import (
	"slices"
	"strings"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// programRows are harnesses of which only the programs are known here: nobody has run them with tt. They tell
// agents apart from each other and from the person who started them. Whether such a process carries one
// session isn't known, and what it does with an answer to a hook isn't either, so it gets none.
var programRows = []Row{
	{Name: "aider", Title: "Aider", Programs: []string{"aider"}, Scripts: []string{"aider"}},
	{Name: "amp", Title: "Amp", Packages: []string{"/@sourcegraph/amp/"}}, // an editor is called amp, too
	{
		Name: "auggie", Title: "Auggie", Programs: []string{"auggie"}, Scripts: []string{"auggie"},
		Packages: []string{"/@augmentcode/auggie/"},
	},
	{Name: "cline", Title: "Cline CLI", Programs: []string{"cline"}, Scripts: []string{"cline"}},
	{Name: "codebuff", Title: "Codebuff", Programs: []string{"codebuff"}, Scripts: []string{"codebuff"}},
	{Name: "crush", Title: "Crush", Programs: []string{"crush"}},
	{
		Name: "cursor", Title: "Cursor CLI", Programs: []string{"cursor-agent"}, Scripts: []string{"cursor-agent"},
		Packages: []string{"/cursor-agent/versions/"},
	},
	{Name: "droid", Title: "Droid", Programs: []string{"droid"}, Scripts: []string{"droid"}},
	{Name: "goose", Title: "Goose", Programs: []string{"goose"}},
	{Name: "gptme", Title: "gptme", Programs: []string{"gptme"}, Scripts: []string{"gptme"}},
	{Name: "grok", Title: "Grok Build", Programs: []string{"grok"}, Scripts: []string{"grok"}},

	// an editor is called kilo
	{Name: "kilo", Title: "Kilo", Programs: []string{"kilocode"}, Scripts: []string{"kilocode"}, Packages: []string{"/@kilocode/cli/"}},
	{Name: "kimi", Title: "Kimi CLI", Programs: []string{"kimi"}, Scripts: []string{"kimi"}},
	{Name: "kiro", Title: "Kiro CLI", Programs: []string{"kiro-cli", "kiro-cli-chat"}},
	{Name: "openhands", Title: "OpenHands", Programs: []string{"openhands"}, Scripts: []string{"openhands"}},
	{Name: "plandex", Title: "Plandex", Programs: []string{"plandex"}},
}

// isProgramRow reports whether only the programs of a harness are known.
func (r Row) isProgramRow() bool {
	return slices.ContainsFunc(programRows, func(p Row) bool { return p.Name == r.Name })
}

// recogniseProgram finds the harness of [programRows] that p belongs to.
func recogniseProgram(p proc.Info) (match, bool) {
	script := pythonScript(p)
	for _, r := range programRows {
		if r.runsProcess(p) || script != "" && slices.Contains(r.Scripts, script) {
			return match{row: r, proof: stick.ProvesCarrier}, true
		}
	}

	return match{}, false
}

// pythonScript returns the name of the script or module that p runs as an interpreter of Python, or "".
func pythonScript(p proc.Info) string {
	if len(p.Args) == 0 || !strings.HasPrefix(programName(p.Args[0]), "python") {
		return ""
	}

	for _, arg := range p.Args[1:] {
		if !strings.HasPrefix(arg, "-") {
			return strings.TrimSuffix(baseName(arg), ".py")
		}
	}

	return ""
}
