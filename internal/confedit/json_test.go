package confedit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/confedit"
)

// edited is one edit, a file, and the result. An empty result means that nothing changes.
type edited struct{ name, src, want string }

func check(t *testing.T, edit confedit.Edit, rows []edited) {
	t.Helper()
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			out, changed, err := edit([]byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == "" {
				want = c.src
			}
			if d := cmp.Diff(want, string(out)); d != "" {
				t.Error(d)
			}
			if changed != (c.want != "") {
				t.Error("changed is", changed)
			}
		})
	}
}

func TestJSONSet(t *testing.T) {
	check(t, confedit.JSONSet([]string{"mcp", "tt"}, map[string]any{"on": true}), []edited{
		{"there is no file", "", "{\n  \"mcp\": {\n    \"tt\": {\n      \"on\": true\n    }\n  }\n}\n"},
		{
			"a blank file keeps its mark and line ends",
			"\xef\xbb\xbf\r\n",
			"\xef\xbb\xbf{\r\n  \"mcp\": {\r\n    \"tt\": {\r\n      \"on\": true\r\n    }\r\n  }\r\n}\r\n",
		},
		{"one line", `{"a": 1}`, `{"a": 1, "mcp": {"tt": {"on": true}}}`},
		{"one tight line", `{"a":1,"b":2}`, `{"a":1,"b":2,"mcp":{"tt":{"on":true}}}`},
		{"tabs", "{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"mcp\": {\n\t\t\"tt\": {\n\t\t\t\"on\": true\n\t\t}\n\t}\n}"},
		{
			"an empty object",
			"{\n    \"mcp\": {}\n}",
			"{\n    \"mcp\": {\n        \"tt\": {\n            \"on\": true\n        }\n    }\n}",
		},
		{
			"a comment behind the last member",
			"{\n  \"a\": 1 // one\n  // two\n}",
			"{\n  \"a\": 1, // one\n  \"mcp\": {\n    \"tt\": {\n      \"on\": true\n    }\n  }\n  // two\n}",
		},
		{"the same in another layout", `{"mcp": {"tt" :{ "\u006fn" : /* yes */ true, }}}`, ""},
		{
			"another value",
			"{\n  \"mcp\": {\n    \"tt\": 5 // five\n  }\n}",
			"{\n  \"mcp\": {\n    \"tt\": {\n      \"on\": true\n    } // five\n  }\n}",
		},
		{"an escaped key is the key", `{"m\u0063p": {}}`, `{"m\u0063p": {"tt": {"on": true}}}`},
		{
			"brackets that don't count",
			`{"s": "` + strings.Repeat(`\"[`, 2000) + `"}`,
			`{"s": "` + strings.Repeat(`\"[`, 2000) + `", "mcp": {"tt": {"on": true}}}`,
		},
		{
			"nor in comments",
			"{ /*" + strings.Repeat(`[ "`, 2000) + "*/ \"mcp\": {\"tt\": {\"on\": true}} //" + strings.Repeat("{", 2000) + "\n}",
			"",
		},
		{
			"somebody else's key that stands twice",
			`{"x": 1, "x": 2, "mcp": {}}`,
			`{"x": 1, "x": 2, "mcp": {"tt": {"on": true}}}`,
		},
	})
}

func TestJSONRemove(t *testing.T) {
	check(t, confedit.JSONRemove([]string{"mcp", "tt"}, 0), []edited{
		{"there is no file", "", ""},
		{"it isn't there", `{"mcp": {"x": 1}}`, ""},
		{"empty before", `{"mcp": {}}`, ""},
		{"with what was made for it", "{\n  \"mcp\": {\n    \"tt\": 1\n  }\n}\n", "{}\n"},
		{
			"what holds a comment stays",
			"{\n  \"mcp\": {\n    // jira: later\n    \"tt\": 1\n  }\n}\n",
			"{\n  \"mcp\": {\n    // jira: later\n  }\n}\n",
		},
		{
			"the first of two",
			"{\n  \"mcp\": {\n    \"tt\": 1, // ours\n    \"x\": 2\n  }\n}\n",
			"{\n  \"mcp\": {\n    // ours\n    \"x\": 2\n  }\n}\n",
		},
		{"the last of two", "{\"mcp\": { \"x\": 2, \"tt\": 1 }}", "{\"mcp\": { \"x\": 2 }}"},
	})

	check(t, confedit.JSONRemove([]string{"mcp", "tt"}, 1), []edited{
		{"what is to be kept stays", "{\n  \"mcp\": {\n    \"tt\": 1\n  }\n}\n", "{\n  \"mcp\": {}\n}\n"},
	})
}

