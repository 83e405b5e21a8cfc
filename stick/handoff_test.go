package stick

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestHandoffCheck(t *testing.T) {
	good := func(change func(*Handoff)) Handoff {
		h := Handoff{Status: "s", NextAction: "n"}
		change(&h)
		return h
	}
	artifact := func(a Artifact) Handoff { return good(func(h *Handoff) { h.Artifacts = []Artifact{a} }) }
	for _, c := range []struct {
		name  string
		h     Handoff
		field string // "" when it is fine
	}{
		{"the least", good(func(h *Handoff) {}), ""},
		{"everything", Handoff{
			Status: "s", NextAction: "n", OpenQuestions: []string{"q"}, DoNot: []string{"d"},
			Artifacts: []Artifact{{Path: "a.go", Lines: &Lines{1, 1}, Role: "edit", Note: "x"}},
		}, ""},
		{"no status", Handoff{NextAction: "n"}, "status"},
		{"a blank status", Handoff{Status: " \t\n", NextAction: "n"}, "status"},
		{"no next action", Handoff{Status: "s"}, "next_action"},
		{"a blank next action", Handoff{Status: "s", NextAction: "\u00a0"}, "next_action"},
		{"NUL", good(func(h *Handoff) { h.Status = "a\x00b" }), "handoff"},
		{"NUL in a question", good(func(h *Handoff) { h.OpenQuestions = []string{"\x00"} }), "handoff"},
		{"invalid UTF-8", good(func(h *Handoff) { h.NextAction = "a\xff" }), "handoff"},
		{"invalid UTF-8 in do_not", good(func(h *Handoff) { h.DoNot = []string{"\xc3"} }), "handoff"},
		{"invalid UTF-8 in a note", artifact(Artifact{Path: "p", Role: "edit", Note: "\xc3"}), "handoff"},
		{"an artifact without a path", artifact(Artifact{Path: " ", Role: "edit"}), "artifacts"},
		{"an unknown role", artifact(Artifact{Path: "p", Role: "enjoy"}), "artifacts"},
		{"no role", artifact(Artifact{Path: "p"}), "artifacts"},
		{"line zero", artifact(Artifact{Path: "p", Role: "edit", Lines: &Lines{0, 1}}), "artifacts"},
		{"lines backwards", artifact(Artifact{Path: "p", Role: "edit", Lines: &Lines{2, 1}}), "artifacts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.h.Check()
			if c.field == "" {
				equal(t, "code", CodeOf(err), "")
				return
			}
			refused(t, err, CodeInvalidHandoff, map[string]any{"field": c.field})
		})
	}
	for _, role := range Roles {
		equal(t, "role "+role, CodeOf(artifact(Artifact{Path: "p", Role: role}).Check()), "")
	}
	t.Run("64 KiB", func(t *testing.T) {
		b, _ := json.Marshal(good(func(h *Handoff) {}))
		fits := good(func(h *Handoff) { h.Status = strings.Repeat("x", MaxHandoff-len(b)+1) })
		equal(t, "at the limit", CodeOf(fits.Check()), "")
		fits.Workspace = &Workspace{Dirty: []string{strings.Repeat("x", MaxHandoff)}}
		equal(t, "what the program adds doesn't count", CodeOf(fits.Check()), "")
		fits.Status += "x"
		refused(t, fits.Check(), CodeInvalidHandoff, map[string]any{"field": "handoff"})
	})
	t.Run("a workspace with names that aren't text", func(t *testing.T) {
		f := room(t).member("a").owns("a")
		h := handoff
		h.Workspace = &Workspace{Head: "abc", Branch: "b\xff", Dirty: []string{"\xfe"}, DirtyCount: 1}
		e := f.must(f.release("a", f.fence(), h))[0]
		b, _ := json.Marshal(e.Handoff)
		var back *Handoff
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		stored := e
		stored.Handoff = back
		equal(t, "sum after it was stored", stored.Chain("p"), e.Chain("p"))
		equal(t, "the given one", h.Workspace.Dirty[0], "\xfe")
	})
}
