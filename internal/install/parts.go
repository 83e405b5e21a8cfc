package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// part is one thing that connects a harness to tt.
type part struct {
	what stick.Words
	file string

	dir    bool // it isn't a file, but a directory that has to be there
	beyond bool // a plugin can't bring it

	// For a file that is all ours:
	text string
	ours func(have []byte) bool // nobody edited it

	// For a file that others write too. keep returns how many of the first keys of a path stay when they
	// become empty.
	set    confedit.Edit
	remove func(keep func(path []string) int) confedit.Edit
	npm    func(src []byte) []byte // the npm program's entry; nil when there is none
	noNpm  confedit.Edit           // removes that, as set does
	other  func(src []byte) bool   // reports whether somebody else's entry has our name, and stays
	toml   bool

	shared bool // a server in a file that another harness reads, too
}

// The parts that harnesses may share.
const (
	skill     = "skill"
	imports   = "instructions"
	mcpServer = "MCP server"

	plugin = "plugin" // one file, or what a harness's own command has installed
)

// partsOf lists what connects a harness to tt at this level, in the order of installation.
func (t Target) partsOf(row harness.Row) []part {
	s := row.Setup
	all := []part{{what: skill, file: t.skillFile(s), text: harness.Skill, ours: func(have []byte) bool {
		return string(have) == harness.Skill || isShipped(have) || t.hasWritten(t.skillFile(s), have)
	}}}

	all = append(all, part{
		what: "hooks", file: t.filePath(s, s.Hooks), set: t.hooksEdit(row, s), remove: t.noHooks(row, s),
	})

	server := t.serverPart(s)
	server.file = t.serverFile(s)

	// Several harnesses may read the same list of servers.
	server.shared = slices.ContainsFunc(harness.Rows, func(other harness.Row) bool {
		return other.Name != row.Name && server.file != "" && t.serverFile(other.Setup) == server.file
	})

	sandboxed := t.Project == "" && len(s.Sandbox) > 0

	// The sandbox ignores a directory that isn't there, or fails on it.
	if sandboxed {
		all = append(all, part{what: "data directory", file: t.DataDir, dir: true, beyond: true})
	}

	all = append(all, server)
	if sandboxed {
		all = append(all, part{
			what: "sandbox", file: server.file, toml: true, beyond: true,
			set: confedit.TOMLAddElement(s.Sandbox, t.DataDir),
			remove: func(keep func([]string) int) confedit.Edit {
				return confedit.TOMLRemoveElement(s.Sandbox, t.DataDir, keep(s.Sandbox) == 0)
			},
		})
	}

	if path := t.filePath(s, s.Plugin); path != "" {
		text := s.Code(t.programPath())
		all = append(all, part{what: plugin, file: path, text: text, ours: func(have []byte) bool {
			plain := pluginProgram().ReplaceAll(have, nil)
			return bytes.Equal(plain, pluginProgram().ReplaceAll([]byte(text), nil)) ||
				isShipped(plain) || t.hasWritten(path, have)
		}})
	}

	// A harness doesn't have all parts at each level.
	return slices.DeleteFunc(all, func(x part) bool {
		return x.file == "" || x.text == "" && x.set == nil && !x.dir
	})
}

// planInstructions lists what tells a project's agents of tt: our text in the file that most harnesses read,
// and for a harness with a file of its own an import of that one, unless both are one file under two names.
// When the last harness goes, so do the imports of all.
func (p *plan) planInstructions() []owned {
	no := func(func([]string) int) confedit.Edit { return confedit.RemoveBlock() }
	main := filepath.Join(p.t.Project, harness.InstructionsFile)
	all := []owned{{
		"project", part{
			what: "instructions", file: main, remove: no, set: confedit.SetBlock(
				strings.TrimSpace(harness.Instructions),
			),
		},
	}}
	if p.t.leadsOutside(main) && !p.removing {
		// It doesn't get ours, so nobody needs to import it.
		return all
	}

	last := p.removing && !p.anyLeft()
	for _, row := range harness.Rows {
		// An import of a file into itself would lead nowhere.
		own := resolveBelow(p.t.Project, row.Setup.Instructions)
		if own != "" && !sameName(own, main) && (last || slices.Contains(p.names, row.Name)) {
			all = append(all, owned{
				row.Name, part{
					what: imports, file: own, remove: no, set: confedit.SetImport(harness.InstructionsFile),
				},
			})
		}
	}

	return all
}

// showsInstall reports whether tt is installed in a harness that has this part: others have a skill, a shared
// server and the directory, too, and what a plugin can't bring stands beside one.
func (x part) showsInstall() bool { return x.what != skill && !x.shared && !x.beyond }

// skillFile returns where the skill of a harness lies.
func (t Target) skillFile(s harness.Setup) string {
	if dir := t.filePath(s, s.Skills); dir != "" {
		return filepath.Join(dir, harness.SkillName, "SKILL.md")
	}
	return ""
}

