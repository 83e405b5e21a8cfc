package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/testenv"
)

// These tests install what a release holds, where there is no Go: an archive and a Debian package each in a
// root with nothing else in it, the packages of npm below a prefix of their own.

// bareRoot makes a root for a static program: nothing but what the system itself gives.
func bareRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"dev", "proc", "tmp", "root"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	return root
}

// inside runs a program in a root.
func inside(t *testing.T, root string, program ...string) string {
	t.Helper()
	needs(t, "unshare", "mount", "chroot")
	if exec.Command("unshare", "--mount", "true").Run() != nil {
		t.Skip("only root may change the root, in a container that lets it")
	}

	chroot, err := exec.LookPath("chroot")
	if err != nil {
		t.Fatal(err)
	}
	const script = `set -e; mount --bind /proc "$1/proc"; mount --rbind /dev "$1/dev"; chroot=$2 root=$1; shift 2; exec env -i PATH=/usr/bin HOME=/root TMPDIR=/tmp "$chroot" "$root" "$@"`
	c := exec.Command("unshare", append([]string{"--mount", "sh", "-c", script, "sh", root, chroot}, program...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}

	return string(out)
}

// outside runs a program of a bare root beside the programs of this machine, such as git.
func outside(t *testing.T, root string, program ...string) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(root, program[0]), program[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", program, err, out)
	}
	return string(out)
}

// plays fails unless somebody has seen the demo to its end.
func plays(t *testing.T, demo string) {
	t.Helper()
	if !strings.Contains(demo, "It all happened.") {
		t.Errorf("the demo ended with\n%s", demo)
	}
}

// answers are what tt says of itself.
type answers struct {
	Version     string   `json:"version"`
	Commit      string   `json:"commit"`
	Date        string   `json:"date"`
	Program     string   `json:"program"`
	InstalledBy string   `json:"installed_by"`
	Package     string   `json:"package"`
	Steps       []string `json:"steps"`
}

// update runs what self-update has said, in a directory with the files of a release, as if that were the
// newer one. The last step is for a person.
func (a answers) update(t *testing.T, dir string, env ...string) {
	t.Helper()
	last := len(a.Steps) - 1
	if last < 1 || a.Steps[last] != "tt install" {
		t.Fatalf("it says to run %q", a.Steps)
	}

	for _, step := range a.Steps[:last] {
		c := exec.Command("sh", "-c", strings.ReplaceAll(step, "<version>", a.Version))
		c.Dir, c.Env = dir, append(os.Environ(), env...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", step, err, out)
		}
	}
}

// isReleased reads what self-update says in JSON, and fails unless the linker has set all that it sets.
func isReleased(t *testing.T, said string) (a answers) {
	t.Helper()
	if err := json.Unmarshal([]byte(said), &a); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if !strings.Contains(a.Version, ".g"+a.Commit[:min(10, len(a.Commit))]) ||
		len(a.Commit) != 40 ||
		a.Date != "2026-02-03T04:05:06Z" {
		t.Errorf("it says that it is %+v", a)
	}

	return a
}

