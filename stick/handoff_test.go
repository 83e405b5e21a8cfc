package stick_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestHandoffCheck(t *testing.T) {
	good := func(change func(*stick.Handoff)) stick.Handoff {
		h := stick.Handoff{Status: "s", NextAction: "n"}
		change(&h)
		return h
	}

	artifact := func(a stick.Artifact) stick.Handoff {
		return good(func(h *stick.Handoff) { h.Artifacts = []stick.Artifact{a} })
	}
	for _, c := range []struct {
		name  string
		h     stick.Handoff
		field string // "" when it is fine
	}{
		{"the least", good(func(h *stick.Handoff) {}), ""},
		{"everything", stick.Handoff{
			Status: "s", NextAction: "n", OpenQuestions: []string{"q"}, DoNot: []string{"d"},
			Artifacts: []stick.Artifact{{Path: "a.go", Lines: &stick.Lines{1, 1}, Role: "edit", Note: "x"}},
		}, ""},
		{"no status", stick.Handoff{NextAction: "n"}, "status"},
		{"a blank status", stick.Handoff{Status: " \t\n", NextAction: "n"}, "status"},
		{"no next action", stick.Handoff{Status: "s"}, "next_action"},
		{"a blank next action", stick.Handoff{Status: "s", NextAction: "\u00a0"}, "next_action"},
		{"the blank of a status", stick.Handoff{Status: " …\n", NextAction: "n"}, "status"},
		{"the blank of a next action", stick.Handoff{Status: "s", NextAction: "..."}, "next_action"},
		{"a blank with a name", stick.Handoff{Status: "<what you did>", NextAction: "n"}, "status"},
		{
			"a blank among the questions",
			good(func(h *stick.Handoff) { h.OpenQuestions = []string{"q", "<…>"} }),
			"open_questions",
		},
		{"a blank among what not to do", good(func(h *stick.Handoff) { h.DoNot = []string{"…"} }), "do_not"},
		{"a blank for the path of a file", artifact(stick.Artifact{Path: "<path>", Role: "edit"}), "artifacts"},
		{
			"dots and names in a sentence",
			stick.Handoff{Status: "wrote a List<T> …", NextAction: "<T> is left, and so on..."},
			"",
		},
		{"NUL", good(func(h *stick.Handoff) { h.Status = "a\x00b" }), "handoff"},
		{"NUL in a question", good(func(h *stick.Handoff) { h.OpenQuestions = []string{"\x00"} }), "handoff"},
		{"invalid UTF-8", good(func(h *stick.Handoff) { h.NextAction = "a\xff" }), "handoff"},
		{"invalid UTF-8 in do_not", good(func(h *stick.Handoff) { h.DoNot = []string{"\xc3"} }), "handoff"},
		{"invalid UTF-8 in a note", artifact(stick.Artifact{Path: "p", Role: "edit", Note: "\xc3"}), "handoff"},
		{"an artifact without a path", artifact(stick.Artifact{Path: " ", Role: "edit"}), "artifacts"},
		{"an unknown role", artifact(stick.Artifact{Path: "p", Role: "enjoy"}), "artifacts"},
		{"no role", artifact(stick.Artifact{Path: "p"}), "artifacts"},
		{"line zero", artifact(stick.Artifact{Path: "p", Role: "edit", Lines: &stick.Lines{0, 1}}), "artifacts"},
		{"lines backwards", artifact(stick.Artifact{Path: "p", Role: "edit", Lines: &stick.Lines{2, 1}}), "artifacts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.h.Check()
			if c.field == "" {
				sticktest.Equal(t, "code", stick.CodeOf(err), "")
				return
			}
			sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": c.field})
		})
	}

	for _, role := range stick.Roles {
		sticktest.Equal(t, "role "+role, stick.CodeOf(artifact(stick.Artifact{Path: "p", Role: role}).Check()), "")
	}

	t.Run("64 KiB", func(t *testing.T) {
		b, _ := json.Marshal(good(func(h *stick.Handoff) {}))
		fits := good(func(h *stick.Handoff) { h.Status = strings.Repeat("x", stick.MaxHandoff-len(b)+1) })
		sticktest.Equal(t, "at the limit", stick.CodeOf(fits.Check()), "")
		fits.Workspace = &stick.Workspace{Dirty: []string{strings.Repeat("x", stick.MaxHandoff)}}
		sticktest.Equal(t, "what the program adds doesn't count", stick.CodeOf(fits.Check()), "")

		fits.Status += "x"
		sticktest.Refused(t, fits.Check(), stick.CodeInvalidHandoff, map[string]any{"field": "handoff"})
	})

	t.Run("a workspace with names that aren't text", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
		h := sticktest.Handoff
		h.Workspace = &stick.Workspace{Head: "abc", Branch: "b\xff", Dirty: []string{"\xfe"}, DirtyCount: 1}
		e := f.Must(f.TryRelease("a", f.Fence(), h))[0]
		b, _ := json.Marshal(e.Handoff)
		var back *stick.Handoff
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}

		stored := e
		stored.Handoff = back
		sticktest.Equal(t, "sum after it was stored", stored.Chain("p"), e.Chain("p"))
		sticktest.Equal(t, "the given one", h.Workspace.Dirty[0], "\xfe")
	})
}

