package shell

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/testenv"
)

// asInBash are commands that change files in ways of their own.
var asInBash = []string{
	"echo x > a.go", "echo x >> sub/../a.go 2>&1", "ls nothing >& log", "> 'n w'", "cat <<E > new\n$(rm b.go)\nE",
	"{ echo 1; } > log; (echo 2) >> log", "echo x > {a,b}.go || true", "true &> log",
	"for i in 1 2; do echo $i; done > log",
	"sed -i s/x/y/ *.go", "sed -i.bak s/x/y/ sub/c.go && rm sub/c.go.bak", "sed -Ei 's/(x)/y/' a.go b.go",
	"sed s/x/y/ a.go -i", "sed -ne 1p a.go",
	"sed -n -i -e p -- a.go", "echo x | tee -a a.go b.go > /dev/null", "echo x | tee >(cat > log) > /dev/null",
	"mv a.go sub", "mv a.go b.go sub", "mv -t sub a.go", "mv -f -- a.go z.go", "mv a.{go,txt}",
	"mv sub/c.go .", "mv -T a.go b.go",
	"cp a.go z.go", "cp sub/* .", "cp a.go b.go sub/", "cp -t sub a.go", "cp --target-directory sub a.go",
	"cp -r sub other",
	"rm *.go", "rm .*.go", "rm [!a].go", "rm [a-b].go", "rm */*.go", "rm -rf sub", "rm '*.go'",
	"rm -f *.none", `rm a+b\[1\].*`, "rm x\\ y.txt", "rm \"x y.txt\"",
	"rm {a,b}.go", "rm ./a.go", "rm app/*/*.tsx", "\\rm a.go", "rm \"$PWD\"/none; rm a.go",
	"rm \"$PWD\"/a.go $PWD/sub/c.go `pwd`/b.go", "cd sub; cd - > /dev/null; rm a.go",
	"cd ~; rm a.go ~/b.go $HOME/sub/c.go", "cd sub; rm ~+/c.go ~-/a.go $OLDPWD/b.go",
	"rm $(cd sub && pwd)/c.go", "HOME=$PWD/sub; rm ~/c.go", "HOME=none rm ~/a.go", "cd sub; cd; rm a.go",
	"cd sub && rm c.go; cd ..; rm a.go", "(cd sub && rm c.go); rm a.go", "cd sub > log; rm c.go",
	"cd sub | rm a.go; rm b.go", "cd sub & rm a.go; wait",
	"cd none || cd sub || exit; rm -f /none/c.go", "cd none 2> /dev/null || rm a.go", "pushd sub > /dev/null; rm c.go",
	"bash -c 'rm a.go'", "bash -c 'cd sub; rm c.go'; rm a.go", "bash <<'EOF'\nrm a.go\nEOF", "eval 'rm a.go'",
	"env A=b rm a.go", "env -C sub rm c.go", "command rm a.go",
	"nohup nice -n 1 timeout 10 rm a.go", "f() { rm a.go; cd sub; }; f; rm c.go", "rm() { :; }; rm a.go",
	"echo 'rm a.go' \"> b.go\" # > c.go", "x=$(rm a.go)",
	"touch a.go new", "truncate -s 3 a.go", "dd if=a.go of=new status=none", "ln -s a.go link",
	"ln -sf ../a.go sub", "install -m 600 a.go sub", "install -D a.go x/y",
	"tar cf t.tar a.go && tar xf t.tar -C sub a.go", "find sub -name c.go -delete",
	"find . -name 'a.*' -exec rm {} +", "find sub -type f -execdir rm {} \\;",
	"find sub -type f | xargs rm", "ls *.go | xargs sed -i s/x/y/", "ls a.go | xargs -I F mv F sub",
	"shred -u a.go", "gzip a.go", "gzip -k a.go sub/c.go", "gzip -c a.go > b.go", "unlink a.go",
	"sort -o b.go a.go", "perl -0pi -e 's/x/y/' a.go", "perl -lpi -e 1 a.go",
	"printf -- '--- a.go\n+++ a.go\n@@ -0,0 +1 @@\n+x\n' > p; patch -p0 a.go p",
	"f=a.go; rm $f", "f=a.go; rm -f ${f} \"$f\".none \"b\".go", "f=a; rm \"$f\".go $f.none",
	"f='a.go b.go'; rm $f", "f='a.go b.go'; rm \"$f\"", "f='*.go'; rm $f", "f='*.go'; rm \"$f\"",
	"d=sub; rm $d/*.go",
	"for f in *.go; do rm \"$f\"; done", "for d in sub app; do rm -rf $d; done",
	"for d in sub none; do cd $d && rm c.go; done; rm a.go",
	"for d in */; do (cd \"$d\" && rm -f c.go a.go); done",
	"for f in a b; do mv $f.go ${f}.txt; done; rm $f.txt",
	"for i in 1 2 3; do for f in a.go b.go; do echo $i > $f; done; done", "set -- a.go b.go; rm \"$@\"",
	"set -e; set -- a.go b.go 'x y.txt'; shift; for f; do rm \"$f\"; done", "set -- a.go b.go; rm $2",
	"set -- 'x y.txt'; rm $*",
	"del() { local f=$1; rm \"$f\"; }; f=b.go; del a.go; rm $f",
	"del() { shift; rm \"$@\"; }; del a.go b.go 'x y.txt'", "x=(a.go 'x y.txt'); rm \"${x[@]}\"",
	"x=(a.go b.go); rm $x",
	"f=a.go; bash -c 'rm -f $f'", "export f=a.go; bash -c 'rm -f $f'", "f=a.go bash -c 'rm $f'; rm b.go",
	"f=a.go; export f; bash -c 'rm $f'", "f=a.go; f=b.go rm $f", "bash -c 'rm \"$1\" $0' b.go 'x y.txt'",
	"declare -x f=a.go; sh -c 'rm $f'",
	"f=a.go; (f=b.go); rm $f", "f=a.go; unset f; rm $f b.go", "f=a.go; f=$f; g=${f}; rm $g",
	"f=a.go; echo $f | while read f; do :; done; rm $f", "IFS=, read -r x < a.go; f='a.go b.go'; rm $f",
	"f='a.go b.go'; eval \"rm $f\"",
	"if true; then f=a.go; else f=a.go; fi; rm $f", "f=a.go; case x in y) f=a.go;; esac; rm $f",
	"x='rm a.go'; $x", "x='rm a.go'; \"$x\"; rm b.go",
	"shopt -s expand_aliases\nalias nuke='rm a.go'\nnuke 'x y.txt'",
	"shopt -s expand_aliases; alias nuke='rm a.go'; nuke; rm b.go", "alias nuke='rm a.go'\nnuke; rm b.go",
	"sh -c \"alias nuke='rm a.go'\nnuke b.go\"",
	"shopt -s expand_aliases\nalias rm='rm -f' del=rm\n{ unalias rm\ndel a.go; }\n\\del b.go; rm 'x y.txt'",
	"nuke() { rm a.go; }; nuke",
	"time rm a.go", "! rm a.go", "[[ -f a.go ]] && rm a.go", "while true; do rm a.go; break; done",
	"until rm a.go; do :; done", "case x in x) rm a.go;; esac",
}

