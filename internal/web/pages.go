package web

import (
	"cmp"
	"crypto/rand"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

//go:embed templates/*.html static/*
var files embed.FS

// pages has the templates of all pages. Each page has a file in templates; base.html is around it, and
// parts.html has what several show.
type pages struct {
	byName map[string]*template.Template // by the name of the file, without .html
	boot   string                        // tells this server's pictures from those of another
}

func newPages() *pages {
	p := &pages{byName: map[string]*template.Template{}, boot: rand.Text()[:8]}

	funcs := template.FuncMap{
		"line": line, "lines": lines, "patch": stick.Patch, "file": stick.Path,
		"count": func(n int, what string) stick.Words { return stick.Count(n, stick.Words(what)) },
		"short": shortName, "words": spacedWords,
		"pair":    func(v *view, x any) pair { return pair{v, v, x} },
		"onBoard": func(r *monitor.Room, t task.TaskView) boardTask { return boardTask{r, t} },
		"lower":   strings.ToLower, "status": stick.TaskState.Word, "splitReason": splitReason,
		"doing": task.IntentText,
	}

	base := template.Must(template.New("").Funcs(funcs).ParseFS(files, "templates/base.html", "templates/parts.html"))
	paths, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		// Only a bad pattern fails, and this one is ours.
		panic(err)
	}

	// Each page is a template of its own, with the common ones around it.
	for _, file := range paths {
		if name := strings.TrimSuffix(path.Base(file), ".html"); name != "base" && name != "parts" {
			p.byName[name] = template.Must(template.Must(base.Clone()).ParseFS(files, file))
		}
	}

	return p
}

// line and lines are [stick.Line] and [stick.Block] of any kind of text.
func line(text any) string  { return stick.Line(fmt.Sprint(text)) }
func lines(text any) string { return stick.Block(fmt.Sprint(text)) }

// view is what a page is made of.
type view struct {
	Title   string
	Current string // the entry of the menu that it belongs to
	Path    string // of the page itself, below that of the session
	Root    string // leads from the page to the first one, see [rootOf]
	Version string // of the picture that it shows
	Seq     int64  // the last event that it shows
	Watch   string // what its stream is about; empty for its path
	Query   string // what its lists are searched for; empty for all
	Live    bool   // it has parts that change
	Picture *monitor.Picture
	Room    *monitor.Room // that it is about; nil for none
	Body    any           // what only this page has
	Now     stick.Time    // by the clock of the database

	s *Server
}

// pair is what a template gets that shows one thing on a page, such as one of its files.
type pair struct {
	*view
	V *view // the same page by a name, to hand it on to a template inside
	X any   // the thing
}

