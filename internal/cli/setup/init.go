package setup

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/config"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/install"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// InitResult is what tt init did, and how things stand.
type InitResult struct {
	Path        string               `json:"canonical_path"` // of the room
	RoomID      stick.RoomID         `json:"room_id,omitempty"`
	AgentID     stick.AgentID        `json:"agent_id,omitempty"`
	Created     bool                 `json:"created"`                // this call made the room, or would
	Joined      bool                 `json:"joined"`                 // the caller joined it by this call, or would
	Enforce     stick.Enforce        `json:"enforce"`                // how strictly agents must take turns
	Was         stick.Enforce        `json:"was,omitempty"`          // what enforce was before this call
	NoSnapshots bool                 `json:"no_snapshots,omitempty"` // the policy keeps no copies
	Steps       []install.FileChange `json:"steps"`                  // the changes of files
	Applied     bool                 `json:"applied"`                // the changes were made, or there were none to make
	Changed     bool                 `json:"changed"`                // there was anything to change
	Git         install.GitStatus    `json:"git"`                    // the hooks of the repository
	Harnesses   []install.Status     `json:"harnesses"`              // those that were used on this machine
	Integration string               `json:"integration"`            // the branch that tasks are merged into
	Gate        string               `json:"gate,omitempty"`         // what has to pass before, as it says
	Next        []stick.Words        `json:"next,omitempty"`         // what to do next
}

// InitCmd makes tt init.
func InitCmd(a *app.Run) *cobra.Command {
	var show bool
	c := &cobra.Command{
		Use: "init", Short: "Set up a repository: its room, policy, git hooks and harnesses", Args: app.NoArgs,
		Long: "Make the room of this repository, or join it. Choose how strictly agents must take turns, put " +
			"hooks into git, connect the harnesses\n" +
			"found on this machine, and choose the branch that tasks are merged into and its gate, which " +
			"go into .talking-stick.toml.\n\n" +
			"On a terminal tt asks for every setting that no flag gives. Then it shows what it is going\n" +
			"to do, and asks once more. Without a terminal, and for agents, it uses the flags and the\n" +
			"defaults. Once everything is set up, tt init only shows the current setup. tt uninstall\n" +
			"disconnects git and the harnesses again; the room and .talking-stick.toml stay.",
	}

	f := c.Flags()
	f.String("enforce", "",
		"how strictly agents must take turns: off, warn, scopes or stick "+
			"(default: keep the room's policy; a new room warns)")
	f.Bool("git", true, "put hooks into git that ask whether an agent may commit")
	f.String("harness", "",
		"harnesses to connect, with commas between them, or none (default: those found on this machine)")
	f.String("integration", "", "the branch that tasks are merged into")
	f.String("gate", "", "the command that has to pass before a task is merged, or none")
	f.BoolVar(&show, "print", false, "show the changes and make none")
	c.RunE = func(c *cobra.Command, args []string) error { return runInit(a, c, show) }
	return c
}

// runInit reads how things stand, learns what is wanted, and changes what differs.
func runInit(a *app.Run, c *cobra.Command, show bool) error {
	ctx := c.Context()
	e, by, err := a.Open()
	if err != nil {
		return err
	}

	// First it reads: nothing changes before the plan is complete.
	site, err := readSite(ctx, a, e, by)
	if err != nil {
		return err
	}

	// A flag comes before a question, and a question before a default.
	wants := site.defaultChoices()
	for _, q := range initQuestions {
		if f := c.Flags().Lookup(q.flag); f.Changed {
			if err := q.set(&wants, f.Value.String()); err != nil {
				return err
			}
		}
	}

	// Whoever asks for hooks is told why there can be none; others get the rest.
	if wants.Git && site.hooksErr != nil && c.Flags().Changed("git") {
		return site.hooksErr
	}

	// These are of a person who is asked.
	var in *bufio.Reader
	if !show && isPerson(by) && canAsk(a) && site.lacksAnything() {
		in = bufio.NewReader(a.Stdin)
		if ok, err := askInit(ctx, a, c, in, site, &wants); !ok || err != nil {
			return err
		}
	}

	// The plan has all the changes, so that it can be shown before it is carried out.
	plan, err := planInit(ctx, a, e, by, site, wants)
	if err != nil {
		return err
	}

	if show {
		a.Reads = true
		return showPlan(a, site, plan)
	}

	if in != nil {
		if ok, err := confirmInit(ctx, a, in, site, plan); !ok || err != nil {
			return err
		}
	}

	return applyInit(ctx, a, e, by, site, plan)
}

