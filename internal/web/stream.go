package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/monitor"
	"talkingstick/stick"
)

const (
	maxStreams = 2000 // open at a time

	// takeWithin is when a browser has to have taken what it is sent, or its stream ends. It comes back by
	// itself.
	takeWithin = 10 * time.Second

	heartbeat  = 30 * time.Second // a comment finds out whether a silent browser is still there
	maxFrames  = 200              // pages whose parts are kept for the other viewers of one picture
	maxCatchUp = 500              // events that a browser which comes back is sent; after more it loads its page again
)

// part is a part of a page that changes: the element with this id.
type part struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// row is an event in a timeline.
type row struct {
	Seq  int64
	HTML string
}

// frame is what the parts of a page look like in one picture.
type frame struct {
	Version string // of the picture
	Seq     int64  // the number of its last event
	Parts   []part
	Rows    []row         // of a page with a timeline, the oldest first
	Room    *monitor.Room // that the timeline is of
}

// streams counts the open streams, and keeps what the viewers of one picture share.
type streams struct {
	most  int           // open at a time
	taken time.Duration // a browser has to take what it is sent by then

	mu      sync.Mutex // guards the rest
	open    int
	picture *monitor.Picture // whose frames these are
	frames  map[string]*frame
}

// openStream reports whether one more stream may open. closeStream ends it.
func (st *streams) openStream() bool {
	st.mu.Lock()
	defer st.mu.Unlock()

	if st.open >= st.most {
		return false
	}

	st.open++
	return true
}

func (st *streams) closeStream() {
	st.mu.Lock()
	st.open--
	st.mu.Unlock()
}

// sharedFrame returns the parts of a page in a picture. All viewers of the page share them, so each picture
// is rendered once.
func (s *Server) sharedFrame(p *monitor.Picture, page *url.URL) (*frame, error) {
	st, key := &s.streams, page.RequestURI()

	st.mu.Lock()

	// Frames of an earlier picture are of no use any more.
	if st.picture != p {
		st.picture, st.frames = p, map[string]*frame{}
	}

	got := st.frames[key]
	st.mu.Unlock()
	if got != nil {
		return got, nil
	}

	// Rendering takes a while, so others aren't kept waiting. Two may do the same work.
	got, err := s.renderParts(p, page)
	if err != nil {
		return nil, err
	}

	st.mu.Lock()
	if st.picture == p && len(st.frames) < maxFrames {
		st.frames[key] = got
	}
	st.mu.Unlock()
	return got, nil
}

// pictureName names a picture. Another server's pictures have other names.
func (s *Server) pictureName(p *monitor.Picture) string {
	return s.pages.boot + "-" + strconv.FormatInt(p.Number, 10)
}

// lastSeq is the number of the last event in a picture.
func lastSeq(p *monitor.Picture) (last int64) {
	for _, r := range p.Rooms {
		last = max(last, seqOf(r))
	}
	return last
}

func seqOf(r *monitor.Room) int64 {
	if n := len(r.Events); n > 0 {
		return r.Events[n-1].Seq
	}
	return 0
}

// news is one message of a stream.
type news struct {
	At    string   `json:"at"` // the picture that the page shows then
	Parts []part   `json:"parts,omitempty"`
	Rows  []string `json:"rows,omitempty"`  // of the timeline, the oldest first
	Again bool     `json:"again,omitempty"` // too much was missed: the page has to be loaded again

	Proof *proof `json:"proof,omitempty"` // in the first message of a stream: by which it can be opened again

	Over any `json:"over,omitempty"` // the [stick.Error] of a session that is over: nothing more comes
}

// serveStream is the stream of one page: what has changed, whenever something does. The id of a message is
// the number of the last event that it contains, so a browser that was cut off goes on after that. A browser
// that is slow gets the newest state, and not all those before.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page, err := url.ParseRequestURI(localPath(q.Get("page")))
	if err != nil {
		s.answerError(w, r, stick.Errorf(stick.CodeUsage, "page must be the path of a page").With("field", "page"))
		return
	}

	if !s.streams.openStream() {
		full := stick.Errorf(stick.CodeDatabaseBusy, "%d pages are open, and no more can be kept up to date", s.streams.most)
		s.answerErrorAs(w, r, http.StatusServiceUnavailable, full)
		return
	}
	defer s.streams.closeStream()

	f := &feed{
		s: s, sess: sessionIn(r), page: page, ending: s.keys.watchEnds(),
		w: w, c: http.NewResponseController(w), sent: map[string]string{}, after: cursorOf(r),
	}

	changed, stop := s.monitor.Changed()
	defer stop()

	first, err := s.sharedFrame(s.latestPicture(r.Context()), page)
	if err != nil {
		s.answerError(w, r, err)
		return
	}

	// What the page shows already isn't sent again.
	if first.Version == q.Get("at") {
		for _, x := range first.Parts {
			f.sent[x.ID] = x.HTML
		}
	}

	// Nothing more comes from the browser.
	_ = f.c.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	f.sendFrame(r.Context(), first)
	f.followChanges(r.Context(), changed)
}

