package picture

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

// noon is when the pictures of the tests begin.
var noon = stick.At(time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC))

// minute is a time so many minutes after noon.
func minute(m float64) stick.Time { return noon.Add(time.Duration(m * float64(time.Minute))) }

func span(from, to float64) timeline.Span { return timeline.Span{From: minute(from), To: minute(to)} }

// since is a span that goes on.
func since(from float64) timeline.Span { return timeline.Span{From: minute(from)} }

// drawn is a timeline whose lanes have their totals.
func drawn(minutes float64, lanes ...timeline.Lane) timeline.Timeline {
	t := timeline.Timeline{From: noon, To: minute(minutes)}
	for _, l := range lanes {
		l.Turns = len(l.Holds)
		for _, h := range l.Holds {
			part, _ := h.In(t.From, t.To)
			l.Held += stick.Millis(part.To - part.From)
		}

		for _, w := range l.Waits {
			part, _ := w.In(t.From, t.To)
			l.Waited += stick.Millis(part.To - part.From)
		}
		t.Lanes = append(t.Lanes, l)
	}

	return t
}

// afternoon has one of everything.
func afternoon() timeline.Timeline {
	t := drawn(240,
		timeline.Lane{
			Agent: "claude:a3f19c02",
			Holds: []timeline.Holding{
				{Span: span(-30, 20), Turn: 11, Began: stick.OpenClaim, Ended: stick.EventRelease},
				{Span: span(62, 118), Turn: 13, Began: stick.DirectPass, Ended: stick.EventTakeover, By: "human:ann"},
				{Span: since(225), Turn: 16, Began: stick.InSequence},
			},
			Named: []timeline.Naming{
				{Span: span(60, 62), By: stick.ByPass, Claimed: true},
				{Span: span(224, 225), By: stick.ByRelease, Claimed: true},
			},
			Waits: []timeline.Waiting{{Span: span(180, 225), Turn: 16}},
			Marks: []timeline.Mark{{At: minute(40), Type: stick.EventIncursion, Seq: 40, Other: "codex:9b22"}},
		},
		timeline.Lane{
			Agent: "codex:9b22",
			Holds: []timeline.Holding{
				{Span: span(21, 60), Turn: 12, Began: stick.InSequence, Ended: stick.EventPass},
				{Span: span(150, 210), Turn: 15, Began: stick.OpenClaim, Ended: stick.EventKick, By: "human:ann"},
			},
			Named: []timeline.Naming{{Span: span(20, 21), By: stick.ByRelease, Claimed: true}},
			Waits: []timeline.Waiting{{Span: span(3, 21), Turn: 12}, {Span: span(120, 150), Turn: 15}},
			Marks: []timeline.Mark{
				{At: minute(40), Type: stick.EventIncursion, Seq: 40, Other: "claude:a3f19c02"},
				{At: minute(210), Type: stick.EventKick, Seq: 90, Other: "human:ann", Reason: "it runs in circles"},
			},
		},
		timeline.Lane{
			Agent: "human:ann",
			Holds: []timeline.Holding{
				{Span: span(118, 119), Turn: 14, Began: stick.TookOver, Ended: stick.EventRelease},
			},
			Marks: []timeline.Mark{
				{
					At: minute(118), Type: stick.EventTakeover, Seq: 70, Turn: 14, Other: "claude:a3f19c02",
					Cause: stick.OperatorRequested, Reason: "a demo",
				},
			},
		},
		timeline.Lane{
			Agent: "gemini:77", Waits: []timeline.Waiting{{Span: since(200)}},
			Named: []timeline.Naming{{Span: span(210, 224), By: stick.ByRelease}},
		},
	)

	t.Pauses = []timeline.Paused{{Span: span(121, 139), By: "human:ann", Reason: "lunch & a demo"}}
	return t
}

func svg(t *testing.T, line timeline.Timeline, opt Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, line, opt); err != nil {
		t.Fatal(err)
	}
	checkXML(t, b.String())

	return b.String()
}