func TestHookAmongOthers(t *testing.T) {
	path := []string{"hooks", "Stop"}
	mine := group{"", []handler{{Type: "command", Command: "/usr/bin/tt", Timeout: 5}}}
	check(t, confedit.JSONPutHook(path, ours, mine), []edited{
		{
			"ours is old",
			`{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": "/old/bin/tt"}]}]}}`,
			`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/usr/bin/tt", "timeout": 5}]}]}}`,
		},
		{
			"in a group of theirs",
			`{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": "lint"}, {"command": "/old/bin/tt"}]}]}}`,
			`{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": "lint"}, {"type": "command", "command": "/usr/bin/tt", "timeout": 5}]}]}}`,
		},
		{
			"twice",
			`{"hooks": {"Stop": [{"hooks": [{"command": "/bin/tt"}, {"command": "lint"}]}, {"hooks": [{"type": "command", "command": "/usr/bin/tt", "timeout": 5}]}]}}`,
			`{"hooks": {"Stop": [{"hooks": [{"command": "lint"}]}, {"hooks": [{"type": "command", "command": "/usr/bin/tt", "timeout": 5}]}]}}`,
		},
		{
			"there, in other words",
			`{"hooks": {"Stop": [ { "hooks": [ /* ours */ { "timeout": 5.0, "type": "command", "command": "/usr/bin/tt" } ] } ]}}`,
			"",
		},
		{
			"groups in no shape that we know",
			`{"hooks": {"Stop": [7, {"hooks": "x"}, {}]}}`,
			`{"hooks": {"Stop": [7, {"hooks": "x"}, {}, {"hooks": [{"type": "command", "command": "/usr/bin/tt", "timeout": 5}]}]}}`,
		},
	})

	check(t, confedit.JSONRemoveHook(path, ours, 0), []edited{
		{
			"in a group of theirs",
			`{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": "/bin/tt"}, {"command": "lint"}]}]}}`,
			`{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": "lint"}]}]}}`,
		},
		{
			"several of ours",
			`{"hooks": {"Stop": [{"hooks": [{"command": "/bin/tt"}, {"command": "/bin/tt 2"}]}, {"hooks": [{"command": "/bin/tt"}]}]}}`,
			`{}`,
		},
		{"an empty group isn't ours", `{"hooks": {"Stop": [{"hooks": []}]}}`, ""},
		{
			"other events stay",
			`{"hooks": {"Stop": [{"hooks": [{"command": "/bin/tt"}]}], "Other": []}}`,
			`{"hooks": {"Other": []}}`,
		},
	})
}

func TestJSONRefused(t *testing.T) {
	set := confedit.JSONSet([]string{"mcp", "tt"}, 1)
	for _, c := range []struct{ name, src, want string }{
		{"cut off", "{\n  \"a\": [1,\n", "line 3, column 1: parsing value: unexpected EOF"},
		{"a comma too many", "{\n  \"a\": 1,,\n}", "line 2, column 10: invalid character ',' at start of value"},
		{"a literal isn't cited", `{"token": "sk-\secret"}`, "line 1, column 11: invalid literal"},
		{"two values", "{} {}", "line 1, column 4: invalid character '{' after top-level value"},
		{"nothing but a comment", "// later\n", "line 2, column 1: parsing value: unexpected EOF"},
		{"behind a mark", "\xef\xbb\xbf?", "line 1, column 1: invalid character '?' at start of value"},
		{
			"a line that only JavaScript sees",
			"{ // c\r\"mcp\": {},\n \"a\": 1 }",
			"line 1, column 7: a comment goes on behind a carriage return, where some programs end it",
		},
		{"too deep", strings.Repeat("[", 1001), "line 1, column 1001: brackets are nested too deeply"},
		{"no object at the root", "[]", "the file's value is an array, not an object"},
		{"no object on the way", `{"mcp": "secret"}`, "mcp is a string, not an object"},
		{
			"a key twice",
			`{"mcp": {}, "m\u0063p": {}}`,
			"mcp stands there twice, and programs don't agree which one counts",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, changed, err := set([]byte(c.src))
			if err == nil || changed || string(out) != c.src {
				t.Fatal("it was changed")
			}
			if d := cmp.Diff(c.want, err.Error()); d != "" {
				t.Error(d)
			}

			_, _, err = confedit.JSONGet([]byte(c.src), []string{"mcp", "tt"})
			if err == nil {
				t.Error("it can be read")
			}
		})
	}

	var wrong *confedit.PathError
	if _, _, err := confedit.JSONPutHook([]string{"a", "b c"}, ours, ourGroup)([]byte(`{"a": {"b c": {}}}`)); !errors.As(err, &wrong) ||
		err.Error() != `a."b c" is an object, not an array` {
		t.Error(err)
	}
	if _, _, err := confedit.JSONSet([]string{"a"}, func() {})(nil); err == nil {
		t.Error("a function was written as JSON")
	}
}

