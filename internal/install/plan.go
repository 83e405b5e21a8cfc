package install

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// plan collects changes. All edits of one file are one change.
type plan struct {
	t        Target
	removing bool
	names    []string // the harnesses to change
	files    confedit.Files
	steps    []FileChange
}

func makePlan(t Target, names []string, removing bool) ([]FileChange, error) {
	defer confedit.CacheParsed()()
	p := &plan{t: t, removing: removing, names: names, files: t.editFiles()}
	var all []owned

	for _, name := range names {
		row, ok := harness.ByName(name)
		if !ok {
			return nil, stick.Errorf(stick.CodeUsage, "%q isn't a known harness", stick.Clip(name, 40)).
				With("field", "harness").
				Hintf("choose from %s; or, for a snippet to paste, %s; or git, for the hooks of a repository; or links, for the program's other names",
					stick.Names(harness.Names(), len(harness.Rows)),
					stick.Names(harness.SnippetNames(), len(harness.SnippetNames())))
		}

		// A plugin brings the same parts, but for those beyond it.
		plugged := p.planPlugin(row)
		for _, x := range t.partsOf(row) {
			if !plugged || removing || x.beyond {
				all = append(all, owned{name, x})
			}
		}
	}

	if t.Project != "" {
		all = append(all, p.planInstructions()...)
	}

	// Links may give one file several names.
	leadsTo := map[string]string{}
	for _, x := range all {
		leadsTo[x.file] = confedit.FollowLinks(x.file)
	}

	for len(all) > 0 {
		first := all[0].file
		same := func(y owned) bool {
			return filepath.Clean(y.file) == filepath.Clean(first) ||
				leadsTo[first] != "" && leadsTo[y.file] == leadsTo[first]
		}

		var one []owned // the parts of one file, whatever names it has
		for _, y := range all {
			if same(y) {
				one = append(one, y)
			}
		}

		if err := p.planFile(one); err != nil {
			return nil, err
		}

		all = slices.DeleteFunc(slices.Clone(all), same)
	}

	return p.steps, nil
}

// owned is a part, and the harness that gets it, or project.
type owned struct {
	name string
	part
}

// sameName reports whether two names lead to one file, which needn't exist.
func sameName(a, b string) bool {
	return filepath.Clean(a) == filepath.Clean(b) ||
		confedit.FollowLinks(a) != "" && confedit.FollowLinks(a) == confedit.FollowLinks(b)
}

// planFile plans the change of one file.
func (p *plan) planFile(parts []owned) error {
	first := parts[0]
	switch {
	case p.t.leadsOutside(first.file):
		p.planToKeep(first, "a link leads there, out of the workspace, so nothing is written")
		return nil
	case first.dir:
		p.planDirectory(first)
		return nil
	case first.text != "":
		return p.planOwn(first)

	// All harnesses read what is written into the project.
	case first.name == "project" && p.anyLeft():
		if has, err := p.hasPart(first.part); has || err != nil {
			p.planToKeep(first, "still used by other harnesses")
			return nil
		}
	}

	if others := p.sharersOf(first.part); p.removing && len(others) > 0 {
		p.planToKeep(first, "still used by "+stick.Words(strings.Join(others, " and ")))
		return nil
	}

	// Only parts with something to set change the file.
	shared := []part{}
	for _, x := range parts {
		if x.set != nil {
			shared = append(shared, x.part)
		}
	}

	return p.planEdit(first.name, first.file, shared)
}

// planDirectory plans that the data directory is made. It stays when tt is uninstalled.
func (p *plan) planDirectory(x owned) {
	if p.removing {
		return
	}

	s := FileChange{Harness: x.name, What: x.what, File: x.file, State: There, dir: true}
	if has, _ := p.hasPart(x.part); !has {
		s.State = New
	}

	p.steps = append(p.steps, s)
}

// planToKeep plans that a file stays as it is.
func (p *plan) planToKeep(x owned, why stick.Words) {
	p.steps = append(p.steps, FileChange{
		Harness: x.name, What: x.what, File: x.file, Target: p.t.realPath(x.file), State: Kept, Note: why,
	})
}

// anyLeft reports whether a harness outside of this plan still has tt, and so needs what harnesses share.
func (p *plan) anyLeft() bool {
	return p.removing && slices.ContainsFunc(harness.Names(), func(name string) bool {
		return !slices.Contains(p.names, name) && p.isInstalled(name)
	})
}

// isInstalled reports whether a harness has anything of tt, a skill aside, which it may share with others.
// A file that can't be read may have something.
func (p *plan) isInstalled(name string) bool {
	row, _ := harness.ByName(name)
	for _, x := range p.t.partsOf(row) {
		if !x.showsInstall() {
			continue
		}
		if has, err := p.hasPart(x); has || err != nil {
			return true
		}
	}

	return false
}

