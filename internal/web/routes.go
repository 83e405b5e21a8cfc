package web

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/stick"
)

// rootHandler is everything that the server answers.
func (s *Server) rootHandler() http.Handler {
	return s.guardPages(s.publicHandler(), s.pagesHandler())
}

// publicHandler answers what needs no session.
func (s *Server) publicHandler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET "+enterPath, s.admitBrowser)

	m.HandleFunc("GET /static/", serveStatic(readStaticFiles(files, "static")))
	return m
}

// pagesHandler answers what lies below the path of a session. It sees the paths without that.
func (s *Server) pagesHandler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("POST /another-device", s.serveInvitation)
	m.HandleFunc("POST /sign-out", s.signOut)
	m.HandleFunc("POST /later", s.putOffNeed)
	m.HandleFunc("GET /live", s.serveStream)
	m.HandleFunc("POST /api/{operation}", s.serveOperation)
	for pattern, p := range s.pageTable() {
		m.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) { s.showPage(w, r, p) })
	}

	m.HandleFunc("/", s.answerNoPage)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// For such a path the multiplexer would lead to one without that of the session.
		if path.Clean(r.URL.Path) != r.URL.Path {
			s.answerNoPage(w, r)
			return
		}

		m.ServeHTTP(w, r)
	})
}

func (s *Server) answerNoPage(w http.ResponseWriter, r *http.Request) {
	missing := stick.Errorf(stick.CodeNotFound, "there is no page %s", stick.Clip(r.URL.Path, 80))
	s.answerErrorAs(w, r, http.StatusNotFound, missing)
}

// pageKind is a kind of page. Its template is the file of its name.
type pageKind struct {
	name string

	// read fills in what only this page shows. It may be nil. A page about a room has it in v.Room.
	read func(r *http.Request, v *view) error

	// parts are the names of the templates of what changes, which are also the ids of their elements.
	parts []string

	// head fills in what the parts need beside the picture. It may be nil.
	head func(q url.Values, v *view)

	timeline bool // it shows the log of its room
}

// pageTable is the table of pages, by their paths.
func (s *Server) pageTable() map[string]pageKind {
	return map[string]pageKind{
		"/{$}":      {name: "rooms", parts: []string{"rooms"}},
		"/needs":    {name: "needs", parts: []string{"needs"}},
		"/inbox":    {name: "inbox", parts: []string{"inbox"}, read: s.readInbox},
		"/sessions": {name: "sessions", parts: []string{"sessions"}},
		"/tasks":    {name: "tasks", parts: []string{"board"}},
		"/scopes":   {name: "allscopes", parts: []string{"allscopes"}},
		"/room/{room}": {
			name:  "room",
			parts: []string{"paused", "turn", "agents", "roomneeds", "roomtasks"},
			read:  s.readRoom, timeline: true,
		},
		"/room/{room}/scopes": {name: "scopes", parts: []string{"reservations", "meetings"}, read: s.readScopes},
		"/room/{room}/task/{task}": {
			name:  "task",
			parts: []string{"taskhead", "moved", "taskacts"},
			read:  s.readTask, head: headOfTask,
		},
		"/room/{room}/logs/{task}":   {name: "output", read: s.readLogs},
		"/room/{room}/output/{sum}":  {name: "output", read: s.readOutput},
		"/room/{room}/rescue/{id}":   {name: "output", read: s.readRescue},
		"/room/{room}/uncommitted":   {name: "output", read: s.readUncommitted},
		"/room/{room}/message/{seq}": {name: "message", read: s.readMessage},
		"/room/{room}/log":           {name: "log", read: s.readLog},
		"/room/{room}/turns":         {name: "turns", read: s.readTurns},
	}
}

// menuEntry is the entry of the menu that a page belongs to.
func menuEntry(path string) string {
	switch {
	case path == "/":
		return "rooms"
	case strings.HasSuffix(path, "/scopes"), strings.HasSuffix(path, "/uncommitted"),
		strings.Contains(path, "/rescue/"):
		return "scopes"
	case strings.Contains(path, "/task/"), strings.Contains(path, "/logs/"), strings.Contains(path, "/output/"):
		return "tasks"
	case strings.Contains(path, "/message/"):
		return "inbox"
	case strings.HasPrefix(path, "/room/"):
		return "rooms"
	}

	return strings.TrimPrefix(path, "/")
}

