package names_test

import (
	"errors"
	"slices"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/names"
	"talkingstick/stick/sticktest"
)

// colours are those that a style sheet knows by short names: a screen gives each agent one, beside its name.
var colours = []string{
	"amber", "aqua", "azure", "beige", "black", "blue", "bronze", "brown", "copper", "coral", "crimson", "cyan",
	"ebony", "emerald", "fuchsia", "gold", "gray", "green", "grey", "indigo", "ivory", "jade", "khaki", "lavender",
	"lilac", "lime", "linen", "magenta", "maroon", "mauve", "navy", "ochre", "olive", "orange", "orchid", "peach",
	"pink", "plum", "purple", "red", "rose", "ruby", "salmon", "sapphire", "scarlet", "sienna", "silver", "snow",
	"tan", "teal", "tomato", "umber", "violet", "wheat", "white", "yellow",
}

func TestNameWords(t *testing.T) {
	t.Parallel()
	words := names.NameWords()
	sticktest.Equal(t, "how many", len(words), 512)

	seen := map[string]bool{}
	for _, w := range words {
		if seen[w] || len(w) < 3 || len(w) > 8 || slices.Contains(colours, w) {
			t.Errorf("%s is there twice, too short, too long or a colour", w)
		}
		if _, err := stick.ParseAgentID("claude-" + w); err != nil {
			t.Error(err)
		}
		seen[w] = true
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	isTaken := func(name string) (bool, error) { return taken[name], nil }

	// As many agents of one harness get names as there are words, and then numbers.
	for i := range 2 * len(names.NameWords()) {
		name, err := names.Choose("claude:3f9a12bc", isTaken)
		sticktest.Equal(t, "error", err, nil)
		if taken[name] {
			t.Fatalf("agent %d is called %s as well", i, name)
		}
		taken[name] = true
	}

	again, _ := names.Choose("claude:3f9a12bc", func(string) (bool, error) { return false, nil })
	sticktest.Equal(t, "the first choice is among them", taken[again], true)

	for _, a := range []stick.AgentID{"human:ann", "human:ann@host", "claude", "reviewer:one", "codex:lead", "human:00000000"} {
		name, err := names.Choose(a, isTaken)
		sticktest.Equal(t, "name of "+string(a), name, "")
		sticktest.Equal(t, "error", err, nil)
	}

	broken := errors.New("the database is gone")
	_, err := names.Choose("claude:3f9a12bc", func(string) (bool, error) { return false, broken })
	sticktest.Equal(t, "error", err, broken)
}

func TestShow(t *testing.T) {
	t.Parallel()
	nameOf := func(a stick.AgentID) string {
		return map[stick.AgentID]string{
			"claude:3f9a12bc": "claude-otter", "claude:3f9a12bc-2": "claude-heron", "open-code:0123456789": "open-code-fig",
		}[a]
	}

	for _, c := range []struct{ text, want string }{
		{"claude:3f9a12bc holds it", "claude-otter holds it"},
		{"claude:3f9a12bc's turn, not claude:3f9a12bc-2's.", "claude-otter's turn, not claude-heron's."},
		{"(claude:3f9a12bc) and open-code:0123456789.", "(claude-otter) and open-code-fig."},
		{"claude:3f9a12bc: it writes", "claude-otter: it writes"},
		{"work/claude:3f9a12bc and xclaude:3f9a12bc", "work/claude:3f9a12bc and xclaude:3f9a12bc"},
		{"codex:00000000, human:3f9a12bc, 12:30:00, a: b:", "codex:00000000, human:3f9a12bc, 12:30:00, a: b:"},
		{`claude:3f9a12bc told all: "I am claude:3f9a12bc"`, `claude-otter told all: "I am claude:3f9a12bc"`},
		{`"a \"claude:3f9a12bc" claude:3f9a12bc`, `"a \"claude:3f9a12bc" claude-otter`},
		{`claude:3f9a12bc "claude:3f9a12bc`, `claude-otter "claude:3f9a12bc`},
		{"", ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			sticktest.Equal(t, "shown", names.Show(c.text, nameOf), c.want)
		})
	}
}
