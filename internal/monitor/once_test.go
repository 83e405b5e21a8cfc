package monitor

import (
	"context"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// two are operations on two rooms, of which the second is that of the working directory.
type two struct{ Operations }

func (two) Now() stick.Time { return 1 }

func (two) AgentNames(context.Context) (map[stick.AgentID]string, error) { return nil, nil }

func (two) ListRooms(context.Context, engine.ListRoomsParams) (engine.ListRoomsResult, error) {
	return engine.ListRoomsResult{Rooms: []engine.ListedRoom{{RoomID: "one"}, {RoomID: "two"}}, Hidden: 3}, nil
}

func (two) GetRoomState(_ context.Context, p engine.GetRoomStateParams) (res engine.GetRoomStateResult, err error) {
	if p.Where == (core.Where{}) {
		p.RoomID = "two"
	}
	res.RoomID = p.RoomID
	return res, nil
}

func (two) GetRoomEvents(context.Context, eventlog.GetRoomEventsParams) (eventlog.EventsResult, error) {
	return eventlog.EventsResult{}, nil
}

func (two) ListReservations(context.Context, scopes.ListReservationsParams) (scopes.ListReservationsResult, error) {
	return scopes.ListReservationsResult{}, nil
}

func (two) WorkerStatus(context.Context, task.WorkerStatusParams) (task.WorkerStatusResult, error) {
	return task.WorkerStatusResult{}, nil
}

// One picture is of all rooms, or of one: that of the working directory if none is named.
func TestOncePicturesAllRooms(t *testing.T) {
	for _, c := range []struct {
		look func(context.Context, Options) (*Picture, error)
		room stick.RoomID
		want string
	}{
		{TakePicture, "", "one two "}, {TakePicture, "one", "one "}, {TakeRoomPicture, "", "two "}, {TakeRoomPicture, "one", "one "},
	} {
		p, err := c.look(t.Context(), Options{Operations: two{}, Where: core.Where{RoomID: c.room}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range p.Rooms {
			got += string(r.ID()) + " "
		}
		if got != c.want {
			t.Errorf("with room %q the picture shows %q, want %q", c.room, got, c.want)
		}
	}
}
