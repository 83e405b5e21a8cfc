package shell

import (
	"strings"
	"testing"
)

// TestReads says of each command whether it is known to only read. To say so of one that writes would be the
// worse mistake, so each way in which a program that reads can write is here.
func TestReads(t *testing.T) {
	dir := scratchDir(t)
	for _, c := range []struct {
		reads    bool
		commands []string
	}{
		{true, []string{
			"", "# nothing", "ls", "cat a.go | head -3", "cat $F", "ls > /dev/null 2>&1", "cat <<E\n$(ls)\nE",
			"x=1", "x=$(cat a.go)", "local x=1", "export A=b; ls",
			"cd sub && ls", "(cd sub; cat c.go)", "f() { ls; }; f", "if [ -f a.go ]; then cat a.go; fi",
			"for f in *; do wc -l \"$f\"; done", "case $x in a) ls;; esac",
			"((x++)); [[ -n $x ]]", "diff <(ls) <(ls sub)",
			"command ls; builtin pwd; chronic ls; strace ls; env LC_ALL=C ls; nice ls; timeout 5 cat a.go; time ls",
			"sudo ls /root", "eval ls", "bash -c 'ls | wc'",
			"bash <<< ls", "bash --version", "ls | xargs -n 1 cat",
			"find . -type f -name '*.go' -print0 | xargs -0 grep -n x", "find . -exec cat {} \\;",
			"find . -exec sh -c 'cat \"$1\"' _ {} \\;",
			"sed -n 1,5p a.go", "sed 's/a/b/g;s|x|y|' a.go", "sed -E 's/(a)/\\1/2p' a.go",
			"sed -n '/a\\/b/,$p' a.go", "sed '2,$!d; $!N; y/ab/cd/' a.go", "sed -n '/x/{p;q}' a.go",
			"sed --version",
			"awk '{print $2}' a.go", "awk -v n=1 'NR==n' a.go", "sort a.go", "uniq -c a.go", "tar tf x.tar",
			"unzip -l x.zip", "xxd a.go", "hostname", "tee /dev/null", "yq . a.go", "gzip -dc a.gz",
			"xz -l a.xz", "7z l a.7z",
			"git status", "git -C sub log", "git --no-pager diff", "GIT_PAGER=cat git log",
			"git -c core.pager=cat log", "git branch -r", "git tag", "git stash list", "git remote",
			"git config -l",
			"git config list", "git config --global user.name", "git apply --stat x",
			"git worktree list --porcelain", "git reflog show", "git symbolic-ref HEAD",
			"git hash-object a.go", "git clean -ndx", "git log --help",
			"go version", "go list -json ./...", "npm ls", "node --version", "docker compose ps",
			"gh pr diff 3", "tt state",
		}},
		{false, []string{
			"if", "$CMD", "unknown", "./ls", "bin/cat a.go", "echo > a.go", "echo > $F", "echo > {a,b}",
			"cat a.go &> log", "exec 3<> a.go", "x=$(rm a.go)", "y=1; . ./env.sh", "trap 'rm a.go' EXIT",
			"alias ls=rm; ls", "PATH=/tmp:$PATH ls", "export PATH=x; ls", "LD_PRELOAD=x ls",
			"GIT_EXTERNAL_DIFF=x git diff", "PAGER=x git log", "GIT_TRACE=/tmp/x git status", "env PATH=x ls",
			"env -S 'rm a.go'", "sudo -i", "nohup ls", "time -o log ls", "eval $x", "bash -c \"$x\"",
			"bash script.sh", "cat a.sh | bash", "bash", "git log | sh", "cat x | bash -s", "flock l ls",
			"script -c ls", "strace -o x ls", "ls | xargs rm", "ls | xargs -I{} sh -c '{}'",
			"ls | xargs $CMD",
			"find . -delete", "find . -exec rm {} \\;", "find . -fprint out", "find . -exec $CMD {} \\;",
			"find . -execdir touch {} +", "f() { rm a.go; }; f",
			"sed -i s/a/b/ a.go", "sed 's/a/b/w out' a.go", "sed 'w out' a.go", "sed s/a/b/e a.go",
			"sed 1e a.go", "sed -n '/x/w out' a.go", "sed -f x.sed a.go", "sed \"$x\" a.go",
			"sed -e p -e 'w out' a.go",
			"sed -n 'p;w out' a.go", "sed '1{p;w out\n}' a.go", "sed 'a\\\nx' a.go",
			"awk '{print > \"x\"}' a.go", "awk '{print | \"sh\"}' a.go", "awk 'BEGIN{system(\"rm a\")}'",
			"awk '{\"cmd\" | getline}'", "awk -f x.awk a.go",
			"awk -i inplace 1 a.go", "awk -l filefuncs 1 a.go", "awk \"$x\" a.go", "sort -o a.go a.go",
			"sort --output=a.go a.go", "uniq a.go b.go", "xxd -r a.go b.go", "xxd a.go b.txt", "tree -o out",
			"date -s now", "hostname new",
			"tar xf x.tar", "tar cf x.tar sub", "gzip a.go", "zstd a.go", "7z x a.7z", "trash a.go",
			"rmdir x", "rename a b", "sd a b a.go", "ruby -e x", "ed a.go", "gsed -i p a.go",
			"tar -tf x.tar --to-command=sh", "unzip x.zip", "tee a.go", "yq -i . a.go", "fd -x rm",
			"fd x --exec rm", "rg --pre ./x a", "file -C", "less -o log a.go", "man -P ./x ls",
			"curl -o x http://a/b", "curl http://a/b", "wget http://a/b", "touch a.go", "chmod +x a.go",
			"mkdir x", "perl -ne print a.go", "python3 -c 1", "make -n", "go test ./...", "go build",
			"go vet -fix ./...", "go vet -vettool=./x ./...",
			"go env -w A=b", "go list -mod=mod ./...", "go list -toolexec=./x ./...", "npm test",
			"npm --prefix x ci", "docker run x", "gh pr checkout 3", "gh pr", "kubectl apply -f x",
			"prettier --check .", "npx tsc --version",
			"git add a.go", "git commit", "git fetch", "git push", "git checkout a.go", "git stash",
			"git stash create", "git branch x", "git branch -d x", "git tag v1", "git remote add a b",
			"git remote prune a", "git config user.name x", "git config --unset a.b",
			"git config set a.b c", "git diff --output=x", "git diff --outpu x", "git log --ext-diff",
			"git grep -Oless x", "git grep --open-files=./x y", "git -c core.fsmonitor=./x status",
			"git -c alias.x=!rm x", "git -c diff.external=rm diff",
			"git --exec-path=/tmp status", "git archive -o x HEAD", "git archive --output=x HEAD",
			"git ls-remote --upload-pack=./x .", "git reflog expire --all", "git apply --stat --apply x",
			"git symbolic-ref HEAD refs/heads/x", "git hash-object -w a.go",
			"git worktree prune", "git submodule update", "git notes add", "git bisect run x",
			"git bundle create x HEAD", "git $x", "git unknown", "git gc", "git fsck --lost-found",
			"git difftool", "git rerere", "git clean -f", "git clean -d",
		}},
	} {
		for _, command := range c.commands {
			if got := Edits(command, dir, Env{}).Reads; got != c.reads {
				t.Errorf("%s: reads is %v", command, got)
			}
		}
	}

	if long := "ls " + strings.Repeat("a ", maxCommand); Edits(long, dir, Env{}).Reads {
		t.Error("a command that is too long to be looked at is said to only read")
	}
}

