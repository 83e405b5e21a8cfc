package notify

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"talkingstick/stick"
)

// Command is what a user runs for each notice: the line of [notify] command.
type Command struct {
	Line    string   // for the shell; empty for none
	Environ []string // to which the fields of the notice are added
	Dir     string   // where it runs; the directory of the room is nothing to a notice
}

// limit is how long a command may take for a notice.
const limit = 10 * time.Second

// Run runs the command for a notice, if there is one: with the sentence on standard input, and the fields in
// the environment. It fails with what the command has said.
func (c Command) Run(ctx context.Context, n Notice) error {
	if c.Line == "" {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	run := exec.CommandContext(ctx, shell[0], append(shell[1:len(shell):len(shell)], c.Line)...)
	var said bytes.Buffer
	run.Dir, run.Env = c.Dir, append(c.Environ[:len(c.Environ):len(c.Environ)], n.environment()...)
	run.Stdin, run.Stderr = strings.NewReader(string(n.Sentence())+"\n"), &said

	// What it has started may keep the pipe open.
	run.WaitDelay = time.Second

	err := run.Run()
	if ctx.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("it took longer than %s", limit)
	}

	if err != nil {
		return fmt.Errorf("[notify] command: %w: %s", err, stick.Clip(said.String(), 400))
	}
	return nil
}

// environment are the variables that a command gets.
func (n Notice) environment() []string {
	var env []string
	set := func(name, value string) {
		env = append(env, "TT_NOTIFY_"+name+"="+strings.ReplaceAll(value, "\x00", ""))
	}

	set("KIND", string(n.Kind))
	set("ROOM", string(n.RoomID))
	set("PATH", n.Path)
	set("AGENT", string(n.Agent))
	set("TASK", n.Task)
	set("MESSAGE", strings.TrimPrefix(strconv.FormatInt(n.Message, 10), "0"))
	set("RESCUE", n.Rescue)
	set("NEXT", string(n.NextAction))

	return env
}
