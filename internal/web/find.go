package web

import (
	"net/http"
	"strconv"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/monitor"
	"talkingstick/stick"
	"talkingstick/stick/names"
)

// queryField is the field of an address that says what a page is searched for.
const queryField = "q"

// maxQuery is how long that may be, in characters.
const maxQuery = 200

// cleanQuery returns what a page is searched for. Of a longer text, its beginning is.
func cleanQuery(typed string) string {
	query := []rune(stick.Line(typed))
	return string(query[:min(len(query), maxQuery)])
}

// matches reports whether texts of one thing contain each word of the query, in any case. Agents are found by their
// names and by their ids.
func (v *view) matches(texts ...string) bool {
	if v.Query == "" {
		return true
	}

	// A quotation that isn't closed would keep the names of what follows from being shown.
	for _, text := range texts {
		texts = append(texts, names.Show(text, v.Picture.NameOf))
	}

	all := strings.ToLower(strings.Join(texts, "\n"))
	for _, word := range strings.Fields(strings.ToLower(v.Query)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// matchesTask reports whether a task is what the page is searched for.
func (v *view) matchesTask(t boardTask) bool {
	return v.matches(t.TaskID, t.Description, string(t.State.Word(t.Cause)), string(t.Worker), t.Reason,
		strings.Join(t.Labels, " "), v.Name(t.Room))
}

// ListedNeeds are the needs that the page lists.
func (v *view) ListedNeeds() (out []monitor.NeedIn) {
	for _, n := range v.Needs() {
		if v.matches(string(n.Text), string(n.Kind), n.Task, string(n.Agent), v.Name(n.Room)) {
			out = append(out, n)
		}
	}
	return out
}

// ListedRooms are the rooms that the page lists: those that match, or of which somebody or a task does.
func (v *view) ListedRooms() (out []*monitor.Room) {
	for _, r := range v.Picture.Rooms {
		texts := []string{r.State.Path, v.Name(r), v.StickOf(r)}
		for _, m := range r.State.Members {
			texts = append(texts, string(m.AgentID))
		}
		for _, t := range r.Tasks {
			texts = append(texts, t.TaskID)
		}

		if v.matches(texts...) {
			out = append(out, r)
		}
	}
	return out
}

// matchesMessage reports whether a message is what the page is searched for.
func (v *view) matchesMessage(m roomMessage) bool {
	texts := []string{string(m.From), string(m.Recipient), string(m.Category), m.Subject, m.Body, m.TaskID, v.Name(m.Room)}
	for _, more := range m.More {
		texts = append(texts, more.Text)
	}
	return v.matches(texts...)
}

// matchesEvent reports whether an event is what the log is searched for.
func (v *view) matchesEvent(r eventRow) bool {
	texts := []string{string(r.Type), r.Tag, r.Text, r.Task, string(r.From)}
	for _, says := range r.Says {
		texts = append(texts, says.Text)
	}
	return v.matches(texts...)
}

const (
	foundShown    = 2 * eventsShown // events that a search of the log shows
	searchedOnce  = 500             // events that are read at a time
	searchedAtAll = 5000            // events that one page looks through; a link goes on
)

// searchLog looks for events back from one, and returns the newest that match. older is where the next search goes
// on; 0 if the log was searched to its beginning.
func (s *Server) searchLog(r *http.Request, v *view, before int64) (found []eventRow, older int64, err error) {
	for range searchedAtAll / searchedOnce {
		res, err := s.ops.GetRoomEvents(r.Context(), eventlog.GetRoomEventsParams{
			Caller: s.o.Caller, Where: core.Where{RoomID: v.Room.ID()},
			EventFilter: eventlog.EventFilter{Before: before, Limit: searchedOnce},
		})
		if err != nil {
			return nil, 0, err
		}

		rows, oldest := rowsOf(v.Root, v.Room, res.Events, res.More)
		for _, row := range rows {
			if !v.matchesEvent(row) {
				continue
			}
			if found = append(found, row); len(found) == foundShown {
				return found, row.Seq, nil
			}
		}

		if before = oldest; before == 0 {
			return found, 0, nil
		}
	}

	return found, before, nil
}

// beforeIn is the event before which an address wants events; 0 for the newest.
func beforeIn(r *http.Request) int64 {
	before, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	if err != nil || before < 0 {
		return 0
	}
	return before
}
