package harness

import (
	"testing"

	"talkingstick/internal/proc"

	"pgregory.net/rapid"
)

// Whatever else is true, a caller with a harness among its ancestors never counts as a person, nor does one
// through MCP. Evidence is always one of the ancestors.
func TestNoPersonInsideAHarness(t *testing.T) {
	others := []proc.Info{systemd, sshd, bash, subshell, login, makeTest, run("tmux: server", "tmux")}
	harnesses := []proc.Info{
		claude, codexNode, codex, codexd, codexBox, gemini1, gemini2, opencode, openserve, openport,
	}

	variables := rapid.MapOf(
		rapid.SampledFrom([]string{
			"CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "CODEX_SESSION_ID", "CODEX_CI", "GEMINI_SESSION_ID", "GEMINI_CLI",
			"OPENCODE", "CLAUDE_PROJECT_DIR",
		}),
		rapid.SampledFrom([]string{"", "0", "false", "1", session, session2}),
	)

	rapid.Check(t, func(t *rapid.T) {
		process := rapid.SampledFrom(append(others[:len(others):len(others)], harnesses...))
		chain := rapid.SliceOfN(process, 0, 6).Draw(t, "below")
		inside := rapid.Bool().Draw(t, "inside a harness")
		if inside {
			chain = append(chain, rapid.SampledFrom(harnesses).Draw(t, "harness"))
			chain = append(chain, rapid.SliceOfN(process, 0, 6).Draw(t, "above")...)
		}

		chain = at(chain...)
		in := Input{
			Getenv:         env(variables.Draw(t, "environment")).get,
			Chain:          chain,
			Complete:       rapid.Bool().Draw(t, "complete"),
			As:             rapid.SampledFrom([]string{"", "claude:x", "reviewer"}).Draw(t, "as"),
			SessionID:      rapid.SampledFrom([]string{"", session}).Draw(t, "session"),
			SessionHarness: rapid.SampledFrom([]string{"", "claude", "codex"}).Draw(t, "session's harness"),
			User:           rapid.String().Draw(t, "user"),
		}

		served := rapid.Bool().Draw(t, "through MCP")
		if served {
			in.Connection = &Connection{Client: rapid.String().Draw(t, "client"), Server: id(1)}
		}
		got, err := Resolve(in)
		if err != nil {
			t.Fatal(err)
		}
		if (inside || served) && got.Person {
			t.Fatalf("taken for a person: %q", got.Explain)
		}
		if got.Person != (got.Harness == Human) || got.Person != (got.Seed() == "") {
			t.Fatalf("neither a person nor an agent: %+v", got)
		}
		if got.Process.IsZero() != (got.Proof == "") {
			t.Fatalf("a proof without a process, or the other way: %+v", got)
		}

		known := got.Process.IsZero()
		for _, p := range chain {
			known = known || p.ID == got.Process
		}
		if !known {
			t.Fatalf("evidence that isn't an ancestor: %+v", got)
		}

		if err := checkName(Human+":"+got.User, "user"); err != nil {
			t.Fatal(err)
		}
	})
}
