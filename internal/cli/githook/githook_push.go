package githook

import (
	"bufio"
	"context"
	"io"
	"strings"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/git"
)

// maxPushed is how many commits a hook looks at.
const maxPushed = 200

// mayPush asks about the commits that a push would bring to a remote. Git gives the remote's name, or its
// address, as an argument, and what is pushed as lines.
func mayPush(
	ctx context.Context, a *app.Run, e app.Operations, q core.HookParams, args []string,
) (guard.MayEditResult, error) {
	p := guard.CheckPushParams{HookParams: q}
	if len(args) > 0 {
		p.Remote = args[0]
	}

	tips, there, refs, err := readPushes(a.Input())
	if err != nil || len(refs) == 0 {
		return allowed, err
	}

	p.Refs = refs

	// Commits that the remote had at the last fetch aren't pushed again.
	if p.Remote != "" && !strings.HasPrefix(p.Remote, "-") {
		there = append(there, "--remotes="+p.Remote)
	}

	if len(tips) > 0 {
		p.Commits, err = (git.Client{InHook: true}).NewCommits(ctx, a.Dir, tips, there, maxPushed)
		if err != nil {
			return allowed, err
		}
	}

	return e.CheckPush(ctx, p)
}

// readPushes reads what is pushed: the commits, those that the remote has now, and the refs there. A deletion
// pushes no commit.
func readPushes(in io.Reader) (tips, there, refs []string, err error) {
	lines := bufio.NewScanner(io.LimitReader(in, maxMoves))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 4 {
			continue
		}

		// Zeros stand for a ref that isn't there: a new one on the remote, or a deletion here.
		if strings.Trim(f[3], "0") != "" {
			there = append(there, f[3])
		}
		if refs = append(refs, f[2]); strings.Trim(f[1], "0") != "" {
			tips = append(tips, f[1])
		}
	}

	return tips, there, refs, lines.Err()
}
