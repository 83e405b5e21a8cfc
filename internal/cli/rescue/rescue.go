// Package rescue shows uncommitted changes and calls, and brings back copies of uncommitted work.
package rescue

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/config"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/rescue"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// Cmd are the commands about copies of uncommitted work.
func Cmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "rescue", Short: "List, compare, restore and forget copies of uncommitted work", Args: app.NoArgs,
		Long: "A rescue is a copy of the uncommitted work of a checkout: changed, staged, deleted and\n" +
			"untracked files. tt makes one after a takeover, before the new holder changes anything, and\n" +
			"smaller ones, snapshots, before and after the calls of agents' tools. Rescues are kept in\n" +
			"the data directory, not in your repository, for 14 days. The first six characters of an id\n" +
			"are enough if no other id begins with them. [snapshots] never in .talking-stick.toml names\n" +
			"files that are never copied, and tt policy set snapshots=off stops a room from making any.",
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}

	c.AddCommand(
		rescueListCmd(a), rescueShowCmd(a), rescueDiffCmd(a), rescueRestoreCmd(a),
		rescueForgetCmd(a), rescuePruneCmd(a), rescueFinishCmd(a),
	)
	return c
}

func rescueListCmd(a *app.Run) *cobra.Command {
	var p restore.ListRescuesParams
	c := &cobra.Command{
		Use: "list [path]", Aliases: []string{"ls"},
		Short: "List the rescues of the repository, and old tips of branches", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "List the rescues of the repository, the newest first. " +
			"It also lists the last commits of branches that an agent deleted or moved, each with the " +
			"command that restores the branch, and commits that exist only in this repository and " +
			"aren't copied.",
	}

	c.Flags().BoolVar(&p.All, "all", false, "list the rescues of all repositories")
	c.Flags().IntVar(&p.Limit, "limit", 50, "list at most this many (up to 500)")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if p.Where, err = path.WhereOf(args, 0); err != nil {
			return err
		}

		return app.Show(a, func(e app.Operations, _ core.Caller) (restore.ListRescuesResult, error) {
			return e.ListRescues(c.Context(), p)
		}, func(pg *term.Page, res restore.ListRescuesResult) { showRescues(pg, res, p.All) })
	}

	return c
}

// showRescues lists rescues, and where they are of unless all are of one repository.
func showRescues(p *term.Page, res restore.ListRescuesResult, all bool) {
	t := term.Table{}
	for _, m := range res.Rescues {
		where := term.Text("")
		if all {
			where = term.FileName(m.Top)
		}

		t.Add(m.ID, p.Ago(m.At), rescueSize(m.Files, m.Bytes), m.Origin(), where)
	}

	p.ShowTable(t)
	for _, id := range res.Damaged {
		p.Linef("%s  is damaged and can't be read", id)
	}

	if len(res.Rescues)+len(res.Damaged) == 0 {
		p.Linef("no rescues")
	}
	if res.Hidden > 0 {
		p.Linef("%s", p.Faint(term.Wordsf("%d older ones are hidden: --limit", res.Hidden)))
	}
	if len(res.Tips) > 0 {
		p.Linef("last commits of branches that were deleted or moved:")
	}

	// A deleted branch can be made again as long as its last commit is kept.
	tips := term.Table{Indent: "  "}
	for _, k := range res.Tips {
		tips.Add(term.FileName(strings.TrimPrefix(k.Of, "refs/heads/")), p.Ago(k.At),
			term.Wordsf("to bring it back: %s", p.Next(k.Command())))
	}

	p.ShowTable(tips)
	if res.TipsHidden > 0 {
		p.Linef("%s", p.Faint(term.Wordsf("%d older ones are hidden: --limit", res.TipsHidden)))
	}
	if res.TipsWhy != "" {
		p.Linef("old tips of branches can't be read: %s", res.TipsWhy)
	}
	if len(res.LeftOut) > 0 {
		p.Linef("commits that only this repository has, and that aren't copied:")
	}

	for _, l := range res.LeftOut {
		p.Linef("  %s: %s", restore.NameLeftOut(l), l.Why)
	}
}