// TestAllOrNothing makes two edits, of which the second fails.
func TestAllOrNothing(t *testing.T) {
	src := []byte(`{"b": 1}`)
	out, changed, err := confedit.JoinEdits(confedit.JSONSet([]string{"a"}, 1),
		confedit.JSONSet([]string{"b", "c"}, 1))(src)
	if err == nil || changed || !bytes.Equal(out, src) {
		t.Errorf("%s %v %v", out, changed, err)
	}
}

func FuzzJSONC(f *testing.F) {
	for _, s := range []string{
		"", "{}", "{\n  // c\n}", `{"mcp": {"x": [1, 2, ], }, }`,
		"{\r\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"/bin/tt\"}, 1]}]}\r\n}", "[1]",
		`{"a":1/*c*/}`, "{\"a\": 1\r}// x",
	} {
		f.Add([]byte(s))
	}
	path, stop := []string{"mcp", "tt"}, []string{"hooks", "Stop"}
	f.Fuzz(func(t *testing.T, src []byte) {
		never(t, src, confedit.JSONRemoveHook(stop, ours, 0))
		never(t, src, confedit.JSONPutHook(stop, ours, ourGroup))
		cleared := never(t, src, confedit.JSONRemove(path, 0))
		out := never(t, src, confedit.JSONSet(path, map[string]int{"n": 1}))
		if bytes.Equal(out, src) || len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")))) == 0 {
			return
		}
		if _, there, _ := confedit.JSONGet(src, path); there {
			return
		}
		if back := never(t, out, confedit.JSONRemove(path, created(src, path))); !bytes.Equal(back, src) {
			t.Errorf("it doesn't come back:\n%q\n%q\n%q", src, out, back)
		}
		if !bytes.Equal(cleared, src) {
			t.Errorf("something was removed that wasn't there: %q", cleared)
		}
		if json.Valid(src) && !json.Valid(out) {
			t.Errorf("plain JSON isn't any more: %q", out)
		}
	})
}

// never applies an edit to any bytes. The edit may refuse the file for a fault in it, but it never fails
// otherwise.
func never(t *testing.T, src []byte, edit confedit.Edit) []byte {
	t.Helper()
	out, changed, err := edit(src)
	var malformed *confedit.MalformedError
	var path *confedit.PathError
	if err != nil && !errors.As(err, &malformed) && !errors.As(err, &path) {
		t.Fatalf("%v: %q", err, src)
	}
	if err != nil && !bytes.Equal(out, src) || changed == bytes.Equal(out, src) {
		t.Fatalf("%v %v: %q %q", changed, err, src, out)
	}
	if again, changed, err := edit(out); changed || err != nil != (err != nil) {
		t.Fatalf("twice isn't once: %v: %q %q %q", err, src, out, again)
	}

	return out
}

// TestLargeFiles edits files as large as ~/.claude.json may become, in layouts for which a careless edit
// would read the file again for each value.
func TestLargeFiles(t *testing.T) {
	for name, src := range map[string]string{
		"members on one line": `{"hooks":{` + strings.Repeat(`"a":[],`, 100_000) + `"b":1}}`,
		"groups on one line":  `{"hooks":{"Stop":[` + strings.Repeat(`{"hooks":[{"command":"x"}]},`, 20_000) + `1]}}`,
		"comments":            "{" + strings.Repeat("/*x*/", 100_000) + `"a":1}`,
	} {
		start := time.Now()
		if _, _, err := confedit.JSONPutHook([]string{"hooks", "Stop"}, ours, ourGroup)([]byte(src)); err != nil {
			t.Error(name, err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Error(name, "took", took)
		}
	}
}
