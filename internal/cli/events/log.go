package events

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/stick"
)

// LogCmd is eventsCmd for people: always in words.
func LogCmd(a *app.Run) *cobra.Command {
	s, seen := streamFlags{words: true}, false
	c := &cobra.Command{
		Use: "log [path]", Short: "Read what happened in the room, in words", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Read what happened in the room, the newest last. " +
			"--follow shows the last ten events and continues as more happen, until\n" +
			"you interrupt it. Programs read tt events.\n\n" +
			"--since-seen sums up what has happened since you asked for that last, by agent: what landed, what came back and why,\n" +
			"what was lost and how it comes back; and what waits for you now.",
	}

	s.addFilter(c)
	s.addSince(c)
	c.Flags().BoolVar(&seen, "since-seen", false, "what landed, came back or was lost since you asked last, by agent")
	c.Flags().BoolVarP(&s.follow, "follow", "f", false, "print new events as they happen")
	c.Flags().StringVar(&s.filter.Target, "target", "", "only what is for this agent, or for yourself (self)")
	c.Flags().StringSliceVar(&s.types, "event", nil, "only these types, separated by commas")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		if seen {
			if err := requireAlone(c, "since-seen"); err != nil {
				return err
			}
			return showSinceSeen(c.Context(), a, w)
		}
		return s.readStream(a, c.Context(), w, "events", showLoggedEvent)
	}

	return c
}

// requireAlone refuses a flag beside the others that say which events to read.
func requireAlone(c *cobra.Command, flag string) error {
	for _, other := range []string{"follow", "since", "after", "limit", "event", "from", "target", "task"} {
		if c.Flags().Changed(other) {
			return stick.Errorf(stick.CodeUsage, "--%s sums up all of it: leave out --%s", stick.Words(flag), stick.Words(other)).
				With("field", flag)
		}
	}
	return nil
}