// TestAsBashDoes runs commands in bash: what it then finds changed is just what was told before.
func TestAsBashDoes(t *testing.T) {
	_, patchErr := exec.LookPath("patch") // which not every system has beside git
	commands := testenv.Some(t, testenv.Every, "commands", asInBash, func(_ int, command string) bool {
		return patchErr == nil || !strings.Contains(command, "patch -p0")
	})
	for _, command := range commands {
		dir := scratchDir(t)
		before := snapshot(t, dir, true)
		claimed := Edits(command, dir, Env{Home: dir})
		c := exec.Command("bash", "-c", command)
		c.Dir, c.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
		out, err := c.CombinedOutput()
		after := snapshot(t, dir, false)
		changed := map[string]bool{}
		for path := range maps.All(before) {
			changed[path] = before[path] != after[path]
		}
		for path := range maps.All(after) {
			changed[path] = before[path] != after[path]
		}
		maps.DeleteFunc(changed, func(_ string, yes bool) bool { return !yes })

		told := map[string]bool{}
		for _, p := range claimed.Paths {
			inside := false
			for path := range changed {
				if path == p || strings.HasPrefix(path, strings.TrimSuffix(p, "/")+"/") {
					told[path], inside = true, true
				}
			}

			if !inside && pathExists(p) {
				told[p] = true
			}
		}

		if diff := cmp.Diff(slices.Sorted(maps.Keys(changed)), slices.Sorted(maps.Keys(told))); diff != "" {
			t.Errorf("%s (%v, %s):\n-changed +told\n%s", command, err, out, diff)
		}
	}
}

// TestANamedPipe: a pattern that would look into a named pipe doesn't wait for somebody to write to it.
func TestANamedPipe(t *testing.T) {
	dir := scratchDir(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Edits("rm */*.go", dir, Env{}).Paths; len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// snapshot says of each file what would be another after a change. Old files can't be taken for just
// changed ones.
func snapshot(t *testing.T, dir string, age bool) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}

		if age {
			old := time.Unix(1e9, 0)
			if err := os.Chtimes(path, old, old); err != nil {
				return err
			}
		}

		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		files[path] = fmt.Sprint(info.Size(), info.ModTime().UnixNano(), info.Sys().(*syscall.Stat_t).Ino)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return files
}
