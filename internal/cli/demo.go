package cli

import (
	"bufio"
	"context"
	"os"

	"github.com/spf13/cobra"

	"talkingstick/internal/demo"
	"talkingstick/stick"
)

func (a *app) demoCmd() *cobra.Command {
	var keep, fast, serve bool
	c := &cobra.Command{
		Use: "demo", Short: "Play a scene with several real processes in a scratch repository", Args: noArgs,
		Long: "Play a scene: two agents hand the stick to each other in a scratch repository, one of them is killed, the other\n" +
			"takes over. Everything is done by real processes and checked; it exits with 0 only if all of it really happened.\n" +
			"Your own rooms and settings have no part in it. On a terminal it pauses after each step, until you press Enter.",
	}
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
		if a.TTY && a.InTTY && !a.json && !fast {
			cfg.Pause = a.pauses()
		}
		report, err := demo.Play(c.Context(), cfg)
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

// pauses returns what waits until somebody presses Enter. When no more can come, it waits no longer.
func (a *app) pauses() func(context.Context) error {
	in := bufio.NewReader(a.Stdin)
	return func(ctx context.Context) error {
		p := a.page()
		a.write(showf("\n%s ", p.faint("Enter shows the next step, Ctrl-C ends the demo:")))
		pressed := make(chan error, 1)
		go func() { // until Enter is pressed, or the program ends
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