// planEdit plans a change of a file that others write too.
func (p *plan) planEdit(name, path string, parts []part) error {
	e := setAll(parts)
	var err error
	if p.removing {
		e, err = p.restoringEdit(path, parts)
		if err != nil {
			return err
		}

		for _, x := range parts {
			if x.noNpm != nil {
				e = confedit.JoinEdits(e, x.noNpm)
			}
		}
	}

	// A file that holds nothing but our parts may be deleted.
	ours := func(src []byte) bool {
		_, ours, err := removeAll(parts, nothingStays)(src)
		return err != nil || ours
	}

	s, err := p.editStep(name, path, e, confedit.Options{Removing: p.removing, Ours: ours})
	if err != nil {
		return err
	}

	var what, notes []stick.Words
	for _, x := range parts {
		// Someone else's server of our name stays, and the person is told.
		what = append(what, x.what)
		if x.other != nil && x.other(s.change.Before) {
			notes = append(notes, stick.Wordsf(
				"it already has a server called %s, which runs another program; that stays, so ours isn't installed",
				harness.ServerName,
			))
		}

		if x.npm == nil {
			continue
		}
		if s.npm = x.npm(s.change.Before); s.npm != nil {
			notes = append(notes, "removes the entry of the npm program")
		}
	}

	// harnesses that share a file have the same part in it
	s.What, s.Note = stick.JoinWords(slices.Compact(what), ", "), stick.JoinWords(slices.Compact(notes), "; ")
	if s.change.Backup != "" && onlyOurs(s.change.Before, parts) {
		// We made the file.
		s.change.Backup = ""
	}

	// A file of the npm program's stays, empty.
	s.change.Delete = s.change.Delete && ours(s.change.Before)
	p.steps = append(p.steps, s)

	return nil
}

// editStep plans an edit of a file.
func (p *plan) editStep(name, path string, e confedit.Edit, opt confedit.Options) (FileChange, error) {
	s := FileChange{Harness: name, File: path, Target: p.t.realPath(path)}
	var err error
	if s.change, err = p.files.Prepare(path, e, opt); err != nil {
		return s, explainError(err)
	}

	switch {
	case !s.change.Changed() && p.removing:
		s.State = Absent
	case !s.change.Changed():
		s.State = There
	case p.removing:
		s.State = Removed
	case s.change.Exists:
		s.State = Changed
	default:
		s.State = New
	}

	return s, nil
}

// planOwn plans a file that is all ours. One that somebody else made or edited is left alone.
func (p *plan) planOwn(x owned) error {
	have, err := confedit.Read(x.file)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return explainError(err)
	case err == nil && !x.ours(have):
		p.planToKeep(x, "somebody else has made or edited it, so it stays")
		return nil
	case err == nil && p.removing:
		if others := p.sharersOf(x.part); len(others) > 0 {
			p.planToKeep(x, "still used by "+stick.Words(strings.Join(others, " and ")))
			return nil
		}
	}

	s, err := p.editStep(x.name, x.file, func(src []byte) ([]byte, bool, error) {
		if p.removing {
			return nil, src != nil, nil
		}
		return []byte(x.text), string(src) != x.text, nil
	}, confedit.Options{Removing: p.removing})
	if err != nil {
		return err
	}
	if p.removing && s.change.Exists {
		if s.change.Target != filepath.Clean(x.file) {
			p.planToKeep(x, "it is a symbolic link that somebody else has made, so it stays")
			return nil
		}
		s.change.Delete = true
	}

	// It holds nothing of anybody else.
	s.change.Backup = ""
	s.What = x.what
	if p.removing {
		s.after = func() { p.t.hasRemoved(x.file) }
	} else {
		s.before = func() { p.t.willWrite(x.file, []byte(x.text)) }
	}

	p.steps = append(p.steps, s)
	return nil
}

// sharersOf lists the harnesses outside of this plan that have tt, and read the same skill, the same servers
// or the same instructions of their own.
func (p *plan) sharersOf(x part) (names []string) {
	for _, row := range harness.Rows {
		file := ""
		switch {
		case x.what == skill:
			file = p.t.skillFile(row.Setup)
		case x.what == imports:
			file = resolveBelow(p.t.Project, row.Setup.Instructions)
		case x.shared:
			file = p.t.serverFile(row.Setup)
		}

		if file != "" && !slices.Contains(p.names, row.Name) && sameName(file, x.file) && p.isInstalled(row.Name) {
			names = append(names, row.Name)
		}
	}

	return names
}
