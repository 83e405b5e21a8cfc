package core

import (
	"context"
	"net"
	"testing"
	"time"

	"talkingstick/internal/proc/proctest"
	"talkingstick/stick"
)

// TestOpen_HookAsksServerOnce: with short limits, a server that didn't answer isn't asked again by the same
// process. A command, which has none, asks again: the server may be back.
func TestOpen_HookAsksServerOnce(t *testing.T) {
	for name, short := range map[string]bool{"a hook": true, "a command": false} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			asked := make(chan struct{}, 100)
			over := make(chan struct{})
			go func() { // until l is closed
				defer close(over)
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					c.Close() // it says nothing
					asked <- struct{}{}
				}
			}()

			defer func() {
				l.Close()
				<-over
			}()

			cfg := Config{
				Dir: t.TempDir(), Database: "postgres://tt@" + l.Addr().String() + "/tt?sslmode=disable",
				Procs: proctest.Machine(7, proctest.Process{PID: 7, Comm: "tt"}),
				Local: func(string) error { return nil },
			}

			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond) // of the command
			defer cancel()
			if short {
				ctx, cfg.ReadWait = context.Background(), 20*time.Millisecond
			}
			k := New(cfg)
			if _, err := k.Open(ctx, false); stick.CodeOf(err) != stick.CodeDatabaseUnavailable {
				t.Fatalf("the first time: %v", err)
			}

			<-asked
			for len(asked) > 0 {
				<-asked
			}
			again, stop := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer stop()
			if _, err := k.Open(again, false); stick.CodeOf(err) != stick.CodeDatabaseUnavailable {
				t.Fatalf("the second time: %v", err)
			}
			if more := len(asked) > 0; more == short {
				t.Errorf("it asked again: %v", more)
			}
		})
	}
}
