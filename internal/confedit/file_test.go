package confedit_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/confedit"
)

var (
	setTT    = confedit.JSONSet([]string{"mcpServers", "tt"}, 1)
	removeTT = confedit.JSONRemove([]string{"mcpServers", "tt"}, 0)
	removing = confedit.Options{Removing: true}
)

const before, after = `{"a": 1}`, `{"a": 1, "mcpServers": {"tt": 1}}`

func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}

	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// holds compares all regular files and links below dir; "" is a link.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.Type()&fs.ModeSymlink != 0 {
			got[filepath.ToSlash(name)] = ""
			return nil
		}

		text, err := os.ReadFile(path)
		got[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func edit(t *testing.T, f confedit.Files, path string, e confedit.Edit, opt confedit.Options) *confedit.Change {
	t.Helper()
	c, err := f.Prepare(path, e, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}

	return c
}

func TestInstallAndUninstall(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	put(t, path, before, 0o600)
	c := edit(t, confedit.Files{}, path, setTT, confedit.Options{})
	if want := path + confedit.BackupSuffix; c.Backup != want || !c.Changed() {
		t.Error(c.Backup)
	}

	holds(t, dir, map[string]string{"s.json": after, "s.json.before-talking-stick": before})
	for _, name := range []string{path, c.Backup} {
		if info, err := os.Stat(name); err != nil || filepath.Separator == '/' && info.Mode().Perm() != 0o600 {
			t.Error(name, info.Mode(), err)
		}
	}

	if c := edit(t, confedit.Files{}, path, setTT, confedit.Options{}); c.Changed() || c.Diff() != "" {
		t.Error("twice isn't once:", c.Diff())
	}
	edit(t, confedit.Files{}, path, confedit.JSONSet([]string{"mcpServers", "tt"}, 2), confedit.Options{})
	holds(t, dir, map[string]string{
		"s.json": strings.ReplaceAll(after, `"tt": 1`, `"tt": 2`), "s.json.before-talking-stick": before,
	})
	edit(t, confedit.Files{}, path, removeTT, removing)
	holds(t, dir, map[string]string{"s.json": before})
}

func TestUninstallKeepsWhatIsNotAsBefore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	put(t, path, before, 0o644)
	edit(t, confedit.Files{}, path, setTT, confedit.Options{})
	edit(t, confedit.Files{}, path, confedit.JSONSet([]string{"theirs"}, true), confedit.Options{})
	edit(t, confedit.Files{}, path, removeTT, removing)
	holds(t, dir, map[string]string{"s.json": `{"a": 1, "theirs": true}`, "s.json.before-talking-stick": before})
}

func TestAFileThatWeMade(t *testing.T) {
	home := t.TempDir()
	files := confedit.Files{Home: home}
	path := filepath.Join(home, ".codex", "deep", "hooks.json")
	c := edit(t, files, path, setTT, confedit.Options{})
	if !strings.Contains(c.Diff(), "--- "+os.DevNull) {
		t.Error(c.Diff())
	}

	open := edit(t, files, filepath.Join(home, "app", ".mcp.json"), setTT, confedit.Options{})
	if filepath.Separator == '/' {
		for name, want := range map[string]fs.FileMode{
			".codex": 0o700, ".codex/deep": 0o700, ".codex/deep/hooks.json": 0o600, "app": 0o755,
			"app/.mcp.json": 0o644,
		} {
			if info, err := os.Stat(filepath.Join(home, name)); err != nil || info.Mode().Perm()|0o022 != want|0o022 {
				t.Error(name, info.Mode(), err)
			}
		}
	}

	edit(t, files, path, removeTT, removing)
	edit(t, files, open.Path, confedit.JoinEdits(removeTT, confedit.JSONSet([]string{"theirs"}, 1)), removing)
	holds(t, home, map[string]string{"app/.mcp.json": "{\n  \"theirs\": 1\n}\n"})

	c, err := files.Prepare(path, removeTT, removing)
	if err != nil || c.Changed() || c.Write() != nil {
		t.Error("there is nothing to remove:", err)
	}
}

