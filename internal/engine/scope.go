package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// selection is what somebody named to reserve or to give free.
type selection struct {
	written glob.Pattern   // as it was named, from the root
	means   []glob.Pattern // without links above it; a link is itself, and what it leads to
	outside bool           // it is a link, and leads to what nobody can reserve here
}

// selections reads what is to be reserved or given free.
func (e *Engine) selections(root string, paths []string) ([]selection, error) {
	env := e.core.Config.Workspace
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

// selectionOf reads a pattern. Edits are judged by where they take effect, and so is what of the pattern has no
// wildcards.
func selectionOf(targets *workspace.Targets, root, path string) (s selection, err error) {
	if filepath.IsAbs(path) {
		if path, err = fromRoot(targets, root, path); err != nil {
			return s, err
		}
	} else if thereAs(root, path) {
		path = glob.Quote(path)
	}
	if s.written, err = stick.ParsePattern(path); err != nil {
		return s, err
	}
	name := s.written.Prefix(false)
	if name == "" {
		s.means = []glob.Pattern{s.written}
		return s, nil
	}
	wild := strings.Join(strings.Split(string(s.written), "/")[1+strings.Count(name, "/"):], "/")
	if wild != "" {
		name += "/" // the directory that it leads to
	}
	found, _ := targets.ResolveWritten(name) // what can't be looked up goes by its name
	for i, x := range found {
		rel, ok := workspace.Below(x.Full, root)
		if !ok && i == 0 {
			return s, outsideOf(root, string(s.written))
		}
		p, err := stick.ParsePattern(glob.Quote(rel) + "/" + wild)
		switch {
		case !ok || err != nil && i > 0:
			s.outside = true
		case err != nil:
			return s, err
		case !slices.Contains(s.means, p):
			s.means = append(s.means, p)
		}
	}
	return s, nil
}

// fromRoot makes of an absolute path, which may have wildcards, a pattern from the root of the workspace.
func fromRoot(targets *workspace.Targets, root, path string) (string, error) {
	name, wild := path, ""
	if !thereAs("", path) {
		parts := strings.Split(filepath.ToSlash(path), "/")
		if i := slices.IndexFunc(parts, func(part string) bool { return strings.ContainsAny(part, wildcards) }); i >= 0 {
			name, wild = strings.Join(parts[:i], "/")+"/", strings.Join(parts[i:], "/")
		}
	}
	found, _ := targets.ResolveWritten(name)
	for _, x := range found {
		if rel, ok := workspace.Below(x.Full, root); ok {
			return glob.Quote(rel) + "/" + wild, nil
		}
	}
	return "", outsideOf(root, path)
}

func outsideOf(root, path string) *stick.Error {
	return stick.Errorf(stick.CodeUsage, "%s lies outside of the workspace %s", stick.Clip(path, 120), stick.Line(root)).
		With("field", "pattern").Hintf("name it relative to the root of the workspace")
}

const wildcards = "*?[{"

// thereAs tells whether something is there under the very name that was given, like a file called [id].ts: then
// it is meant, and not what the name would mean as a pattern.
func thereAs(dir, path string) bool {
	if !strings.ContainsAny(path, wildcards) || strings.ContainsRune(path, 0) {
		return false
	}
	_, err := os.Lstat(filepath.Join(dir, path))
	return err == nil
}

// misplaced warns of a name that was probably meant from dir instead of from the root.
func misplaced(root, dir string, ps []glob.Pattern) string {
	from, ok := workspace.Below(dir, root)
	if !ok || from == "." {
		return ""
	}
	for _, p := range ps {
		name := p.Prefix(false)
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil || name == "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return "there is no " + stick.Line(name) + " at the root of the workspace, which patterns start from; did you mean " +
				stick.Line(from+"/"+string(p)) + "?"
		}
	}
	return ""
}
