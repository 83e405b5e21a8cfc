package web

import (
	"testing"

	"talkingstick/stick"
)

func TestShowNames(t *testing.T) {
	t.Parallel()
	nameOf := func(a stick.AgentID) string {
		return map[stick.AgentID]string{"claude:3f9a12bc": "claude-otter"}[a]
	}

	for _, c := range []struct{ name, html, want string }{
		{"text", `<b><bdi>claude:3f9a12bc</bdi></b> holds`, `<b><bdi>claude-otter</bdi></b> holds`},
		{
			"value of a form", `<option value="claude:3f9a12bc">claude:3f9a12bc</option>`,
			`<option value="claude:3f9a12bc">claude-otter</option>`,
		},
		{
			"label", `<button aria-label="Remove claude:3f9a12bc" value="claude:3f9a12bc">Remove</button>`,
			`<button aria-label="Remove claude-otter" value="claude:3f9a12bc">Remove</button>`,
		},
		{"link", `<a href="/agent/claude:3f9a12bc">it</a>`, `<a href="/agent/claude:3f9a12bc">it</a>`},
		{
			"message", `<div class="text letter">ask claude:3f9a12bc</div>claude:3f9a12bc`,
			`<div class="text letter">ask claude:3f9a12bc</div>claude-otter`,
		},
		{
			"code", `<code><bdi>a/claude:3f9a12bc</bdi></code> <pre>+claude:3f9a12bc</pre>`,
			`<code><bdi>a/claude:3f9a12bc</bdi></code> <pre>+claude:3f9a12bc</pre>`,
		},
		{
			"quotation", `claude:3f9a12bc told all: &#34;I am claude:3f9a12bc&#34;, claude:3f9a12bc`,
			`claude-otter told all: &#34;I am claude:3f9a12bc&#34;, claude-otter`,
		},
		{"nobody we know", `codex:00000000`, `codex:00000000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := showNames(c.html, nameOf); got != c.want {
				t.Errorf("it shows %s", got)
			}
		})
	}
}
