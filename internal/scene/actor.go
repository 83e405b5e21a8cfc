package scene

import (
	"cmp"
	"context"
	"runtime"
	"strings"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/proc/proctest"
	"talkingstick/internal/task"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Actor is a caller in a story. Each has a program of its own.
type Actor struct {
	*Scene
	Name   string         // in the story
	ID     stick.AgentID  // in the room
	By     core.Caller    // how its calls name it
	Engine *engine.Engine // the operations of its program on rooms
	Tasks  *task.Tasks    // and those on tasks

	kernel    *core.Kernel
	pid       int    // of its harness
	tt        int    // of its program
	dir       string // in which it works
	namespace string // the pid namespace; empty for the usual one
	git       string // the git that its program runs; empty for that in PATH

	starts func(task.RunTaskParams)                          // hears of each run that its commands start; nil if they start none
	guards func(engine.KeepLeaseParams) (pid int, err error) // starts guardians for it; nil if nothing does

	renews time.Duration                  // how often its commands renew what they do; 0 for the usual
	inbox  struct{ Socket, Token string } // of its harness; empty without
}

// Agent makes an agent. name is its harness and its session, such as claude:a. Its process lives and carries
// just this session.
func (s *Scene) Agent(name string) *Actor {
	s.Helper()
	return s.agentIn(name, s.Work, "")
}

// AgentIn makes an agent that works in another directory.
func (s *Scene) AgentIn(name, dir string) *Actor {
	s.Helper()
	return s.agentIn(name, dir, "")
}

// AgentElsewhere makes an agent in another container. The others can't see its process, and it can't see
// theirs.
func (s *Scene) AgentElsewhere(name string) *Actor {
	s.Helper()
	return s.agentIn(name, s.Work, "elsewhere")
}

func (s *Scene) agentIn(name, dir, namespace string) *Actor {
	s.Helper()
	harness, session, _ := strings.Cut(name, ":")

	a := &Actor{Scene: s, Name: name, dir: dir, namespace: namespace}
	a.pid = s.machine.startProcess(proctest.Process{Comm: harness, Dir: dir})
	a.By = core.Caller{
		Harness: harness, SessionID: session, Proof: stick.ProvesSession, User: "ann", Host: "here",
		Process: stick.Process{Machine: s.machine.name, Boot: s.machine.bootID(), PIDNS: "n", PID: a.pid, Start: int64(a.pid)},
	}

	if namespace != "" {
		a.By.Process.PIDNS = namespace
	}

	return s.addActor(a)
}

// AgentUnseen makes an agent without a visible process, so that its verdict is always unknown.
func (s *Scene) AgentUnseen(name string) *Actor {
	s.Helper()
	harness, session, _ := strings.Cut(name, ":")

	a := &Actor{Scene: s, Name: name, dir: s.Work}
	a.By = core.Caller{Harness: harness, SessionID: session, User: "ann", Host: "here"}
	return s.addActor(a)
}

// Person makes a person at a terminal.
func (s *Scene) Person(name string) *Actor {
	s.Helper()

	a := &Actor{Scene: s, Name: name, dir: s.Work}
	a.pid = s.machine.startProcess(proctest.Process{Comm: "bash", TTY: 34816, Dir: s.dir})
	a.By = core.Caller{
		Harness: "human", User: name, Host: "here", Person: true, Terminal: "pts/0", Proof: stick.ProvesTurn,
		Process: stick.Process{Machine: s.machine.name, Boot: s.machine.bootID(), PIDNS: "n", PID: a.pid, Start: int64(a.pid)},
	}
	return s.addActor(a)
}

// addActor gives an actor a program, and finds out its id.
func (s *Scene) addActor(a *Actor) *Actor {
	s.Helper()
	a.startProgram(nil)

	me, err := a.Engine.Roster.Whoami(s.Context(), roster.WhoamiParams{Caller: a.By})
	if err != nil {
		s.Fatal(err)
	}
	a.ID = me.AgentID

	s.mu.Lock()
	defer s.mu.Unlock()
	s.actors = append(s.actors, a)
	return a
}

// ShownName returns what people call the actor: its id, where it has no other name.
func (a *Actor) ShownName() string {
	a.Helper()
	names, err := a.Engine.AgentNames(a.Context())
	if err != nil {
		a.Fatal(err)
	}
	return cmp.Or(names[a.ID], string(a.ID))
}

// startProgram gives the actor a new program. Its process has no working directory, because it only exists while
// an operation runs. It calls kill at each kill point, but for those of copies, which several goroutines pass
// at a time; kill may be nil.
func (a *Actor) startProgram(kill func(string)) {
	a.tt = a.machine.startProcess(proctest.Process{PPID: a.pid, Comm: "tt"})
	procs := a.machine.tableSeenBy(a.tt, a.namespace)
	procs.OneHost = !a.Shared()

	c := core.Config{
		Dir: a.data, Database: a.database, Procs: procs, Workspace: workspace.Env{Dir: a.dir, Home: a.Scene.dir},
		Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + a.Scene.dir},
		Now:     a.clock.Now, NewID: a.newID, Kill: exceptCopies(kill), Slack: 100, Host: a.host, News: newsText, InboxPeer: a.peerOf,
	}

	c.Git.Path = a.git
	a.kernel = core.New(c)

	a.Tasks = task.New(task.Config{Kernel: a.kernel, StartRun: a.startRun(), Renew: a.renews, MayMove: func(ctx context.Context, by core.Caller, checkout string) error {
		res, err := a.Engine.Guard.MayEdit(ctx, guard.MayEditParams{Caller: by, Where: core.Where{Path: checkout}, Tree: true})
		if err != nil {
			return err
		}
		return res.Refusal()
	}, Rescue: func(ctx context.Context, room stick.RoomID, by stick.AgentID, top string, paths []string, command string) (string, []string, error) {
		return a.Engine.Guard.Restorer.RescueFiles(ctx, room, by, top, paths, command)
	}, KeepTips: func(ctx context.Context, common, branch string, commits []string) ([]string, error) {
		return a.Engine.Guard.Restorer.KeepTips(ctx, common, branch, commits)
	}})

	a.Engine = engine.New(engine.Config{
		Kernel: a.kernel, Checks: []core.Check{{Name: "workers", Run: a.Tasks.Check}}, StartGuardian: a.guards,
	})

	a.mu.Lock()
	defer a.mu.Unlock()
	a.programs = append(a.programs, a.kernel)
}

