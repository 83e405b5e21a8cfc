package room

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// PolicyCmd makes tt policy.
func PolicyCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "policy [key=value]… [path]", Short: "Show or change the rules of the room", Args: app.ArgsBetween(0, -1, ""),
		Long: "Show the rules of the room, or change those that you name. tt help policy explains each.",
	}

	path := app.AddPlaceFlags(c)
	run := func(ctx context.Context, w core.Where, set []string) error {
		// Without a change this only reads, and anybody may.
		a.Reads = len(set) == 0
		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.SetRoomPolicyResult, error) {
			return e.SetRoomPolicy(ctx, engine.SetRoomPolicyParams{Caller: by, Where: w, Set: set})
		}, func(p *term.Page, res engine.SetRoomPolicyResult) {
			for _, k := range stick.PolicyKeys {
				// Whoever changes some wants to see these.
				isNamed := slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, k.Name+"=") })
				if len(set) > 0 && !isNamed {
					continue
				}

				meaning := stick.Words(k.Meaning)
				if next := res.Policy.Next(k.Name); next != "" {
					meaning = stick.Wordsf("%s as of the next turn; %s", next, meaning)
				}

				p.ShowHanging(term.Wordsf("%-25s %-8s ", k.Name, res.Policy.Get(k.Name)), term.Padding(35), string(meaning))
			}
		})
	}

	c.RunE = func(c *cobra.Command, args []string) error {
		// The last word may be a path, which has no equals sign in front of it.
		set := leadingWords(args, func(s string) bool { return strings.Contains(s, "=") })
		if err := app.ArgsBetween(0, 1, "a path")(c, args[len(set):]); err != nil {
			return err
		}

		// A value without its key is no path.
		if len(args) == 1 && stick.Enforce(args[0]).Known() {
			return &app.UnknownWord{Command: c, Typed: args[0]}
		}

		w, err := path.WhereOf(args, len(set))
		if err != nil {
			return err
		}

		return run(c.Context(), w, set)
	}

	set := &cobra.Command{
		Use: "set <key>=<value>…", Short: "Change the room's policy",
		Args: app.ArgsBetween(1, -1, "at least one key=value"),
	}

	setPath := app.AddPlaceFlags(set)
	set.RunE = func(c *cobra.Command, args []string) error {
		return run(c.Context(), setPath.Where(), args)
	}

	c.AddCommand(set)
	return c
}

// leadingWords returns the words before the first one that doesn't fit.
func leadingWords(words []string, fits func(string) bool) []string {
	for i, w := range words {
		if !fits(w) {
			return words[:i]
		}
	}
	return words
}
