// Package githook answers hooks of git: whether a commit, a move of a branch or a push may happen.
package githook

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/git"
	"talkingstick/internal/harness"
	"talkingstick/internal/task"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// gitHookLimit is how long git waits at most. What isn't decided by then is allowed.
const gitHookLimit = 100 * time.Millisecond

// maxMoves limits how many bytes are read about the refs that git is about to change.
const maxMoves = 8 << 20

// See docs/decisions/hooks-of-git.md.
func Cmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "git <hook> [state|remote] [line]", Short: "Answer a hook of git",
		Args: app.ArgsBetween(1, 3, "pre-commit, reference-transaction or pre-push"),
		Long: "Answer git's hook pre-commit, reference-transaction or pre-push: " +
			"may this agent change the staged files, and are they its own;\n" +
			"may it move the branch that is checked out; " +
			"does its push include other agents' commits? If the room's policy says no,\n" +
			"it says why and exits with 4. If the policy only warns, it says why and exits with 0. " +
			"It never stops people. Outside of rooms,\n" +
			"if anything fails, and after 100 ms, it prints nothing and exits with 0. " +
			"The lines of reference-transaction and pre-push come on\n" +
			"standard input; the first of reference-transaction may be an argument. " +
			"tt install git puts it into a repository's hooks.",
		RunE: func(c *cobra.Command, args []string) error {
			a.InHook = true
			if app.IsTrue(a.Getenv("TT_OFF")) {
				return nil
			}

			res, err := answerGit(c.Context(), a, args)
			if err == nil && (!res.Allowed || res.Told != "") {
				if !res.Allowed {
					// Only a refusal ends with this status.
					a.Status = stick.ExitRefused
				}

				// What is said names other agents.
				a.Caller, a.Operations = res.by, res.operations

				// A warning must not read as a refusal.
				said := stick.Wordsf("%s", res.Reason)
				if res.Allowed {
					said = stick.Wordsf("git goes on, but %s", res.Told)
				}

				_ = a.Sayf("tt: %s", said)
				if res.Hint != "" {
					_ = a.Sayf("hint: %s", res.Hint)
				}
			}

			if err == nil && res.note != nil {
				err = app.CatchPanic(func() error { return res.note(c.Context()) })
			}

			if err != nil && c.Context().Err() == nil {
				// A fault of ours stops no git.
				a.Logf("hook git %s: %v", args[0], err)
			}

			return nil
		},
	}
}

// gitAnswer is the answer to a hook of git.
type gitAnswer struct {
	guard.MayEditResult
	note func(context.Context) error // notes a refusal in the room's log, or what is about to be committed; may be nil

	by         *core.Caller   // nil where nothing had to be decided
	operations app.Operations // by which it was decided
}

// allowed is the answer if there is no reason to refuse.
var allowed = guard.MayEditResult{Allowed: true}

// answerGit answers a hook of git within the limit.
func answerGit(ctx context.Context, a *app.Run, args []string) (gitAnswer, error) {
	limit := cmp.Or(a.GitLimit, gitHookLimit)
	late := time.NewTimer(limit)
	defer late.Stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type decision struct {
		gitAnswer
		error
	}

	// The channel has room for the decision, so that a late one blocks nobody.
	done := make(chan decision, 1)
	go func() {
		// This goroutine ends when it has decided, or with the process, soon after the limit.
		var d decision
		d.error = app.CatchPanic(func() (err error) { d.gitAnswer, err = decideGit(ctx, a, args); return err })
		done <- d
	}()

	select {
	case x := <-done:
		return x.gitAnswer, x.error
	case <-late.C:
		// A hook that is too late lets git go on.
		return gitAnswer{MayEditResult: allowed}, fmt.Errorf("there was no answer within %s", limit)
	}
}