// checkXML reads a picture as a browser does. It has no script, nothing from elsewhere, and ids that are
// there once.
func checkXML(t *testing.T, text string) {
	t.Helper()
	ids, refs := map[string]int{}, map[string]bool{}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}

		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}

		switch e.Name.Local {
		case "svg", "title", "desc", "defs", "path", "pattern", "rect", "line", "text", "g", "use", "style":
		default:
			t.Errorf("there is an element %s", e.Name.Local)
		}

		for _, a := range e.Attr {
			switch {
			case a.Name.Local == "id":
				ids[a.Value]++
			case a.Name.Local == "href":
				refs[strings.TrimPrefix(a.Value, "#")] = true
			case strings.HasPrefix(a.Value, "url(#"):
				refs[strings.TrimSuffix(strings.TrimPrefix(a.Value, "url(#"), ")")] = true
			case strings.HasPrefix(a.Name.Local, "on"), strings.Contains(a.Value, "://") && a.Name.Local != "xmlns":
				t.Errorf("there is an attribute %s=%q", a.Name.Local, a.Value)
			}
		}
	}

	for id, n := range ids {
		if n != 1 {
			t.Errorf("the id %s is there %d times", id, n)
		}
	}

	for ref := range refs {
		if ids[ref] == 0 {
			t.Errorf("there is no %s", ref)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s isn't what is drawn (%v): go test ./internal/picture -update, and look at what changed", path, err)
	}
}

// zone is where whoever looks is.
func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestPictures(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		name string
		t    timeline.Timeline
		opt  Options
	}{
		{"afternoon.svg", afternoon(), Options{Zone: berlin}},
		{"file.svg", afternoon(), Options{Zone: berlin, Alone: true}},
		{"empty.svg", timeline.Timeline{From: noon, To: noon}, Options{}},
	} {
		golden(t, c.name, svg(t, c.t, c.opt))
	}
}

// TestPictureInAPage: it is as wide as its page, which may colour it; a file has its own size and colours.
func TestPictureInAPage(t *testing.T) {
	page, file := svg(t, afternoon(), Options{}), svg(t, afternoon(), Options{Alone: true, Width: 500})
	for what, c := range map[string]struct {
		in, text string
		want     bool
	}{
		"a page's width":           {page, `width="100%" height=`, true},
		"no box in a page":         {page, "viewBox", false},
		"a page's colours":         {page, `fill="var(--tt-held, #2a9d6f)"`, true},
		"no style in a page":       {page, "<style", false},
		"no ground in a page":      {page, "tt-ground", false},
		"it is an image":           {page, `role="img" aria-labelledby="tt-timeline-title tt-timeline-desc"`, true},
		"a file's width":           {file, `width="500" viewBox="0 0 500 `, true},
		"a file's colours":         {file, "var(", false},
		"a file's text is no page": {file, `fill="currentColor"`, false},
		"a file's dark colours":    {file, "prefers-color-scheme: dark", true},
	} {
		if strings.Contains(c.in, c.text) != c.want {
			t.Errorf("%s: %q", what, c.text)
		}
	}

	two := svg(t, afternoon(), Options{ID: "other"})
	if strings.Contains(two, `"tt-timeline-`) || strings.Contains(two, "#tt-timeline-") {
		t.Error("a picture with ids of its own has others")
	}
}

