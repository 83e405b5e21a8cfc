package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/proc"
)

// gitValues are the options of git itself whose value is the next argument.
var gitValues = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env", "--attr-source"}

// askedBefore reports whether the git that runs this hook is a git commit that has run the hook pre-commit, which asks about the same
// files. chain are the hook's ancestors. Where that can't be told, it isn't so, and both hooks say what they find.
func askedBefore(chain []proc.Info) bool {
	i := slices.IndexFunc(chain, func(p proc.Info) bool {
		return len(p.Args) > 0 && strings.TrimSuffix(filepath.Base(p.Args[0]), ".exe") == "git"
	})
	if i < 0 {
		return false
	}
	args := chain[i].Args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if slices.Contains(gitValues, args[0]) {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return len(args) > 0 && args[0] == "commit" && !slices.ContainsFunc(args[1:], maySkipHooks)
}

// maySkipHooks reports whether an argument of git commit may be, or hold, -n or --no-verify.
func maySkipHooks(arg string) bool {
	return strings.HasPrefix(arg, "--no-v") || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "n")
}
