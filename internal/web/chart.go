package web

import (
	"html/template"
	"net/http"
	"strings"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/picture"
	"talkingstick/stick"
)

// chart is who held the stick when, as a picture.
type chart struct {
	SVG    template.HTML // drawn here; [picture.SVG] has escaped what others wrote
	Before int64         // where the time before it ends, if the log goes back further; 0 if not
}

// readChart draws the time that ends at an event, or now if that is 0.
func (s *Server) readChart(r *http.Request, room stick.RoomID, before int64) (*chart, error) {
	res, err := s.ops.GetTimeline(r.Context(), eventlog.GetTimelineParams{
		Caller: s.o.Caller, Where: core.Where{RoomID: room}, Before: before, Limit: 200,
	})
	if err != nil {
		return nil, err
	}

	var b strings.Builder
	if err := picture.SVG(&b, res.Timeline, picture.Options{Zone: time.Local}); err != nil {
		return nil, err
	}

	c := &chart{SVG: template.HTML(b.String())}
	if res.More {
		c.Before = res.Before
	}

	return c, nil
}

// readTurns is the page that goes back in the time of a room's turns.
func (s *Server) readTurns(r *http.Request, v *view) (err error) {
	v.Body, err = s.readChart(r, v.Room.ID(), beforeIn(r))
	return err
}
