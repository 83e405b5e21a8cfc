package confedit_test

import (
	"testing"

	"talkingstick/internal/confedit"
)

const (
	begin = confedit.Begin + "\n"
	end   = confedit.End + "\n"
)

func TestMarkdownBlock(t *testing.T) {
	check(t, confedit.SetBlock("one\n\ntwo\n"), []edited{
		{"there is no file", "", begin + "one\n\ntwo\n" + end},
		{"another text", "# T\n\n" + begin + "old\n" + end + "tail", "# T\n\n" + begin + "one\n\ntwo\n" + end + "tail"},
		{"there", "x\n" + begin + "one\n\ntwo\n" + end, ""},
	})

	check(t, confedit.SetImport("AGENTS.md"), []edited{
		{"somebody imports it", "# App\n\n@AGENTS.md\r\n", ""},
		{"in a sentence, from here", "Read @./AGENTS.md first.\n", ""},
		{
			"another file",
			"@docs/AGENTS.md @AGENTS.md.old x@AGENTS.md\n",
			"@docs/AGENTS.md @AGENTS.md.old x@AGENTS.md\n\n" + begin + "@AGENTS.md\n" + end,
		},
		{"by us", begin + "@AGENTS.md\n" + end, ""},
	})

	check(t, confedit.RemoveBlock(), []edited{
		{"it isn't there", "@AGENTS.md\n", ""},
		{"in the middle", "a\n\n" + begin + "x\n" + end + "\nb\n", "a\n\nb\n"},
	})
}

func TestMarkdownRefused(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"no end":         {"a\n" + begin + "x\n", "line 2: the block that begins here has no end"},
		"no begin":       {"a\n" + end, "line 2: a block ends that hasn't begun"},
		"two blocks":     {begin + end + begin + end, "line 3: a second block begins"},
		"two ends":       {begin + end + end, "line 3: the block ends a second time"},
		"begin in begin": {begin + begin + end, "line 2: a second block begins"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, edit := range []confedit.Edit{
				confedit.SetBlock("x"), confedit.SetImport("AGENTS.md"), confedit.RemoveBlock(),
			} {
				out, changed, err := edit([]byte(c.src))
				if err == nil || err.Error() != c.want || changed || string(out) != c.src {
					t.Errorf("%v: %s", err, out)
				}
			}
		})
	}

	if _, _, err := confedit.SetBlock("a\n  " + end)(nil); err == nil {
		t.Error("a marker came into the block")
	}
}
