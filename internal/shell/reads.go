package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// readingPrograms are programs that only read, whatever their arguments are.
var readingPrograms = sync.OnceValue(func() map[string]bool {
	return wordSet(`
		[ ack ag apropos arch b2sum base32 base64 basename bat batcat break bzcat cal cat cksum clear cloc
		cmp column comm continue cut date df diff dirname du echo egrep exa exit expand expr eza factor
		false fd fdfind fgrep file fmt fold free getconf getent grep groups hash head hexdump history
		hostname id info join jobs jq last less let local lsb_release lscpu logname ls lsblk lsof man md5sum
		more nl nm nproc numfmt objdump od paste pgrep pidof pr printenv printf ps pwd read readelf readlink
		realpath return rev rg scc seq set sha1sum sha224sum sha256sum sha384sum sha512sum shift size sleep
		ss stat strings sum tac tail test tokei tput tr tree true tsort tt tty type umask uname unexpand
		uptime users wait wc whatis whereis which who whoami xxd xzcat yes zcat zgrep zstdcat :`)
})

// readingVerbs are the subcommands with which some programs only read.
var readingVerbs = sync.OnceValue(func() map[string]map[string]bool {
	return map[string]map[string]bool{
		"go":             wordSet("version doc help list vet env"),
		"go mod":         wordSet("graph why verify"),
		"npm":            wordSet("ls list ll view info show outdated explain why root prefix whoami help"),
		"pnpm":           wordSet("ls list why outdated"),
		"yarn":           wordSet("list why info"),
		"pip":            wordSet("list show freeze check"),
		"pip3":           wordSet("list show freeze check"),
		"uv":             wordSet("version"),
		"cargo":          wordSet("search help"),
		"rustup":         wordSet("show which"),
		"docker":         wordSet("ps images logs inspect version info top stats port history"),
		"docker compose": wordSet("ps logs images top version"),
		"podman":         wordSet("ps images logs inspect version info top"),
		"kubectl":        wordSet("get describe logs version explain top api-resources"),
		"gh auth":        wordSet("status"),
		"gh pr":          wordSet("view list checks diff status"),
		"gh issue":       wordSet("view list status"),
		"gh run":         wordSet("view list watch"),
		"gh repo":        wordSet("view list"),
		"gh release":     wordSet("view list"),
		"gh workflow":    wordSet("view list"),
		"systemctl":      wordSet("status show list-units is-active is-enabled cat"),
		"brew":           wordSet("list info search deps"),
		"apt":            wordSet("list show search"),
		"dpkg":           wordSet("-l -L -s"),
	}
})

// versionedPrograms are programs of which --version and their like say that they do nothing.
var versionedPrograms = sync.OnceValue(func() map[string]bool {
	return wordSet(`
		bash bun bundle cargo clang cmake composer curl deno docker dotnet elixir gcc gem gh git go gofmt
		gofumpt gradle helm java javac jq just kubectl ld lua make mvn mypy next node npm npx nvim perl php
		pip pip3 pnpm podman poetry psql pytest python python3 ruby ruff rustc rustup sqlite3 swift
		terraform tofu tsc uv vim yarn zig eslint prettier black tar sed awk rg fd`)
})

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}

// deniedOptions are options with which a program that reads does something else.
var deniedOptions = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"ack":      {"pager"},
		"ag":       {"pager"},
		"bat":      {"pager"},
		"batcat":   {"pager"},
		"cloc":     {"out", "report-file", "sql"},
		"date":     {"s", "set"},
		"fd":       {"x", "X", "exec", "exec-batch"},
		"fdfind":   {"x", "X", "exec", "exec-batch"},
		"file":     {"C", "compile"},
		"hostname": {"F", "file", "b"},
		"less":     {"o", "O", "log-file", "LOG-FILE"},
		"man":      {"P", "pager", "H", "html"},
		"rg":       {"pre", "hostname-bin"},
		"scc":      {"o", "output"},
		"tree":     {"o", "output"},
		"xxd":      {"r", "revert"},
	}
})

