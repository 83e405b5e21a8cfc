package harness_test

import (
	"testing"

	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
)

// TestProgramOfAHarness: a command to a harness starts the very program that runs, wherever PATH leads.
func TestProgramOfAHarness(t *testing.T) {
	codex, _ := harness.ByName("codex")
	for _, c := range []struct {
		name  string
		chain [][]string
		want  string
	}{
		{"npm's launcher and the native program", [][]string{
			{"/bin/sh", "-c", "tt hook codex --wake"},
			{"/lib/vendor/bin/codex", "-m", "x"},
			{"node", "/bin/codex", "-m", "x"},
		}, "/lib/vendor/bin/codex"},
		{
			"its daemon",
			[][]string{{"/home/ann/.codex/packages/bin/codex", "app-server", "--listen", "unix://"}},
			"/home/ann/.codex/packages/bin/codex",
		},
		{"found by PATH", [][]string{{"codex"}, {"-bash"}}, "codex"},
		{"by a path that isn't absolute", [][]string{{"./codex"}}, "codex"},
		{"another program", [][]string{{"/bin/bash"}, {}, {"/bin/claude"}}, "codex"},
	} {
		var chain []proc.Info
		for _, args := range c.chain {
			chain = append(chain, proc.Info{Args: args})
		}
		if got := codex.Program(chain); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestPromptThatWoke: a prompt that tt gave an agent is recognised, and isn't taken for a person's.
func TestPromptThatWoke(t *testing.T) {
	in := harness.Input{Getenv: func(string) string { return "" }, Chain: []proc.Info{{Args: []string{"codex"}}}}
	for prompt, want := range map[string]bool{
		string(harness.NewsHead) + `\nmessage 3 from claude`: true,
		"what does this mean: " + string(harness.NewsHead):   false,
		"": false,
	} {
		f, err := harness.ReadFiring(in, []byte(`{"hook_event_name":"UserPromptSubmit","prompt":"`+prompt+`"}`))
		if err != nil || f.Event != harness.HookPrompt || f.Woken != want {
			t.Errorf("%q: %+v, %v", prompt, f.HookInput, err)
		}
	}
}
