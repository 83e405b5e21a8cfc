package eventlog_test

import (
	"context"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestWatchRooms: whoever shows rooms is woken by a commit, by what only people see, by the end of a process,
// by a limit, and by a new room; and by nothing else.
func TestWatchRooms(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob)
	ann.StartsByHook("startup").OK()
	looks := make(chan []stick.RoomID)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- carl.Engine.Log.WatchRooms(ctx, eventlog.WatchRoomsParams{
			Caller: carl.By,
			Rooms: func(ctx context.Context) (ids []stick.RoomID, err error) {
				res, err := carl.Engine.ListRooms(ctx, engine.ListRoomsParams{
					Caller: carl.By, Path: "/", All: true, Recent: true,
				})
				for _, r := range res.Rooms {
					ids = append(ids, r.RoomID)
				}
				return ids, err
			},
			Look: func(ctx context.Context, ids []stick.RoomID) (map[stick.RoomID]eventlog.Holds, error) {
				holds := map[stick.RoomID]eventlog.Holds{}
				for _, id := range ids {
					st, err := carl.Engine.GetRoomState(ctx, engine.GetRoomStateParams{
						Caller: carl.By, Where: s.ByID(),
					})
					if err != nil {
						return nil, err
					}
					holds[id] = eventlog.Holds{Until: st.LooksUntil, Watched: st.Watched}
				}

				select {
				case looks <- ids:
				case <-ctx.Done():
				}

				return holds, nil
			},
		})
	}()

	looked := func(what string, rooms int) {
		t.Helper()
		for {
			select {
			case ids := <-looks:
				if len(ids) == rooms {
					return
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s: nobody looks", what)
			}
		}
	}

	looked("at the start", 1)
	bob.Tell("hello").OK()
	looked("a commit", 1)
	ann.Idle()
	looked("an agent has become idle", 1)
	bob.Works()
	looked("another works", 1)
	ann.Dies()
	looked("a process has ended", 1)
	s.AgentIn("claude:c", s.Dir("other")).JoinPath(engine.JoinPathParams{}).OK()
	looked("a new room", 2)
	stop()

	for {
		select {
		case <-looks:
			continue
		case err := <-ended:
			if stick.CodeOf(err) != stick.CodeCanceled {
				t.Error(err)
			}
			return
		}
	}
}
