package install

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// Shell is what an agent's commands find in the shell of its harness.
type Shell struct {
	TT      string      `json:"tt"`                // the program that the name tt runs; empty when there is none
	DataDir string      `json:"data_dir"`          // the data directory that it opens
	Problem stick.Words `json:"problem,omitempty"` // how it differs from this program and its data directory
	Fix     stick.Words `json:"fix,omitempty"`     // what mends that
}

// shellScript prints what a shell finds, on lines of its own: a profile may print more.
const shellScript = `printf '\ntt=%s\ndir=%s\nxdg=%s\n' "$(command -v tt)" "$TALKING_STICK_DATA_DIR" "$XDG_DATA_HOME"`

// Shell asks the shell in which a harness runs commands what it finds. A login shell reads other files than
// the one in which a person types, and may find something else. It is nil where the harness uses the
// environment that it has itself, and where the shell doesn't answer.
func (t Target) Shell(ctx context.Context, row harness.Row, run Run) *Shell {
	bash := lookPath(t.Getenv("PATH"), "bash")
	if !row.Setup.LoginShell || bash == "" {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	out, err := run(ctx, bash, "-lc", shellScript)
	if err != nil {
		return nil
	}

	said := map[string]string{}
	for l := range bytes.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSuffix(string(l), "\n"), "=")
		said[name] = value
	}

	s := &Shell{TT: said["tt"], DataDir: t.Default}
	switch {
	case said["dir"] != "":
		s.DataDir = filepath.Clean(said["dir"])
	case filepath.IsAbs(said["xdg"]):
		s.DataDir = filepath.Join(said["xdg"], filepath.Base(t.Default))
	}

	const read = " in ~/.profile, which login shells read"
	switch {
	case s.TT == "":
		s.Problem, s.Fix = "its login shell doesn't find tt", stick.Wordsf(
			"add %s to PATH", filepath.Dir(t.TT),
		)+read
	case !isSameFile(s.TT, t.TT) && !isSameFile(s.TT, t.Wrapper):
		s.Problem, s.Fix = stick.Wordsf(
			"its login shell finds another tt, %s", s.TT,
		), stick.Wordsf("put %s first in PATH", filepath.Dir(t.TT))+read
	case s.DataDir != t.DataDir:
		s.Problem, s.Fix = stick.Wordsf(
			"its login shell opens another database, in %s", s.DataDir,
		), "set "+dataDirEnv+read
	}

	return s
}

// FindsProgram reports whether agents in a harness find tt by its name. It is called in the environment of
// the harness.
func (t Target) FindsProgram(ctx context.Context, row harness.Row, run Run) bool {
	if s := t.Shell(ctx, row, run); s != nil {
		return s.TT != ""
	}
	return row.Setup.LoginShell || lookPath(t.Getenv("PATH"), "tt") != ""
}