// startRun returns what starts the commands of tasks; nil for an actor that only claims them.
func (a *Actor) startRun() func(context.Context, task.RunTaskParams) (int, error) {
	if a.starts == nil {
		return nil
	}
	return func(_ context.Context, run task.RunTaskParams) (int, error) {
		a.starts(run)
		return a.tt, nil
	}
}

// exceptCopies leaves out the points at which copies are made.
func exceptCopies(kill func(string)) func(string) {
	if kill == nil {
		return nil
	}
	return func(point string) {
		if !strings.HasPrefix(point, core.CopyPoint) {
			kill(point)
		}
	}
}

// Reboots restarts the machine of the story, which ends all its processes.
func (s *Scene) Reboots() {
	s.Helper()
	s.machine.reboot()
	s.observer = s.Person("observer")
}

// Renewing returns the same actor, whose commands renew what they do that often.
func (a *Actor) Renewing(each time.Duration) *Actor {
	b := *a
	b.renews = each
	b.startProgram(nil)
	return &b
}

// Starting returns the same actor, whose commands say which runs they start.
func (a *Actor) Starting(starts func(task.RunTaskParams)) *Actor {
	b := *a
	b.starts = starts
	b.startProgram(nil)
	return &b
}

// Guarded returns the same actor, whose operations start guardians with start.
func (a *Actor) Guarded(start func(engine.KeepLeaseParams) (pid int, err error)) *Actor {
	b := *a
	b.guards = start
	b.startProgram(nil)
	return &b
}

// Again returns the same actor with another program.
func (a *Actor) Again() *Actor {
	b := *a
	b.startProgram(nil)
	return &b
}

// WithGit returns the same actor with a program that runs another git.
func (a *Actor) WithGit(path string) *Actor {
	b := *a
	b.git = path
	b.startProgram(nil)
	return &b
}

// At returns the same actor with a program in another directory. Its harness stays where it is.
func (a *Actor) At(dir string) *Actor {
	b := *a
	b.dir = dir
	b.startProgram(nil)
	return &b
}

// Dies ends the actor's harness and its program.
func (a *Actor) Dies() {
	a.machine.endProcess(a.tt)
	a.machine.endProcess(a.pid)
}

// Returns returns the same session in a new process.
func (a *Actor) Returns() *Actor {
	b := *a
	b.pid = a.machine.startProcess(proctest.Process{Comm: a.By.Harness, Dir: a.dir})
	b.By.Process.PID, b.By.Process.Start = b.pid, int64(b.pid)
	b.startProgram(nil)
	return &b
}

// As returns the same actor under an assumed name.
func (a *Actor) As(name string) *Actor {
	b := *a
	b.Name, b.ID = name, stick.AgentID(name)
	b.By.As, b.By.AsSource = name, "--as"
	return &b
}

// fillWhere fills in the actor's directory if w names no room.
func (a *Actor) fillWhere(w core.Where) core.Where {
	if w == (core.Where{}) {
		w.Path = a.dir
	}
	return w
}

// Meets runs fn in a new program of the actor. When the program first reaches the kill point, it calls
// happens and then goes on. The story fails if it never reaches the point.
func (a *Actor) Meets(point string, happens func(), fn func(*Actor)) {
	a.Helper()
	met := false

	b := *a
	b.startProgram(func(at string) {
		if at == point && !met {
			met = true
			happens()
		}
	})

	fn(&b)
	if !met {
		a.failStory("%s never reaches the kill point %q", a.Name, point)
	}
}

// Killed runs fn in a new program of the actor, and kills the program when it reaches a kill point for the
// nth time, counted from 1. The program does nothing more, and its process ends. Killed reports whether the
// program reached the point that often.
func (a *Actor) Killed(point string, nth int, fn func(*Actor)) (killed bool) {
	a.Helper()
	b := *a
	b.startProgram(func(at string) {
		if at == point {
			if nth--; nth == 0 {
				killed = true
				runtime.Goexit()
			}
		}
	})

	over := make(chan struct{})
	go func() { // ends with fn, or at the kill point
		defer close(over)
		fn(&b)
	}()
	<-over

	// What the program has begun stays as it is, and its process is gone.
	a.machine.endProcess(b.tt)
	if err := b.kernel.Close(); err != nil {
		a.Error(err)
	}
	return killed
}

// KillPoints returns the kill points that fn reaches, in order.
func (a *Actor) KillPoints(fn func(*Actor)) (points []string) {
	a.Helper()
	b := *a
	b.startProgram(func(at string) { points = append(points, at) })
	fn(&b)
	return points
}

// PID returns the id of the actor's harness.
func (a *Actor) PID() int { return a.pid }
