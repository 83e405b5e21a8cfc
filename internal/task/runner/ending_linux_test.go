package runner

import (
	"bufio"
	"os/exec"
	"testing"
	"time"

	"talkingstick/internal/proc"
	"talkingstick/internal/task/command"
)

// TestEnding_GroupOfEndedCommand: somebody else may have the number of its group by now, and gets no
// signal.
func TestEnding_GroupOfEndedCommand(t *testing.T) {
	stranger := exec.Command("/bin/sh", "-c", "trap 'exit 7' TERM; echo ready; read x; exit 0")
	command.SetOwnGroup(stranger)
	in, err := stranger.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	out, err := stranger.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}

	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	procs, err := proc.Host()
	if err != nil {
		t.Fatal(err)
	}

	gone, err := procs.Self()
	if err != nil {
		t.Fatal(err)
	}
	gone.Start++
	looks := 0
	leader := make(chan struct{})
	close(leader)

	e := processEnder{procs: procs, command: stranger, commandEnded: leader, find: func() []proc.Info {
		if looks++; looks > 2 {
			return nil
		}
		return []proc.Info{{ID: gone}}
	}}

	if left := e.endAll(time.Minute); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	e.killAll()
	_ = in.Close() // it may have ended
	if err := stranger.Wait(); err != nil {
		t.Errorf("the stranger was signalled: %v", err)
	}
}
