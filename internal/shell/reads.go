package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// readers are programs that only read, whatever their arguments are.
var readers = sync.OnceValue(func() map[string]bool {
	return words(`
	[ ack ag apropos arch b2sum base32 base64 basename bat batcat break bzcat cal cat cksum clear cloc cmp column comm continue cut date df diff
	dirname du echo egrep exa exit expand expr eza factor false fd fdfind fgrep file fmt fold free getconf getent grep groups hash head hexdump history
	hostname id info join jobs jq last less let local lsb_release lscpu logname ls lsblk lsof man md5sum more nl nm nproc numfmt objdump od paste
	pgrep pidof pr printenv printf ps pwd read readelf readlink realpath return rev rg scc seq set sha1sum sha224sum sha256sum sha384sum sha512sum
	shift size sleep ss stat strings sum tac tail test tokei tput tr tree true tsort tt tty type umask uname unexpand uptime users wait wc whatis
	whereis which who whoami xxd xzcat yes zcat zgrep zstdcat :`)
})

// verbs are the subcommands with which some programs only read.
var verbs = sync.OnceValue(func() map[string]map[string]bool {
	return map[string]map[string]bool{
		"go":             words("version doc help list vet env"),
		"go mod":         words("graph why verify"),
		"npm":            words("ls list ll view info show outdated explain why root prefix whoami help"),
		"pnpm":           words("ls list why outdated"),
		"yarn":           words("list why info"),
		"pip":            words("list show freeze check"),
		"pip3":           words("list show freeze check"),
		"uv":             words("version"),
		"cargo":          words("search help"),
		"rustup":         words("show which"),
		"docker":         words("ps images logs inspect version info top stats port history"),
		"docker compose": words("ps logs images top version"),
		"podman":         words("ps images logs inspect version info top"),
		"kubectl":        words("get describe logs version explain top api-resources"),
		"gh auth":        words("status"),
		"gh pr":          words("view list checks diff status"),
		"gh issue":       words("view list status"),
		"gh run":         words("view list watch"),
		"gh repo":        words("view list"),
		"gh release":     words("view list"),
		"gh workflow":    words("view list"),
		"systemctl":      words("status show list-units is-active is-enabled cat"),
		"brew":           words("list info search deps"),
		"apt":            words("list show search"),
		"dpkg":           words("-l -L -s"),
	}
})

// versioned are programs of which --version and their like say that they do nothing.
var versioned = sync.OnceValue(func() map[string]bool {
	return words(`bash bun bundle cargo clang cmake composer curl deno docker dotnet elixir gcc gem gh git go gofmt gofumpt gradle helm java
	javac jq just kubectl ld lua make mvn mypy next node npm npx nvim perl php pip pip3 pnpm podman poetry psql pytest python python3 ruby
	ruff rustc rustup sqlite3 swift terraform tofu tsc uv vim yarn zig eslint prettier black tar sed awk rg fd`)
})

func words(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}

// denied are options with which a program that reads does something else.
var denied = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"ack": {"pager"}, "ag": {"pager"}, "bat": {"pager"}, "batcat": {"pager"}, "cloc": {"out", "report-file", "sql"}, "date": {"s", "set"},
		"fd": {"x", "X", "exec", "exec-batch"}, "fdfind": {"x", "X", "exec", "exec-batch"}, "file": {"C", "compile"}, "hostname": {"F", "file", "b"},
		"less": {"o", "O", "log-file", "LOG-FILE"}, "man": {"P", "pager", "H", "html"}, "rg": {"pre", "hostname-bin"}, "scc": {"o", "output"},
		"tree": {"o", "output"}, "xxd": {"r", "revert"},
	}
})

// onlyReads reports whether a program is known to only read with these arguments. Programs that [walker.runCommand]
// walks through otherwise say it themselves.
func onlyReads(name string, args []word) bool {
	if readers()[name] {
		operands := len(parseOptions(args, "c:g:l:o:s:R:n:").rest)
		return !givesAny(args, denied()[name]) && (name != "xxd" || operands < 2) && (name != "hostname" || operands == 0)
	}
	if len(args) == 1 && versioned()[name] && slices.Contains([]string{"--version", "-V", "--help"}, args[0].text) {
		return true
	}
	if len(args) == 0 || !args[0].ok || !readsWith(name, args) {
		return false
	}
	switch name {
	case "go":
		return !givesGo(args[1:], "w", "u", "fix", "vettool", "toolexec", "mod", "exec") || args[0].text == "list" && !givesGo(args[1:], "toolexec", "mod", "exec")
	case "npm", "pnpm", "yarn":
		return !containsWord(args, "fix")
	}
	return true
}

