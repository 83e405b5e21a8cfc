package events

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/stick"
)

// LogCmd is eventsCmd for people: always in words.
func LogCmd(a *app.Run) *cobra.Command {
	s, seen := streamFlags{words: true}, false
	c := &cobra.Command{
		Use: "log [path] [file…]", Short: "Read what happened in the room, in words", Args: app.ArgsBetween(0, -1, ""),
		Long: "Read what happened in the room, the newest last. " +
			"--follow shows the last ten events and continues as more happen, until\n" +
			"you interrupt it. Name a file, as in tt log -- cart.go, to see only the events that name it, of\n" +
			"the newest 500. Which calls changed it: tt calls -- cart.go. Programs read tt events.\n\n" +
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
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		var files []string
		if args, files, err = a.SplitFiles(c, args, "from"); err != nil {
			return err
		}

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
		if s.files, err = a.RelativeFiles(files); err != nil {
			return err
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

// dropOthers leaves out the events that name none of the files.
func (s *streamFlags) dropOthers(res *eventlog.EventsResult) {
	if len(s.files) == 0 {
		return
	}

	res.Events = slices.DeleteFunc(res.Events, func(e stick.Event) bool {
		return !slices.ContainsFunc(s.files, func(file string) bool { return namesFile(string(e.Payload), file) })
	})
}

// namesFile reports whether a payload names a file, or something below it, anywhere in its texts.
func namesFile(payload, file string) bool {
	for rest := payload; ; {
		i := strings.Index(rest, file)
		if i < 0 {
			return false
		}

		// A longer name that only contains this one is another file's.
		isStart := i == 0 || !isNameByte(rest[i-1]) && rest[i-1] != '/'
		after := rest[i+len(file):]
		if isStart && (after == "" || !isNameByte(after[0])) {
			return true
		}
		rest = after
	}
}

// isNameByte reports whether a byte continues the name of a file.
func isNameByte(b byte) bool {
	isLetter := b|0x20 >= 'a' && b|0x20 <= 'z'
	return isLetter || b >= '0' && b <= '9' || b == '_' || b == '-'
}
