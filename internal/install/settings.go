package install

import (
	"talkingstick/internal/confedit"
	"talkingstick/stick"
)

// Setting is a key of a project's file, and the text that it gets.
type Setting struct{ Section, Name, Value string }

// Settings plans how keys of a project's file get new values. Everything else in the file stays as it is. It
// writes nothing. It fails with [stick.CodeConfigMalformed] for a file that doesn't parse. Without settings
// there is no change.
func Settings(t Target, file string, settings []Setting) ([]FileChange, error) {
	if len(settings) == 0 {
		return nil, nil
	}

	var edits []confedit.Edit
	var what []stick.Words
	for _, s := range settings {
		edits = append(
			edits, confedit.TOMLSetTable([]string{s.Section}, confedit.TOMLTable{{Key: s.Name, Value: s.Value}}),
		)
		what = append(what, stick.Wordsf("%s.%s", s.Section, s.Name))
	}

	p := &plan{t: t, files: t.editFiles()}
	s, err := p.editStep("project", file, confedit.JoinEdits(edits...), confedit.Options{})
	s.What = stick.JoinWords(what, ", ")

	return []FileChange{s}, err
}
