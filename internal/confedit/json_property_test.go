package confedit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"talkingstick/internal/confedit"
)

// writer makes JSON as people write it: every gap has blanks, line ends and comments of its own.
type writer struct {
	t        *rapid.T
	nl       string
	comments bool // and trailing commas
	style    int  // 0 all on one line, 1 indented, 2 anything
	b        strings.Builder
}

func (w *writer) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "pick") }

// gap writes what stands between two tokens.
func (w *writer) gap(depth int, tidy string) {
	if w.style < 2 || rapid.IntRange(0, 3).Draw(w.t, "gap") > 0 {
		w.b.WriteString(tidy)
	} else {
		for range rapid.IntRange(0, 3).Draw(w.t, "pieces") {
			w.b.WriteString(w.pick(" ", "\t", "  ", "\n", "\r\n", w.nl, w.nl+strings.Repeat("  ", depth), " \t", "\r"))
		}
	}

	if w.comments && rapid.IntRange(0, 4).Draw(w.t, "comment") == 0 {
		w.b.WriteString(w.pick("", " "))
		switch {
		case w.style == 0:
			w.b.WriteString(w.pick("/*¤*/", "/* ¤, } */", "/*¤//*/"))
		default:
			w.b.WriteString(w.pick("/*¤ , */", "/* a¤"+w.nl+" b */", "// ¤\"x\": 1,"+w.nl, "//¤"+w.nl,
				"//¤ */ \r\n", "//¤ {"+w.nl+tidy))
		}
	}
}

func (w *writer) value(depth int) {
	kind := rapid.IntRange(0, 9).Draw(w.t, "kind")
	if depth > 3 {
		kind %= 5
	}

	switch {
	case kind < 5:
		w.b.WriteString(w.pick("1", "-2.50e3", "true", "null", `"a"`, `"// no {comment}, \" \\"`, `"\u00e9é"`,
			`{}`, `[]`, `""`))
	case kind < 8:
		w.object(depth, nil)
	default:
		w.items(depth, '[', ']', rapid.IntRange(0, 3).Draw(w.t, "elements"), func(int) { w.value(depth + 1) })
	}
}

// object writes an object; fixed are members to have at some place.
func (w *writer) object(depth int, fixed map[string]func(depth int)) {
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b b", "c\"", "theme", "日", "env", "x/y"}), 0,
		3, rapid.ID).Draw(w.t, "keys")
	for _, k := range slices.Sorted(mapKeys(fixed)) {
		keys = slices.Insert(keys, rapid.IntRange(0, len(keys)).Draw(w.t, "at"), k)
	}

	w.items(depth, '{', '}', len(keys), func(i int) {
		name, _ := json.Marshal(keys[i])
		w.b.Write(name)
		if f := fixed[keys[i]]; f != nil {
			w.b.WriteString(": ")
			f(depth + 1)
			return
		}

		w.gap(depth, "")
		w.b.WriteByte(':')
		w.gap(depth, " ")
		w.value(depth + 1)
	})
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (w *writer) items(depth int, open, end byte, n int, item func(i int)) {
	in, out, between := "", "", " "
	if w.style > 0 {
		in, out = w.nl+strings.Repeat("  ", depth+1), w.nl+strings.Repeat("  ", depth)
		between = in
	}

	w.b.WriteByte(open)
	if n == 0 {
		w.gap(depth, "")
	}

	for i := range n {
		if i == 0 {
			w.gap(depth+1, in)
		} else {
			w.gap(depth+1, between)
		}

		item(i)
		if i < n-1 || w.comments && rapid.IntRange(0, 2).Draw(w.t, "trailing") == 0 {
			w.gap(depth, "")
			w.b.WriteByte(',')
		}
	}

	if n > 0 {
		w.gap(depth, out)
	}
	w.b.WriteByte(end)
}

// drawJSON makes a file whose root is an object with the fixed members.
func drawJSON(t *rapid.T, comments bool, fixed func(w *writer) map[string]func(int)) []byte {
	w := &writer{t: t, comments: comments}
	w.nl = w.pick("\n", "\r\n")
	w.style = rapid.IntRange(0, 2).Draw(t, "style")
	w.b.WriteString(w.pick("", "", "\xef\xbb\xbf"))
	w.gap(0, "")
	var m map[string]func(int)
	if fixed != nil {
		m = fixed(w)
	}
	w.object(0, m)
	w.gap(0, w.pick("", w.nl))
	if comments && rapid.IntRange(0, 5).Draw(t, "end") == 0 {
		w.b.WriteString("// the end") // without a line end
	}
	return []byte(w.b.String())
}

// drawPath makes a path whose last key no generated object has.
func drawPath(t *rapid.T) []string {
	path := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "hooks", "env", "日", "mcpServers"}), 0, 2).Draw(t, "path")
	return append(path, rapid.SampledFrom([]string{"tt", "talking stick", "t\"t"}).Draw(t, "key"))
}

// must applies an edit, which has to succeed. ok is false if the path leads through something that isn't an
// object.
func must(t *rapid.T, edit confedit.Edit, src []byte) (out []byte, ok bool) {
	t.Helper()
	before := bytes.Clone(src)
	out, changed, err := edit(src)
	if !bytes.Equal(src, before) {
		t.Fatalf("the edit wrote into its argument")
	}
	if _, wrong := err.(*confedit.PathError); wrong {
		return src, false
	}
	if err != nil {
		t.Fatalf("%v\n%q", err, src)
	}
	if changed == bytes.Equal(src, out) {
		t.Fatalf("changed is %v for\n%q\n%q", changed, src, out)
	}

	return out, true
}