// onlyReads reports whether a program is known to only read with these arguments. Programs that
// [walker.runCommand] walks through otherwise say it themselves.
func onlyReads(name string, args []word) bool {
	if readingPrograms()[name] {
		// xxd writes its second operand, and hostname sets the name to its first.
		operands := len(parseOptions(args, "c:g:l:o:s:R:n:").rest)
		plain := (name != "xxd" || operands < 2) && (name != "hostname" || operands == 0)
		return plain && !givesOption(args, deniedOptions()[name])
	}

	asksVersion := len(args) == 1 && slices.Contains([]string{"--version", "-V", "--help"}, args[0].text)
	if asksVersion && versionedPrograms()[name] {
		return true
	}

	if len(args) == 0 || !args[0].ok || !readsWith(name, args) {
		return false
	}

	switch name {
	case "go":
		// go list with -u only reads.
		denied := []string{"toolexec", "mod", "exec"}
		if args[0].text != "list" {
			denied = append(denied, "w", "u", "fix", "vettool")
		}
		return !givesGoOption(args[1:], denied...)
	case "npm", "pnpm", "yarn":
		return !containsWord(args, "fix")
	}
	return true
}

// readsWith reports whether a subcommand only reads.
func readsWith(name string, args []word) bool {
	if readingVerbs()[name][args[0].text] {
		return true
	}

	two := readingVerbs()[name+" "+args[0].text]
	return len(args) > 1 && args[1].ok && two[args[1].text]
}

// givesOption reports whether any option is among the arguments, in whatever way it may be written.
func givesOption(args []word, options []string) bool {
	o := parseOptions(args, "")

	return slices.ContainsFunc(options, func(name string) bool {
		if len(name) == 1 {
			return o.has(name)
		}

		// A long option may be shortened.
		for given := range o.given {
			if len(given) > 1 && strings.HasPrefix(name, given) || given == name {
				return true
			}
		}
		return false
	})
}

// givesGoOption is [givesOption] for options that are long after one dash.
func givesGoOption(args []word, options ...string) bool {
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(a.text, "-"), "=")
		if strings.HasPrefix(a.text, "-") && slices.Contains(options, name) {
			return true
		}
	}
	return false
}

// readingGitCommands are commands of git's that may only read. If they have a function, it decides.
var readingGitCommands = sync.OnceValue(func() map[string]func(args []word) bool {
	return map[string]func(args []word) bool{
		"status": nil, "blame": nil, "annotate": nil, "rev-parse": nil, "ls-files": nil, "ls-tree": nil,
		"cat-file": nil, "describe": nil,
		"shortlog": nil, "rev-list": nil, "merge-base": nil, "for-each-ref": nil, "show-ref": nil, "name-rev": nil,
		"var": nil, "version": nil, "help": nil,
		"check-ignore": nil, "check-attr": nil, "check-ref-format": nil, "check-mailmap": nil, "count-objects": nil,
		"range-diff": nil, "cherry": nil,
		"show-branch": nil, "verify-commit": nil, "verify-tag": nil, "patch-id": nil, "request-pull": nil,
		"whatchanged": nil, "stripspace": nil,
		"diff-files": writesNoOutput, "diff-index": writesNoOutput, "diff-tree": writesNoOutput, "diff": writesNoOutput,
		"log": writesNoOutput, "show": writesNoOutput,
		"archive":   func(args []word) bool { return !givesOption(args, []string{"output", "o", "exec"}) },
		"ls-remote": func(args []word) bool { return !givesOption(args, []string{"upload-pack", "exec"}) },
		"fsck":      func(args []word) bool { return !givesOption(args, []string{"lost-found"}) },
		"grep":      func(args []word) bool { return !givesOption(args, []string{"O", "open-files-in-pager"}) },
		"branch":    listsBranches, "tag": listsTags, "config": readsConfig,
		"remote": func(args []word) bool {
			return len(args) == 0 || isFirst(args, "show", "get-url", "-v", "--verbose")
		},
		"stash":     func(args []word) bool { return isFirst(args, "list", "show") },
		"worktree":  func(args []word) bool { return isFirst(args, "list") },
		"submodule": func(args []word) bool { return len(args) == 0 || isFirst(args, "status", "summary") },
		"reflog":    func(args []word) bool { return !isFirst(args, "expire", "delete", "drop", "write") },
		"notes":     func(args []word) bool { return len(args) == 0 || isFirst(args, "list", "show") },
		"bisect":    func(args []word) bool { return isFirst(args, "log", "terms", "help") },
		"bundle":    func(args []word) bool { return isFirst(args, "verify", "list-heads") },
		"symbolic-ref": func(args []word) bool {
			o := parseOptions(args, "m:")
			return len(o.rest) == 1 && !o.has("d", "delete")
		},
		"hash-object": func(args []word) bool { return !parseOptions(args, "t:").has("w") },
		"sparse-checkout": func(args []word) bool {
			return isFirst(args, "list", "check-rules")
		},
		"apply": func(args []word) bool {
			o := parseOptions(args, "p:C:", "exclude", "include", "directory", "whitespace")
			return o.has("check", "stat", "numstat", "summary") && !o.has("apply", "index", "cached", "3", "3way")
		},
		"clean": func(args []word) bool { return parseOptions(args, "e:", "exclude").has("n", "dry-run") },
	}
})

