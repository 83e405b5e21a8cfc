package queue

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode"

	"talkingstick/internal/config"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// A task whose own files judge it can pass a gate that it has emptied. So what belongs to the gate is marked
// where a task changes it: the file that sets it, what that file protects, and what the gate's command names.
// What the gate is, the head of the integration branch says, never the task's own tree.

// GateFiles returns those of the gate's own files that a task changes between two commits. head is the commit of
// the integration branch, empty if there is none.
func GateFiles(ctx context.Context, rp *repository.Repo, head, from, to string) ([]string, error) {
	changed, err := rp.Git.Changed(ctx, rp.Root, from, to)
	if err != nil {
		return nil, err
	}
	return GateFilesAmong(ctx, rp, head, changed)
}

// GateFilesAmong is [GateFiles] for a caller that knows the paths that the task changes.
func GateFilesAmong(ctx context.Context, rp *repository.Repo, head string, changed []string) ([]string, error) {
	if len(changed) == 0 {
		return nil, nil
	}

	set := slices.Contains(changed, config.FileName)
	var gate config.Gate
	var err error

	// The gate is what the integration branch says, not what the task makes of it. What can't be read there, a
	// merge tells.
	if head != "" {
		gate, _, err = rp.TaskSettings(ctx, head)
	}
	if err != nil && stick.CodeOf(err) != stick.CodeProjectConfig {
		return nil, err
	}

	// A file belongs to the gate if its command names it, or its settings protect it.
	named, err := filesNamedIn(ctx, rp, gate.Command, head, changed)
	if err != nil {
		return nil, err
	}

	files := slices.DeleteFunc(slices.Clone(changed), func(f string) bool {
		return f == config.FileName || !slices.Contains(named, f) && !gate.Protects(f)
	})

	if set {
		files = slices.Insert(files, 0, config.FileName)
	}
	return files, nil
}

// isWordRune reports whether a character is one of a word of a command.
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+@%~,", r)
}

// filesNamedIn returns those of the files that a shell command names, if they are in a commit. It knows the
// words of the command, and no more: what another file runs, or what is named from another directory, has to
// be protected.
func filesNamedIn(ctx context.Context, rp *repository.Repo, command, commit string, files []string) ([]string, error) {
	words := strings.FieldsFunc(command, func(r rune) bool { return !isWordRune(r) })

	// The command may name a file as ./check.sh.
	for i := range words {
		words[i] = path.Clean(words[i])
	}

	named := slices.DeleteFunc(slices.Clone(files), func(f string) bool {
		// No word of the command is such a path, but the quoted text is.
		odd := strings.IndexFunc(f, func(r rune) bool { return !isWordRune(r) }) >= 0
		return !slices.Contains(words, f) && !(odd && strings.Contains(command, f))
	})

	if len(named) == 0 {
		return nil, nil
	}
	return rp.Git.Files(ctx, rp.Root, commit, named)
}

// CompleteOffer adds the patch sum to an offer, and which of the gate's own files it changes. head is the commit of
// the integration branch. It fails with [stick.CodeInvalidTransition] if the branch has no commits of its own.
func CompleteOffer(
	ctx context.Context, rp *repository.Repo, task stick.Task, head string, q *tasks.Offering,
) (err error) {
	if q.Base == "" {
		return stick.Errorf(stick.CodeGitFailed, "%s and %s have no common history", task.Branch, task.Integration).
			With("task_id", task.ID).
			Hintf("its worker rebases it onto %s: %s", task.Integration,
				stick.Cmd("tt task done --task <task_id>", task.ID))
	}

	if q.Base == q.Head {
		return stick.Errorf(stick.CodeInvalidTransition, "%s has no commits of its own", task.Branch).
			With("task_id", task.ID).With("state", task.State).
			Hintf("commit your work first; if there is nothing to change: %s",
				stick.Cmd("tt task fail … --task <task_id>", task.ID))
	}

	if q.Patch, err = rp.Git.PatchSum(ctx, rp.Root, q.Base, q.Head); err != nil {
		return err
	}

	q.GateFiles, err = GateFiles(ctx, rp, head, q.Base, q.Head)
	return err
}
