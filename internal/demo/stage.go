// Package demo plays a scene for newcomers: five agents and a person work in a scratch repository. They hand
// over the stick, lose uncommitted work and get it back, and land a task. Everything in it is real. The agents
// are processes with the names of harnesses, because tt identifies agents by the ancestry of processes. They
// run tt, git and the shell, and ask tt's hooks as those harnesses do. The scene checks every claim that it
// makes, so that one that ends well has proved something.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"talkingstick/stick"
)

// Config says where and how to play the scene.
type Config struct {
	Program string              // the path of tt
	Temp    string              // where to create the scratch directory
	Getenv  func(string) string // of the caller
	Out     io.Writer           // the narration; nil for none
	Color   bool
	Columns int  // of the terminal; 0 if it isn't known
	Keep    bool // leave the scratch directory behind
	Serve   bool // show the rooms of the scene in a browser, too

	// Pause is called between the steps, which go on when it returns. It gets how long a reader needs for the
	// last step; 0 means until the reader goes on. Nil for no pauses.
	Pause func(ctx context.Context, reading time.Duration) error

	// Review asks the person whether the task in review may land; if not, its worker does more, and the person
	// is asked again. Nil lands it.
	Review func(context.Context) (approved bool, err error)

	Watch Audience
}

// Audience is who looks at the room in which the scene plays, instead of reading the narration. Each function
// may be nil.
type Audience struct {
	Begin func(Place)                                    // called when there is a room to look at
	Title func(step int, text string)                    // called when a step begins
	Over  func(ctx context.Context, r Report, err error) // called at the end. The room goes when it returns
}

// Place is where a scene plays.
type Place struct {
	Dir string   // the repository
	Env []string // of whoever looks at its rooms
}

// patience is how long the scene waits for something that should take milliseconds.
const patience = 10 * time.Second

// Play plays the scene. If a claim isn't true, it fails and the error says which; the report shows how far
// the scene came. Without git it fails with [stick.CodeGitMissing]. When Play returns, all processes that it
// started have ended.
func Play(ctx context.Context, cfg Config) (Report, error) {
	s := &scene{ctx: ctx, narrator: newNarrator(cfg), review: cfg.Review}

	if _, err := exec.LookPath("git"); err != nil {
		err := stick.Errorf(stick.CodeGitMissing, "the demo plays in a git repository, but git isn't installed, or not in PATH").
			Hintf("install git, and run it again: %s", stick.Cmd("tt demo"))
		s.finish(err)
		return s.report, err
	}

	err := s.setUp(cfg)
	if err == nil && cfg.Serve {
		err = s.startServing()
	}

	if err == nil && cfg.Watch.Begin != nil {
		cfg.Watch.Begin(Place{Dir: s.repo, Env: s.env})
	}

	if err == nil {
		err = s.play()
		if cfg.Watch.Over != nil {
			cfg.Watch.Over(ctx, s.report, err)
		}
	}

	if err == nil {
		err = s.holdPages()
	}

	// From here on everything ends, however the scene went.
	s.stopServing()
	for _, a := range s.actors {
		a.stop()
	}

	s.report.Kept = cfg.Keep && s.scratch != ""
	if s.scratch != "" && !cfg.Keep {
		if rerr := os.RemoveAll(s.scratch); err == nil && rerr != nil {
			err = fmt.Errorf("can't remove the scratch directory: %w", rerr)
		}
	}

	if cerr := ctx.Err(); cerr != nil {
		err = cerr
	}
	s.finish(err)

	if err != nil && !errors.Is(err, context.Canceled) {
		hint := stick.Hintf("run it again and keep its files: %s", stick.Cmd("tt demo --keep"))
		if s.scratch == "" {
			hint = stick.Hintf("set TMPDIR to a writable directory")
		}
		err = stick.Errorf(stick.CodeInternal, "the demo failed: %w", err).Hintf("%s", hint)
	}

	return s.report, err
}

// scene is one performance.
type scene struct {
	*narrator
	cast
	ctx     context.Context
	scratch string
	program string // tt itself, with tt-full beside it
	bin     string // links to tt, by its name and those of the harnesses
	repo    string
	env     []string // of the actors
	actors  []*actor
	pages   *exec.Cmd // tt serve; nil if it doesn't run

	review   func(context.Context) (bool, error) // nil for nobody
	returned int                                 // how often the person has returned the task
}

// setUp creates the scratch directory with a program directory, a home, and a repository with a first
// commit.
func (s *scene) setUp(cfg Config) (err error) {
	if s.scratch, err = os.MkdirTemp(cfg.Temp, "tt-demo-"); err != nil {
		return fmt.Errorf("can't create a scratch directory: %w", err)
	}
	if s.scratch, err = filepath.EvalSymlinks(s.scratch); err != nil {
		return err
	}

	s.report.Scratch, s.program = s.scratch, cfg.Program
	s.bin, s.repo = filepath.Join(s.scratch, "bin"), filepath.Join(s.scratch, "shop")
	home := filepath.Join(s.scratch, "home")

	for _, dir := range []string{s.bin, s.repo, home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}

	token := rand.Text()
	if err := os.WriteFile(filepath.Join(s.scratch, tokenFile), []byte(token), 0o600); err != nil {
		return err
	}

	// Hooks may not name the program of go run, which is gone after the run, so the scene has a file of its own.
	program := filepath.Join(s.bin, programName("tt"))
	if err := os.Link(cfg.Program, program); err != nil {
		if err := copyProgram(cfg.Program, program); err != nil {
			return fmt.Errorf("can't link the program for the actors: %w", err)
		}
	}
	for _, name := range Actors {
		if err := linkProgram(program, filepath.Join(s.bin, programName(name))); err != nil {
			return fmt.Errorf("can't link the program for the actors: %w", err)
		}
	}

	s.env = []string{
		"HOME=" + home, "USER=" + Person, "TALKING_STICK_DATA_DIR=" + filepath.Join(s.scratch, "data"), TokenEnv + "=" + token,
		"GIT_CONFIG_NOSYSTEM=1", "NO_COLOR=1",
	}

	// Nothing else of the caller's: its harness's session and its settings must not matter.
	for _, name := range []string{"PATH", "TMPDIR", "TMP", "TEMP", "SystemRoot"} {
		if v := cfg.Getenv(name); v != "" {
			s.env = append(s.env, name+"="+v)
		}
	}

	return s.createRepository()
}

// createRepository creates the scratch repository, with a first commit.
func (s *scene) createRepository() error {
	for name, text := range shop {
		if err := os.WriteFile(s.pathTo(name), []byte(text), 0o600); err != nil {
			return err
		}
	}

	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch", "main"},
		{"add", "."},
		{"commit", "--quiet", "--message", "The shop"},
	} {
		c := exec.CommandContext(s.ctx, "git", args...)
		c.Dir, c.Env = s.repo, append(s.env[:len(s.env):len(s.env)], gitIdentity(Person)...)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, stick.Clip(string(out), 200))
		}
	}
	return nil
}

// linkProgram makes the program available under another name: by a link if the system allows it, else by a
// copy.
func linkProgram(program, as string) error {
	if os.Symlink(program, as) == nil || os.Link(program, as) == nil {
		return nil
	}
	return copyProgram(program, as)
}

// copyProgram copies the program.
func copyProgram(program, as string) error {
	from, err := os.Open(program)
	if err != nil {
		return err
	}
	defer from.Close()

	to, err := os.OpenFile(as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}

	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

func programName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
