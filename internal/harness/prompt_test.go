package harness

import "testing"

// TestRows_have_a_prompt_hook: whoever has hooks has one for prompts. A prompt ends the rest of an agent whose last
// turn changed nothing, and without that hook nothing would show that its person has given it work.
func TestRows_have_a_prompt_hook(t *testing.T) {
	for _, row := range Rows {
		hasPrompt := len(row.Hooks) == 0
		for _, h := range row.Hooks {
			hasPrompt = hasPrompt || h.Event == HookPrompt
		}
		if !hasPrompt {
			t.Errorf("%s has hooks, and none of them shows a prompt", row.Name)
		}
	}
}