// thereAndBack does an edit twice and undoes it.
func thereAndBack(t *rapid.T, src []byte, set, remove confedit.Edit) (out []byte, ok bool) {
	t.Helper()
	out, ok = must(t, set, src)
	if !ok {
		return src, false
	}
	if again, _ := must(t, set, out); !bytes.Equal(again, out) {
		t.Fatalf("doing it twice is another thing:\n%q\n%q\n%q", src, out, again)
	}

	back, _ := must(t, remove, out)
	if !bytes.Equal(back, src) {
		t.Fatalf("it doesn't come back:\n%q\n%q\n%q", src, out, back)
	}

	return out, true
}

// created returns how many levels of a path exist in a file.
func created(src []byte, path []string) int {
	for n := len(path); n > 0; n-- {
		if _, found, _ := confedit.JSONGet(src, path[:n]); found {
			return n
		}
	}
	return 0
}

var values = []any{
	1,
	"x",
	[]string{"hook", "claude"},
	map[string]any{},
	map[string]any{
		"command": "/usr/bin/tt", "args": []string{"mcp"},
		"deep": map[string]any{"er": []any{nil, true, "a:b,c"}},
	},
}

func TestPropertyJSONSetAndRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comments := rapid.Bool().Draw(t, "comments")
		src := drawJSON(t, comments, nil)
		path := drawPath(t)
		value := rapid.SampledFrom(values).Draw(t, "value")
		out, ok := thereAndBack(t, src, confedit.JSONSet(path, value), confedit.JSONRemove(path, created(src, path)))
		if !ok {
			return
		}
		if plain := bytes.TrimPrefix(out, []byte("\xef\xbb\xbf")); !comments && !json.Valid(plain) {
			t.Fatalf("plain JSON isn't any more:\n%q", plain)
		}

		got, found, err := confedit.JSONGet(out, path)
		want, _ := json.Marshal(value)
		if err != nil || !found || !sameValue(got, want) {
			t.Fatalf("%v %v: %s", found, err, got)
		}

		other := rapid.SampledFrom(values).Draw(t, "other")
		replaced, _ := must(t, confedit.JSONSet(path, other), out)
		if back, _ := must(t, confedit.JSONRemove(path, created(src, path)), replaced); !bytes.Equal(back, src) {
			t.Fatalf("it doesn't come back after a replacement:\n%q\n%q\n%q", src, replaced, back)
		}
	})
}

func sameValue(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// TestPropertyJSONRemoveAny removes members anywhere in a file, with whatever is around them. Comments
// outside of them and all other values stay: the edit itself checks that.
func TestPropertyJSONRemoveAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawJSON(t, true, func(w *writer) map[string]func(int) {
			return map[string]func(int){"tt": func(int) { w.b.WriteString("7") }}
		})
		out, ok := must(t, confedit.JSONRemove([]string{"tt"}, 0), src)
		if !ok {
			return
		}
		if bytes.Count(src, []byte("¤")) != bytes.Count(out, []byte("¤")) {
			t.Fatalf("a comment is lost:\n%q\n%q", src, out)
		}
	})
}

// handler and group are ours; theirs isn't.
func ours(e json.RawMessage) bool { return bytes.Contains(e, []byte("/bin/tt")) }

type handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Timeout int      `json:"timeout,omitempty"`
}

type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

var (
	ourHandler = handler{"command", "/usr/bin/tt", []string{"hook", "claude"}, 5}
	ourGroup   = group{"Edit|Write", []handler{ourHandler}}
)

// drawHooks writes groups of others, some of them with handlers of ours beside their own.
func (w *writer) groups(depth int, mixed bool) {
	w.items(depth, '[', ']', rapid.IntRange(1, 3).Draw(w.t, "groups"), func(int) {
		w.object(depth+1, map[string]func(int){"hooks": func(depth int) {
			n := rapid.IntRange(0, 3).Draw(w.t, "handlers")
			w.items(depth, '[', ']', n, func(int) {
				h := `{"command": "lint"}`
				if mixed && rapid.Bool().Draw(w.t, "ours") {
					h = `{"command": "/usr/bin/tt", "timeout": 3}`
				}
				w.b.WriteString(h)
			})
		}})
	})
}

func TestPropertyHooks(t *testing.T) {
	path := []string{"hooks", "PreToolUse"}
	rapid.Check(t, func(t *rapid.T) {
		mixed := rapid.Bool().Draw(t, "mixed")
		src := drawJSON(t, rapid.Bool().Draw(t, "comments"), func(w *writer) map[string]func(int) {
			return map[string]func(int){"hooks": func(depth int) {
				w.object(depth, map[string]func(int){"PreToolUse": func(depth int) { w.groups(depth, mixed) }})
			}}
		})

		set, remove := confedit.JSONPutHook(path, ours, ourGroup), confedit.JSONRemoveHook(path, ours, 2)
		if !mixed {
			thereAndBack(t, src, set, remove)
			return
		}

		out, ok := must(t, set, src)
		if !ok {
			return
		}
		if n := bytes.Count(out, []byte(`/bin/tt`)); n != 1 {
			t.Fatalf("%d handlers of ours in\n%s", n, out)
		}

		clean, _ := must(t, remove, src)
		after, _ := must(t, remove, out)
		if bytes.Contains(after, []byte("/bin/tt")) || bytes.Contains(clean, []byte("/bin/tt")) {
			t.Fatalf("not all of ours is gone:\n%s", after)
		}
		if bytes.Count(clean, []byte("lint")) != bytes.Count(src, []byte("lint")) {
			t.Fatalf("a handler of others is gone:\n%s\n%s", src, clean)
		}
	})
}