// readsWith reports whether a subcommand only reads.
func readsWith(name string, args []word) bool {
	if verbs()[name][args[0].text] {
		return true
	}
	two := verbs()[name+" "+args[0].text]
	return len(args) > 1 && args[1].ok && two[args[1].text]
}

// givesAny reports whether any option is among the arguments, in whatever way it may be written.
func givesAny(args []word, options []string) bool {
	o := parseOptions(args, "")
	return slices.ContainsFunc(options, func(name string) bool {
		if len(name) == 1 {
			return o.has(name)
		}
		for given := range o.given {
			if len(given) > 1 && strings.HasPrefix(name, given) || given == name {
				return true
			}
		}
		return false
	})
}

// givesGo is givesAny for options that are long after one dash.
func givesGo(args []word, options ...string) bool {
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(a.text, "-"), "=")
		if strings.HasPrefix(a.text, "-") && slices.Contains(options, name) {
			return true
		}
	}
	return false
}

// gitReads are commands of git's that may only read. If they have a function, it decides.
var gitReads = sync.OnceValue(func() map[string]func(args []word) bool {
	return map[string]func(args []word) bool{
		"status": nil, "blame": nil, "annotate": nil, "rev-parse": nil, "ls-files": nil, "ls-tree": nil, "cat-file": nil, "describe": nil,
		"shortlog": nil, "rev-list": nil, "merge-base": nil, "for-each-ref": nil, "show-ref": nil, "name-rev": nil, "var": nil, "version": nil, "help": nil,
		"check-ignore": nil, "check-attr": nil, "check-ref-format": nil, "check-mailmap": nil, "count-objects": nil, "range-diff": nil, "cherry": nil,
		"show-branch": nil, "verify-commit": nil, "verify-tag": nil, "patch-id": nil, "request-pull": nil, "whatchanged": nil, "stripspace": nil,
		"diff-files": noOutput, "diff-index": noOutput, "diff-tree": noOutput, "diff": noOutput, "log": noOutput, "show": noOutput,
		"archive":   func(args []word) bool { return !givesAny(args, []string{"output", "o", "exec"}) },
		"ls-remote": func(args []word) bool { return !givesAny(args, []string{"upload-pack", "exec"}) },
		"fsck":      func(args []word) bool { return !givesAny(args, []string{"lost-found"}) },
		"grep":      func(args []word) bool { return !givesAny(args, []string{"O", "open-files-in-pager"}) },
		"branch":    listsBranches, "tag": listsTags, "config": readsConfig,
		"remote":    func(args []word) bool { return firstIs(args, "show", "get-url", "-v", "--verbose") || len(args) == 0 },
		"stash":     func(args []word) bool { return firstIs(args, "list", "show") },
		"worktree":  func(args []word) bool { return firstIs(args, "list") },
		"submodule": func(args []word) bool { return len(args) == 0 || firstIs(args, "status", "summary") },
		"reflog":    func(args []word) bool { return !firstIs(args, "expire", "delete", "drop", "write") },
		"notes":     func(args []word) bool { return len(args) == 0 || firstIs(args, "list", "show") },
		"bisect":    func(args []word) bool { return firstIs(args, "log", "terms", "help") },
		"bundle":    func(args []word) bool { return firstIs(args, "verify", "list-heads") },
		"symbolic-ref": func(args []word) bool {
			o := parseOptions(args, "m:")
			return len(o.rest) == 1 && !o.has("d", "delete")
		},
		"hash-object": func(args []word) bool { return !parseOptions(args, "t:").has("w") },
		"sparse-checkout": func(args []word) bool {
			return firstIs(args, "list", "check-rules")
		},
		"apply": func(args []word) bool {
			o := parseOptions(args, "p:C:", "exclude", "include", "directory", "whitespace")
			return o.has("check", "stat", "numstat", "summary") && !o.has("apply", "index", "cached", "3", "3way")
		},
		"clean": func(args []word) bool { return parseOptions(args, "e:", "exclude").has("n", "dry-run") },
	}
})

// gitOthers are commands of git's own that change nothing of what is asked here, but don't only read. No
// alias can have their names.
var gitOthers = sync.OnceValue(func() map[string]bool {
	return words(`tag remote config init clone notes replace rerere repack pack-refs maintenance write-tree commit-tree update-index
	update-server-info mktree mktag hash-object symbolic-ref multi-pack-index pack-objects unpack-objects index-pack send-email mailinfo
	mailsplit fast-export fast-import filter-branch difftool mergetool citool gui instaweb daemon credential interpret-trailers
	send-pack fetch-pack http-backend shell svn p4 cvsimport merge-tree merge-index merge-one-file unpack-file prune-packed commit-graph`)
})

