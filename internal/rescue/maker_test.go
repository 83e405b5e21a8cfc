//go:build unix

package rescue

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// maker makes a random tree.
type maker struct {
	*scratch
	r      *rand.Rand
	canary string // the file in which planted programs write that they ran
	done   []string
	count  int
	unborn bool // there is no commit on the branch
	plain  bool // a reset brings all committed files back as they were: no line ends are converted, and no file is left out of the tree
}

// odd are names that programs get wrong.
var odd = []string{"-dash", "sp ace\ttab", "new\nline.txt", `"quote'.txt`, "ünï cödé.txt", ":(top)magic", "*.txt", "back\\slash", "dots..", " lead"}

func init() {
	if runtime.GOOS == "linux" {
		odd = append(odd, "bad\xff\xfe.txt")
	}
}

// template makes the repository of which each tree is a copy: a file of each kind, and a branch other that
// conflicts.
func template(t *testing.T) *scratch {
	s := newScratch(t)
	for _, name := range []string{"clash.txt", "dir/sub/c.txt", "m1.txt", "m2.txt", "m3.txt", "dir/m4.txt", "gone.txt", "filtered.flt", "deep/er/est/d.txt"} {
		s.write(name, strings.Repeat("a line of "+name+"\n", 5))
	}
	s.write("crlf.txt", "one\r\ntwo\r\n")
	s.write("bin.dat", "\x00\x01\x02"+strings.Repeat("\xfe", 900))
	s.write(".gitignore", "*.o\nbuild/\n")
	s.write(".gitattributes", "crlf.txt text eol=crlf\n*.flt filter=planted diff=planted\n")
	for _, name := range odd {
		s.write(name, "odd "+name+"\n")
		s.write("dir/"+name, "odd "+name+"\n")
	}
	s.write("run.sh", "#!/bin/sh\n")
	os.Chmod(s.path("run.sh"), 0o755)
	os.Symlink("a.txt", s.path("link"))
	os.Symlink("dir", s.path("dirlink"))
	s.git("add", ".")
	s.git("commit", "-qm", "second")
	s.git("switch", "-qc", "other")
	s.write("clash.txt", "theirs\n")
	s.write("added by other.txt", "theirs\n")
	s.git("rm", "-q", "gone.txt", "m3.txt")
	s.git("add", ".")
	s.git("commit", "-qm", "theirs")
	s.git("switch", "-q", "main")
	s.write("clash.txt", "ours\n")
	s.write("gone.txt", "ours\n")
	s.git("commit", "-qam", "ours")
	return s
}

func newMaker(t *testing.T, from *scratch, r *rand.Rand) *maker {
	s := newScratch(t)
	if err := os.RemoveAll(s.top); err != nil {
		t.Fatal(err)
	}
	copyTree(t, from.top, s.top)
	return &maker{scratch: s, r: r}
}

// copyTree copies files, links and modes. [os.CopyFS] refuses odd names.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch at := filepath.Join(to, rel); {
		case d.IsDir():
			return os.MkdirAll(at, 0o777)
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			return os.Symlink(target, at)
		default:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(at, b, info.Mode().Perm())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (m *maker) one(of ...string) string { return of[m.r.IntN(len(of))] }

// tracked picks a file that the last commit has.
func (m *maker) tracked() string {
	return m.one("a.txt", "clash.txt", "dir/b.txt", "dir/sub/c.txt", "m1.txt", "m2.txt", "m3.txt", "dir/m4.txt", "gone.txt", "filtered.flt",
		"crlf.txt", "bin.dat", "run.sh", "link", "dirlink", m.one(odd...), "dir/"+m.one(odd...), "deep/er/est/d.txt")
}

func (m *maker) text() string {
	m.count++
	return fmt.Sprintf("change %d\n%s", m.count, strings.Repeat("x", m.r.IntN(2000)))
}

// attempt runs git as a user would, without what is planted: that is for our git to avoid.
func (m *maker) attempt(args ...string) (string, error) {
	return m.try(slices.Concat([]string{"--literal-pathspecs", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "protocol.file.allow=always"}, args)...)
}

