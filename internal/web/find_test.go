package web

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestSearch: a page lists what has all the words of its address, however they are written, and its stream sends the
// same.
func TestSearch(t *testing.T) {
	s := scene.InQueue(t, "")
	claude, codex := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(claude, codex)
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()
	for id, says := range map[string]string{"ui-7": "Retry failed uploads", "ui-8": "Show the cart"} {
		claude.WorkerSpawn(task.WorkerSpawnParams{TaskID: id, Description: says}).OK()
	}
	for i, body := range []string{"the uploads fail", "the cart is empty"} {
		from := []*scene.Actor{claude, codex}[i]
		from.SendAs(engine.SendMessageParams{To: []stick.AgentID{d.ann.ID}, Category: "BLOCKED", Body: body}).OK()
	}

	// A server that begins now has read all of it.
	d.serve(nil)
	d.signIn(d.server.Address(addressOf(d.base), ""))
	room := "/room/" + string(s.Room().ID)
	for path, want := range map[string][2]string{
		"/tasks?q=CART":                             {">ui-8<", ">ui-7<"},
		"/tasks?q=failed+retry":                     {">ui-7<", ">ui-8<"},
		"/tasks?q=" + strings.Repeat("cart+", 60):   {">ui-8<", ">ui-7<"},
		"/needs?q=uploads":                          {"the uploads fail", "the cart is empty"},
		"/needs?q=" + codex.ShownName():             {"the cart is empty", "the uploads fail"},
		"/inbox?q=" + string(claude.ID):             {"the uploads fail", "the cart is empty"},
		"/inbox?show=all&q=empty":                   {"the cart is empty", "the uploads fail"},
		"/?q=ui-8":                                  {`class="open"`, "No room has that"},
		"/?q=nothing":                               {"No room has that", `class="open"`},
		room + "/log?q=cart+" + "needs":             {"the cart is empty", "the uploads fail"},
		room + "/log?q=no+such+word":                {"None of the events", "joined"},
		"/tasks?q=" + url.QueryEscape(`"><script>`): {"&#34;&gt;&lt;script&gt;", ">ui-7<"},
	} {
		page := d.ok(path)
		main := between(page, "<main", "</main>")
		has(t, main, want[0], `role="search"`)
		lacks(t, main, want[1], `"><script>`)
		if !strings.HasPrefix(path, room) {
			lacks(t, d.streamed(page), want[1])
		}
	}
}

// streamed returns the parts that the stream of a page sends first, without its menu.
func (d *desk) streamed(page string) (html string) {
	d.Helper()
	live := between(page, `data-live="`, `"`)
	if live == "" {
		return ""
	}

	x := d.stream(strings.ReplaceAll(live, "&amp;", "&"), nil)
	defer x.close()
	for _, p := range x.until("its parts", func(told) bool { return true }).Parts {
		if p.ID != "menu" {
			html += p.HTML
		}
	}
	return html
}

// TestSearch_Log: a search goes back as far as it finds little, and on from where it has stopped.
func TestSearch_Log(t *testing.T) {
	s := scene.New(t)
	claude := s.Agent("claude:a")
	s.Joins(claude)
	for i := range foundShown + 10 {
		claude.SendAs(engine.SendMessageParams{To: []stick.AgentID{stick.ToSystem}, Body: "round " + strconv.Itoa(i)}).OK()
	}

	d := newDesk(s, nil)
	log := "/room/" + string(s.Room().ID) + "/log"
	first := d.ok(log + "?q=round")
	if n := strings.Count(first, `data-seq="`); n != foundShown {
		t.Errorf("%d are shown", n)
	}

	next := between(first, `rel="next" href="`, `"`)
	next = strings.ReplaceAll(next, "&amp;", "&")
	has(t, first, "Search further back")
	rest := d.ok(next)
	if n := strings.Count(rest, `data-seq="`); n != 10 {
		t.Errorf("%d are left", n)
	}
	has(t, rest, "round 0")
}