// pluginProgram matches the line of a plugin that names the program. A moved program doesn't make it
// another plugin.
var pluginProgram = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^const TT = ".*"$`) })

// shipped holds the digests of what versions installed that kept no list of it ([Target.hasWritten]), and of
// git's hooks, which aren't on it: skills, plugins and hooks, without the line that names the program. A file
// with one of them was never edited, so it is replaced. testdata/shipped has their texts.
var shipped = []string{
	"5c3a19857cc31d81246e5c605d22b1225ed5e02cc9fdc27022414a37fd5e5687", // a skill
	"807ab01aab10be069892052ede857332d15f21a447c751a0b10a20df6efef17b", // a plugin
	"3313331d09e4d572f031067f0c6260bf06f339d020dc6a5bb6f374f1e3775232", // a plugin that woke at exit status 2
	"52524aa45acf9de8d912c14a1bd0406bff759be28ad3e0305b1d3ca1a6bb26a2", // pre-commit
	"63f06dcc73922ee7d53db6a40044112f4a25e82e3bbbf6f914a76b78cd2749bc", // reference-transaction
}

func isShipped(have []byte) bool {
	sum := sha256.Sum256(have)
	return slices.Contains(shipped, hex.EncodeToString(sum[:]))
}

// existingFile returns first, but second where only that exists.
func existingFile(first, second string) string {
	if _, err := os.Stat(first); err != nil {
		if _, err := os.Stat(second); err == nil {
			return second
		}
	}

	return first
}

// hasPart reports whether a part is there, in whatever form.
func (p *plan) hasPart(x part) (bool, error) {
	if p.t.leadsOutside(x.file) {
		return false, nil
	}
	if x.dir {
		info, err := os.Stat(x.file)
		return err == nil && info.IsDir(), nil
	}

	// A file of ours is there if nobody else has made or edited it.
	if x.text != "" {
		have, err := confedit.Read(x.file)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil && x.ours(have), err
	}

	// A part of a file is there if its removal would change the file.
	c, err := p.files.Prepare(x.file, x.remove(nothingStays), confedit.Options{Removing: true})
	return err == nil && c.Changed(), err
}

func nothingStays([]string) int { return 0 }

func setAll(parts []part) confedit.Edit {
	var edits []confedit.Edit
	for _, x := range parts {
		edits = append(edits, x.set)
	}
	return confedit.JoinEdits(edits...)
}

func removeAll(parts []part, keep func(path []string) int) confedit.Edit {
	var edits []confedit.Edit
	for _, x := range parts {
		edits = append(edits, x.remove(keep))
	}
	return confedit.JoinEdits(edits...)
}

// onlyOurs reports whether a file holds something of ours and nothing else: then we made it.
func onlyOurs(src []byte, parts []part) bool {
	out, changed, err := removeAll(parts, nothingStays)(src)
	rest := bytes.Join(bytes.Fields(out), nil)
	return err == nil && changed && (len(rest) == 0 || string(rest) == "{}")
}

// restoringEdit returns the edit that removes what is ours from a file. The file doesn't show everything: an
// object may have been empty before us, or the whole file blank. The copy from before our first edit does.
// Objects in the copy stay, and if nothing but ours has changed since, its bytes come back.
func (p *plan) restoringEdit(path string, parts []part) (confedit.Edit, error) {
	plain := removeAll(parts, nothingStays)
	at, ok := p.files.Copy(path)
	if !ok {
		return plain, nil
	}

	before, err := confedit.Read(at)
	if err != nil {
		return nil, explainError(err)
	}
	if _, ours, err := plain(before); err != nil || ours {
		// The copy isn't from before us, or doesn't parse.
		return plain, nil
	}

	// Objects that were in the copy stay, though they may be empty now.
	npm := slices.ContainsFunc(parts, func(x part) bool { return x.npm != nil && x.npm(before) != nil })
	careful := removeAll(parts, func(keys []string) int { return depthOf(before, parts[0].toml, keys) })
	return func(src []byte) ([]byte, bool, error) {
		out, changed, err := careful(src)

		// The npm program's entry must not come back.
		if err != nil || !changed || npm {
			return out, changed, err
		}

		// If only ours was added to the copy and removed again, nothing else has changed.
		with, _, err := setAll(parts)(before)
		if err != nil {
			return out, true, nil
		}
		if again, _, err := careful(with); err == nil && bytes.Equal(again, out) {
			return before, true, nil
		}

		return out, true, nil
	}, nil
}

// depthOf returns how many of the first keys of a path a file has.
func depthOf(src []byte, toml bool, keys []string) int {
	for n := len(keys); n > 0; n-- {
		var found bool
		var err error
		if toml {
			_, found, err = confedit.TOMLGet(src, keys[:n])
		} else {
			_, found, err = confedit.JSONGet(src, keys[:n])
		}

		if found && err == nil {
			return n
		}
	}

	return 0
}

// valueAt returns the value at a path of keys as JSON. It is nil when there is none, and when the file
// doesn't parse: the edit reports that.
func valueAt(src []byte, toml bool, keys []string) json.RawMessage {
	if !toml {
		v, _, err := confedit.JSONGet(src, keys)
		if err != nil {
			return nil
		}
		return v
	}

	v, found, err := confedit.TOMLGet(src, keys)
	if err != nil || !found {
		return nil
	}

	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}

	return b
}
