package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	xterm "github.com/charmbracelet/x/term"

	"talkingstick/internal/monitor"
	"talkingstick/stick"
)

// program connects the model to the loop and to the terminal.
type program struct {
	model
	screen     *screen
	clock      func() stick.Time
	background sync.WaitGroup // the goroutines that run beside the loop
	failed     error          // why the monitor has ended
	wakeAt     stick.Time     // when a message comes because an age has changed; zero for never
}

// Messages to the model.
type (
	pictureMsg struct{ *monitor.Picture }
	sizeMsg    struct{ width, height int }
	ageMsg     struct{ at stick.Time } // what the screen says of the time changes then
	failedMsg  struct{ error }         // the monitor has ended
	captionMsg struct{ text string }   // what a scene shows now
	ringMsg    struct{ signal string } // the terminal has to tell its person of something
)

// startWatching starts what sends messages: the monitor, and changes of the terminal's size. It all ends with
// ctx.
func (p *program) startWatching(ctx context.Context, loop *tea.Program, o Options) {
	p.clock = o.Operations.Now

	// From now on the model can reach the loop and the operations.
	p.env = &env{Options: o, ctx: ctx, send: loop.Send, background: &p.background}

	// Each new picture is shown. The terminal may have to tell its person of it.
	m := monitor.New(monitor.Options{Operations: o.Operations, Caller: o.Caller, Where: o.Where})
	p.env.putOff = m.PutOff
	changed, stop := m.Changed()
	p.background.Go(func() {
		defer stop()
		for {
			select {
			case <-changed:
				// A picture is shown first, and told of then.
				now := m.Picture()
				loop.Send(pictureMsg{now})
				if o.Tell == nil {
					continue
				}
				if signal := o.Tell(now); signal != "" {
					loop.Send(ringMsg{signal})
				}
			case <-ctx.Done():
				return
			}
		}
	})

	p.background.Go(func() {
		if err := m.Run(ctx); ctx.Err() == nil {
			loop.Send(failedMsg{err})
		}
	})

	// What a scene shows that is played. Without one, the channel never has anything.
	p.background.Go(func() {
		for {
			select {
			case text, more := <-o.Captions:
				if !more {
					return
				}
				loop.Send(captionMsg{text})
			case <-ctx.Done():
				return
			}
		}
	})

	// The terminal may change its size.
	resized, stopSize := watchSize()
	p.background.Go(func() {
		defer stopSize()
		for {
			select {
			case <-resized:
				if w, h, err := xterm.GetSize(o.Out.Fd()); err == nil {
					loop.Send(sizeMsg{w, h})
				}
			case <-ctx.Done():
				return
			}
		}
	})
}

func (p *program) Init() tea.Cmd { return nil }

// View is what Bubble Tea would draw.
func (p *program) View() tea.View { return tea.View{} }

// Update changes the model by a message, and shows what follows.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	p.now = p.clock()

	var cmd tea.Cmd
	switch msg := msg.(type) {
	case failedMsg:
		p.failed = msg.error
		if p.failed == nil {
			p.failed = errors.New("the watch has ended")
		}
		return p, tea.Quit
	case ringMsg:
		p.screen.writeText(msg.signal)
	case ageMsg:
		if msg.at == p.wakeAt {
			p.wakeAt = 0
		}
	default:
		cmd = p.applyMessage(msg)
	}

	// Whatever the message was about, the screen shows what follows from it.
	f := drawModel(&p.model)
	p.screen.drawFrame(f, p.width, p.height)
	if p.screen.err != nil {
		return p, tea.Quit
	}

	// One message wakes the loop when the next age changes. An earlier moment needs another one.
	if at := f.until; !at.IsZero() && (p.wakeAt.IsZero() || at < p.wakeAt) {
		p.wakeAt = at
		wake := func(time.Time) tea.Msg { return ageMsg{at} }
		cmd = tea.Batch(cmd, tea.Tick(max(at.Sub(p.now), time.Millisecond), wake))
	}

	return p, cmd
}
