package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/rescue"
	"talkingstick/internal/scene"
)

// TestNeverCopied: in a checkout hold its own configuration, that of the main checkout, and those of
// the checkouts around it.
func TestNeverCopied(t *testing.T) {
	s := scene.InGit(t)
	inside := s.Dir("work/inside")
	fix := filepath.Join(filepath.Dir(s.Work), "fix")

	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	write(filepath.Join(s.Work, ".talking-stick.toml"), "[snapshots]\nnever = [\"*.pem\", \"inside/deploy\"]\n")
	s.Git("worktree", "add", "-q", fix, "-b", "fix")
	s.GitIn(inside, "init", "-q")
	write(filepath.Join(inside, ".talking-stick.toml"), "[snapshots]\nnever = [\"*.key\"]\n")

	left := func(top string) (never []string) {
		t.Helper()
		for _, name := range []string{"a.pem", "a.key", "deploy", "draft"} {
			write(filepath.Join(top, name), name+"\n")
		}
		ann, bob := s.AgentIn("claude:a", top), s.AgentIn("codex:b", top)
		ann.Try()
		took := bob.TakeoverStick(engine.TakeoverStickParams{Reason: "ann is away", Operator: true}).OK()
		shown := bob.ShowRescue(restore.ShowRescueParams{ID: took.Rescue.ID}).OK()
		s.Check(
			shown.Top == top &&
				slices.ContainsFunc(shown.Entries, func(f rescue.File) bool { return f.Path == "draft" }),
			"%+v", shown,
		)

		for _, l := range shown.LeftOut {
			if l.Why == rescue.WhyNever {
				never = append(never, l.Path)
			}
		}

		return never
	}

	s.Check(slices.Equal(left(fix), []string{"a.pem"}), "the linked worktree: %q", left(fix))
	s.Check(slices.Equal(left(inside), []string{"a.key", "a.pem", "deploy"}), "the repository inside: %q", left(inside))
}