// renderPage answers with a page.
func (s *Server) renderPage(w http.ResponseWriter, r *http.Request, status int, name string, v *view) {
	v.s, v.Path, v.Root, v.Now = s, r.URL.RequestURI(), rootOf(r.URL), s.ops.Now()
	v.Query = cleanQuery(r.URL.Query().Get(queryField))
	if v.Picture == nil {
		v.Picture = s.monitor.Picture()
	}

	v.Version = s.pictureName(v.Picture)

	// The page is rendered before anything is sent, so that a failure has its own status.
	html, err := s.renderTemplate(name, "page", v)
	if err != nil {
		http.Error(w, "the page can't be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}

	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	sendText(w, r, status, html)
}

// SignedIn reports whether the page belongs to the menu, which only those see who are signed in.
func (v *view) SignedIn() bool { return v.Current != "" }

// Watched is the page whose changes the browser wants to hear of.
func (v *view) Watched() string { return cmp.Or(v.Watch, v.Path) }

// Needs is what waits for the person.
func (v *view) Needs() []monitor.NeedIn { return v.Picture.Needs() }

// Unread is how many messages are open for the person, in all rooms.
func (v *view) Unread() (n int) {
	for _, r := range v.Picture.Rooms {
		n += max(len(r.Inbox), r.State.Unread)
	}
	return n
}

// Me is the name of the person, or "you" if it isn't known.
func (v *view) Me() stick.AgentID { return cmp.Or(v.Picture.Me, stick.AgentID("you")) }

// Ago is a time as people say it. The page's script keeps it up to date.
func (v *view) Ago(t stick.Time) template.HTML {
	return v.timeElement(t, string(stick.Ago(v.Now.Sub(t))), "ago")
}

// For is how long something has lasted that began at t.
func (v *view) For(t stick.Time) template.HTML {
	return v.timeElement(t, string(stick.Age(v.Now.Sub(t))), "for")
}

// In is how far from now a time is.
func (v *view) In(t stick.Time) template.HTML {
	return v.timeElement(t, string("in "+stick.Age(t.Sub(v.Now))), "in")
}

// At is a time of day.
func (v *view) At(t stick.Time) template.HTML { return v.timeElement(t, clockTime(t, v.Now), "") }

func (v *view) timeElement(t stick.Time, text, kind string) template.HTML {
	if t.IsZero() {
		return "never"
	}
	if kind != "" {
		kind = ` data-age="` + kind + `"`
	}

	exact := t.Go().Local().Format("2006-01-02 15:04:05 -0700")
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s"%s>%s</time>`,
		t, exact, kind, template.HTMLEscapeString(text)))
}

// clockTime is the local time of day, with the day if that isn't today.
func clockTime(t, now stick.Time) string {
	at := t.Go().Local()
	if at.Format("2006-01-02") == now.Go().Local().Format("2006-01-02") {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04")
}

// RoomName names a room by the last part of its path, or by the beginning of its id if it has no path.
func RoomName(r *monitor.Room) string {
	if r.State.Path == "" {
		return string(r.ID())[:min(8, len(r.ID()))]
	}
	return stick.Line(path.Base(strings.ReplaceAll(r.State.Path, "\\", "/")))
}

// Name is [RoomName], for templates.
func (v *view) Name(r *monitor.Room) string { return RoomName(r) }

// To is a link to a room's page, or to one below it.
func (v *view) To(r *monitor.Room, below ...string) string { return v.Root + v.PathOf(r, below...) }

// PathOf is the path of a room's page, or of one below it.
func (v *view) PathOf(r *monitor.Room, below ...string) string { return roomPath(r.ID(), below...) }

// rootOf leads from a page to the first page, without a slash at its end. Links between pages are relative,
// so that no page contains the path of a session, and all viewers of one page share what is rendered.
func rootOf(page *url.URL) string {
	// The path of the first page has one slash, those of the others have more.
	below := strings.Count(page.EscapedPath(), "/") - 1
	if below < 1 {
		return "."
	}
	return strings.TrimSuffix(strings.Repeat("../", below), "/")
}

// roomPath is the path of a room's page, or of one below it, as the server knows it.
func roomPath(id stick.RoomID, below ...string) string {
	p := "/room/" + url.PathEscape(string(id))
	for _, b := range below {
		p += "/" + url.PathEscape(b)
	}
	return p
}

// shortName is the beginning of a commit's or an output's name.
func shortName(s string) string { return s[:min(10, len(s))] }

// spacedWords makes words of a name as JSON has it.
func spacedWords(s any) string { return strings.ReplaceAll(strings.ToLower(fmt.Sprint(s)), "_", " ") }

// renderPart renders a part of a page. Its id is the name of its template, and that of the element in it.
func (s *Server) renderPart(page, id string, v *view) (part, error) {
	html, err := s.renderTemplate(page, id, v)
	return part{id, html}, err
}

// renderTemplate renders a template that a page has, its own or one of the common ones.
func (s *Server) renderTemplate(page, name string, data any) (string, error) {
	var b strings.Builder
	if err := s.pages.byName[page].ExecuteTemplate(&b, name, data); err != nil {
		return "", err
	}
	return showNames(b.String(), s.monitor.Picture().NameOf), nil
}