func TestASymbolicLinkStays(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "dotfiles", "claude.json"), before, 0o644)
	path := filepath.Join(dir, "home", "s.json")
	put(t, filepath.Join(dir, "home", "x"), "", 0o644)
	if err := os.Symlink(filepath.Join("..", "dotfiles", "claude.json"), path); err != nil {
		t.Skip("no symbolic links here:", err)
	}

	edit(t, confedit.Files{}, path, setTT, confedit.Options{})
	holds(t, dir, map[string]string{
		"dotfiles/claude.json": after, "home/s.json": "", "home/s.json.before-talking-stick": before,
		"home/x": "",
	})
	edit(t, confedit.Files{}, path, removeTT, removing)
	holds(t, dir, map[string]string{"dotfiles/claude.json": before, "home/s.json": "", "home/x": ""})
}

func TestFilesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "protected.json"), before, 0o444)
	put(t, filepath.Join(dir, "broken.json"), "{\n  \"a\": nope}", 0o644)
	put(t, filepath.Join(dir, "file"), "", 0o644)
	if err := os.Mkdir(filepath.Join(dir, "dir.json"), 0o755); err != nil {
		t.Fatal(err)
	}

	want := map[string]string{
		"protected.json": "is write-protected",
		"dir.json":       "isn't a regular file",
		"broken.json":    ": line 2, column 8: invalid literal",
	}

	if os.Symlink("nowhere", filepath.Join(dir, "dangling.json")) == nil {
		want["dangling.json"] = "is a symbolic link that leads nowhere"
	}

	for name, why := range want {
		_, err := confedit.Files{}.Prepare(filepath.Join(dir, name), setTT, confedit.Options{})
		if err == nil ||
			!strings.Contains(err.Error(), filepath.Join(dir, name)) ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
	}

	c, err := confedit.Files{}.Prepare(filepath.Join(dir, "file", "sub", "x.json"), setTT, confedit.Options{})
	if err == nil {
		err = c.Write()
	}
	var wrong *confedit.FileError
	if !errors.As(err, &wrong) {
		t.Errorf("a file is no directory: %v", err)
	}
}

func TestSomebodyElseWrites(t *testing.T) {
	for name, meanwhile := range map[string]func(path string) error{
		"other bytes": func(path string) error { return os.WriteFile(path, []byte("{}"), 0o644) },
		"no file":     os.Remove,
		"a link": func(path string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "s.json")
			put(t, path, before, 0o644)

			files := confedit.Files{Kill: func(point string) {
				if point == "before rename" {
					if err := meanwhile(path); err != nil {
						t.Skip(err)
					}
				}
			}}

			c, err := files.Prepare(path, setTT, confedit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			err = c.Write()
			var changed *confedit.ChangedError
			if !errors.As(err, &changed) {
				t.Fatal(err)
			}

			found, _ := filepath.Glob(filepath.Join(dir, ".s.json*"))
			if text, _ := os.ReadFile(path); strings.Contains(string(text), "tt") || len(found) > 0 {
				t.Errorf("%s %q", text, found)
			}
		})
	}

	path := filepath.Join(t.TempDir(), "new.json")
	c, err := confedit.Files{}.Prepare(path, setTT, confedit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, before, 0o644)
	if err := c.Write(); err == nil {
		t.Error("a file that appeared meanwhile was replaced")
	}
}

// TestEndedInTheMiddle ends the process at each point of a write. The file holds the old bytes or the new
// ones, a backup is whole, and a second run makes the change.
func TestEndedInTheMiddle(t *testing.T) {
	for point, want := range map[string]string{
		"before backup": before, "after backup": before, "before rename": before, "after rename": after,
	} {
		t.Run(point, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "s.json")
			put(t, path, before, 0o644)

			c, err := confedit.Files{Kill: func(at string) {
				if at == point {
					panic(point)
				}
			}}.Prepare(path, setTT, confedit.Options{})
			if err != nil {
				t.Fatal(err)
			}

			func() {
				defer func() {
					if recover() == nil {
						t.Error("it didn't end there")
					}
				}()
				_ = c.Write()
			}()

			if text, _ := os.ReadFile(path); string(text) != want {
				t.Errorf("%s", text)
			}
			old := time.Now().Add(-2 * time.Hour)

			left, _ := filepath.Glob(filepath.Join(dir, ".s.json.talking-stick-*"))
			for _, name := range left {
				if err := os.Chtimes(name, old, old); err != nil {
					t.Fatal(err)
				}
			}

			edit(t, confedit.Files{}, path, setTT, confedit.Options{})
			holds(t, dir, map[string]string{"s.json": after, "s.json.before-talking-stick": before})
		})
	}
}
