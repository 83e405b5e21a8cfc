package demo

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"talkingstick/internal/cli/app"
	scene "talkingstick/internal/demo"
	"talkingstick/internal/term"
)

// errLeft is why the context of a demo ends whose reader has left it.
var errLeft = errors.New("the reader has left")

// playForReader plays the demo for somebody at a terminal, whose keys make it go on and end it.
func playForReader(ctx context.Context, a *app.Run, cfg scene.Config) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	// A second signal ends the process at once, so the terminal is put back with the first one.
	if f, isFile := a.Stdin.(*os.File); isFile {
		restore := readSingleKeys(f)
		defer restore()
		defer context.AfterFunc(ctx, restore)()
	}

	keys := demoKeys{app: a, pressed: make(chan byte, 64), closed: make(chan struct{})}
	go keys.read(a.Stdin, func() { cancel(errLeft) })
	cfg.Pause, cfg.Review = keys.pause, keys.review

	_, err := scene.Play(ctx, cfg)
	if context.Cause(ctx) == errLeft {
		a.Write(term.Text("\nYou left the demo. All its processes have ended.\n"))
		return nil
	}
	return err
}

// demoKeys are the keys of somebody who reads the demo.
type demoKeys struct {
	app     *app.Run
	pressed chan byte     // keys that nobody has asked for so far
	closed  chan struct{} // closed when no more can come
}

// read reads keys until there are no more, or q is pressed, which leaves the demo. It may end with the program
// only: no context ends the read of a terminal.
func (k *demoKeys) read(in io.Reader, leave func()) {
	defer close(k.closed)

	press := make([]byte, 64)
	for {
		n, err := in.Read(press)
		if err != nil {
			return
		}

		// An arrow is one key of several bytes.
		typed := press[:n]
		if n > 0 && typed[0] == '\x1b' {
			typed = typed[:1]
		}
		for _, key := range typed {
			if key == 'q' || key == 'Q' {
				leave()
				return
			}
			k.offer(key)
		}
	}
}

// offer keeps a key for whoever asks for one, as long as there is room.
func (k *demoKeys) offer(key byte) {
	select {
	case k.pressed <- key:
	default:
	}
}

// forget drops the keys that were pressed before anybody was asked for one.
func (k *demoKeys) forget() {
	for len(k.pressed) > 0 {
		<-k.pressed
	}
}

// pause waits for a key, and at most for as long as somebody reads; 0 means any time. When no key can come,
// it doesn't wait.
func (k *demoKeys) pause(ctx context.Context, reading time.Duration) error {
	k.forget()
	p := k.app.NewPage()
	k.app.Write(p.Faint("Any key goes on, q or Ctrl-C ends the demo:"))
	defer k.app.Write(term.Text("\r\x1b[K"))

	var read <-chan time.Time
	if reading > 0 {
		read = time.After(reading)
	}

	select {
	case <-k.pressed:
	case <-read:
	case <-k.closed:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// review asks until somebody approves or returns the task. When no key can come, it is approved.
func (k *demoKeys) review(ctx context.Context) (approved bool, err error) {
	k.forget()
	k.app.Write(k.app.NewPage().Strong("Approve it? [a]pprove / [r]eturn:") + " ")

	for {
		select {
		case key := <-k.pressed:
			switch key {
			case 'a', 'A', 'y':
				k.app.Write("approve\n")
				return true, nil
			case 'r', 'R', 'n':
				k.app.Write("return\n")
				return false, nil
			}
		case <-k.closed:
			k.app.Write("approve\n")
			return true, ctx.Err()
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
