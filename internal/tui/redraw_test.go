package tui

import (
	"fmt"
	"testing"
	"time"

	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// crowd is a picture of so many rooms, each with five agents at work, ten tasks and thirty events.
func crowd(rooms int) *monitor.Picture {
	p := pictured()
	for i := range rooms {
		r := shop()
		r.State.RoomID, r.State.Path = stick.RoomID(fmt.Sprintf("room%06d", i)), fmt.Sprintf("/home/ann/src/shop-%d", i)
		r.State.Members = append(r.State.Members,
			seen(stick.AgentID(fmt.Sprintf("claude:%04x", i)), presence.AgentWorks, time.Minute, "Edit",
				"src/upload.go"))
		for j := range 7 {
			r.Tasks = append(r.Tasks, task.TaskView{
				TaskID: fmt.Sprintf("more-%d", j), State: stick.TaskWorking, StateAt: before(time.Hour),
				Description: "What there is to do", Worker: "codex:0101",
			})
		}
		for j := range 26 {
			r.Events = append(r.Events, event(int64(50+j), stick.EventJoin, "claude:a3f1", "", time.Minute))
		}
		p.Rooms = append(p.Rooms, r)
	}

	return p
}

// BenchmarkRedraw draws eight rooms with forty agents after a picture that changes one of them.
func BenchmarkRedraw(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			m := onScreen(crowd(8), size[0], size[1], true)
			s := screen{out: discard{}}
			for b.Loop() {
				m.picture = pictured(m.picture.Rooms...)
				m.applyMessage(pictureMsg{m.picture})
				s.drawFrame(drawModel(m), m.width, m.height)
			}
		})
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
