// Package demo plays the scene of tt demo.
package demo

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	scene "talkingstick/internal/demo"
	"talkingstick/stick"
)

// Screen plays the scene on the screen of tt watch.
type Screen func(ctx context.Context, a *app.Run, cfg scene.Config, fast bool) error

// Cmd makes tt demo. Without a screen, which only tt-full has, --watch is handed over.
func Cmd(a *app.Run, show Screen) *cobra.Command {
	var keep, fast, serve, watch bool
	c := &cobra.Command{
		Use: "demo", Short: "Play a scene with several real processes in a scratch repository", Args: app.NoArgs,
		Long: "Play sixty seconds of the whole: five agents and you in a scratch repository. A handoff, a reset that is\n" +
			"refused, lost work that comes back, a crash, and a task that you review and that lands.\n" +
			"Everything is done by real processes and checked; " +
			"it exits with 0 only if all of it really happened.\n" +
			"It doesn't touch your own rooms and settings. It needs git.\n\n" +
			"On a terminal it leaves time to read after each step. Any key continues at once, and q or " +
			"Ctrl-C ends it.\n" +
			"It asks you to approve the task, or to return it; elsewhere, and with --fast, it approves.\n\n" +
			"With --watch you see the scene as tt watch shows it, instead of the commands that are run: " +
			"n continues, and q ends it.",
	}

	c.Flags().BoolVar(&watch, "watch", false, "look at the scene on the screen of tt watch")
	c.Flags().BoolVar(&keep, "keep", false, "leave the scratch directory behind")
	c.Flags().BoolVar(&fast, "fast", false, "don't pause between the steps, and ask nothing")
	c.Flags().BoolVar(&serve, "serve", false, "show the scene's room in a browser as well, as tt serve does")

	c.RunE = func(c *cobra.Command, args []string) error {
		// The screen and the pages are in tt-full. Without it nothing is played.
		needsFull := watch && show == nil || serve && a.LacksFull()
		if needsFull {
			return a.HandOver()
		}
		if a.Exe == "" {
			return stick.Errorf(stick.CodeInternal, "the path of this program isn't known, so it can't start itself")
		}

		cfg := scene.Config{Program: a.Exe, Temp: os.TempDir(), Getenv: a.Getenv, Keep: keep, Serve: serve}
		if !a.JSON {
			cfg.Out, cfg.Color, cfg.Columns = a.Stdout, a.NewPage().Color, a.Columns
		}

		if watch {
			return show(c.Context(), a, cfg, fast)
		}

		// After a signal the demo still removes its scene.
		a.Interrupts.Tends.Store(true)

		// Pauses need somebody who can press a key.
		if a.TTY && a.InTTY && !a.JSON && !fast {
			return playForReader(c.Context(), a, cfg)
		}

		report, err := scene.Play(c.Context(), cfg)

		// The report is printed also when the scene has failed.
		if a.JSON {
			if perr := a.Print(report, nil); perr != nil {
				return perr
			}
		}

		return err
	}

	c.AddCommand(actorCmd(a))
	return c
}

// actorCmd has the program play a harness. Only a scene can start it: [scene.Act] checks
// the scene's token.
func actorCmd(a *app.Run) *cobra.Command {
	var apart bool
	c := &cobra.Command{
		Use: "actor", Hidden: true, Args: app.NoArgs, Short: "Play a harness in the demo",
		RunE: func(c *cobra.Command, args []string) error {
			if apart {
				return scene.StartApart(os.Args[0], a.Getenv(scene.TokenEnv), a.Stdin, a.Stdout, a.Stderr)
			}
			return scene.Act(c.Context(), os.Args[0], a.Getenv(scene.TokenEnv), a.Stdin, a.Stdout)
		},
	}
	c.Flags().BoolVar(&apart, "apart", false, "play it in a process that isn't below whoever started the demo")
	return c
}