// rescueSize says how much a rescue holds.
func rescueSize(files int, bytes int64) stick.Words {
	return stick.Count(files, "file") + ", " + app.SizeText(bytes)
}

func rescueShowCmd(a *app.Run) *cobra.Command {
	var p restore.ShowRescueParams
	c := &cobra.Command{
		Use: "show <id> [path…]", Short: "Show which files a rescue holds",
		Args: app.ArgsBetween(1, -1, "the id of a rescue"),
		Long: "Show which files a rescue holds, what happened to each of them, and what was left out, " +
			"with the reason. Paths are those that this command\n" +
			"prints, or absolute ones; a directory means everything below it.",
	}

	c.Flags().IntVar(&p.Limit, "limit", 200, "show at most this many files")
	c.RunE = func(c *cobra.Command, args []string) error {
		p.ID, p.Paths = args[0], args[1:]
		return app.Show(a, func(e app.Operations, _ core.Caller) (restore.ShowRescueResult, error) {
			return e.ShowRescue(c.Context(), p)
		}, showRescue)
	}

	return c
}

// showRescue shows what a rescue holds, and what can be done with it.
func showRescue(p *term.Page, res restore.ShowRescueResult) {
	p.Linef("%s, %s: %s", p.Strong(term.Wordsf("rescue %s", res.ID)), p.Ago(res.At), res.Origin())
	p.Linef("%s of %s, at %s", rescueSize(res.Files, res.Bytes), term.FileName(res.Top), app.CommitText(res.Head, res.Branch))
	t := term.Table{Indent: "  "}
	for _, f := range res.Entries {
		size := app.SizeText(f.Size)

		// A deleted file has no bytes in the rescue.
		if slices.Contains(f.States, "deleted") {
			size = ""
		}

		t.Add(stick.Names(f.States, len(f.States)), size, term.FileName(f.Path))
	}

	p.ShowTable(t)
	if res.Hidden > 0 {
		p.Linef("%s", p.Faint(term.Wordsf("%d more are hidden: --limit", res.Hidden)))
	}

	leftOut(p, res.LeftOut)
	showNestedRescues(p, res.Nested)

	// Without its checkout a rescue can be looked at, but not compared or restored.
	if res.Gone {
		p.Linef("this checkout is gone")
		return
	}

	p.Linef("compare it with what is there: %s", p.Next(stick.Cmd("tt rescue diff <id>", res.ID)))
	p.Linef("bring it back: %s", p.Next(stick.Cmd("tt rescue restore <id>", res.ID)))
}

// mostFiles is how many files an answer in text names.
const mostFiles = 20

// leftOut names what a rescue lacks.
func leftOut(p *term.Page, all []rescue.LeftOut) {
	if len(all) > 0 {
		p.Linef("not in the rescue:")
	}

	for i, l := range all {
		if i == mostFiles && len(all) > mostFiles+1 {
			p.Linef("  %s", p.Faint(term.Wordsf("and %d more: --json", len(all)-mostFiles)))
			return
		}

		var more stick.Words
		if l.Files > 1 {
			more = " (" + stick.Count(l.Files, "file") + ")"
		}

		p.Linef("  %s%s: %s", term.FileName(l.Path), more, l.Why)
	}
}

// showNestedRescues names the rescues of repositories inside a checkout.
func showNestedRescues(p *term.Page, all []rescue.Nested) {
	for _, n := range all {
		p.Linef("the repository in %s has a rescue of its own: %s",
			term.FileName(n.Path), p.Next(stick.Cmd("tt rescue show <id>", n.ID)))
	}
}

func rescueDiffCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "diff <id> [path…]", Short: "Compare a rescue with the files that are there now",
		Args: app.ArgsBetween(1, -1, "the id of a rescue"),
		Long: "Show what tt rescue restore would change: the diff from the files as they are now to the " +
			"rescued ones.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Show(a, func(e app.Operations, _ core.Caller) (restore.DiffRescueResult, error) {
			return e.DiffRescue(c.Context(), restore.DiffRescueParams{Where: path.Where(), ID: args[0], Paths: args[1:]})
		}, func(p *term.Page, res restore.DiffRescueResult) {
			p.ShowPatch(res.Diff, nil)
			switch {
			case res.Diff == "":
				p.Linef("nothing differs from %s", term.FileName(res.Checkout))
			case res.Cut:
				p.Linef("the rest is cut off; name paths to see more: %s",
					p.Next(stick.Cmd("tt rescue diff <id> <path>", res.ID)))
			}
		})
	}

	return c
}

func rescueRestoreCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "restore <id> [path…]", Short: "Bring back what a rescue holds",
		Args: app.ArgsBetween(1, -1, "the id of a rescue"),
		Long: "Bring back the files of a rescue. If the checkout is on the same commit and those files " +
			"have no other changes, deletions and the\n" +
			"index come back too. Nothing is lost: a file that has changed since stays, " +
			"and the rescued one is put beside it, as\n" +
			"FILE.rescued-ID. An agent may restore only what it may edit now. " +
			"The exit status is 8 if something couldn't be restored.\n" +
			"--path names another checkout of the repository.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Answer(a, func(e app.Operations, by core.Caller) (restore.RestoreRescueResult, error) {
			res, err := e.RestoreRescue(c.Context(), restore.RestoreRescueParams{
				Caller: by, Where: path.Where(), ID: args[0], Paths: args[1:],
			})
			if err == nil && len(res.Failed) > 0 {
				a.Status = stick.ExitHands
			}

			return res, err
		}, showRestored)
	}

	return c
}

func rescueForgetCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "forget <id|path>", Short: "Remove a rescue, or a file from all rescues, for good",
		Args: app.ArgsBetween(1, 1, "the id of a rescue, or a path"),
		Long: "Remove a rescue, or remove a file, contents and all, from all rescues and snapshots of the\n" +
			"repository: for a secret that was copied. A path is relative to the top level of the\n" +
			"checkout, as tt rescue show prints it, or absolute; a directory means everything below it.\n" +
			"Write ./ before a path that looks like an id. It can't be undone. Only a person may do it. A\n" +
			"file that is still there is copied again, unless [snapshots] never in .talking-stick.toml\n" +
			"names it.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return app.Answer(a, func(e app.Operations, by core.Caller) (restore.ForgetRescueResult, error) {
			p := restore.ForgetRescueParams{Caller: by, Where: path.Where(), File: args[0]}

			// A word that could be both means a rescue; a path is told apart by ./ before it.
			if e.IsRescue(args[0]) {
				p.ID, p.File = args[0], ""
			}

			return e.ForgetRescue(c.Context(), p)
		}, showForgotten)
	}

	return c
}

// showForgotten says what was forgotten.
func showForgotten(p *term.Page, res restore.ForgetRescueResult) {
	if res.ID != "" {
		p.Linef("rescue %s is forgotten", res.ID)
		return
	}

	p.Linef("%s is forgotten: %s had it", term.FileName(res.File), stick.Count(len(res.Rescues), "rescue"))
	for _, id := range res.Unread {
		p.Linef("%s is damaged, and nobody can say what it has; remove it: %s",
			id, p.Next(stick.Cmd("tt rescue forget <id>", id)))
	}

	if res.Kept {
		p.Linef("it is still there, and is copied again unless [snapshots] never in %s names it", config.FileName)
	}
}

// rescuePruneCmd drops the copies that are past their time. Hooks start it in the background, at most once an
// hour.
func rescuePruneCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "prune", Hidden: true, Args: app.NoArgs, Short: "Drop copies of uncommitted work that are past their time",
		RunE: func(c *cobra.Command, args []string) error {
			e, _, err := a.Open()
			if err != nil {
				return err
			}

			e.PruneRescues(c.Context())
			return nil
		},
	}
}

