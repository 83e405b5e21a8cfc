package web

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/stick"
)

// target is where a link or a form of a page leads.
var target = regexp.MustCompile(`\b(href|action)="([^"]*)"`)

// follow gets a page as it is, and the parts that its stream sends, and returns where their links and forms
// lead.
func (d *desk) follow(at *url.URL) (links, forms []*url.URL) {
	d.Helper()
	html := d.raw(at)
	if live := between(html, `data-live="`, `"`); live != "" {
		x := d.stream(strings.ReplaceAll(live, "&amp;", "&"), nil)
		defer x.close()
		for _, p := range x.until("its parts", func(told) bool { return true }).Parts {
			html += p.HTML
		}
	}

	for _, m := range target.FindAllStringSubmatch(html, -1) {
		to, err := at.Parse(strings.ReplaceAll(m[2], "&amp;", "&"))
		if err != nil {
			d.Fatalf("%s has a link to %q: %v", at, m[2], err)
		}

		if to.Fragment = ""; m[1] == "action" {
			forms = append(forms, to)
		} else {
			links = append(links, to)
		}
	}

	return links, forms
}

// raw gets a page that must be there, without a change to its links.
func (d *desk) raw(at *url.URL) string {
	d.Helper()
	res, err := d.client.Get(at.String())
	if err != nil {
		d.Fatal(err)
	}
	a := readAnswer(d.T, res)
	if a.status != http.StatusOK {
		d.Errorf("GET %s: %d", at, a.status)
	}
	return a.body
}

// acts reports whether a form can be sent there.
func (d *desk) acts(to *url.URL) bool {
	name, ok := strings.CutPrefix(to.String(), d.at("/api/"))
	_, known := operationsByName()[name]
	isSearch := strings.HasSuffix(to.Path, "/log")
	return ok && known || isSearch || slices.Contains([]string{d.at("/another-device"), d.at("/sign-out"), d.at("/later")}, to.String())
}

// TestPages_Links: every link of every page of a busy room leads to a page, and every form to an operation.
func TestPages_Links(t *testing.T) {
	s, claude := newBusyRoom(t)
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()
	id := claude.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{d.ann.ID}, Body: "uploads fail", Category: "BLOCKED",
		Contract: stick.Contract{Blocker: "no key", Request: "create one", Urgency: "high"},
	}).ID()
	claude.SendAs(engine.SendMessageParams{To: []stick.AgentID{d.ann.ID}, Body: "still", ReplyTo: id}).OK()

	first, err := url.Parse(d.at("/"))
	if err != nil {
		t.Fatal(err)
	}
	seen, queue := map[string]bool{first.String(): true}, []*url.URL{first}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		links, forms := d.follow(at)
		for _, to := range forms {
			if !d.acts(to) {
				t.Errorf("%s has a form for %s", at, to)
			}
		}

		for _, to := range links {
			if strings.HasPrefix(to.Path, "/static/") || seen[to.String()] {
				continue
			}

			if !strings.HasPrefix(to.String(), d.at("/")) {
				t.Errorf("%s leads to %s", at, to)
				continue
			}

			seen[to.String()] = true
			queue = append(queue, to)
		}
	}

	for _, path := range []string{
		"/needs", "/inbox", "/sessions", "/tasks", "/scopes", "/room/" + string(s.Room().ID) + "/task/a",
	} {
		if !seen[d.at(path)] {
			t.Errorf("no link leads to %s", path)
		}
	}
}
