package app

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/workspace"
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

	e := stick.Errorf(stick.CodeUsage, "%s takes no arguments, but got %q",
		stick.Words(c.CommandPath()), stick.Clip(args[0], 40))
	// The commands of workers mean the task of their worktree; those about somebody's task take its name.
	if f := c.Flags().Lookup("task"); len(args) == 1 && f != nil && !f.Changed {
		return e.Hintf("if that is the task: %s", stick.Cmd(c.CommandPath()+" --task <task>", args[0]))
	}
	return e.Hintf("%s", HelpCommand(c))
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

// SplitFiles tells the files of a command from the path that says which room it means: what is after --, and what
// is a file. Files come back absolute. ofAgent is the flag for what an agent did, whose name is often typed instead.
func (a *Run) SplitFiles(c *cobra.Command, args []string, ofAgent string) (place, files []string, err error) {
	// Checkouts are known by their real path.
	dir, err := filepath.EvalSymlinks(a.Dir)
	if err != nil {
		return nil, nil, stick.Errorf(stick.CodeInvalidPath, "the working directory is gone")
	}

	dash := c.ArgsLenAtDash()
	for i, arg := range args {
		full := arg
		if !filepath.IsAbs(arg) {
			full = filepath.Join(dir, arg)
		}

		at, err := os.Lstat(full)
		isAfterDash := dash >= 0 && i >= dash
		switch {
		case isAfterDash || err == nil && at.Mode().IsRegular():
			files = append(files, full)
		case os.IsNotExist(err) && arg != "":
			return nil, nil, stick.Errorf(stick.CodeInvalidPath, "no such file or directory: %s", stick.Clip(arg, 60)).
				Hintf("of an agent: %s; a file that is gone comes after --: %s",
					stick.Cmd(c.CommandPath()+" --"+ofAgent+" <agent>"), stick.Cmd(c.CommandPath()+" -- <path>"))
		default:
			place = append(place, arg)
		}
	}

	return place, files, ArgsBetween(0, 1, "a path")(c, place)
}

// RelativeFiles returns files, which are absolute, relative to the top level of their checkout.
func (a *Run) RelativeFiles(files []string) (relative []string, err error) {
	for _, file := range files {
		at, ok := workspace.FindCheckout(a.Dir, a.WorkspaceEnv())
		if !ok {
			return nil, stick.Errorf(stick.CodeInvalidPath, "%s is in no repository", stick.Clip(file, 200))
		}

		rel, ok := workspace.RelBelow(file, at.Top)
		if !ok {
			return nil, stick.Errorf(stick.CodeInvalidPath, "%s is outside of %s", stick.Clip(file, 200), stick.Clip(at.Top, 200))
		}
		relative = append(relative, filepath.ToSlash(rel))
	}

	return relative, nil
}

// AddListFlag adds a flag for words that are separated by commas. It may be repeated. Unlike the lists of pflag, it
// takes each word as it is: those read one line of CSV, and drop what follows.
func AddListFlag(c *cobra.Command, words *[]string, name, usage string) {
	c.Flags().Var(&wordList{words: words}, name, usage)
}

// wordList is the value of a flag for words.
type wordList struct {
	words   *[]string
	changed bool
}

// Set adds the words of one use of the flag. An empty one leaves none.
func (l *wordList) Set(value string) error {
	if !l.changed {
		*l.words, l.changed = []string{}, true
	}
	if value != "" {
		*l.words = append(*l.words, strings.Split(value, ",")...)
	}
	return nil
}

// String returns nothing: without the flag there are no words.
func (l *wordList) String() string { return "" }

// Type is what pflag calls such a value.
func (l *wordList) Type() string { return "stringSlice" }
