package cli

import (
	"github.com/spf13/cobra"

	"talkingstick/stick"
)

func (a *app) demoCmd() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Play a scene with several real processes in a scratch repository", Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return stick.Errorf(stick.CodeInternal, "the demo is being written")
		},
	}
}