// otherGitCommands are commands of git's own that change nothing of what is asked here, but don't only read.
// No alias can have their names.
var otherGitCommands = sync.OnceValue(func() map[string]bool {
	return wordSet(`
		tag remote config init clone notes replace rerere repack pack-refs maintenance write-tree
		commit-tree update-index update-server-info mktree mktag hash-object symbolic-ref multi-pack-index
		pack-objects unpack-objects index-pack send-email mailinfo mailsplit fast-export fast-import
		filter-branch difftool mergetool citool gui instaweb daemon credential interpret-trailers send-pack
		fetch-pack http-backend shell svn p4 cvsimport merge-tree merge-index merge-one-file unpack-file
		prune-packed commit-graph`)
})

func gitOnlyReads(sub gitSub) bool {
	check, ok := readingGitCommands()[sub.name]
	return ok && (check == nil || check(sub.args))
}

func writesNoOutput(args []word) bool { return !givesOption(args, []string{"output", "ext-diff"}) }

func isFirst(args []word, any ...string) bool {
	return len(args) > 0 && args[0].ok && slices.Contains(any, args[0].text)
}

func listsBranches(args []word) bool {
	o := parseOptions(args, "u:", "sort", "format")
	changes := []string{
		"d", "D", "m", "M", "c", "C", "f", "u", "t", "delete", "move", "copy", "force",
		"set-upstream-to", "unset-upstream", "edit-description", "track", "no-track", "create-reflog",
	}
	if o.has(changes...) {
		return false
	}

	lists := []string{"l", "list", "contains", "no-contains", "merged", "no-merged", "points-at", "show-current"}
	return len(o.rest) == 0 || o.has(lists...)
}

func listsTags(args []word) bool {
	o := parseOptions(args, "m:F:u:n::", "sort", "format")
	changes := []string{
		"d", "delete", "f", "force", "a", "annotate", "s", "sign", "m", "message", "F", "file",
		"u", "local-user", "e", "edit",
	}
	if o.has(changes...) {
		return false
	}

	lists := []string{"l", "list", "n", "contains", "no-contains", "merged", "no-merged", "points-at", "v", "verify"}
	return len(o.rest) == 0 || o.has(lists...)
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
	return script.ok && (!ok || o.times("e", "expression") == 1) && isPrintingSedScript(script.text)
}

var sedAddress = sync.OnceValue(func() *regexp.Regexp {
	first := `(\d+(~\d+)?|\$|/(\\.|[^/\\\n])*/I?)`
	last := `(\+?\d+|~\d+|\$|/(\\.|[^/\\\n])*/I?)`
	return regexp.MustCompile(`^[\s;{}]*(` + first + `(\s*,\s*` + last + `)?)?\s*!?\s*`)
})

// isPrintingSedScript reports whether each command in a script of sed is one that only changes what is
// printed.
func isPrintingSedScript(s string) bool {
	for {
		s = s[len(sedAddress().FindString(s)):]
		if s == "" {
			return true
		}
		if s[0] == '{' {
			continue
		}

		command := s[0]
		switch s = s[1:]; {
		case strings.IndexByte("pdqQ=DPnNgGhHxlz", command) >= 0:
			s = strings.TrimLeft(s, "0123456789 \t")
		case command == 's' || command == 'y':
			rest, ok := skipSedParts(s)
			if !ok {
				return false
			}
			s = strings.TrimLeft(rest, "gpiIm0123456789 \t")
		default:
			return false
		}

		// After a command comes its end.
		if s != "" && strings.IndexByte(";\n}", s[0]) < 0 {
			return false
		}
	}
}

// skipSedParts skips the two parts of s/…/…/.
func skipSedParts(s string) (rest string, ok bool) {
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
	writes := strings.ContainsAny(text, ">|@") || strings.Contains(text, "system") || strings.Contains(text, "getline")
	return x.ok && !writes
}