// TestFormatters tells which files programs that rewrite files would write.
func TestFormatters(t *testing.T) {
	check(t, []row{
		{"gofmt -w a.go b.go; gofmt -l .; gofmt -d sub", "a.go b.go"},
		{"gofmt -s -w=true ./sub; gofmt -w=false a.go; gofumpt -lang go1.20 -w .", "sub ./"},
		{"goimports -local x/y -w a.go", "a.go"},
		{"go fmt; go fmt ./...; go fmt ./sub/...; go fmt -n ./...", "./ sub"},
		{"go tool gofumpt -w sub; go tool -modfile=x.mod gofumpt -w a.go; go tool cover -func=x", "sub a.go"},
		{"go run mvdan.cc/gofumpt@latest -w b.go; go run ./cmd -w a.go", "b.go"},
		{"prettier --write a.go 'sub/**/*.ts' && prettier --check .", "a.go sub"},
		{"npx prettier@3 -w README.md; npx --yes prettier --write sub; bunx prettier b.go", "README.md sub"},
		{
			"pnpm dlx prettier -w a.go; pnpm exec eslint --fix sub; yarn prettier -w b.go; npm exec -- prettier --write README.md",
			"a.go sub b.go README.md",
		},
		{"eslint --fix; eslint sub; eslint -c x.js --fix --ext .ts sub", "./ sub"},
		{"biome format; npx @biomejs/biome@2 check --write sub; biome lint a.go", "sub"},
		{"black sub a.go; black --check b.go; black -l 100 b.go; black -", "sub a.go b.go"},
		{"ruff format; ruff check .; ruff check --fix sub; ruff check --fix --diff b.go", "./ sub"},
		{"python -m black a.go; python3 -m pytest; uv run ruff format sub; poetry run isort b.go", "a.go sub b.go"},
		{"cargo fmt --check; cargo fmt -- --check; rustfmt a.go; rustfmt --check b.go", "a.go"},
		{"cargo fmt", "./"},
		{"clang-format -i a.go; clang-format --style=file b.go; clang-format -style=file -i b.go", "a.go b.go"},
		{"shfmt -i 2 -w a.go; shfmt -d b.go", "a.go"},
		{"terraform fmt -check; cd sub && terraform fmt", "sub/"},
		{"rubocop -a a.go; bundle exec rubocop b.go; bundle exec rubocop -A b.go", "a.go b.go"},
		{"gofmt -w $(git diff --name-only); prettier --write \"$F\"", ""},
		{"git diff --name-only | xargs gofmt -w", "./"},
	})
}

