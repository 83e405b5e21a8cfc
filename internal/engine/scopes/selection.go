package scopes

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// selection is one pattern that somebody named to reserve or release.
type selection struct {
	written      glob.Pattern   // as named, relative to the root
	patterns     []glob.Pattern // with links resolved; a link means itself and what it leads to
	leadsOutside bool           // a link leads outside of what can be reserved here
}

// parseSelections parses the patterns to reserve or release.
func (sc *Scopes) parseSelections(root string, paths []string) ([]selection, error) {
	env := sc.core.Config.Workspace
	env.Dir = root
	targets := workspace.NewTargets(env)
	var out []selection
	for _, path := range paths {
		s, err := selectionOf(targets, root, path)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}

	return out, nil
}

// selectionOf parses one pattern. It resolves links in the part before the first wildcard, because edits are
// judged by the file that they change.
func selectionOf(targets *workspace.Targets, root, path string) (s selection, err error) {
	if filepath.IsAbs(path) {
		if path, err = relativeToRoot(targets, root, path); err != nil {
			return s, err
		}
	} else if existsLiterally(root, path) {
		path = glob.Quote(path)
	}

	if s.written, err = scope.ParsePattern(path); err != nil {
		return s, err
	}

	name := s.written.Prefix(false)
	if name == "" {
		s.patterns = []glob.Pattern{s.written}
		return s, nil
	}

	// The name is what precedes the first wildcard; wild is what follows it.
	wild := strings.Join(strings.Split(string(s.written), "/")[1+strings.Count(name, "/"):], "/")
	if wild != "" {
		// With a slash it means the directory, even if the name is a link.
		name += "/"
	}

	// With an error, the name is taken as it is.
	found, _ := targets.ResolveWritten(name)
	for i, x := range found {
		rel, ok := workspace.RelBelow(x.Full, root)

		// The name itself has to lie in the workspace. What a link leads to needn't.
		if !ok && i == 0 {
			return s, errOutside(root, string(s.written))
		}

		p, err := scope.ParsePattern(glob.Quote(rel) + "/" + wild)
		switch {
		case !ok || err != nil && i > 0:
			s.leadsOutside = true
		case err != nil:
			return s, err
		case !slices.Contains(s.patterns, p):
			s.patterns = append(s.patterns, p)
		}
	}

	return s, nil
}

// relativeToRoot turns an absolute path, which may have wildcards, into a pattern relative to the root.
func relativeToRoot(targets *workspace.Targets, root, path string) (string, error) {
	name, wild := path, ""
	if !existsLiterally("", path) {
		parts := strings.Split(filepath.ToSlash(path), "/")
		i := slices.IndexFunc(parts, func(part string) bool { return strings.ContainsAny(part, wildcards) })
		if i >= 0 {
			name, wild = strings.Join(parts[:i], "/")+"/", strings.Join(parts[i:], "/")
		}
	}

	found, _ := targets.ResolveWritten(name)
	for _, x := range found {
		if rel, ok := workspace.RelBelow(x.Full, root); ok {
			return glob.Quote(rel) + "/" + wild, nil
		}
	}

	return "", errOutside(root, path)
}

// errOutside returns the error for a path outside of the workspace, [stick.CodeUsage].
func errOutside(root, path string) *stick.Error {
	return stick.Errorf(stick.CodeUsage, "%s is outside the workspace %s", stick.Clip(path, 120), root).
		With("field", "pattern").Hintf("name it relative to the root of the workspace")
}

const wildcards = "*?[{"

// existsLiterally reports whether a file has exactly this name although the name has wildcards, such as
// [id].ts. Then the file is meant, and not the pattern.
func existsLiterally(dir, path string) bool {
	if !strings.ContainsAny(path, wildcards) || strings.ContainsRune(path, 0) {
		return false
	}

	_, err := os.Lstat(filepath.Join(dir, path))
	return err == nil
}

// warnMisplaced returns a warning if a pattern was probably meant relative to dir instead of to the root.
func warnMisplaced(root, dir string, ps []glob.Pattern) stick.Words {
	from, ok := workspace.RelBelow(dir, root)
	if !ok || from == "." {
		return ""
	}

	for _, p := range ps {
		name := p.Prefix(false)
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil || name == "" {
			continue
		}

		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return stick.Wordsf("there is no %s at the root of the workspace, and patterns are relative to the root; "+
				"did you mean %s?", name, from+"/"+string(p))
		}
	}

	return ""
}

// warnAbsent warns of a name that nothing in the workspace has, because it may be misspelt. It may also be of
// a file that the caller is about to make. Of a pattern it is what comes before the first wildcard.
func warnAbsent(root string, ps []glob.Pattern) stick.Words {
	for _, p := range ps {
		name := p.Prefix(false)
		if name == "" {
			continue
		}

		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}

		// One that is spelt nearly so is likely to be meant.
		var beside []string
		base := filepath.Base(name)
		entries, _ := os.ReadDir(filepath.Join(root, filepath.Dir(name)))
		for _, e := range entries {
			if e.Name()[0] == base[0] && len(e.Name()) <= len(base)+2 {
				beside = append(beside, e.Name())
			}
		}

		if near := stick.Nearest(base, beside); near != "" {
			return stick.Wordsf("nothing here is called %s; did you mean %s?", name, path.Join(path.Dir(name), near))
		}
		return stick.Wordsf("nothing here is called %s; that is right if you are about to make it", name)
	}

	return ""
}