// initSite is a repository as tt init finds it.
type initSite struct {
	target install.Target // the user's own configuration
	file   string         // .talking-stick.toml in this checkout
	config config.Config  // what it says
	open   bool           // it differs from that of the last commit
	born   bool           // there is a commit

	path   string                     // of the room, or where it would be made
	room   *engine.GetRoomStateResult // nil if there is none
	policy stick.Policy

	git      install.GitStatus
	hooks    []install.FileChange // the hooks of git
	hooksErr error                // why there can be none

	harnesses []install.Status
	lacking   []string // the harnesses found that aren't connected
}

// readSite reads how things stand. It fails outside of a repository that agents can share.
func readSite(ctx context.Context, a *app.Run, e app.Operations, by core.Caller) (*initSite, error) {
	repo, err := findRepository(ctx, a)
	if shared := repo.Shared(); shared != nil {
		if stick.CodeOf(shared) == stick.CodeNoRepository {
			return nil, stick.AsError(shared).
				Hintf("make a repository: %s; or make only a room, without git hooks to protect it: %s",
					stick.Cmd("git init"), stick.Cmd("tt join"))
		}

		return nil, shared
	}

	if err != nil {
		return nil, err
	}

	s := &initSite{}
	if s.target, err = InstallTarget(a, false); err != nil {
		return nil, err
	}

	if err := s.readRoom(ctx, e, by, a.WorkspaceEnv()); err != nil {
		return nil, err
	}

	if err := s.readConfig(ctx, workspace.Env{Dir: a.Dir, Home: a.Home}, repo.Top); err != nil {
		return nil, err
	}

	// Why there can be no hooks is shown, and keeps nobody from the rest.
	s.hooks, s.hooksErr = install.InstallGit(s.target, repo)
	s.git = install.CheckGit(s.target, repo)
	there := s.target
	there.Project = s.path
	s.harnesses = install.InstalledStatus(there)

	// A harness lacks something if its installation would change a file.
	for _, name := range install.FoundHarnesses(s.target) {
		i := slices.IndexFunc(s.harnesses, func(h install.Status) bool { return h.Harness == name })
		if s.harnesses[i].Installed == install.All {
			continue
		}

		steps, err := install.Install(s.target, []string{name})
		if err != nil {
			return nil, err
		}

		if slices.ContainsFunc(steps, install.FileChange.Pending) {
			s.lacking = append(s.lacking, name)
		}
	}

	return s, nil
}

// readRoom reads the room of the working directory, if there is one.
func (s *initSite) readRoom(ctx context.Context, e app.Operations, by core.Caller, env workspace.Env) error {
	place, err := workspace.Resolve(".", env)
	if err != nil {
		return err
	}

	s.path, s.policy = place.Root, stick.DefaultPolicy()
	room, err := e.GetRoomState(ctx, engine.GetRoomStateParams{Caller: by})
	switch {
	case stick.CodeOf(err) == stick.CodeNoRoom:
		return nil
	case err != nil:
		return err
	}

	// Setting no policy reads it.
	policy, err := e.SetRoomPolicy(ctx, engine.SetRoomPolicyParams{Caller: by})
	s.path, s.room, s.policy = room.Path, &room, policy.Policy
	return err
}