// PruneLater starts a process that drops old copies, and doesn't wait for it. If it can't be started, the
// next hour brings another.
func PruneLater(a *app.Run) {
	if a.Exe != "" {
		_, _ = app.StartDetached(a.Exe, []string{a.Exe, "rescue", "prune"}, nil, nil, nil)
	}
}

// showRestored says what a restore has done.
func showRestored(p *term.Page, res restore.RestoreRescueResult) {
	switch {
	case len(res.Restored.Restored) > 0:
		p.Linef("restored %s in %s:", stick.Count(len(res.Restored.Restored), "file"), term.FileName(res.Checkout))
		showFiles(p, res.Restored.Restored)
	case len(res.Beside)+len(res.Failed)+len(res.Index) == 0:
		p.Linef("nothing to restore: the files in %s are as they were", term.FileName(res.Checkout))
	}

	if n := len(res.Same); n > 0 && len(res.Restored.Restored) > 0 {
		p.Linef("%s didn't differ", stick.Count(n, "other file"))
	}
	if n := len(res.Index); n > 0 {
		p.Linef("the index has %s again as they were staged", stick.Count(n, "path"))
	}

	for _, b := range res.Beside {
		p.Linef("%s has changed since and stays; the rescued file is %s", term.FileName(b.Path), term.FileName(b.At))
	}

	for _, f := range res.Failed {
		p.Linef("%s isn't restored: %s", term.FileName(f.Path), f.Why)
	}

	leftOut(p, res.LeftOut)
	showNestedRescues(p, res.Nested)
	if res.Told != "" {
		p.Linef("%s", res.Told)
	}
}

// showFiles lists files, as many as fit on a screen.
func showFiles(p *term.Page, names []string) {
	for i, name := range names {
		if i == mostFiles && len(names) > mostFiles+1 {
			p.Linef("  %s", p.Faint(term.Wordsf("and %d more: --json", len(names)-mostFiles)))
			return
		}
		p.Linef("  %s", term.FileName(name))
	}
}

// ShowTakeoverRescue says what was kept after a takeover.
func ShowTakeoverRescue(p *term.Page, res engine.TakeoverStickResult) {
	r := res.Rescue
	switch {
	case r != nil:
		what := stick.Words("what is uncommitted")
		switch {
		case r.Files == 1:
			what = "the uncommitted file"
		case r.Files > 1:
			what = "the " + stick.Count(r.Files, "uncommitted file")
		}

		p.Linef("kept %s: %s", what, p.Next(stick.Cmd("tt rescue show <id>", r.ID)))
		leftOut(p, r.LeftOut)
	case strings.HasPrefix(string(res.RescueWhy), "failed: "):
		// The other reasons aren't failures: there was nothing to keep, or the room keeps nothing.
		p.Linef("what is uncommitted wasn't kept: %s",
			stick.Words(strings.TrimPrefix(string(res.RescueWhy), "failed: ")))
	}
}

// IDCandidates are the ids of rescues: of the repository if a shell completes inside of one, else of all.
func IDCandidates(ctx context.Context, a *app.Run, at core.Where) []cobra.Completion {
	return app.FindCandidates(a, func(e app.Operations, _ core.Caller) (restore.ListRescuesResult, error) {
		res, err := e.ListRescues(ctx, restore.ListRescuesParams{Where: at})
		// Outside of a repository the rescues of all are offered.
		if err != nil {
			return e.ListRescues(ctx, restore.ListRescuesParams{Where: at, All: true})
		}
		return res, nil
	}, func(r restore.ListRescuesResult) []rescue.Manifest { return r.Rescues },
		func(m rescue.Manifest) cobra.Completion {
			return app.DescribedWord(m.ID, string(m.Origin()))
		})
}