// TestFileCommands are the programs that change files which bash can't show here, because they need an
// archive, a network or another program.
func TestFileCommands(t *testing.T) {
	check(t, []row{
		{"touch a.go new; touch -r a.go b.go; touch -c -d yesterday README.md", "a.go new b.go README.md"},
		{
			"truncate -s 0 a.go; truncate --size=1 b.go; dd if=a.go of=new bs=1; dd if=x of=$Y; dd of=/dev/null",
			"a.go b.go new",
		},
		{"ln -s a.go link; ln -sf a.go b.go sub; ln -s ../a.go", "link sub/a.go sub/b.go a.go"},
		{"install -m 644 a.go sub; install -d x y; install -D a.go new/b", "sub/a.go new/b"},
		{"rsync -a sub/ app; rsync -n a.go b.go; rsync a.go host:x; rsync -a host:x/ sub", "app sub"},
		{"rsync -a --remove-source-files a.go b.go sub", "a.go b.go sub"},
		{"patch < x.diff", "./"},
		{"patch -R a.go x.diff; patch -o new < x; patch -d sub < x; patch --dry-run < x", "a.go new sub/"},
		{
			"patch -p1 <<'E'\n--- a/a.go\n+++ b/a.go\n@@\n--- a/x\n+++ b/sub/c.go\t2026-01-01\n--- a/gone\n+++ /dev/null\nE",
			"a.go sub/c.go",
		},
		{"unlink a.go; shred -u b.go; shred -n 3 README.md", "a.go b.go README.md"},
		{
			"curl -o a.go http://x/y; curl -sSLo b.go http://x/y; curl --output=sub/c.go http://x; curl -o - http://x/y",
			"a.go b.go sub/c.go",
		},
		{
			"curl -O 'http://x/y/f.txt?q=1'; curl -LO http://x/; curl --output-dir sub -O http://x/g; curl -d @a.go http://x/h",
			"f.txt sub/g",
		},
		{"curl -c jar -D heads http://x", "jar heads"},
		{
			"wget http://x/y/f.txt; wget -O a.go http://x/z; wget -qO- http://x/z; wget -P sub http://x/g; wget -o log --spider http://x/h",
			"f.txt a.go sub/g log",
		},
		{"tar xf x.tar", "./"},
		{
			"tar xzf x.tgz -C sub; tar -xf x.tar a.go sub/c.go; tar --extract --file=x.tar --directory=app",
			"sub/ a.go sub/c.go app/",
		},
		{
			"tar tf x.tar; tar czf new.tgz sub; tar -cf - sub; tar xOf x.tar a.go; tar -xf x.tar --strip-components=1 -C sub y",
			"new.tgz sub/",
		},
		{"unzip x.zip -d sub; unzip -l x.zip; unzip -p x.zip a.go; unzip -o x.zip a.go", "sub/ a.go"},
		{"find sub -name '*.go' -delete", "sub"},
		{"find . sub -exec sed -i s/a/b/ {} +", "sub ./"},
		{"find sub -type f -exec mv {} app \\;", "sub app"},
		{"find sub -execdir rm {} +; find $x -delete; find sub -fprint list -fprintf list2 %p", "sub list list2"},
		{"find sub -exec sh -c 'rm x' \\; -exec cp {} app/ \\;", "x app"},
		{"find sub | xargs sed -i s/a/b/; grep -l x app/* | xargs -I F cp F sub; ls | xargs touch", "sub ./"},
		{"find /tmp/x -name y | grep z | xargs rm", "/tmp/x"},
		{"ls | xargs -I F sh -c 'rm F'; ls | xargs", ""},
		{
			"awk -i inplace '{print}' a.go b.go; awk -i inplace -f x.awk README.md; gawk -i inplace -v x=1 1 sub/c.go; awk 1 a.go",
			"a.go b.go README.md sub/c.go",
		},
		{
			"sort -o a.go b.go; uniq a.go b.go; yq -i .x README.md; sponge sub/c.go; dos2unix sub/d.txt",
			"a.go b.go README.md sub/c.go sub/d.txt",
		},
		{
			"git diff --output=new; git archive -o x.tar HEAD; git bundle create y.bundle HEAD; git merge-file a.go b.go README.md",
			"new x.tar y.bundle a.go",
		},
		{"git worktree remove -f sub", "sub"},
		{
			"gsed -i s/a/b/ a.go; gsed -n 1p b.go; sd a b a.go README.md; sd a b; sd -p a b sub/c.go; ruby -i.bak -pe 'x' b.go; ruby x.rb sub/c.go",
			"a.go README.md b.go",
		},
		{
			"gzip a.go; gzip -k9 b.go; gunzip x.gz; gzip -dc sub/y.gz; gzip -l y.gz; gzip < b.go; gzip -d sub/z.gz",
			"a.go a.go.gz b.go.gz x.gz x sub/z.gz sub/z",
		},
		{
			"xz -T0 a.go; unxz -k x.xz; bzip2 -f b.go; bunzip2 y.bz2; xz -t sub/z.xz",
			"a.go a.go.xz x b.go b.go.bz2 y.bz2 y",
		},
		{
			"zstd a.go; zstd --rm b.go; zstd -d x.zst; zstd -o out sub/c.go; zstd -dc z.zst; gzip -r sub",
			"a.go.zst b.go b.go.zst x out sub",
		},
		{"7z x x.7z; 7z l x.7z; cd sub && 7z a new.7z c.go", "./ sub/new.7z"},
		{"7z x x.zip -oapp; 7za e y.7z -osub c.go d.go", "app/ sub/"},
		{"rename 's/go/c/' *.go; rename .md .txt README.md; rename -n x y sub", "a.go b.go README.md"},
		{"trash a.go sub; trash-put -f b.go; rmdir -p app", "a.go sub b.go app"},
		{"ed -s a.go <<< w; ex -sc '%s/a/b/|x' b.go; ed", "a.go b.go"},
	})
}