// followChanges sends what changes, until the browser leaves or its session is over. An open stream is a use
// of the session.
func (f *feed) followChanges(ctx context.Context, changed <-chan struct{}) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()

	for f.err == nil {
		isNew := false
		select {
		case <-changed:
			isNew = true
		case <-f.ending:
			f.ending = f.s.keys.watchEnds()
		case <-beat.C:
		case <-ctx.Done():
			return
		}

		if !f.s.keys.useSession(f.sess) {
			f.sendNews(news{Over: errNotSignedIn()})
			return
		}

		if !isNew {
			f.writeText(":\n\n")
			continue
		}

		next, err := f.s.sharedFrame(f.s.monitor.Picture(), f.page)
		if err != nil {
			// The room is gone. The browser asks again, and is told.
			return
		}

		f.sendFrame(ctx, next)
		beat.Reset(heartbeat)
	}
}

// cursorOf is the event up to which the browser knows: from its earlier stream, else from its page.
func cursorOf(r *http.Request) int64 {
	for _, v := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")} {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 {
			return n
		}
	}

	return 0
}

// feed is one open stream.
type feed struct {
	s      *Server
	sess   session         // whose browser it goes to
	ending <-chan struct{} // closed when a session has ended since it was looked at
	page   *url.URL
	w      http.ResponseWriter
	c      *http.ResponseController
	sent   map[string]string // what the browser shows, by the ids of parts
	after  int64             // the last event that it has
	begun  bool
	err    error
}

// sendFrame sends what the browser doesn't show.
func (f *feed) sendFrame(ctx context.Context, x *frame) {
	n := news{At: x.Version}
	for _, p := range x.Parts {
		if f.sent[p.ID] != p.HTML {
			n.Parts = append(n.Parts, p)
			f.sent[p.ID] = p.HTML
		}
	}

	if x.Room != nil {
		n.Rows, n.Again = f.missingRows(ctx, x)
	}

	// The first message always goes: it tells the browser who answers.
	if f.begun && len(n.Parts) == 0 && len(n.Rows) == 0 && !n.Again {
		return
	}

	if !f.begun {
		p := f.s.keys.newProof()
		n.Proof = &p
	}

	f.begun = true
	f.after = max(f.after, x.Seq)
	f.sendNews(n)
}

// sendNews sends a message of the stream.
func (f *feed) sendNews(n news) {
	// JSON escapes < and >, which a stream needs no more than line breaks.
	b, err := json.Marshal(n)
	if err != nil {
		f.err = err
		return
	}

	f.writeText(fmt.Sprintf("id: %d\ndata: %s\n\n", f.after, b))
}

// missingRows returns the rows of the timeline that the browser lacks. again is true if those are too many.
func (f *feed) missingRows(ctx context.Context, x *frame) (rows []string, again bool) {
	if x.Seq <= f.after {
		return nil, false
	}

	// The picture has only the last events: older ones are read from the log.
	if len(x.Rows) > 0 && x.Rows[0].Seq > f.after && x.Room.More {
		all, err := f.s.ops.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
			Caller: f.s.o.Caller, Where: core.Where{RoomID: x.Room.ID()}, FromStart: true,
			EventFilter: eventlog.EventFilter{After: f.after, Limit: maxCatchUp},
		})
		if err != nil || all.More {
			return nil, true
		}

		for _, e := range all.Events {
			if e.Seq <= x.Seq {
				rows = append(rows, f.s.renderRow(rootOf(f.page), x.Room, e))
			}
		}

		return rows, false
	}

	for _, r := range x.Rows {
		if r.Seq > f.after {
			rows = append(rows, r.HTML)
		}
	}

	return rows, false
}

func (f *feed) writeText(text string) {
	_ = f.c.SetWriteDeadline(time.Now().Add(f.s.streams.taken))
	if _, f.err = f.w.Write([]byte(text)); f.err == nil {
		f.err = f.c.Flush()
	}
}
