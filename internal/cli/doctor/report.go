package doctor

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// report is what a bug report says of a machine: what the doctor found, without paths and names of users. Bodies of
// messages, notes and handoffs are in no finding.
type report struct {
	Program   app.VersionResult `json:"program"`
	Healthy   bool              `json:"healthy"`
	Findings  []core.Finding    `json:"findings"`
	Repairs   []upkeep.Repair   `json:"repairs,omitempty"`
	Harnesses []reportedHarness `json:"harnesses,omitempty"`
}

// reportedHarness is a harness in a report.
type reportedHarness struct {
	Harness   string `json:"harness"`
	Version   string `json:"version,omitempty"`
	Installed string `json:"installed"`
	Problem   string `json:"problem,omitempty"`
}

// hider replaces what a report mustn't have.
type hider struct {
	known []string // paths, the longest first; they may have spaces
	user  string
}

// newHider makes a hider for the paths that this program knows.
func newHider(a *app.Run, res DoctorResult) hider {
	h := hider{user: filepath.Base(a.Home)}
	for _, path := range append(slices.Clone(res.Paths), res.DataDir, a.Home, a.Dir, a.Exe) {
		if filepath.IsAbs(path) {
			h.known = append(h.known, path)
		}
	}

	slices.SortFunc(h.known, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return h
}

// hideIn replaces paths and the name of the user in a text. Whatever has a slash or a backslash may be a path, or the
// address of a server.
func (h hider) hideIn(text string) string {
	for _, path := range h.known {
		text = strings.ReplaceAll(text, path, "/")
	}

	words := strings.Split(text, " ")
	for i, word := range words {
		inner := strings.Trim(word, `"'(),.:;`)
		switch {
		case strings.ContainsAny(inner, `/\`):
			words[i] = strings.Replace(word, inner, "<path>", 1)
		case h.user != "" && strings.Contains(inner, h.user):
			words[i] = strings.ReplaceAll(word, h.user, "<user>")
		}
	}

	return strings.Join(words, " ")
}

func (h hider) hideWords(text stick.Words) stick.Words { return stick.Words(h.hideIn(string(text))) }

// makeReport makes the report of what the doctor found.
func makeReport(a *app.Run, res DoctorResult) report {
	h := newHider(a, res)
	r := report{Program: app.ThisBuild(), Healthy: res.Healthy}
	for _, f := range res.Findings {
		f.Detail, f.Fix = h.hideWords(f.Detail), h.hideWords(f.Fix)
		f.More = slices.Clone(f.More)
		for i, m := range f.More {
			f.More[i] = core.Problem{Detail: h.hideWords(m.Detail), Fix: h.hideWords(m.Fix)}
		}
		r.Findings = append(r.Findings, f)
	}

	for _, done := range res.Repairs {
		done.What, done.How, done.Result = h.hideWords(done.What), h.hideWords(done.How), h.hideWords(done.Result)
		r.Repairs = append(r.Repairs, done)
	}

	for _, s := range res.Harnesses {
		r.Harnesses = append(r.Harnesses, reportedHarness{
			Harness: s.Harness, Version: h.hideIn(s.Version), Installed: string(s.Installed),
			Problem: h.hideIn(string(s.Problem)),
		})
	}

	return r
}

// requireNewReport refuses a file that is there, before the doctor does anything.
func requireNewReport(a *app.Run, file string) error {
	path := reportPath(a, file)
	if _, err := os.Lstat(path); file == "" || err != nil {
		return nil
	}
	return errReportExists(path)
}

// reportPath is the absolute path of a report.
func reportPath(a *app.Run, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(a.Dir, file)
}

// errReportExists is the error for a report that would replace a file.
func errReportExists(path string) error {
	return stick.Errorf(stick.CodeAlreadyExists, "there is a file %s already", path).With("path", path).
		Hintf("name another file: %s", stick.Cmd("tt doctor --report <file>", path+".new"))
}

// writeReport writes the report into a new file.
func writeReport(a *app.Run, file string, res DoctorResult) error {
	text, err := json.MarshalIndent(makeReport(a, res), "", "  ")
	if err != nil {
		return err
	}

	file = reportPath(a, file)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(text, '\n'))
		err = errors.Join(err, f.Close())
	}

	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return errReportExists(file)
	}
	return stick.Errorf(stick.CodeUsage, "the report can't be written into %s: %w", file, plainfile.CauseOf(err)).
		With("path", file).Hintf("name a file in a directory that your user may write: %s",
		stick.Cmd("tt doctor --report report.json"))
}