// TestHostileNames: what others wrote stays text, on one line, and turns nothing around.
func TestHostileNames(t *testing.T) {
	line := drawn(60)
	for i, text := range []string{
		`"/><script>alert(1)</script>`, "<!--", "]]>", "&lt;&amp;", "a\x00b\x1b[31mred\a",
		"one\ntwo\r\u2028three", "\u202eevil\u202c", "\u2069\u2066x",
		"שלום עולם", "مرحبا", "\xff\xfe", strings.Repeat("W", 5000), strings.Repeat("漢", 500),
		"e" + strings.Repeat("\u0301", 300), "", " ", "\U0001F468\u200d\U0001F4BB",
	} {
		a := stick.AgentID(text)
		line.Lanes = append(line.Lanes, timeline.Lane{
			Agent: a, Turns: 1,
			Holds: []timeline.Holding{
				{
					Span: span(float64(i), float64(i+1)), Ended: stick.EventTakeover, By: a,
					Began: stick.ClaimReason(text),
				},
			},
			Named: []timeline.Naming{{Span: span(float64(i), float64(i+1))}},
			Waits: []timeline.Waiting{{Span: span(float64(i), float64(i+1))}},
			Marks: []timeline.Mark{
				{At: minute(float64(i)), Type: stick.EventTakeover, Other: a, Cause: stick.Cause(text), Reason: text},
				{At: minute(float64(i + 9)), Type: stick.EventType(text)},
			},
		})
		line.Pauses = append(line.Pauses, timeline.Paused{
			Span: span(float64(2*i), float64(2*i+1)), By: a, Reason: text,
		})
	}

	got := svg(t, line, Options{ID: `"><b`})
	for _, r := range got {
		if r != '\n' && r < ' ' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u2028\u202e\u202c\u2066\u200d", r) {
			t.Errorf("%U is in the picture", r)
		}
	}

	if strings.Contains(got, "<script") || strings.Contains(got, "<b") && strings.Contains(got, `id=""><b`) {
		t.Error("a name is markup")
	}
	if n, m := strings.Count(got, string(isolate)), strings.Count(got, string(isolateEnd)); n != m || n == 0 {
		t.Errorf("%d texts from right to left begin, and %d end", n, m)
	}
	if len(got) > 100<<10 {
		t.Errorf("the picture has %d bytes", len(got))
	}
	golden(t, "hostile.svg", svg(t, line, Options{}))
}

// TestManyTurns: a picture of many turns stays small, and tells them by their number.
func TestManyTurns(t *testing.T) {
	const agents, turns = 40, 500
	lanes := make([]timeline.Lane, agents)
	for i := range lanes {
		lanes[i].Agent = stick.AgentID(fmt.Sprintf("claude:%08x", i))
	}

	at := 0.0
	for n := range turns {
		for i := range lanes {
			l := &lanes[i]
			l.Waits = append(l.Waits, timeline.Waiting{Span: span(max(0, at-39), at), Turn: int64(n*agents + i)})
			l.Holds = append(l.Holds, timeline.Holding{
				Span: span(at, at+0.9), Turn: int64(n*agents + i), Ended: stick.EventRelease,
			})
			l.Named = append(l.Named, timeline.Naming{Span: span(at-0.1, at), Claimed: true})
			if n%3 == 0 {
				l.Marks = append(l.Marks, timeline.Mark{At: minute(at), Type: stick.EventIncursion, Other: "codex:1"})
			}
			at++
		}
	}

	line := drawn(at, lanes...)
	got := svg(t, line, Options{})
	if len(got) > 400<<10 {
		t.Errorf("the picture has %d bytes", len(got))
	}
	if !strings.Contains(got, "held the stick in ") || !strings.Contains(got, " turns") {
		t.Error("no bar tells of several turns")
	}
	if n := strings.Count(got, "<rect ") + strings.Count(got, "<use "); n > maxBars+10 {
		t.Errorf("it has %d bars", n)
	}

	// Few turns stay apart.
	few := svg(t,
		drawn(1200, timeline.Lane{
			Agent: "a",
			Holds: []timeline.Holding{
				{Span: span(0, 1)}, {Span: span(2, 3)}, {Span: span(3.1, 3.2)}, {Span: span(3.25, 3.3)},
			},
		}),
		Options{})
	if n := strings.Count(few, "<rect "); n != 3+1 { // the last two are one; one is the key's
		t.Errorf("four turns have %d bars:\n%s", n, few)
	}
}

// TestManyAgents: lanes beyond what a picture has room for are counted.
func TestManyAgents(t *testing.T) {
	line := drawn(60)
	for i := range maxLanes + 2 {
		line.Lanes = append(line.Lanes, timeline.Lane{
			Agent: stick.AgentID(fmt.Sprint("a", i)), Waits: []timeline.Waiting{{Span: since(1)}},
		})
	}
	got := svg(t, line, Options{})
	if !strings.Contains(got, "… and 2 more agents that are left out") || strings.Contains(got, ">a60<") {
		t.Error("agents are left out silently")
	}
}

// TestFailingWriter: a picture that can't be written is an error.
func TestFailingWriter(t *testing.T) {
	if err := SVG(failing{}, afternoon(), Options{}); err != io.ErrClosedPipe {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
