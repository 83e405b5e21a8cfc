package shell

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// scratchDir makes a directory with some files in it.
func scratchDir(t testing.TB) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	for _, f := range []string{
		"a.go", "b.go", ".hidden.go", "README.md", "x y.txt", "app/[id]/page.tsx", "sub/c.go", "sub/d.txt",
		"a+b[1].c",
	} {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

// tree stands in the tables for a change of any file: "tree" where the command is, "tree sub" below.
const tree = "tree"

type row struct {
	command string
	want    string // what changes, with spaces between: files, then trees
}

func check(t *testing.T, rows []row) {
	t.Helper()
	dir := scratchDir(t)
	for _, r := range rows {
		c := Edits(r.command, dir, Env{Home: "/home/ann"})
		var got []string
		for _, p := range c.Paths {
			name := strings.TrimPrefix(strings.Replace(p, dir, ".", 1), "./")
			if name == "" {
				name = "./"
			}
			got = append(got, name)
		}

		for _, p := range c.Trees {
			got = append(got, strings.TrimSuffix(tree+":"+strings.TrimPrefix(strings.TrimPrefix(p, dir), "/"), ":"))
		}
		if diff := cmp.Diff(r.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s\n%s", r.command, diff)
		}
	}
}

func TestRedirections(t *testing.T) {
	check(t, []row{
		{"echo x > a.go", "a.go"},
		{"echo x >> a.go", "a.go"},
		{"echo x >| a.go", "a.go"},
		{"make &> log; make &>> log2", "log log2"},
		{"make >& log", "log"},
		{"make 2>&1", ""},
		{"make > log 2>&1 < in", "log"},
		{"make >&2 2>&-", ""},
		{"make > /dev/null 2> /dev/stderr", ""},
		{"echo x >/dev/shm/app/a.go; rm /dev/shm/app/b.go", "/dev/shm/app/a.go /dev/shm/app/b.go"},
		{"exec 3<> a.go", "a.go"},
		{"> a.go", "a.go"},
		{"echo x > 'x y.txt'", "x y.txt"},
		{`echo x > x\ y.txt`, "x y.txt"},
		{`echo x > "q.txt" > sub/../q2.txt`, "q.txt q2.txt"},
		{"echo x > /etc/motd", "/etc/motd"},
		{"echo x > $F; echo x > \"${F}/a\"; echo x > ~ann/a", ""},
		{"echo x > $(mktemp)", ""},
		{"echo '> a.go' \"> b.go\"  # > c.go", ""},
		{"cat <<EOF > a.go\n> b.go\nrm c.go\nEOF", "a.go"},
		{"cat > a.go <<'EOF'\n$(rm b.go)\nEOF", "a.go"},
		{"cat <<EOF\n$(rm b.go)\nEOF", "b.go"},
		{"{ echo 1; echo 2; } > a.go", "a.go"},
		{"for i in 1 2; do echo $i; done > a.go", "a.go"},
		{"cat a.go b.go < sub/c.go", ""},
		{"diff <(sort a.go) <(sort b.go)", ""},
		{"make | tee >(grep x > log)", "log"},
	})
}

func TestPrograms(t *testing.T) {
	check(t, []row{
		{"sed -i s/a/b/ a.go b.go", "a.go b.go"},
		{"sed -i.bak 's/a/b/' a.go", "a.go"},
		{"sed -i '' 's/a/b/' a.go", "a.go"},
		{"sed --in-place=.orig -e s/a/b/ -e s/c/d/ a.go", "a.go"},
		{"sed -n -i -f script.sed a.go", "a.go"},
		{"sed -Ei 's/a|b/c/' a.go", "a.go"},
		{"sed -ne '1,5p' a.go", ""},
		{"sed 's/a/b/' a.go > b.go", "b.go"},
		{"sed s/a/b/ a.go -i", "a.go"},
		{`sed -i "s/x/$Y/" a.go "$F"`, "a.go"},
		{"sed -i s/a/b/ *.go", "a.go b.go"},
		{"perl -pi -e 's/a/b/' a.go b.go", "a.go b.go"},
		{"perl -i.bak -pe 's/a/b/' a.go", "a.go"},
		{"perl -0777 -i -pe 's/a/b/s' a.go", "a.go"},
		{"perl -MFile::Spec -i -ne 'print' a.go", "a.go"},
		{"perl -ne 'print if /i/' a.go", ""},
		{"perl -i script.pl a.go", "a.go"},
		{"echo x | tee a.go", "a.go"},
		{"echo x | tee -a a.go b.go > /dev/null", "a.go b.go"},
		{"mv a.go z.go", "a.go z.go"},
		{"mv a.go b.go sub", "a.go sub/a.go b.go sub/b.go"},
		{"mv a.go sub", "a.go sub/a.go"},
		{"mv a.go new/", "a.go new/a.go"},
		{"mv -t sub a.go b.go", "a.go sub/a.go b.go sub/b.go"},
		{"mv --target-directory=sub a.go", "a.go sub/a.go"},
		{"mv -f -- a.go z.go", "a.go z.go"},
		{`mv "$x" z.go`, "z.go"},
		{"mv a.{go,txt}", "a.go a.txt"},
		{"cp a.go z.go", "z.go"},
		{"cp -r sub/* app", "app/c.go app/d.txt"},
		{"cp -a sub other", "other"},
		{"cp -a sub/. app; cp -r .. app", "app"},
		{"cp a.go b.go sub/", "sub/a.go sub/b.go"},
		{"cp -t sub a.go", "sub/a.go"},
		{"cp a.go /dev/null", ""},
		{"rm a.go", "a.go"},
		{"rm -rf sub -- -x", "sub -x"},
		{"rm *.go", "a.go b.go"},
		{"rm .*.go", ".hidden.go"},
		{"rm ?.go [!a].go", "a.go b.go"},
		{"rm */*.go", "sub/c.go"},
		{"rm '*.go'", "*.go"},
		{"rm *.none", ""},
		{`rm a+b\[1\].* a+b[1]*`, "a+b[1].c"},
		{"rm {a,b}.go {c,{d,e}}.x {1..3}", "a.go b.go c.x d.x e.x"},
		{`rm $x "$y" a$z`, ""},
		{`\rm a.go; /bin/rm b.go`, "a.go b.go"},
		{"mkdir x; chmod +x a.go; ls; cat a.go; rmdir y", "y"},
		{"python3 -c 'open(\"a.go\",\"w\")'; ./gen.sh; make", ""},
		{"find . -name '*.go' -exec rm {} +", "./"},
		{"ls | xargs rm -f", "./"},
		{
			"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.go\n*** Move to: sub/a.go\n@@\n-x\n+y\n*** Add File: n.go\n+*** Delete File: no\n*** End Patch\nEOF",
			"a.go sub/a.go n.go",
		},
		{"cd sub && apply_patch '*** Begin Patch\n*** Delete File: c.go\n*** End Patch'", "sub/c.go"},
	})
}

func TestGit(t *testing.T) {
	check(t, []row{
		{"git status; git diff > d.patch; git log; git add -A; git commit -am x; git push; git fetch", "d.patch"},
		{"git checkout -- a.go sub", "a.go sub"},
		{"git checkout main -- a.go", "a.go"},
		{"git checkout HEAD~1 a.go b.go", "a.go b.go"},
		{"git checkout a.go b.go", "a.go b.go"},
		{"git checkout .; rm -r ./", "./ ."}, // the one what lies in the directory, the other the directory
		{"cd sub && git restore .", "sub/"},
		{"cd sub && git clean -fdx ..", "./"},
		{"git restore sub", "sub"},
		{"git -C sub checkout -- .", "sub/"},
		{"cp -r sub/. .", "./"},
		{"git checkout main", tree},
		{"git checkout -f", tree},
		{"git checkout", ""},
		{"git checkout -b topic", tree},
		{"git checkout -B topic origin/main", tree},
		{"git checkout --orphan new", tree},
		{"git checkout -", tree},
		{`git checkout "$branch"`, tree},
		{"git checkout -- '*.go'", "./"},
		{"git checkout -- 'sub/*.go' ':/*.md'", tree},
		{"git checkout -- 'sub/*.go'", "sub"},
		{"git checkout -- 'app/[id]/page.tsx'", "app/[id]/page.tsx"},
		{"git switch main", tree},
		{"git switch -c topic", tree},
		{"git switch --help", ""},
		{"git branch -m other", tree},
		{"git branch --move a b", ""},
		{"git branch -d a", ""},
		{"git switch -c topic origin/main", tree},
		{"git restore a.go", "a.go"},
		{"git restore --staged a.go", ""},
		{"git restore -S -W a.go", "a.go"},
		{"git restore -s HEAD~2 -- a.go", "a.go"},
		{"git restore :/", tree},
		{"git reset", ""},
		{"git reset --soft HEAD^; git reset HEAD a.go; git reset --mixed", ""},
		{"git reset --hard origin/main", tree},
		{"git reset --keep HEAD^", tree},
		{"git stash", tree},
		{"git stash -u", tree},
		{"git stash push -m x -- a.go", "a.go"},
		{"git stash pop; git stash apply", tree},
		{"git stash list; git stash show -p; git stash drop", ""},
		{"git rm a.go", "a.go"},
		{"git rm --cached a.go", ""},
		{"git mv a.go sub", "a.go sub/a.go"},
		{"git clean -fd", "./"},
		{"git clean -n; git clean -nfd", ""},
		{"git clean; git clean -d", "./"},
		{"git clean -f sub", "sub"},
		{"git apply x.patch", tree},
		{"git apply --check x.patch; git apply --cached x.patch", ""},
		{"git merge topic", tree},
		{"git rebase -i main", tree},
		{"git cherry-pick abc", tree},
		{"git revert --no-edit abc", tree},
		{"git pull --rebase", tree},
		{"git am < x.mbox", tree},
		{"git -C sub reset --hard", tree + ":sub"},
		{"git -c core.pager=cat --no-pager -C sub checkout -- c.go", "sub/c.go"},
		{"git -C $D reset --hard; git -C app -C sub reset --hard; git -C sub -C .. stash", tree + ":app/sub " + tree},
		{"GIT_DIR=/x git reset --hard", "./"}, // the files are where it runs
		{"git --git-dir=/x -C sub reset --hard", "sub/"},
		{"git --git-dir=.git reset --hard; git --git-dir sub/.git --work-tree sub stash", tree + " " + tree + ":sub"},
		{"git --git-dir=/x --work-tree=sub checkout -- c.go", "sub/c.go"},
		{"git --work-tree sub reset --hard", "sub/"},
		{"export GIT_DIR=/x; git reset --hard; unset GIT_DIR; git -C sub reset --hard", "./ " + tree + ":sub"},
		{"GIT_DIR=/x; git reset --hard", tree}, // a variable of the shell alone
		{"GIT_DIR=$x git reset --hard; env GIT_DIR=$x git reset --hard; git --git-dir \"$x\" stash", ""},
		{"env GIT_DIR=.git GIT_WORK_TREE=. git reset --hard", tree},
		{"cd sub && git reset --hard && cd .. && git stash", tree + ":sub " + tree},
		{"git merge --help; git --help merge; git rebase --quit", ""},
	})
}

func TestWhereItRuns(t *testing.T) {
	check(t, []row{
		{"cd sub && rm c.go", "sub/c.go"},
		{"cd sub; rm c.go; cd ..; rm a.go", "sub/c.go a.go"},
		{"cd /tmp && rm x", "/tmp/x"},
		{"(cd sub && rm c.go); rm a.go", "sub/c.go a.go"},
		{"(cd sub; make) > log", "log"},
		{"cd sub > log", "log"},
		{"cd sub | rm a.go; rm b.go", "a.go b.go"},
		{"cd sub & rm a.go", "a.go"},
		{"x=$(cd sub; rm c.go); rm a.go", "sub/c.go a.go"},
		{"cd $x && rm a.go; rm /tmp/y", "/tmp/y"},
		{"cd && rm a.go", "/home/ann/a.go"},
		{"cd -; rm a.go", ""},
		{"cd sub || exit 1; rm c.go", "sub/c.go"},
		{"cd sub || cd app; rm c.go", ""},
		{"if [ -d sub ]; then cd sub; fi; rm c.go", ""},
		{"if true; then (cd sub; rm c.go); else rm a.go; fi; rm b.go", "sub/c.go a.go b.go"},
		{"if a; then rm a.go; elif b; then rm b.go; else rm c.go; fi", "a.go b.go c.go"},
		{"for f in *.go; do rm $f; rm README.md; done", "a.go README.md b.go"},
		{"while read x; do sed -i s/a/b/ a.go; done < list", "a.go"},
		{"until false; do rm a.go; done", "a.go"},
		{"case $1 in a) rm a.go;; *) rm b.go;; esac", "a.go b.go"},
		{"! rm a.go", "a.go"},
		{"time rm a.go", "a.go"},
		{"[[ -f a.go ]] && rm a.go || rm b.go", "a.go b.go"},
		{"bash -c 'rm a.go'", "a.go"},
		{`bash -lc "cd sub && rm c.go"; rm a.go`, "sub/c.go a.go"},
		{`sh -c "sh -c 'rm a.go'"`, "a.go"},
		{`bash -c "rm $x"; bash script.sh`, ""},
		{"bash <<'EOF'\nrm a.go\nEOF", "a.go"},
		{"bash -s <<< 'rm a.go'", "a.go"},
		{"eval 'rm a.go'; eval rm b.go", "a.go b.go"},
		{"env -i A=b rm a.go; env -C sub rm c.go", "a.go sub/c.go"},
		{"command rm a.go; command -v rm b.go", "a.go"},
		{"sudo -u ann rm a.go", "a.go"},
		{"chronic rm a.go; unbuffer -p rm b.go; setsid -w rm sub/c.go", "a.go b.go sub/c.go"},
		{"strace -f -e trace=file -o log rm a.go; strace rm b.go; ltrace -p 7", "log a.go b.go"},
		{
			"flock -w 5 /tmp/l rm a.go; flock -n /tmp/l -c 'cd sub; rm c.go'; flock /tmp/l; (flock -n 9; rm b.go) 9> /tmp/l",
			"a.go sub/c.go /tmp/l b.go",
		},
		{
			"script -qec 'rm a.go' /dev/null; script -q out rm b.go; script -c 'cd sub'; rm README.md",
			"a.go out b.go typescript README.md",
		},
		{"nohup nice -n 5 timeout -s KILL 10s rm a.go", "a.go"},
		{"LANG=C X=$(rm b.go) rm a.go", "b.go a.go"},
		{"f() { rm a.go; cd sub; }; f; rm c.go", "a.go sub/c.go"},
		{"f() { rm a.go; }; rm b.go", "b.go"},
		{"f() { f; f; }; f; rm() { :; }; rm a.go", ""},
		{"rm a.go; if", ""},
		{"rm a.go 'unclosed", ""},
		{"", ""},
		{"rm a\x00.go", "a.go"}, // a shell drops it, too,
	})
}

// TestNames tells what is changed by its name only from what is, or may be, written through a link.
func TestNames(t *testing.T) {
	for command, want := range map[string]string{
		"rm a; rm -rf sub": "a sub",
		"mv a b":           "a b",
		"git rm a; git checkout -- b; git mv c d": "a b c d",
		"git -C sub restore c":                    "sub/c",
		"sed -i s/x/y/ a":                         "a",
		"perl -pi -e s/x/y/ a":                    "a",
		"sed -i --follow-symlinks s/x/y/ a":       "",
		"cp a b; echo > c; tee d":                 "",
		"rm a; echo > a":                          "",
		"git rebase -x 'echo > a' main; git bisect run tee b; git submodule foreach 'echo > c'": "",
		"echo > a; rm a; rm b": "b",
		"rm a > b":             "a",
		"bash -c 'rm a'; apply_patch '*** Delete File: b'": "a",
	} {
		if got := strings.Join(Edits(command, "", Env{}).Names, " "); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}

// TestWithoutADirectory names files as the command does where it isn't known where it runs.
func TestWithoutADirectory(t *testing.T) {
	got := Edits("rm ./a.go; cd sub; rm /b; git reset --hard; mv c d", "", Env{})
	want := Changes{
		Paths: []string{"a.go", "/b", "sub/c", "sub/d"}, Names: []string{"a.go", "/b", "sub/c", "sub/d"},
		Trees: []string{"sub"}, End: "sub",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Edits("git stash", "", Env{}); len(got.Trees) != 1 || got.Trees[0] != "." {
		t.Errorf("%+v", got)
	}
}

// TestEnd tells where a shell is when the command is over.
func TestEnd(t *testing.T) {
	for command, want := range map[string]string{
		"": "/w", "rm a": "/w", "cd a; cd b": "/w/a/b", "cd a && cd ..": "/w", "cd /x && make": "/x",
		"(cd a)": "/w", "cd $x": "", "cd a || cd b": "",
		"if": "/w",
	} {
		if got := Edits(command, "/w", Env{}).End; got != want {
			t.Errorf("%s: %q", command, got)
		}
	}
}

// hostile are commands that cost a parser or a walk without limits much.
func hostile() []string {
	const n = 1 << 20
	var all []string
	for _, head := range []string{"", "echo ", "rm ", "[[ ", "(( ", "echo \""} {
		for _, s := range []string{
			"(", "{ ", "$(", "${a:-", `"$(`, "if ", "while ", "! ", "a&&", "a|", "a;", "a>b ", "a=", "a?",
			"~", "time ", "f() ", "`", "\\`",
			"$((", "a=(", "case a in a) ", "{a,", "{", "{a,b}", "<<a ", "x\n", "*/", "/*", "*a", "[", "a ",
			"eval ", "@(", "$[", "a[", "'a' ", ">(", "a || ",
		} {
			for _, size := range []int{n, maxCommand - 20, maxDepth / 2} {
				all = append(all, head+strings.Repeat(s, size/len(s)))
			}
		}
	}

	return append(all,
		"f(){ f; f; }; f", "f(){ g;g;}; g(){ f;f;}; f", "f(){ eval '"+strings.Repeat("rm a;", 10000)+"'; f; }; f",
		"f(){ eval f; }; f", "bash -c "+strings.Repeat("'a", 1000), "rm /*/*/*/*/*/*/*/*", "rm "+strings.Repeat("*a", 5000), "rm "+strings.Repeat("/*/*/*/* ", 5000))
}

// TestHostile answers in time whatever a command looks like. It counts the time of processors, because on a
// busy machine a bounded answer takes long, too.
func TestHostile(t *testing.T) {
	for _, c := range hostile() {
		start := processorTime(t)
		got := Edits(c, "/usr", Env{})

		// The limit is 50 ms. A hundred times that means that a bound is missing, and not that the machine is
		// slow or that the race detector looks on.
		if d := processorTime(t) - start; d > 5*time.Second {
			t.Errorf("%.40q (%d bytes) takes %v", c, len(c), d)
		}
		if len(got.Paths) > maxPaths {
			t.Errorf("%.40q has %d paths", c, len(got.Paths))
		}
	}
}

// TestAliases: an alias is looked up for what git doesn't know, a bounded number of times, where the command
// runs.
func TestAliases(t *testing.T) {
	var asked []string
	alias := func(dir, name string) string {
		asked = append(asked, filepath.Base(dir)+":"+name)
		return map[string]string{
			"undo": "reset --hard", "a": "b", "b": "a", "in": "-C sub undo", "sh": "!git clean -f &&",
			"quoted": `checkout -- 'a b' c\ d "e"`,
		}[name]
	}

	dir := scratchDir(t)
	for command, want := range map[string]string{
		"git undo HEAD": "takes MSP",
		"git config set --local alias.new 'clean -f'; git new; git config --unset alias.new; git config -f x alias.old stash; git old": "takes U ./",
		"cd sub; git undo":    "takes MSP in sub",
		"git in":              "takes MSP in sub",
		"git quoted":          "takes M a b c d e",
		"git sh git checkout": "takes U ./",
		"git reset; git none": "takes P",
		"git a; git a; git b": "",
	} {
		asked = nil
		if got := showActs(Edits(command, dir, Env{Alias: alias}).Acts, dir); got != want {
			t.Errorf("%s: %s", command, got)
		}
		if len(asked) == 0 || len(asked) > maxAliases {
			t.Errorf("%s asks for %v", command, asked)
		}
	}

	asked = nil
	Edits(strings.Repeat("git a;", maxAliases+1), dir, Env{Alias: alias})
	if len(asked) != maxAliases {
		t.Errorf("asks %d times", len(asked))
	}
}

// TestForms: an act names its command as it was written, within bounds.
func TestForms(t *testing.T) {
	dir := scratchDir(t)
	for command, want := range map[string]string{
		"git -C sub --no-pager  reset   --hard HEAD~1": "git reset --hard HEAD~1",
		"rm -rf *.go":                              "rm -rf a.go b.go",
		"rm \"x y.txt\"":                           "rm 'x y.txt'",
		"git checkout $F -- a.go":                  "git checkout … -- a.go",
		"sudo rm a.go":                             "rm a.go",
		"git checkout -- 'a\tb\nc'":                "git checkout -- 'a b c'",
		"git stash -m " + strings.Repeat("é", 100): "git stash -m " + strings.Repeat("é", maxForm-14) + "…",
	} {
		acts := Edits(command, dir, Env{}).Acts
		if len(acts) == 0 || acts[0].Form != want {
			t.Errorf("%s: %+v", command, acts)
		}
	}

	many := Edits(strings.Repeat("git checkout -- a.go;", 3)+"for i in 1; do rm a.go; done; rm a.go", dir, Env{}).Acts
	if len(many) != 2 {
		t.Errorf("the same acts, again and again: %+v", many)
	}
}

// TestActsWithoutADirectory: where it isn't known where a command runs, only what lies at whole paths is
// told.
func TestActsWithoutADirectory(t *testing.T) {
	dir := scratchDir(t)
	c := Edits(
		"git reset --hard; rm a.go; cd sub; git checkout .; rm "+dir+"/a.go; git -C "+dir+" stash; git branch -D x",
		"", Env{},
	)
	if got, want := showActs(c.Acts, dir), "takes MUI a.go; takes MSP"; got != want {
		t.Error(got)
	}
}

// TestABranchLikeAFile: a word that names a branch and a file is the branch, as it is to git.
func TestABranchLikeAFile(t *testing.T) {
	dir := scratchDir(t)
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/info": "",
		".git/worktrees/linked/HEAD": "ref: refs/heads/linked\n",
		".git/refs/heads/sub":        "x", ".git/refs/heads/team/b.go": "x",
		".git/packed-refs":                "# pack-refs\nabc refs/heads/README.md\n",
		"linked/.git":                     "gitdir: ../.git/worktrees/linked\n",
		".git/worktrees/linked/commondir": "../..\n", "linked/sub": "", "linked/a": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	for command, want := range map[string]string{
		"git checkout sub": "moves I", "git checkout README.md": "moves I",
		"git checkout a.go": "takes M a.go", "git checkout team": "moves I",
		"git checkout -- sub":   "takes M sub",
		"git checkout sub a.go": "takes M sub a.go", "git checkout sub --": "moves I",
		"cd sub; git checkout c.go":  "takes M in sub sub/c.go",
		"git -C linked checkout sub": "moves I in linked",
		"git -C linked checkout a":   "takes M in linked linked/a", "git checkout ../x": "takes M ../x",
	} {
		if got := showActs(Edits(command, dir, Env{}).Acts, dir); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}

// TestTheEndOfAText is read however late it is.
func TestTheEndOfAText(t *testing.T) {
	h := &timedReader{Reader: strings.NewReader("ls"), until: time.Unix(0, 0)}
	if b, err := io.ReadAll(h); string(b) != "ls" || err != nil {
		t.Errorf("%q, %v", b, err)
	}

	h = &timedReader{Reader: strings.NewReader(strings.Repeat("x", 4096)), until: time.Unix(0, 0)}
	if _, err := io.ReadAll(h); err == nil {
		t.Error("a long text that takes too long is read to its end")
	}
}

// FuzzShellEdits never panics, and what it claims are clean paths, each once.
func FuzzShellEdits(f *testing.F) {
	for _, c := range hostile() {
		if len(c) <= 1000 {
			f.Add(c)
		}
	}

	for _, c := range []string{
		"cd sub && sed -i s/a/b/ *.go > log", "git -C x checkout -- a b", "bash -lc 'rm {a,b}'",
		"mv -t d a b", "cat <<'E' >f\nx\nE\n",
		"apply_patch <<E\n*** Add File: x\nE", "f() { rm a; }; f", "perl -pi.bak -e x a", "env A=b sudo rm x",
		"if a; then cd b; fi; rm c", "rm \x00", "rm -", "rm --=",
		"git checkout .", "git -C a -c b=c --git-dir d --work-tree=e reset --hard",
		"find a -name b -exec rm {} + -delete", "ls | xargs -I F mv F a", "git x; git -C . x", "rm a a a.go",
		"git branch -D a; git fetch . +a:b; git stash drop 1", "tar xf a -C b; curl -O c/d; wget -P e f/g",
		"npx a@1 -w; gofmt -w ./...", "sed -n '1,2p;s/a/b/g' c; awk 1 d", "GIT_DIR=a git clean -fdx",
		"git worktree remove a; git submodule foreach 'git reset --hard'",
		"f=a; for g in $f b*; do rm \"$g\"; done", "f() { local x=$1; shift; rm $x \"$@\"; }; f a b",
		"shopt -s expand_aliases\nalias x='rm a'\nx b",
		"git config alias.x 'rm -f'; git x a; set -- a; export A=$1; sh -c 'rm $A'",
		"export GIT_WORK_TREE=/; git rm -rf .",
	} {
		f.Add(c)
	}

	dir := scratchDir(f)
	f.Fuzz(func(t *testing.T, command string) {
		got := Edits(command, dir, Env{Home: "/h", Alias: func(_, name string) string { return name }})
		lists := [][]string{got.Paths, got.Trees}
		for _, a := range got.Acts {
			lists = append(lists, []string{a.Dir}, a.Paths)
			if a.Kind == "" ||
				a.Form == "" ||
				utf8.RuneCountInString(a.Form) > maxForm ||
				!utf8.ValidString(a.Form) ||
				got.Reads {
				t.Fatalf("%q does %+v", command, a)
			}
		}

		for _, paths := range lists {
			seen := map[string]bool{}
			for _, p := range paths {
				if !filepath.IsAbs(p) ||
					filepath.Clean(p) != strings.TrimSuffix(p, "/") && p != "/" ||
					strings.ContainsRune(p, 0) ||
					seen[p] {
					t.Fatalf("%q claims %q", command, paths)
				}
				seen[p] = true
			}
		}
	})
}
