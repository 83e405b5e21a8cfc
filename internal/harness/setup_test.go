package harness

import "testing"

// TestSkillBudget: the skill and the project's instructions stay short, because every session of every agent
// pays for them.
func TestSkillBudget(t *testing.T) {
	for _, c := range []struct {
		name, text string
		most       int // tokens, of four bytes each
	}{
		{"skill", Skill, 700},
		{"instructions", Instructions, 250},
	} {
		if tokens := (len(c.text) + 3) / 4; tokens > c.most {
			t.Errorf("the %s is %d tokens, and may be %d", c.name, tokens, c.most)
		}
	}
}
