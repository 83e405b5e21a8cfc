package web

import (
	"net/http"
	"strings"

	"talkingstick/stick"
)

// statusOf is the HTTP status of a failure, by the class of its exit status.
func statusOf(c stick.Code) int {
	switch c.Info().Exit {
	case stick.ExitUsage:
		return http.StatusBadRequest
	case stick.ExitNotFound:
		return http.StatusNotFound
	case stick.ExitRefused, stick.ExitFenced, stick.ExitHands:
		return http.StatusConflict
	case stick.ExitBusy, stick.ExitInterrupted:
		return http.StatusServiceUnavailable
	}

	return http.StatusInternalServerError
}

// answerError answers with a failure of an operation.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request, err error) {
	e := stick.AsError(err)
	s.answerErrorAs(w, r, statusOf(e.Code), e)
}

// answerErrorAs answers a request that guardPages has let through with a failure. The page has the menu, as
// all others, and leads back.
func (s *Server) answerErrorAs(w http.ResponseWriter, r *http.Request, status int, e *stick.Error) {
	if wantsJSON(r) {
		writeJSON(w, status, e)
		return
	}

	f := failure{Message: e.Message, Hint: e.Hint.String(), Back: s.backPath(r)}
	at := r.URL.Path

	// A form says what it was about, and from which page it came.
	if r.PostForm != nil {
		at, _, _ = strings.Cut(f.Back, "?")
		if room, id := r.PostForm.Get("room_id"), r.PostForm.Get("task_id"); room != "" && id != "" {
			f.Task, f.TaskAt = id, roomPath(stick.RoomID(room), "task", id)
		}
	}

	v := &view{Title: "That didn't work", Body: f, Current: menuEntry(at)}
	s.renderPage(w, r, status, "failure", v)
}

// refuseRequest answers with a failure whoever may see nothing else: as JSON to whoever asks for that, else
// as a page.
func (s *Server) refuseRequest(w http.ResponseWriter, r *http.Request, status int, e *stick.Error) {
	if wantsJSON(r) {
		writeJSON(w, status, e)
		return
	}

	v := &view{Title: "That didn't work", Body: failure{Message: e.Message, Hint: e.Hint.String()}}
	s.renderPage(w, r, status, "failure", v)
}

// failure is what the page about a failure shows.
type failure struct {
	Message, Hint string
	Back          string // the page from which the request came; empty for whoever may see no page
	Task, TaskAt  string // the task that it was about and its page; empty for none
}

// backPath is the page from which a request came, "/" if it doesn't say.
func (s *Server) backPath(r *http.Request) string {
	if r.PostForm != nil {
		return localPath(r.PostForm.Get("back"))
	}
	return "/"
}

// redirectBack leads to the page from which a request came.
func (s *Server) redirectBack(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Location", rootOf(r.URL)+s.backPath(r))
	w.WriteHeader(http.StatusSeeOther)
}

// wantsJSON reports whether a request asks for JSON: by what it accepts, or else by what it sends.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if strings.Contains(accept, "text/html") {
		return false
	}

	return strings.Contains(accept, "application/json") ||
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := stick.JSON(v)
	if err != nil {
		status = http.StatusInternalServerError
		b = []byte(`{"error":"internal","message":"the answer can't be written"}`)
	}

	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	// Whoever asked may have left.
	_, _ = w.Write(append(b, '\n'))
}
