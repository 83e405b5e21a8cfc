package install

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"talkingstick/stick"
)

// Program is another program in PATH that has our name.
type Program struct {
	Path    string      `json:"path"`
	Version string      `json:"version,omitempty"` // as it says itself; empty if it doesn't
	First   bool        `json:"first,omitempty"`   // whoever types tt runs it instead of this one
	Fix     stick.Words `json:"fix"`               // the way out
}

// ProblemText says what is wrong, without the way out.
func (p Program) ProblemText() stick.Words {
	name := stick.Wordsf("%s", p.Path)
	if p.Version != "" {
		name += stick.Wordsf(" (%s)", p.Version)
	}
	if p.First {
		return "PATH finds another tt first, " + name + ": agents and people who type tt run that one, which may not read what this one has written"
	}

	return "PATH has another tt, " + name + ", after this one"
}

// OtherPrograms lists the other programs in PATH that have our name: an older version, or a program of
// somebody else. Hooks have our whole path, but what an agent types is looked up.
func (t Target) OtherPrograms(ctx context.Context, run Run) []Program {
	var others []Program
	first := true
	for _, path := range lookPaths(t.Getenv("PATH"), onPath) {
		switch {
		case isSameFile(path, t.TT) || isSameFile(path, t.Wrapper):
			first = false
		case !slices.ContainsFunc(others, func(p Program) bool { return isSameFile(p.Path, path) }):
			others = append(others, Program{Path: path, First: first, Fix: t.howToRemove(path, first)})
		}
	}

	var wg sync.WaitGroup
	for i := range others {
		wg.Go(func() { others[i].Version = versionOf(ctx, others[i].Path, run) })
	}

	wg.Wait()
	return others
}

// howToRemove says how to get rid of another program of our name.
func (t Target) howToRemove(path string, first bool) stick.Words {
	remove := stick.Words("remove it")
	if pkg := npmPackage(path); pkg != "" {
		remove = stick.Cmd("npm uninstall --global <package>", pkg).Words()
	}
	if !first {
		return remove
	}

	return stick.Wordsf(
		"%s, or put %s before %s in PATH; then start your shell and your agents again",
		remove, filepath.Dir(t.TT), filepath.Dir(path),
	)
}

// npmPackage returns the package of npm to which a program belongs; empty if it belongs to none.
func npmPackage(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}

	_, below, ok := strings.Cut(filepath.ToSlash(real), "/node_modules/")
	if !ok {
		return ""
	}

	parts := strings.Split(below, "/")
	if strings.HasPrefix(parts[0], "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}

	return parts[0]
}
