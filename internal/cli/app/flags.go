package app

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// NoArgs refuses arguments, and names the commands below c if it has some.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasSubCommands() {
		return &UnknownWord{c, args[0]}
	}
	return stick.Errorf(stick.CodeUsage, "%s takes no arguments, but got %q",
		stick.Words(c.CommandPath()), stick.Clip(args[0], 40)).Hintf("%s", HelpCommand(c))
}

// HelpCommand returns the command that explains c, under the name by which the program was called.
func HelpCommand(c *cobra.Command) stick.Command { return stick.Cmd(c.CommandPath() + " --help") }

// ArgsBetween refuses fewer than least and more than most arguments; most is -1 for any number. what says which are
// needed.
func ArgsBetween(least, most int, what stick.Words) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return stick.Errorf(stick.CodeUsage, "%s needs %s", stick.Words(c.CommandPath()), what).
				Hintf("%s", HelpCommand(c))
		case most >= 0 && len(args) > most:
			return stick.Errorf(stick.CodeUsage, "%s got one argument too many: %q",
				stick.Words(c.CommandPath()), stick.Clip(args[most], 40)).Hintf("%s", HelpCommand(c))
		}
		return nil
	}
}

// PlaceFlags holds the flags that say which room a command means.
type PlaceFlags struct{ path, room string }

// AddPlaceFlags gives a command the flags --path and --room beside its last argument.
func AddPlaceFlags(c *cobra.Command) *PlaceFlags {
	s := &PlaceFlags{}
	c.Flags().StringVar(&s.path, "path", "", "a path in the workspace (default: the working directory)")
	c.Flags().StringVar(&s.room, "room", "", "the room's id, or the start of it, instead of a path")
	return s
}

// Where returns the room that the flags mean.
func (s *PlaceFlags) Where() core.Where {
	return core.Where{RoomID: stick.RoomID(s.room), Path: s.path}
}

// WhereOf returns the room that a command means: that of its argument at i, if there is one, else that of its
// flags.
func (s *PlaceFlags) WhereOf(args []string, i int) (core.Where, error) {
	w := s.Where()
	if len(args) <= i {
		return w, nil
	}
	if w.Path != "" {
		return w, stick.Errorf(stick.CodeUsage, "give one path, not two: %q and --path %q",
			stick.Clip(args[i], 60), stick.Clip(w.Path, 60))
	}
	if args[i] == "" {
		return w, stick.Errorf(stick.CodeInvalidPath, "the path is empty").
			Hintf("leave it out to mean the working directory")
	}

	w.Path = args[i]
	return w, nil
}

// OtherWords maps second names of flags to the flags.
func OtherWords(f *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "bead":
		name = "task"
	case "ack-required":
		name = "requires-ack"
	}
	return pflag.NormalizedName(name)
}

// ParseNumbers reads the numbers of messages or notes.
func ParseNumbers(what string, args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, s := range args {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return nil, stick.Errorf(stick.CodeUsage, "a %s is named by its number, not %q",
				what, stick.Clip(s, 40)).With("field", what+"_id")
		}
		ids[i] = n
	}
	return ids, nil
}

// TimeoutFlag limits how long a command waits.
type TimeoutFlag time.Duration

// AddFlag gives a command the flag --timeout.
func (t *TimeoutFlag) AddFlag(c *cobra.Command, usage string) {
	c.Flags().DurationVar((*time.Duration)(t), "timeout", 0, usage)
}

// Milliseconds returns the limit in milliseconds, nil if none was given.
func (t TimeoutFlag) Milliseconds(c *cobra.Command) (*int64, error) {
	if !c.Flags().Changed("timeout") {
		return nil, nil
	}
	if time.Duration(t) < time.Millisecond {
		return nil, stick.Errorf(stick.CodeUsage, "--timeout must be positive, such as 90s").With("field", "timeout")
	}
	return new(time.Duration(t).Milliseconds()), nil
}