func (m *maker) quiet(args ...string) string {
	m.t.Helper()
	out, err := m.attempt(args...)
	if err != nil {
		m.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

// make makes what the tree lies in, and changes it in random ways.
func (m *maker) make() {
	m.surround()
	m.change()
	m.find()
}

// change changes the tree in random ways.
func (m *maker) change() {
	for range 3 + m.r.IntN(10) {
		c := changes[m.r.IntN(len(changes))]
		path := m.tracked()
		said, err := "", c.change(m, path)
		m.done = append(m.done, fmt.Sprintf("%s %q %s %v", c.name, path, said, err))
	}
}

// surround makes what the tree lies in.
func (m *maker) surround() {
	rare := func(n int, what string, f func()) {
		if m.r.IntN(n) == 0 {
			m.done = append(m.done, what)
			f()
		}
	}
	rare(5, "linked worktree", func() {
		linked := filepath.Join(filepath.Dir(m.top), "linked")
		m.quiet("worktree", "add", "-q", "--detach", linked)
		m.top = linked
	})
	rare(6, "autocrlf", func() {
		if !m.plain {
			m.quiet("config", "core.autocrlf", m.one("true", "input"))
		}
	})
	rare(6, "submodule", m.submodule)
	rare(4, "embedded repository", func() {
		m.quiet("init", "-q", "emb")
		m.write("emb/committed", "x\n")
		m.quiet("-C", "emb", "add", ".")
		m.quiet("-C", "emb", "commit", "-qm", "x")
		m.write("emb/uncommitted", "y\n")
	})
	rare(8, "sparse checkout", func() {
		if m.plain {
			return
		}
		m.quiet("update-index", "-q", "--refresh")
		m.quiet("sparse-checkout", "set", "dir")
	})
	rare(4, "merge", func() { m.attempt("merge", "-q", "other") })
	rare(12, "no HEAD", func() {
		m.quiet("symbolic-ref", "HEAD", "refs/heads/none")
		m.unborn = true
	})
}

func (m *maker) submodule() {
	from := filepath.Join(filepath.Dir(m.top), "library")
	m.quiet("init", "-q", from)
	if err := os.WriteFile(filepath.Join(from, "lib.txt"), []byte("lib\n"), 0o666); err != nil {
		m.t.Fatal(err)
	}
	m.quiet("-C", from, "add", ".")
	m.quiet("-C", from, "commit", "-qm", "lib")
	m.quiet("submodule", "--quiet", "add", from, "sub")
	m.quiet("commit", "-qm", "submodule")
	m.write("sub/lib.txt", "changed\n")
	m.write("sub/staged.txt", "staged\n")
	m.quiet("-C", "sub", "add", "staged.txt")
	m.write("sub/new.txt", "new\n")
}

// file writes a file, and makes room for it.
func (m *maker) file(path, text string) error {
	for d := filepath.Dir(path); d != "."; d = filepath.Dir(d) {
		if info, err := os.Lstat(m.path(d)); err == nil && !info.IsDir() {
			os.Remove(m.path(d))
		}
	}
	if err := os.MkdirAll(filepath.Dir(m.path(path)), 0o777); err != nil {
		return err
	}
	os.RemoveAll(m.path(path))
	return os.WriteFile(m.path(path), []byte(text), 0o666)
}

func (m *maker) gitErr(args ...string) error {
	out, err := m.attempt(args...)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// changes are ways to leave something uncommitted. path is a tracked one.
var changes = []struct {
	name   string
	change func(m *maker, path string) error
}{
	{"modify", func(m *maker, path string) error { return m.file(path, m.text()) }},
	{"stage", func(m *maker, path string) error {
		m.file(path, m.text())
		return m.gitErr("add", "-f", "--", path)
	}},
	{"stage a part", func(m *maker, path string) error {
		m.file(path, m.text())
		m.gitErr("add", "-f", "--", path)
		return m.file(path, m.text())
	}},
	{"stage, and undo in the tree", func(m *maker, path string) error {
		info, err := os.Stat(m.path(path))
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		old, err := os.ReadFile(m.path(path))
		if err != nil {
			return err
		}
		m.file(path, m.text())
		m.gitErr("add", "-f", "--", path)
		return m.file(path, string(old))
	}},
	{"delete", func(m *maker, path string) error { return os.Remove(m.path(path)) }},
	{"git rm", func(m *maker, path string) error { return m.gitErr("rm", "-qf", "--", path) }},
	{"git rm --cached", func(m *maker, path string) error { return m.gitErr("rm", "-qf", "--cached", "--", path) }},
	{"git mv", func(m *maker, path string) error {
		return m.gitErr("mv", "-f", "--", path, fmt.Sprintf("moved %d", m.r.IntN(100)))
	}},
	{"mode", func(m *maker, path string) error { return os.Chmod(m.path(path), 0o755) }},
	{"mode, staged", func(m *maker, path string) error { return m.gitErr("update-index", "--chmod=+x", "--", path) }},
	{"directory for a file", func(m *maker, path string) error { return m.file(path+"/in.txt", m.text()) }},
	{"directory for a file, staged", func(m *maker, path string) error {
		m.file(path+"/in.txt", m.text())
		return m.gitErr("add", "-A", "--", path)
	}},
	{"file for a directory", func(m *maker, path string) error { return m.file(m.one("dir", "deep/er", "dir/sub"), m.text()) }},
	{"link for a file", func(m *maker, path string) error {
		os.RemoveAll(m.path(path))
		return os.Symlink(m.one("a.txt", "nowhere", "../canary", "dir"), m.path(path))
	}},
	{"link for a directory", func(m *maker, path string) error {
		os.RemoveAll(m.path("dir/sub"))
		return os.Symlink(m.one("../deep", "nowhere"), m.path("dir/sub"))
	}},
	{"untracked", func(m *maker, path string) error { return m.file(fmt.Sprintf("%s %d", path, m.r.IntN(9)), m.text()) }},
	{"untracked, secret", func(m *maker, path string) error {
		name := fmt.Sprintf("secret %d/%s", m.r.IntN(3), filepath.Base(path))
		m.file(name, m.text())
		return os.Chmod(m.path(name), os.FileMode(0o600|m.r.IntN(2)<<6))
	}},
	{"untracked, empty", func(m *maker, path string) error { return m.file(fmt.Sprintf("empty %d", m.r.IntN(9)), "") }},
	{"untracked, binary", func(m *maker, path string) error { return m.file("untracked.bin", "\x00\xff"+m.text()) }},
	{"untracked, large", func(m *maker, path string) error { return m.file("large.bin", strings.Repeat("large", 1<<16)) }},
	{"untracked link", func(m *maker, path string) error {
		return os.Symlink(m.one("a.txt", "nowhere", "/etc/passwd", "dir"), m.path(fmt.Sprintf("link %d", m.r.IntN(9))))
	}},
	{"staged, new", func(m *maker, path string) error {
		name := fmt.Sprintf("new %d/%s", m.r.IntN(3), filepath.Base(path))
		m.file(name, m.text())
		return m.gitErr("add", "-f", "--", name)
	}},
	{"staged, new, and deleted", func(m *maker, path string) error {
		name := fmt.Sprintf("new %d/%s", m.r.IntN(3), filepath.Base(path))
		m.file(name, m.text())
		m.gitErr("add", "-f", "--", name)
		return os.Remove(m.path(name))
	}},
	{"intended", func(m *maker, path string) error {
		name := fmt.Sprintf("intended %d", m.r.IntN(9))
		m.file(name, m.text())
		if m.r.IntN(2) == 0 {
			os.Chmod(m.path(name), 0o755)
		}
		m.gitErr("add", "-N", "--", name)
		if m.r.IntN(3) == 0 {
			return os.Remove(m.path(name))
		}
		return os.Chmod(m.path(name), 0o644)
	}},
	{"ignored", func(m *maker, path string) error { return m.file(fmt.Sprintf("x%d.o", m.r.IntN(9)), m.text()) }},
	{"ignored directory", func(m *maker, path string) error {
		return m.file(fmt.Sprintf("build/%d/%s", m.r.IntN(9), filepath.Base(path)), m.text())
	}},
	{"ignored, large", func(m *maker, path string) error { return m.file("large.o", strings.Repeat("x", 1<<20+1)) }},
	{"assume unchanged", func(m *maker, path string) error {
		if err := m.gitErr("update-index", "--assume-unchanged", "m1.txt"); err != nil {
			return err
		}
		return m.file("m1.txt", m.text())
	}},
	{"skip worktree", func(m *maker, path string) error {
		if err := m.gitErr("update-index", "--skip-worktree", "m2.txt"); err != nil {
			return err
		}
		return m.file("m2.txt", m.text())
	}},
	{"a part of a conflict", func(m *maker, path string) error {
		if m.r.IntN(2) == 0 {
			return m.file("clash.txt", "resolved\n")
		}
		return os.Remove(m.path(m.one("clash.txt", "gone.txt")))
	}},
	{"resolve", func(m *maker, path string) error {
		m.file("clash.txt", "resolved\n")
		return m.gitErr("add", "clash.txt")
	}},
	{"fifo for a file", func(m *maker, path string) error {
		os.RemoveAll(m.path(path))
		return syscall.Mkfifo(m.path(path), 0o600)
	}},
	{"CRLF", func(m *maker, path string) error { return m.file("crlf.txt", "mixed\r\nlines\n") }},
	{"CRLF, staged", func(m *maker, path string) error {
		m.file("crlf.txt", m.text()+"\r\n")
		return m.gitErr("add", "crlf.txt")
	}},
}

// plant puts programs wherever a repository can name one.
func (m *maker) plant() {
	m.canary = filepath.Join(m.t.TempDir(), "ran")
	program := filepath.Join(m.t.TempDir(), "planted")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+m.canary+"'\nexec cat\n"), 0o755); err != nil {
		m.t.Fatal(err)
	}
	for _, hook := range []string{"post-checkout", "post-index-change", "pre-commit", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"} {
		if err := os.MkdirAll(filepath.Join(m.tree.Common, "hooks"), 0o777); err != nil {
			m.t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(m.tree.Common, "hooks", hook)); err != nil {
			m.t.Fatal(err)
		}
	}
	config := fmt.Sprintf("[core]\n\tfsmonitor = %[1]s\n\tsshCommand = %[1]s\n\teditor = %[1]s\n\tpager = %[1]s\n[filter \"planted\"]\n\tclean = %[1]s\n\tsmudge = %[1]s\n\trequired\n"+
		"[diff]\n\texternal = %[1]s\n[diff \"planted\"]\n\ttextconv = %[1]s\n\tcommand = %[1]s\n", `"'`+program+`'"`) // a shell runs them
	f, err := os.OpenFile(filepath.Join(m.tree.Common, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := f.WriteString(config); err != nil {
		m.t.Fatal(err)
	}
	f.Close()
}

// forget forgets that planted programs ran, which the test itself may have started.
func (m *maker) forget() { os.Remove(m.canary) }

func (m *maker) nothingRan(during string) {
	m.t.Helper()
	if b, err := os.ReadFile(m.canary); err == nil {
		m.t.Errorf("programs of the repository ran during %s:\n%s", during, b)
	}
}

// files describes the files of the tree, but for git's own.
func (m *maker) files() map[string]string { return snapshot(m.t, m.top, ".git") }

// index describes the index and git's status, by path.
func (m *maker) index() map[string]string {
	all := map[string]string{}
	for _, record := range strings.Split(m.quiet("ls-files", "-v", "-s", "-z"), "\x00") {
		if facts, path, ok := strings.Cut(record, "\t"); ok {
			all[path] += facts + "\n"
		}
	}
	for _, record := range strings.Split(m.quiet("status", "--porcelain=v2", "-z", "-uall", "--ignored", "--no-renames"), "\x00") {
		fields := map[string]int{"1": 9, "u": 11, "?": 2, "!": 2}[record[:min(1, len(record))]]
		if f := strings.SplitN(record, " ", fields); fields > 0 && len(f) == fields {
			all[f[fields-1]] += "status " + strings.Join(f[:fields-1], " ") + "\n"
		}
	}
	m.forget()
	return all
}