// TestArchive: an archive is unpacked, and its program runs.
func TestArchive(t *testing.T) {
	testenv.Alone(t)

	dir, root := filepath.Join(made(t), "one"), bareRoot(t)
	path := find(t, dir, "tt_", host.arch+".tar.gz")
	if out, err := exec.Command("tar", "-xzf", path, "-C", root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tt := "/" + strings.TrimSuffix(filepath.Base(path), ".tar.gz") + "/tt"
	if a := isReleased(t, inside(t, root, tt, "self-update", "--json")); a.InstalledBy != "archive" || a.Program != tt {
		t.Errorf("it says that it came by %+v", a)
	}
	said := inside(t, root, tt, "--version")
	if !strings.HasPrefix(said, "tt 0.") || !strings.HasSuffix(said, ", 2026-02-03)\n") {
		t.Errorf("its version is %q", said)
	}

	out, err := exec.Command(filepath.Join(root, tt), "self-update", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	newer := t.TempDir()
	if err := os.Symlink(path, filepath.Join(newer, filepath.Base(path))); err != nil {
		t.Fatal(err)
	}
	isReleased(t, string(out)).update(t, newer)
	plays(t, outside(t, root, tt, "demo"))
}

// TestDebianPackage: dpkg installs the package, finds its files as they were packed, and takes them away
// again.
func TestDebianPackage(t *testing.T) {
	dir, root := filepath.Join(made(t), "one"), bareRoot(t)
	needs(t, "dpkg", "dpkg-deb")
	info := filepath.Join(root, "var/lib/dpkg/info")
	for _, d := range []string{info, filepath.Join(root, "var/lib/dpkg/updates")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}

	dpkg := func(args ...string) string {
		t.Helper()
		c := exec.Command("dpkg",
			append([]string{"--root", root, "--force-not-root", "--force-bad-path", "--log", "/dev/null"}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("dpkg %s: %v\n%s", args[0], err, out)
		}

		return string(out)
	}

	dpkg("--install", find(t, dir, project.debian+"_", ".deb"))
	if said := dpkg("--verify", project.debian); said != "" {
		t.Errorf("it isn't there as it was packed: %s", said)
	}

	a := isReleased(t, inside(t, root, "/usr/bin/tt", "self-update", "--json"))
	if a.InstalledBy != "deb" ||
		a.Package != project.debian ||
		a.Program != "/usr/bin/tt" ||
		a.Steps[0] != "dpkg -i ./"+project.debian+"_<version>_"+host.arch+".deb" {
		t.Errorf("it says that it came by %+v", a)
	}
	if said := dpkg("--list", project.debian); !strings.Contains(said, debVersion(a.Version)) {
		t.Errorf("its version isn't %s:\n%s", debVersion(a.Version), said)
	}

	if _, err := os.Stat(filepath.Join(root, "usr/share/man/man1/tt-wait.1.gz")); err != nil {
		t.Error(err)
	}
	plays(t, outside(t, root, "/usr/bin/tt", "demo"))
	dpkg("--purge", project.debian)
	if _, err := os.Stat(filepath.Join(root, "usr")); err == nil {
		t.Error("something is left when it is purged")
	}
}

// files maps what lies below a directory to its mode and content.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}

		content := []byte(nil)
		if info.Mode().IsRegular() {
			content, err = os.ReadFile(path)
		}
		found[path] = info.Mode().String() + " " + string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return found
}

// TestNpmPackages: npm installs the packages from their files. The command runs in a PATH in which there is
// no Go, and what it installs into a harness names the program itself and not the script that starts it. Both
// are taken away again, to the byte.
func TestNpmPackages(t *testing.T) {
	dir, prefix, bin := filepath.Join(made(t), "one"), t.TempDir(), t.TempDir()
	needs(t, "node", "npm")
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(find(t, dir, "tt_", "_sbom.cdx.json")), "tt_"),
		"_sbom.cdx.json")
	pack := func(name string) string {
		return "./" + strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + version + ".tgz"
	}
	c := exec.Command("npm", "install", "--global", "--offline", "--prefix", prefix, "--no-audit", "--no-fund",
		"--no-update-notifier", pack(project.npm), pack(npmName(host)))
	c.Dir, c.Env = dir, append(os.Environ(), "npm_config_cache="+t.TempDir())
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("npm: %v\n%s", err, out)
	}

	for _, name := range []string{"node", "sh"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}

	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".claude", "settings.json"), []byte("{\n    \"model\": \"opus\"  }"), 0o600); err != nil {
		t.Fatal(err)
	}

	tt := func(args ...string) string {
		t.Helper()
		c := exec.Command(filepath.Join(prefix, "bin", "tt"), args...)
		c.Dir, c.Env = home, []string{
			"PATH=" + bin + ":" + filepath.Join(prefix, "bin"),
			"HOME=" + home,
			"TMPDIR=" + t.TempDir(),
			"USER=pat",
		}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("tt %s: %v\n%s", args[0], err, out)
		}

		return string(out)
	}

	native := filepath.Join(prefix, "lib", "node_modules", npmName(host), "bin", "tt")
	a := isReleased(t, tt("self-update", "--json"))
	if a.InstalledBy != "npm" || a.Package != project.npm || a.Program != native {
		t.Errorf("it says that it came by %+v", a)
	}

	a.update(t, dir, "npm_config_cache="+t.TempDir(), "npm_config_offline=true")
	plays(t, outside(t, prefix, "bin/tt", "demo"))
	// data stays, and so does its directory
	if err := os.MkdirAll(filepath.Join(home, ".local/share/talking-stick"), 0o700); err != nil {
		t.Fatal(err)
	}
	untouched := files(t, home)
	said := tt("install", "claude", "codex")
	if strings.Contains(said, "login shell") && !strings.Contains(said, "doesn't find") {
		t.Errorf("it doesn't know its own script:\n%s", said)
	}

	for _, name := range []string{".claude/settings.json", ".claude.json"} {
		b, err := os.ReadFile(filepath.Join(home, name))
		if err != nil || !strings.Contains(string(b), native) {
			t.Errorf("%s doesn't name %s (%v):\n%s", name, native, err, b)
		}
	}

	tt("uninstall", "claude", "codex")
	if d := cmp.Diff(untouched, files(t, home)); d != "" {
		t.Errorf("tt uninstall left or changed something:\n%s", d)
	}

	c = exec.Command("npm", "uninstall", "--global", "--prefix", prefix, "--no-audit", "--no-fund",
		"--no-update-notifier", project.npm, npmName(host))
	c.Dir, c.Env = dir, append(os.Environ(), "npm_config_cache="+t.TempDir(), "npm_config_offline=true")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("npm: %v\n%s", err, out)
	}

	for path, content := range files(t, prefix) {
		if !strings.HasPrefix(content, "d") && filepath.Base(path) != ".package-lock.json" {
			t.Errorf("npm uninstall leaves %s", path)
		}
	}
}
