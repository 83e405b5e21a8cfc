package web

import (
	"net/http"
	"time"

	"talkingstick/internal/monitor"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// needAct is what a person can do about a need where it is listed.
type needAct struct {
	Operation, Label string
	Key              string // of the keyboard; empty for none
	Fields           map[string]string
}

// NeedActs returns what a person can do about a need, beside answering its message. What needs more than a click, such
// as a review, leads to its page.
func (v *view) NeedActs(n monitor.NeedIn) (acts []needAct) {
	about := map[string]string{"room_id": string(n.Room.ID()), "task_id": n.Task}
	switch n.Kind {
	case presence.NeedMerge:
		return []needAct{{"worker_merge", "Merge", "m", about}}
	case presence.NeedRescue:
		return []needAct{{"restore_rescue", "Bring it back", "b", map[string]string{"rescue_id": n.Rescue}}}
	case presence.NeedTask:
		t := n.Room.Task(n.Task)
		if t == nil {
			return nil
		}

		page := taskPage{Task: t}
		if page.Can("run") {
			acts = append(acts, needAct{"worker_run", "Run its command again", "", about})
		}
		if page.Can("retry") {
			acts = append(acts, needAct{"worker_retry", "Start another attempt", "", about})
		}
	}

	return acts
}

// RedReport is the output of a gate that is red on a branch itself; empty for another need, or if it isn't kept.
func (v *view) RedReport(n monitor.NeedIn) string {
	if n.Kind != presence.NeedRedGate {
		return ""
	}

	for _, q := range n.Room.Paused {
		if q.Since == n.Since {
			return q.Report
		}
	}
	return ""
}

// shownNeeds is how many needs the page of a room shows open: the stick is what it is about.
const shownNeeds = 3

// FirstNeeds are the needs that the page of a room shows open, and OtherNeeds are the rest.
func (v *view) FirstNeeds() []presence.Need { return v.Room.Needs[:min(len(v.Room.Needs), shownNeeds)] }

// OtherNeeds are those beyond [view.FirstNeeds].
func (v *view) OtherNeeds() []presence.Need { return v.Room.Needs[len(v.FirstNeeds()):] }

// PutOff are the needs that the person has put off.
func (v *view) PutOff() []monitor.NeedIn { return v.Picture.PutOff() }

// putOffFor is how long a need stays out of the list that a person has put off.
const putOffFor = time.Hour

// putOffNeed puts a need off, or brings it back.
func (s *Server) putOffNeed(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.answerReadError(w, r, stick.Errorf(stick.CodeUsage, "the form can't be read: %w", err))
		return
	}

	room, key := stick.RoomID(r.PostForm.Get("room_id")), r.PostForm.Get("key")
	p := s.latestPicture(r.Context())
	if !hasNeed(append(p.Needs(), p.PutOff()...), room, key) {
		s.answerError(w, r, stick.Errorf(stick.CodeNotFound, "this doesn't need you any more"))
		return
	}

	until := s.ops.Now().Add(putOffFor)
	if r.PostForm.Get("now") != "" {
		until = s.ops.Now()
	}

	s.monitor.PutOff(room, key, until)
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{"until": until})
		return
	}
	s.redirectBack(w, r)
}

// hasNeed reports whether one of some needs is that of a room with a key.
func hasNeed(needs []monitor.NeedIn, room stick.RoomID, key string) bool {
	for _, n := range needs {
		if n.Room.ID() == room && n.Key == key {
			return true
		}
	}
	return false
}
