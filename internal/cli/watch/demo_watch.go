package watch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/demo"
	"talkingstick/internal/term"
	"talkingstick/internal/tui"
	"talkingstick/stick"
)

// screening is what the scene of a demo and the screen that shows it tell each other.
type screening struct {
	began    chan demo.Place
	captions chan string
	next     chan struct{} // the reader wants to see the next step
	over     chan struct{} // closed when the scene is over
	left     chan struct{} // closed when the reader has left the screen
	caption  string        // of the present step
}

func newScreening() *screening {
	return &screening{
		began: make(chan demo.Place, 1), captions: make(chan string, 10), next: make(chan struct{}, 1),
		over: make(chan struct{}), left: make(chan struct{}),
	}
}

// audience returns what the scene tells of itself. The scene lasts until its reader has left.
func (s *screening) audience() demo.Audience {
	return demo.Audience{
		Begin: func(p demo.Place) { s.began <- p },
		Title: func(step int, text string) {
			s.caption = fmt.Sprintf("%d. %s", step, text)
			s.captions <- s.caption
		},
		Over: func(ctx context.Context, r demo.Report, err error) {
			end := "All of it happened, and was checked. q or n leaves."
			if err != nil {
				end = "The scene has failed. q or n leaves."
			}

			s.captions <- end
			close(s.over)
			select {
			case <-s.left:
			case <-ctx.Done():
			}
		},
	}
}

// pause waits until the reader of the screen wants to see the next step, however long that takes.
func (s *screening) pause(ctx context.Context, _ time.Duration) error {
	return s.awaitKey(ctx, " (n shows the next step)")
}

// review waits until the reader of the screen approves the task.
func (s *screening) review(ctx context.Context) (approved bool, err error) {
	return true, s.awaitKey(ctx, " (n approves it)")
}

// awaitKey waits for the key for which the caption asks.
func (s *screening) awaitKey(ctx context.Context, asks string) error {
	s.captions <- s.caption + asks
	select {
	case <-s.next:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Demo plays the scene on the screen of tt watch. The screen only looks: what somebody did there would
// be no part of the scene.
func Demo(ctx context.Context, a *app.Run, cfg demo.Config, fast bool) error {
	in, out, ok := screenTerminal(a)
	if !ok {
		return stick.Errorf(stick.CodeUsage, "--watch needs a terminal").With("field", "watch").
			Hintf("to read what happens instead: %s", stick.Cmd("tt demo"))
	}

	ctx, leave := context.WithCancel(ctx)
	defer leave()
	scene := newScreening()
	cfg.Out, cfg.Watch = nil, scene.audience()
	looking, closeScreen := context.WithCancel(ctx)
	defer closeScreen()
	goOn := func() {
		// After the last step there is only the way out. Otherwise a key that no step waits for counts for the next
		// one: the screen waits for this function when it closes.
		select {
		case <-scene.over:
			closeScreen()
			return
		default:
		}

		select {
		case scene.next <- struct{}{}:
		default:
		}
	}

	if fast {
		goOn = nil
	} else {
		cfg.Pause, cfg.Review = scene.pause, scene.review
	}

	var report demo.Report
	ended := make(chan error, 1)
	go func() {
		var err error
		report, err = demo.Play(ctx, cfg)
		ended <- err
	}()

	// The screen opens when the scene has a place to look at.
	var place demo.Place
	select {
	case place = <-scene.began:
	case err := <-ended:
		return err
	}

	err := lookAt(looking, inScene(a, place), tui.Options{
		In: in, Out: out, Captions: scene.captions, Next: goOn, Looks: true,
	})
	select {
	case <-scene.over:
		if looking.Err() != nil && ctx.Err() == nil {
			err = nil // the reader has left by n
		}
	default:
		leave()
	}

	close(scene.left)
	perr := <-ended
	switch {
	case err != nil:
		return err
	case report.OK:
		return a.Print(report, func(p *term.Page) { p.Linef("All of it happened: tt checked it, step by step.") })
	case app.IsCanceled(perr) || errors.Is(perr, context.Canceled):
		// The reader of the screen has left before the end.
		return nil
	}

	return perr
}

// inScene is the program as somebody runs it who looks at the place of a scene.
func inScene(a *app.Run, p demo.Place) *app.Run {
	// The scene has settings of its own, so nothing of the user's gets in but the terminal's.
	env := a.Env
	env.Dir, env.User, env.Home = p.Dir, demo.Person, filepath.Dir(p.Dir)
	env.Getenv = func(name string) string {
		for _, v := range p.Env {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}

		if name == "TERM" || name == "NO_COLOR" {
			return a.Getenv(name)
		}
		return ""
	}

	return &app.Run{Env: env, Color: a.Color, Reads: true, TellNews: a.TellNews}
}
