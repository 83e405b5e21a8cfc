package githook

import (
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/proc"
	"talkingstick/internal/shell"
)

// askedBefore reports whether the git that runs this hook is a git commit that has run the hook pre-commit,
// which asks about the same files. chain are the hook's ancestors. Where that can't be told, it isn't so, and
// both hooks say what they find.
func askedBefore(chain []proc.Info) bool {
	i := slices.IndexFunc(chain, func(p proc.Info) bool {
		return len(p.Args) > 0 && strings.TrimSuffix(filepath.Base(p.Args[0]), ".exe") == "git"
	})
	if i < 0 {
		return false
	}
	name, rest := shell.GitCommand(chain[i].Args[1:])
	return name == "commit" && !slices.ContainsFunc(rest, maySkipHooks)
}

// maySkipHooks reports whether an argument of git commit may be, or hold, -n or --no-verify.
func maySkipHooks(arg string) bool {
	if strings.HasPrefix(arg, "--") {
		return strings.HasPrefix(arg, "--no-v")
	}
	return strings.HasPrefix(arg, "-") && strings.Contains(arg, "n")
}