// TestHandoffFields names a field of the handoff that lacks its row or a part of it.
func TestHandoffFields(t *testing.T) {
	rows := map[string]bool{}
	for _, f := range stick.HandoffFields {
		if f.Flag == "" || f.Label == "" || f.Usage == "" || f.Meaning == "" || f.Set == nil || f.Show == nil {
			t.Errorf("the row of %s lacks a part: %+v", f.Name, f)
			continue
		}

		rows[f.Name] = true
		h := stick.Handoff{Status: "s", NextAction: "n"}
		if err := f.Set(&h, []string{"path\x00"}); err != nil {
			t.Errorf("%s can't be set: %v", f.Name, err)
		}
		var m map[string]any
		b, _ := json.Marshal(h)
		_ = json.Unmarshal(b, &m)
		if s := fmt.Sprint(m[f.Name]); !strings.Contains(s, "path") {
			t.Errorf("what is set as %s isn't there in JSON: %s", f.Name, b)
		}
		if s := strings.Join(f.Show(h), " "); !strings.Contains(s, "path") {
			t.Errorf("%s isn't shown: %q", f.Name, s)
		}
		if h.Check() == nil {
			t.Errorf("%s is taken with a NUL in it", f.Name)
		}

		h = stick.Handoff{Status: "s", NextAction: "n"}
		if f.Required {
			_ = f.Set(&h, []string{" "})
			sticktest.Refused(t, h.Check(), stick.CodeInvalidHandoff, map[string]any{"field": f.Name})
		}
	}

	for name := range jsonNames(reflect.TypeFor[stick.Handoff]()) {
		if !rows[name] && name != "workspace" { // the program adds it
			t.Errorf("%s has no row in HandoffFields", name)
		}
	}
}

func TestParseArtifact(t *testing.T) {
	for in, want := range map[string]string{
		"a.go": "a.go (examine)", "a.go:3": "a.go:3-3 (examine)", "a.go:3-8": "a.go:3-8 (examine)",
		"a.go:edit":                 "a.go (edit)",
		"a.go:3-8:review:see: this": "a.go:3-8 (review) see: this",
	} {
		a, err := stick.ParseArtifact(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		}
		sticktest.Equal(t, in, a.String(), want)
	}

	_, err := stick.ParseArtifact("a.go:3-")
	sticktest.Refused(t, err, stick.CodeInvalidHandoff, map[string]any{"field": "artifacts"})
}

// TestHandoffSameAs: a handoff differs from another one in each field that an author gives, and in no other.
func TestHandoffSameAs(t *testing.T) {
	full := func() stick.Handoff {
		return stick.Handoff{
			Status: "s", NextAction: "n", OpenQuestions: []string{"q"}, DoNot: []string{"d"},
			Artifacts: []stick.Artifact{{Path: "a.go", Lines: &stick.Lines{1, 2}, Role: "edit", Note: "x"}},
		}
	}

	for _, f := range stick.HandoffFields {
		other := full()
		sticktest.Equal(t, f.Name, f.Set(&other, []string{"another"}), nil)
		sticktest.Equal(t, "another "+f.Name, full().SameAs(other), false)
	}

	for name, c := range map[string]struct {
		change func(*stick.Handoff)
		same   bool
	}{
		"nothing": {func(h *stick.Handoff) {}, true},
		"blanks": {
			func(h *stick.Handoff) { h.Status, h.DoNot[0], h.Artifacts[0].Note = " s\n", "\td", "x " }, true,
		},
		"what the program adds": {
			func(h *stick.Handoff) { h.Workspace, h.Artifacts[0].RoomPath = &stick.Workspace{Head: "1"}, "src/a.go" },
			true,
		},
		"a blank inside":    {func(h *stick.Handoff) { h.Status = "s s" }, false},
		"lines":             {func(h *stick.Handoff) { h.Artifacts[0].Lines = &stick.Lines{1, 3} }, false},
		"a role":            {func(h *stick.Handoff) { h.Artifacts[0].Role = "review" }, false},
		"one question more": {func(h *stick.Handoff) { h.OpenQuestions = append(h.OpenQuestions, "q") }, false},
		"no artifacts":      {func(h *stick.Handoff) { h.Artifacts = []stick.Artifact{} }, false},
	} {
		other := full()
		c.change(&other)
		sticktest.Equal(t, name, full().SameAs(other), c.same)
	}
	sticktest.Equal(t, "an empty list",
		stick.Handoff{Status: "s", DoNot: []string{}}.SameAs(stick.Handoff{Status: "s"}), true)
}

// TestLines_UnmarshalJSON: a single line is a range of one, and nothing that isn't a range is made one.
func TestLines_UnmarshalJSON(t *testing.T) {
	for text, want := range map[string]stick.Lines{
		"[3,9]": {3, 9}, "[9]": {9, 9}, "[]": {}, "[1,2,3]": {}, "[1.5,2]": {}, "9": {}, `"3-9"`: {},
		"[0,0]": {0, 0},
	} {
		var a stick.Artifact
		err := json.Unmarshal([]byte(`{"path": "a.go", "role": "edit", "lines": `+text+`}`), &a)
		isRange := want != (stick.Lines{}) || text == "[0,0]"
		if isRange != (err == nil) || isRange && *a.Lines != want {
			t.Errorf("%s: %v, %v", text, a.Lines, err)
		}
		if err != nil && stick.CodeOf(err) != stick.CodeInvalidHandoff {
			t.Errorf("%s: %s", text, stick.CodeOf(err))
		}
	}

	var none stick.Artifact
	if err := json.Unmarshal([]byte(`{"path": "a.go", "lines": null}`), &none); err != nil || none.Lines != nil {
		t.Errorf("no lines: %v, %v", none.Lines, err)
	}
}
