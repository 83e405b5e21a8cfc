package cli

import (
	"os"

	"github.com/spf13/cobra"

	"talkingstick/internal/demo"
	"talkingstick/stick"
)

func (a *app) demoCmd() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use: "demo", Short: "Play a scene with several real processes in a scratch repository", Args: noArgs,
		Long: "Play a scene: two agents hand the stick to each other in a scratch repository, one of them is killed, the other\n" +
			"takes over. Everything is done by real processes and checked; it exits with 0 only if all of it really happened.\n" +
			"Your own rooms and settings have no part in it.",
	}
	c.Flags().BoolVar(&keep, "keep", false, "leave the scratch directory behind")
	c.RunE = func(c *cobra.Command, args []string) error {
		if a.Exe == "" {
			return stick.Errorf(stick.CodeInternal, "the path of this program isn't known, so it can't start itself")
		}
		cfg := demo.Config{Program: a.Exe, Temp: os.TempDir(), Getenv: a.Getenv, Keep: keep}
		if !a.json {
			cfg.Out, cfg.Color = a.Stdout, a.page().color
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