// showPage answers with a page.
func (s *Server) showPage(w http.ResponseWriter, r *http.Request, p pageKind) {
	v := &view{
		s:       s,
		Root:    rootOf(r.URL),
		Current: menuEntry(r.URL.Path),
		Live:    len(p.parts) > 0,
		Picture: s.latestPicture(r.Context()),
		Query:   cleanQuery(r.URL.Query().Get(queryField)),
	}

	if id := r.PathValue("room"); id != "" {
		room, err := s.findRoom(r, v.Picture, stick.RoomID(id))
		if err != nil {
			s.answerError(w, r, err)
			return
		}

		v.Room, v.Seq = room, seqOf(room)

		// A room that isn't in the picture doesn't change by itself.
		v.Live = v.Live && v.Picture.Room(room.ID()) != nil
	} else {
		v.Seq = lastSeq(v.Picture)
	}

	// Read what only this page shows, then what its parts need.
	if p.read != nil {
		if err := p.read(r, v); err != nil {
			s.answerError(w, r, err)
			return
		}
	}

	if p.head != nil {
		q := r.URL.Query()
		q.Set("task", r.PathValue("task"))
		p.head(q, v)
	}

	s.renderPage(w, r, http.StatusOK, p.name, v)
}

// findRoom returns a room of the picture. One that is so old that the picture doesn't have it is read for
// itself; its page doesn't change by itself.
func (s *Server) findRoom(r *http.Request, p *monitor.Picture, id stick.RoomID) (*monitor.Room, error) {
	if room := p.Room(id); room != nil {
		return room, nil
	}

	one, err := monitor.TakeRoomPicture(r.Context(), monitor.Options{
		Operations: s.ops, Caller: s.o.Caller, Where: core.Where{RoomID: id}, Events: eventsShown,
	})
	if err != nil || len(one.Rooms) == 0 {
		return nil, stick.AsError(err)
	}

	return one.Rooms[0], nil
}

// renderParts renders what changes on a page, for its stream.
func (s *Server) renderParts(p *monitor.Picture, at *url.URL) (*frame, error) {
	// The stream has no route of its own: which page it is about, only its path says.
	none := stick.Errorf(stick.CodeNotFound, "%s has no stream", stick.Clip(at.Path, 80))

	var found pageKind
	values := url.Values{}
	for pattern, candidate := range s.pageTable() {
		if v, ok := matchPattern(pattern, at.Path); ok {
			found, values = candidate, v
		}
	}

	if len(found.parts) == 0 {
		return nil, none
	}

	v := &view{
		s:       s,
		Root:    rootOf(at),
		Current: menuEntry(at.Path),
		Path:    at.RequestURI(),
		Live:    true,
		Query:   cleanQuery(at.Query().Get(queryField)),
		Picture: p,
		Version: s.pictureName(p),
		Now:     s.ops.Now(),
	}

	out := &frame{Version: v.Version, Seq: lastSeq(p)}

	if id := values.Get("room"); id != "" {
		if v.Room = p.Room(stick.RoomID(id)); v.Room == nil {
			return nil, none
		}
		out.Seq = seqOf(v.Room)
	}

	if found.head != nil {
		q := at.Query()
		q.Set("task", values.Get("task"))
		found.head(q, v)
	}

	// The menu counts what waits for the person, so it changes with every page.
	for _, id := range append([]string{"menu"}, found.parts...) {
		x, err := s.renderPart(found.name, id, v)
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, x)
	}

	if found.timeline {
		out.Room = v.Room
		for _, e := range v.Room.Events {
			out.Rows = append(out.Rows, row{e.Seq, s.renderRow(v.Root, v.Room, e)})
		}
	}

	return out, nil
}

// matchPattern reports whether a path is one of a pattern of [Server.pageTable], and returns what its blanks
// are.
func matchPattern(pattern, path string) (url.Values, bool) {
	// The first page has a pattern of its own kind, which ends at the slash.
	if pattern == "/{$}" {
		return url.Values{}, path == "/"
	}

	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}

	v := url.Values{}
	for i, w := range want {
		if name, ok := strings.CutPrefix(w, "{"); ok {
			v.Set(strings.TrimSuffix(name, "}"), have[i])
		} else if w != have[i] {
			return nil, false
		}
	}

	return v, true
}
