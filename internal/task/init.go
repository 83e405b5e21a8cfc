package task

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// WorkerInitParams asks to set up the integration branch.
type WorkerInitParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Branch string   `json:"branch,omitempty"` // empty for the one that is configured, or else integration
	Accept []string `json:"accept,omitempty"` // the sums of commands that the caller accepts; see [WorkerInitResult]
}

// WorkerInitResult is the integration branch.
type WorkerInitResult struct {
	Branch  string `json:"branch"`
	Commit  string `json:"commit"`
	Remote  string `json:"remote,omitempty"` // the remote that decides, if there is one
	Created bool   `json:"created"`
	Gate    string `json:"gate,omitempty"` // the command that must pass before a merge; empty if none is set

	Commands []repository.ShownCommand `json:"commands,omitempty"` // the other commands that the project has tt run

	// FoundBy is the file of a program that looks for files in all directories, such as a runner of tests. It would
	// find those of worktrees inside of the checkout, too, and the project hasn't said where they lie. Only people
	// are told.
	FoundBy string `json:"worktrees_found_by,omitempty"`
}

// WorkerInit creates the integration branch from the commit that is checked out, or uses an existing branch.
// A named branch becomes the configured one. It shows the commands that the project has tt run, and accepts
// those that the caller names. It fails with [stick.CodeInvalidPath], [stick.CodeUsage], [stick.CodeNotFound]
// and [stick.CodePersonOnly].
func (ts *Tasks) WorkerInit(ctx context.Context, p WorkerInitParams) (WorkerInitResult, error) {
	var res WorkerInitResult
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	// The branch may be missing, or only at the remote.
	named := p.Branch != ""
	t, err := rp.readNamedTarget(ctx, p.Branch)
	p.Branch = t.Name
	if stick.CodeOf(err) == stick.CodeNotFound {
		head, ok, herr := rp.Git.Commit(ctx, rp.Root, "HEAD")
		if herr != nil {
			return res, herr
		}

		if !ok {
			return res, stick.Errorf(stick.CodeNotFound,
				"this repository has no commits, and the branch must start from one").
				Hintf("create a first commit")
		}

		if _, err := rp.Git.UpdateRef(ctx, rp.Root, "refs/heads/"+p.Branch, head, ""); err != nil {
			return res, err
		}

		res.Created = true
		t, err = rp.ReadTarget(ctx, p.Branch)
	} else if err == nil && t.Local == "" {
		if _, err := rp.Git.UpdateRef(ctx, rp.Root, t.Ref(), t.Tracked, ""); err != nil {
			return res, err
		}

		res.Created = true
	}

	if err != nil {
		return res, err
	}

	// Only a name that was given is written down; the others are found each time.
	if named {
		if err := rp.Git.SetConfig(ctx, rp.Root, repository.IntegrationKey, p.Branch); err != nil {
			return res, err
		}
	}

	// Settings that can't be read don't undo the branch.
	c, err := rp.ReadConfig(ctx, t.Head())
	res.Branch, res.Commit, res.Remote, res.Gate = t.Name, t.Head(), t.Remote, c.Gate.Command
	if err == nil && len(p.Accept) > 0 {
		err = rp.AcceptCommands(ctx, c.Commands(), p.Accept)
	}
	if err == nil {
		res.Commands, err = rp.ShowCommands(ctx, c.Commands())
	}
	if err == nil && p.Caller.ActsAsPerson() && c.Worker.Dir == config.DefaultWorktreeDir {
		res.FoundBy = rp.findSearcher()
	}
	if err == nil && c.Merge.Auto {
		err = ts.queue.StoreEnviron(rp.Repo, c.Gate.Env)
	}
	return res, err
}

// readNamedTarget reads the integration branch of this name, or the one that counts without a name. It fails with
// [stick.CodeUsage] if no branch can have the name, and as [repository.Repo.ReadTarget] does.
func (rp *repo) readNamedTarget(ctx context.Context, name string) (t repository.Target, err error) {
	if name == "" {
		t, err = rp.ReadIntegration(ctx)
		name = t.Name
	}
	if err != nil && stick.CodeOf(err) != stick.CodeNotFound {
		return t, err
	}

	if !git.BranchName(name) {
		return t, stick.Errorf(stick.CodeUsage, "%q isn't a valid branch name", stick.Clip(name, 60)).
			With("field", "branch")
	}

	if t.Name == "" {
		return rp.ReadTarget(ctx, name)
	}
	return t, err
}

// searchers are the files at the root of a checkout by which programs are known that look for tests, or for packages,
// in all directories below.
var searchers = []string{"package.json", "pytest.ini", "conftest.py", "go.work"}

// findSearcher returns the first of [searchers] that the checkout has, or pyproject.toml if it is about pytest; empty
// if there is none.
func (rp *repo) findSearcher() string {
	for _, name := range searchers {
		if info, err := os.Lstat(filepath.Join(rp.Root, name)); err == nil && info.Mode().IsRegular() {
			return name
		}
	}

	const project = "pyproject.toml"
	b, err := config.ReadFile(rp.Root, project, maxProjectFile)
	if err == nil && bytes.Contains(b, []byte("[tool.pytest")) {
		return project
	}
	return ""
}

// maxProjectFile is up to which size pyproject.toml is read.
const maxProjectFile = 1 << 20
