package install

import (
	"encoding/json"
	"path/filepath"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
)

// group is a group of hooks in a harness's file, as somebody wrote it.
type group struct {
	Matcher *string           `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// isTrusted reports whether a harness trusts all our hooks in its file of hooks. It is nil when the harness
// runs hooks without asking, when the file has none of ours, and when it can't be read.
func (t Target) isTrusted(row harness.Row) *bool {
	trust := row.Setup.Trust
	if trust == nil {
		return nil
	}

	file := t.filePath(row.Setup, row.Setup.Hooks)
	src, err := confedit.Read(file)
	if err != nil {
		return nil
	}

	var events map[string][]group
	raw, _, err := confedit.JSONGet(src, []string{"hooks"})
	if err != nil || json.Unmarshal(raw, &events) != nil {
		return nil
	}

	// Without that file nothing is trusted.
	notes, _ := confedit.Read(filepath.Join(t.configDir(row.Setup), trust.File))
	files := []string{file}
	if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
		files = append(files, real)
	}

	all, any := true, false
	for event, groups := range events {
		for g, group := range groups {
			for h, one := range group.Hooks {
				if !t.isHook(false)(one) && !t.isHook(true)(one) {
					continue
				}

				any = true
				want, noted := trust.Note(event, group.Matcher, one), false
				for _, f := range files {
					has, _, err := confedit.TOMLGet(notes, trust.At(f, event, g, h))
					noted = noted || err == nil && has == want
				}

				all = all && noted
			}
		}
	}

	if !any {
		return nil
	}

	return &all
}
