package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/demo"
	"talkingstick/internal/tui"
	"talkingstick/stick"
)

func (a *app) demoCmd() *cobra.Command {
	var keep, fast, serve, watch bool
	c := &cobra.Command{
		Use: "demo", Short: "Play a scene with several real processes in a scratch repository", Args: noArgs,
		Long: "Play a scene: two agents hand the stick to each other in a scratch repository, one of them\n" +
			"is killed, the other takes over. Real processes do all of this, and tt checks it: it exits\n" +
			"with 0 only if everything really happened. It doesn't touch your own rooms and settings. On\n" +
			"a terminal it pauses after each step, until you press Enter.\n\n" +
			"With --watch you see the scene as tt watch shows it, instead of the commands that are run.",
	}

	c.Flags().BoolVar(&watch, "watch", false, "look at the scene on the screen of tt watch")
	c.Flags().BoolVar(&keep, "keep", false, "leave the scratch directory behind")
	c.Flags().BoolVar(&fast, "fast", false, "don't pause between the steps")
	c.Flags().BoolVar(&serve, "serve", false, "show the scene's room in a browser as well, as tt serve does")

	c.RunE = func(c *cobra.Command, args []string) error {
		if a.Exe == "" {
			return stick.Errorf(stick.CodeInternal, "the path of this program isn't known, so it can't start itself")
		}

		cfg := demo.Config{Program: a.Exe, Temp: os.TempDir(), Getenv: a.Getenv, Keep: keep, Serve: serve}
		if !a.json {
			cfg.Out, cfg.Color = a.Stdout, a.page().color
		}

		if watch {
			return a.watchDemo(c.Context(), cfg, fast)
		}

		// Pauses need somebody who can press Enter.
		if a.TTY && a.InTTY && !a.json && !fast {
			cfg.Pause = a.waitsForEnter()
		}

		// After a signal the demo still removes its scene.
		a.interrupts.tends.Store(true)
		report, err := demo.Play(c.Context(), cfg)

		// The report is printed also when the scene has failed.
		if a.json {
			if perr := a.print(report, nil); perr != nil {
				return perr
			}
		}

		return err
	}

	c.AddCommand(a.actorCmd())
	return c
}

// waitsForEnter returns what waits until somebody presses Enter. When no more can come, it waits no longer.
func (a *app) waitsForEnter() func(context.Context) error {
	in := bufio.NewReader(a.Stdin)
	return func(ctx context.Context) error {
		p := a.page()
		a.write(showf("\n%s ", p.faint("Enter shows the next step, Ctrl-C ends the demo:")))
		pressed := make(chan error, 1)
		go func() {
			// This ends when Enter is pressed, or with the program.
			_, err := in.ReadString('\n')
			pressed <- err
		}()

		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-pressed:
			if err != nil {
				a.write("\n")
			}

			return nil
		}
	}
}

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
			end := "All of it happened, and was checked. q leaves."
			if err != nil {
				end = "The scene has failed. q leaves."
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

// pause waits until the reader of the screen wants to see the next step.
func (s *screening) pause(ctx context.Context) error {
	s.captions <- s.caption + " (n shows the next step)"
	select {
	case <-s.next:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watchDemo plays the scene on the screen of tt watch. The screen only looks: what somebody did there would
// be no part of the scene.
func (a *app) watchDemo(ctx context.Context, cfg demo.Config, fast bool) error {
	in, out, ok := a.screenTerminal()
	if !ok {
		return stick.Errorf(stick.CodeUsage, "--watch needs a terminal").With("field", "watch").
			Hintf("to read what happens instead: %s", stick.Cmd("tt demo"))
	}

	ctx, leave := context.WithCancel(ctx)
	defer leave()
	scene := newScreening()
	cfg.Out, cfg.Watch = nil, scene.audience()
	goOn := func() {
		// The screen waits for this when it closes. A key that no step waits for counts for the next one.
		select {
		case scene.next <- struct{}{}:
		default:
		}
	}

	if fast {
		goOn = nil
	} else {
		cfg.Pause = scene.pause
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

	err := a.inScene(place).lookAt(ctx, tui.Options{
		In: in, Out: out, Captions: scene.captions, Next: goOn, Looks: true,
	})
	select {
	case <-scene.over:
	default:
		leave()
	}

	close(scene.left)
	perr := <-ended
	switch {
	case err != nil:
		return err
	case report.OK:
		return a.print(report, func(p *page) { p.linef("All of it happened: tt checked it, step by step.") })
	case isCanceled(perr) || errors.Is(perr, context.Canceled):
		// The reader of the screen has left before the end.
		return nil
	}

	return perr
}

// inScene is the program as somebody runs it who looks at the place of a scene.
func (a *app) inScene(p demo.Place) *app {
	// The scene has settings of its own, so nothing of the user's gets in but the terminal's.
	env := a.Env
	env.Dir, env.User, env.Home = p.Dir, "demo", filepath.Dir(p.Dir)
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

	return &app{Env: env, color: a.color, reads: true}
}

// actorCmd has the program play a harness. Only a scene can start it: [demo.Act] checks
// the scene's token.
func (a *app) actorCmd() *cobra.Command {
	return &cobra.Command{
		Use: "actor", Hidden: true, Args: noArgs, Short: "Play a harness in the demo",
		RunE: func(c *cobra.Command, args []string) error {
			return demo.Act(c.Context(), os.Args[0], a.Getenv(demo.TokenEnv), a.Stdin, a.Stdout)
		},
	}
}