// readConfig reads .talking-stick.toml of the checkout around the working directory. main is the main
// checkout.
func (s *initSite) readConfig(ctx context.Context, env workspace.Env, main string) error {
	top := main
	if c, ok := workspace.FindCheckout(".", env); ok {
		top = c.Top
	}

	var err error
	s.file = filepath.Join(top, config.FileName)
	if s.config, err = config.Read(top); err != nil {
		return err
	}

	// A repository without a commit has no file to compare with.
	committed, born, err := git.Client{}.ReadFileOfHead(ctx, top, config.FileName)
	if err != nil {
		return err
	}

	s.born = born

	// A file that is missing reads as empty, and a longer one differs.
	now, _ := config.ReadFile(top, config.FileName, int64(len(committed))+1)
	s.open = !bytes.Equal(committed, now)
	return nil
}

// inRoom reports whether the caller takes part in a room that is open.
func (s *initSite) inRoom() bool {
	return s.room != nil && s.room.Member && s.room.State != stick.StateClosed
}

// hooksLack reports whether hooks of git can be installed and aren't.
func (s *initSite) hooksLack() bool { return slices.ContainsFunc(s.hooks, install.FileChange.Pending) }

// lacksAnything reports whether the defaults would change anything.
func (s *initSite) lacksAnything() bool { return !s.inRoom() || s.hooksLack() || len(s.lacking) > 0 }

// defaultChoices are the choices that nobody has made.
func (s *initSite) defaultChoices() initChoices {
	return initChoices{
		Enforce: s.policy.Enforce, Git: s.hooksErr == nil, Harnesses: s.lacking,
		Integration: cmp.Or(s.config.Worker.Integration, config.DefaultIntegration), Gate: s.config.Gate.Command,
	}
}

// connectedHarnesses are the harnesses that are connected in the user's own configuration.
func (s *initSite) connectedHarnesses() (names []string) {
	for _, h := range s.harnesses {
		if slices.Contains(h.Levels, "user") {
			names = append(names, h.Harness)
		}
	}
	return names
}

// nextSteps are the three steps after tt init.
func (s *initSite) nextSteps(by core.Caller) []stick.Hint {
	first := stick.Hintf("start two agents here: tt tells each about the room when it starts")
	look := stick.Hintf("see what they do, and what needs you: %s", stick.Cmd("tt watch"))
	switch {
	case !isPerson(by):
		first = stick.Hintf("wait for your turn before you change files: %s", stick.Cmd("tt wait"))
		look = stick.Hintf("see who is here, and who holds the stick: %s", stick.Cmd("tt status"))
	case !slices.ContainsFunc(s.harnesses, func(h install.Status) bool { return h.Installed != install.No }):
		first = stick.Hintf("connect the harness of your agents: %s", stick.Cmd("tt install"))
	}

	// A task's branch starts from a commit, and settings count as they were committed.
	var before []stick.Words
	if !s.born {
		before = append(before, "make a first commit")
	}
	if s.open {
		before = append(before, "commit "+config.FileName+", whose settings count from then on")
	}

	tasks := stick.Hintf("let agents work side by side, each on a branch of its own: %s", stick.Cmd("tt task init"))
	if len(before) > 0 {
		tasks = stick.Hintf("%s; then %s", stick.JoinWords(before, "; "), tasks)
	}

	return []stick.Hint{first, look, tasks}
}

// SetsUp reports whether tt init is how the caller starts: a person in a repository. Agents join.
func SetsUp(a *app.Run) bool {
	_, by, err := a.Open()
	place, perr := workspace.Resolve(".", a.WorkspaceEnv())
	return err == nil && isPerson(by) && perr == nil && place.Found == workspace.FoundGit && !place.Broad
}

// isPerson reports whether a person calls, and not under an agent's name.
func isPerson(by core.Caller) bool { return by.Person && by.As == "" }