func gitOnlyReads(sub gitSub) bool {
	check, ok := gitReads()[sub.name]
	return ok && (check == nil || check(sub.args))
}

func noOutput(args []word) bool { return !givesAny(args, []string{"output", "ext-diff"}) }

func firstIs(args []word, any ...string) bool {
	return len(args) > 0 && args[0].ok && slices.Contains(any, args[0].text)
}

func listsBranches(args []word) bool {
	o := parseOptions(args, "u:", "sort", "format")
	if o.has("d", "D", "m", "M", "c", "C", "f", "u", "t", "delete", "move", "copy", "force", "set-upstream-to", "unset-upstream", "edit-description", "track", "no-track", "create-reflog") {
		return false
	}
	return len(o.rest) == 0 || o.has("l", "list", "contains", "no-contains", "merged", "no-merged", "points-at", "show-current")
}

func listsTags(args []word) bool {
	o := parseOptions(args, "m:F:u:n::", "sort", "format")
	if o.has("d", "delete", "f", "force", "a", "annotate", "s", "sign", "m", "message", "F", "file", "u", "local-user", "e", "edit") {
		return false
	}
	return len(o.rest) == 0 || o.has("l", "list", "n", "contains", "no-contains", "merged", "no-merged", "points-at", "v", "verify")
}

func readsConfig(args []word) bool {
	o := parseOptions(args, "f:t:", "file", "blob", "type", "default")
	switch {
	case o.has("add", "unset", "unset-all", "replace-all", "rename-section", "remove-section", "e", "edit"):
		return false
	case o.has("get", "get-all", "get-regexp", "get-urlmatch", "l", "list", "get-color", "get-colorbool"):
		return true
	case len(o.rest) > 0 && (o.rest[0].text == "get" || o.rest[0].text == "list"):
		return true
	}
	return len(o.rest) == 1 && o.rest[0].ok && strings.Contains(o.rest[0].text, ".")
}

// sedReads reports whether the script of sed, which prints what it makes, neither writes a file nor runs a
// command.
func sedReads(o options) bool {
	if o.has("f", "file") {
		return false
	}
	if o.has("help", "version", "sandbox") {
		return true
	}
	script, ok := o.value("e", "expression")
	if !ok {
		if len(o.rest) == 0 {
			return false
		}
		script = o.rest[0]
	}
	// Of several -e only the last one is known here.
	return script.ok && (!ok || o.times("e", "expression") == 1) && sedScript(script.text)
}

var sedAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\s;{}]*((\d+(~\d+)?|\$|/(\\.|[^/\\\n])*/I?)(\s*,\s*(\+?\d+|~\d+|\$|/(\\.|[^/\\\n])*/I?))?)?\s*!?\s*`)
})

// sedScript reports whether each command in a script of sed is one that only changes what is printed.
func sedScript(s string) bool {
	for {
		s = s[len(sedAddress().FindString(s)):]
		if s == "" || s[0] == '{' {
			if s == "" {
				return true
			}
			continue
		}
		command := s[0]
		switch s = s[1:]; {
		case strings.IndexByte("pdqQ=DPnNgGhHxlz", command) >= 0:
			s = strings.TrimLeft(s, "0123456789 \t")
		case command == 's' || command == 'y':
			rest, ok := sedParts(s)
			if !ok {
				return false
			}
			s = strings.TrimLeft(rest, "gpiIm0123456789 \t")
		default:
			return false
		}
		if s != "" && strings.IndexByte(";\n}", s[0]) < 0 {
			return false
		}
	}
}

// sedParts skips the two parts of s/…/…/.
func sedParts(s string) (rest string, ok bool) {
	if s == "" || s[0] == '\\' || s[0] == '\n' {
		return "", false
	}
	delimiter, seen := s[0], 0
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case delimiter:
			if seen++; seen == 2 {
				return s[i+1:], true
			}
		}
	}
	return "", false
}

// awkReads reports whether a program of awk writes no file and runs no command.
func awkReads(x word) bool {
	text := strings.ReplaceAll(x.text, "||", "")
	return x.ok && !strings.ContainsAny(text, ">|@") && !strings.Contains(text, "system") && !strings.Contains(text, "getline")
}