// decideGit decides about a hook of git. It resolves the caller first, and allows everything to people.
func decideGit(ctx context.Context, a *app.Run, args []string) (x gitAnswer, err error) {
	x.MayEditResult = allowed
	late := time.Now().Add(cmp.Or(a.GitLimit, gitHookLimit))
	from, procs, err := a.ReadSurroundings()
	if err != nil {
		return x, err
	}

	// People may do everything, also under the name of a person.
	by, err := harness.Resolve(from)
	if err != nil || by.Person && (by.As == "" || stick.AgentID(by.As).Human()) {
		return x, err
	}

	c := a.KernelConfig(procs)

	// Git waits for this hook, so it waits for no other writer.
	c.WriteWait = app.EditWrites
	e := app.NewOperations(c, app.Starters{Lander: a.LanderStarter()})
	x.by, x.operations = &by, e
	q := guard.CheckEditParams{HookParams: core.HookParams{Caller: by}}
	switch args[0] {
	case "pre-commit":
		x.MayEditResult, err = mayCommit(ctx, a, e, &q)
	case "pre-push":
		x.MayEditResult, err = mayPush(ctx, a, e, q.HookParams, args[1:])

		// The room's log has refusals of edits.
		return x, err
	case "reference-transaction":
		// Git also calls when it has moved refs or given up: then there is nothing to decide.
		if len(args) > 1 && args[1] != "prepared" {
			return x, nil
		}

		moves, rerr := readMoves(strings.Join(args[min(2, len(args)):], " "), a.Input())
		if rerr != nil || len(moves) == 0 {
			return x, rerr
		}

		x.MayEditResult, err = mayMove(ctx, a, e, &q, slices.Clone(moves), askedBefore(from.Chain))
		if x.Allowed {
			x.note = func(ctx context.Context) error {
				ctx, cancel := context.WithDeadline(ctx, late)
				defer cancel()
				return noteCommits(ctx, a, e, q.HookParams, moves)
			}
		}
	default:
		return x, errors.New("it isn't a hook that is answered")
	}

	if !x.Allowed {
		// The refusal is noted after the answer, so that noting it can't delay git.
		x.note = func(ctx context.Context) error { return e.EditChecked(ctx, q, x.MayEditResult) }
	}

	return x, err
}

// mayCommit asks about the staged paths. They are relative to the top level, where git runs the hook. Whose
// they are matters more than whose turn it is.
func mayCommit(ctx context.Context, a *app.Run, e app.Operations, q *guard.CheckEditParams) (guard.MayEditResult, error) {
	var err error

	// Without staged files there is nothing to ask about.
	if q.Tracked, err = (git.Client{InHook: true}).Staged(ctx, a.Dir); err != nil || len(q.Tracked) == 0 {
		return allowed, err
	}

	res, err := e.CheckEdit(ctx, *q)
	if err != nil || !res.Allowed || inOperation(a) {
		return res, err
	}

	// Who may edit the files may still commit work of others by mistake.
	swept, err := e.CheckCommit(ctx, *q)
	if err != nil || swept.Allowed && swept.Told == "" {
		return res, err
	}

	if swept.Allowed && res.Told != "" {
		// A commit is told of once, by this hook.
		swept.Told, swept.Hint = res.Told+"; "+swept.Told, res.Hint+"; "+swept.Hint
	}

	return swept, nil
}

// inOperation reports whether git is in the middle of a merge, a rebase or the like. What is staged then
// comes from commits.
func inOperation(a *app.Run) bool {
	at, ok := workspace.FindCheckout(".", a.WorkspaceEnv())
	return ok && git.OperationInProgress(at.Git) != ""
}

// move is a new value for a branch.
type move struct{ ref, to string }

// readMoves reads which branches get a new value: from a first line, and from those that follow it. It
// ignores the old values: git also gives zeros where it overwrites whatever is there.
func readMoves(first string, rest io.Reader) (moves []move, err error) {
	lines := bufio.NewScanner(io.MultiReader(strings.NewReader(first+"\n"), io.LimitReader(rest, maxMoves)))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) == 3 && strings.HasPrefix(f[2], "refs/heads/") && strings.Trim(f[1], "0") != "" {
			moves = append(moves, move{ref: f[2], to: f[1]})
		}
	}
	return moves, lines.Err()
}

// mayMove asks about branches that are checked out in the shared tree, if they really change. A reservation
// covers the paths that differ; without one the caller needs the whole tree. asked means that the hook
// pre-commit has asked about these paths, and has said what is against the rules.
func mayMove(
	ctx context.Context, a *app.Run, e app.Operations, q *guard.CheckEditParams, moves []move, asked bool,
) (guard.MayEditResult, error) {
	repo, ok := workspace.FindRepository(".", a.WorkspaceEnv())
	if ok {
		if res, err := mayMoveTasks(ctx, a, e, *q, repo, moves); err != nil || !res.Allowed || res.Told != "" {
			return res, err
		}
	}

	// Only branches that are checked out change files; while one is rebased, orig may stand for it.
	out, orig := repo.CheckedOut()
	moves = slices.DeleteFunc(moves, func(m move) bool { return !slices.Contains(out, m.ref) && orig == "" })
	if !ok || len(moves) == 0 {
		return allowed, nil
	}

	var refs []string
	for _, m := range moves {
		refs = append(refs, m.ref)
	}

	g := git.Client{InHook: true}
	now, err := g.RefValues(ctx, a.Dir, refs...)
	if err != nil {
		return allowed, err
	}

	// A command of tt moves branches by its own rules, and says so by its intent.
	if own, _, err := e.OwnChange(ctx, a.Getenv(task.IntentEnv)); own || err != nil {
		return allowed, err
	}

	moves = slices.DeleteFunc(moves, func(m move) bool {
		at := now[m.ref]
		return at == "" || at == m.to || !slices.Contains(out, m.ref) && at != orig
	})

	if len(moves) == 0 {
		return allowed, nil
	}

	// The whole tree is asked for first: the holder of the stick may change all of it.
	q.Path, q.Trees = repo.Top, []string{repo.Top}
	res, err := e.CheckEdit(ctx, *q)
	if err == nil && res.Allowed && asked {
		return allowed, nil
	}

	if err != nil || res.Allowed && res.Told == "" || !res.Enforce.HearsScopes() {
		return res, err
	}

	// Where reservations count, the paths that differ may all be the caller's.
	q.Trees = nil
	for _, m := range moves {
		paths, err := g.Between(ctx, a.Dir, now[m.ref], m.to)
		if err != nil {
			return allowed, err
		}

		q.Tracked = append(q.Tracked, paths...)
	}

	if len(q.Tracked) == 0 {
		// The branch gets other commits with the same files, so nobody's file changes.
		return allowed, nil
	}

	return e.CheckEdit(ctx, *q)
}

// mayMoveTasks asks about the branches of tasks, which only their workers may move. Nobody loses anything
// when a branch is created, or stays at its commit.
func mayMoveTasks(
	ctx context.Context, a *app.Run, e app.Operations, q guard.CheckEditParams, repo workspace.Repository, moves []move,
) (guard.MayEditResult, error) {
	// These moves aren't of branches of tasks that have a worktree.
	shared, _ := repo.CheckedOut()
	for _, m := range moves {
		if !slices.Contains(shared, m.ref) || strings.HasPrefix(m.ref, "refs/heads/"+config.DefaultPrefix) {
			q.Branches = append(q.Branches, m.ref)
		}
	}

	if len(q.Branches) == 0 || repo.Top == "" {
		return allowed, nil
	}

	// A new branch, and one that stays where it is, take nothing away.
	now, err := (git.Client{InHook: true}).RefValues(ctx, a.Dir, q.Branches...)
	if err != nil {
		return allowed, err
	}

	q.Branches = nil
	for _, m := range moves {
		if at := now[m.ref]; at != "" && at != m.to {
			q.Branches = append(q.Branches, m.ref)
		}
	}

	if len(q.Branches) == 0 {
		return allowed, nil
	}

	// A command of tt moves branches of tasks by its own rules.
	if own, _, err := e.OwnChange(ctx, a.Getenv(task.IntentEnv)); own || err != nil {
		return allowed, err
	}

	q.Path = repo.Top
	return e.CheckEdit(ctx, q)
}

// noteCommits notes which commits the caller makes by moving branches: those that no branch, tag or remote
// has now, and that it hasn't just fetched. Git is about to move the branches, and has still their old
// values.
func noteCommits(ctx context.Context, a *app.Run, e app.Operations, q core.HookParams, moves []move) error {
	// More branches than this move at once only when they are fetched or restored.
	const most = 50
	if len(moves) > most {
		return nil
	}

	// What tt lands was made by workers, and isn't the caller's.
	_, landed, err := e.OwnChange(ctx, a.Getenv(task.IntentEnv))
	if err != nil {
		return err
	}

	p := guard.NoteCommitsParams{HookParams: q}
	for _, m := range moves {
		but := []string{"--branches", "--tags", "--remotes", "FETCH_HEAD"}
		if landed {
			but = []string{m.ref}
		}

		commits, err := (git.Client{InHook: true}).NewCommits(ctx, a.Dir, []string{m.to}, but, maxPushed)
		if err != nil {
			return err
		}

		for _, c := range commits {
			if landed {
				p.Landed = append(p.Landed, c.ID)
			} else {
				p.Made = append(p.Made, c.ID)
			}
		}
	}

	return e.NoteCommits(ctx, p)
}
