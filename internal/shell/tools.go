package shell

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// formatter is a program that rewrites the files in its arguments.
type formatter struct {
	write []string // options with one of which it writes; without any, it always does
	check []string // options with which it only reports
	short string   // options that take a value, as for parse
	long  []string
	goish bool // its options are long ones after one dash
	here  bool // without files it takes those below the directory
}

// formatters by the name of the program, or by that and a subcommand.
var formatters = sync.OnceValue(func() map[string]formatter {
	return map[string]formatter{
		"gofmt":     {write: []string{"w"}, long: []string{"r", "cpuprofile"}, goish: true},
		"gofumpt":   {write: []string{"w"}, long: []string{"lang", "modpath"}, goish: true},
		"goimports": {write: []string{"w"}, long: []string{"local", "srcdir"}, goish: true},
		"gci write": {short: "s:", long: []string{"section"}},
		"go fmt":    {check: []string{"n"}, long: []string{"mod"}, goish: true, here: true},
		"go fix":    {check: []string{"diff"}, goish: true, here: true},
		"golangci-lint run": {
			write: []string{"fix"}, short: "c:E:D:p:", long: []string{"config", "enable", "disable", "timeout"},
			here: true,
		},
		"golangci-lint fmt": {
			check: []string{"d", "diff"}, short: "c:E:", long: []string{"config", "enable"}, here: true,
		},
		"shfmt": {
			write: []string{"w", "write"}, long: []string{"i", "ln", "filename", "indent", "language-dialect"},
			goish: true,
		},
		"prettier": {
			write: []string{"w", "write"},
			long: []string{
				"config", "ignore-path", "parser", "plugin", "log-level", "tab-width", "print-width",
				"trailing-comma",
			},
		},
		"eslint": {
			write: []string{"fix"}, short: "c:f:o:",
			long: []string{
				"config", "format", "ext", "rule", "parser", "parser-options", "plugin", "env", "global",
				"ignore-path", "max-warnings", "rulesdir", "cache-location", "fix-type",
			},
			here: true,
		},
		"stylelint": {
			write: []string{"fix"}, short: "c:f:",
			long: []string{"config", "formatter", "ignore-path", "max-warnings"},
		},
		"standard": {write: []string{"fix"}, here: true},
		"xo":       {write: []string{"fix"}, here: true},
		"markdownlint": {
			write: []string{"f", "fix"}, short: "c:i:o:p:", long: []string{"config", "ignore", "output"},
		},
		"biome format": {write: []string{"write", "fix"}, long: []string{"config-path"}, here: true},
		"biome lint": {
			write: []string{"write", "fix", "apply", "apply-unsafe"}, long: []string{"config-path"}, here: true,
		},
		"biome check": {
			write: []string{"write", "fix", "apply", "apply-unsafe"}, long: []string{"config-path"}, here: true,
		},
		"deno fmt":   {check: []string{"check"}, long: []string{"config", "ext"}, here: true},
		"dprint fmt": {short: "c:", long: []string{"config"}, here: true},
		"black": {
			check: []string{"check", "diff", "version"}, short: "l:t:c:W:",
			long: []string{
				"line-length", "target-version", "code", "include", "exclude", "extend-exclude", "force-exclude",
				"config", "workers",
			},
		},
		"isort": {
			check: []string{"c", "check", "check-only", "d", "diff"}, short: "l:p:o:",
			long: []string{"profile", "line-length", "settings-path", "skip", "src"},
		},
		"autopep8": {write: []string{"i", "in-place"}, long: []string{"max-line-length", "select", "ignore"}},
		"yapf": {
			write: []string{"i", "in-place"}, short: "e:l:", long: []string{"style", "exclude", "lines"},
		},
		"ruff format": {
			check: []string{"check", "diff"},
			long:  []string{"config", "line-length", "target-version", "exclude"}, here: true,
		},
		"ruff check": {
			write: []string{"fix", "fix-only", "add-noqa"}, check: []string{"diff", "no-fix"}, short: "o:",
			long: []string{
				"config", "select", "ignore", "extend-select", "exclude", "output-format", "output-file",
				"target-version",
			},
			here: true,
		},
		"rustfmt": {
			check: []string{"check", "emit"}, long: []string{"edition", "config", "config-path", "color"},
		},
		"cargo fmt": {
			check: []string{"check"}, short: "p:", long: []string{"package", "manifest-path"}, here: true,
		},
		"cargo fix": {here: true, short: "p:", long: []string{"package", "manifest-path"}},
		"cargo clippy": {
			write: []string{"fix"}, short: "p:", long: []string{"package", "manifest-path"}, here: true,
		},
		"clang-format": {
			write: []string{"i"}, check: []string{"n", "dry-run"},
			long: []string{"style", "assume-filename", "lines"}, goish: true,
		},
		"google-java-format": {write: []string{"i", "r", "replace"}},
		"ktlint":             {write: []string{"F", "format"}, here: true},
		"terraform fmt":      {check: []string{"check"}, goish: true, here: true},
		"tofu fmt":           {check: []string{"check"}, goish: true, here: true},
		"dart format":        {check: []string{"o", "output"}, short: "o:l:"},
		"dotnet format":      {check: []string{"verify-no-changes"}, here: true},
		"mix format":         {check: []string{"check-formatted"}, here: true},
		"zig fmt":            {check: []string{"check"}},
		"taplo fmt":          {check: []string{"check"}, here: true},
		"taplo format":       {check: []string{"check"}, here: true},
		"stylua":             {check: []string{"check"}, short: "g:f:", long: []string{"config-path"}},
		"buf format":         {write: []string{"w", "write"}, here: true},
		"rubocop": {
			write: []string{"a", "A", "autocorrect", "autocorrect-all", "auto-correct", "x"}, short: "c:",
			long: []string{"config", "only", "format"}, here: true,
		},
		"php-cs-fixer fix": {check: []string{"dry-run"}, long: []string{"config", "rules"}, here: true},
		"swiftformat":      {check: []string{"lint", "dryrun"}, long: []string{"config", "rules", "swiftversion"}},
		"nixfmt":           {check: []string{"c", "check"}},
		"ed":               {short: "p:"},
		"ex":               {short: "c:S:T:u:i:"},
		"cmake-format":     {write: []string{"i", "in-place"}, short: "c:"},
	}
})

// runTool handles programs of a development environment: formatters, and what starts others. It is false for
// a program that it doesn't know.
func (w *walker) runTool(name string, args []word) bool {
	if command, ok := launchedCommand(name, args); ok {
		// It may install what it starts.
		w.writes = true
		w.runCommand(command, "")
		return true
	}

	f, ok := formatters()[name]
	if !ok && len(args) > 0 && args[0].ok {
		f, ok = formatters()[name+" "+args[0].text]
		args = args[1:]
	}

	if ok {
		// It writes a cache, if nothing else.
		w.writes = true
		w.runFormatter(f, args)
	}
	return ok
}

func (w *walker) runFormatter(f formatter, args []word) {
	o := parseOptions(args, f.short, f.long...)
	if f.goish {
		o = parseGo(args, f.long)
	}

	if o.has("help", "version") || o.has(f.check...) || len(f.write) > 0 && !o.has(f.write...) {
		return
	}

	files := o.rest
	if o.dash >= 0 && f.here && len(f.write) == 0 {
		// What follows is for another program, as in cargo fmt -- --check.
		files = files[:o.dash]
		if containsWord(o.rest[o.dash:], "--check") {
			return
		}
	}

	if len(files) == 0 && f.here {
		files = []word{literal(".")}
	}

	for _, x := range files {
		switch {
		case !x.ok, x.text == "-":
		case strings.HasSuffix(x.text, "..."):
			// It is a pattern of Go packages.
			x.text = strings.TrimSuffix(strings.TrimSuffix(x.text, "..."), "/")
			if x.text == "" {
				x.text = "."
			}
			w.changeInside(x)
		case isPattern(x.text) && !w.fileExists(x):
			w.changeInside(literalPart(x))
		default:
			w.changeInside(x)
		}
	}
}

// launchers are programs that start another one: their words after which the command follows; "" means that
// the command follows at once.
var launchers = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"npx": {""}, "bunx": {""}, "uvx": {""}, "pnpx": {""}, "pipx": {"run"},
		"pnpm": {"exec", "dlx", ""}, "yarn": {"exec", "dlx", "run", ""}, "bun": {"x", ""}, "npm": {"exec", "x"},
		"uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "pdm": {"run"}, "hatch": {"run"}, "rye": {"run"},
		"pixi":   {"run"},
		"bundle": {"exec"}, "mise": {"exec", "x"}, "go": {"run", "tool"}, "python": {"-m"}, "python3": {"-m"},
	}
})

// launchedCommand returns the command that a launcher starts, if it is one that is known.
func launchedCommand(name string, args []word) ([]word, bool) {
	for _, verb := range launchers()[name] {
		rest := args
		if verb != "" {
			if len(rest) == 0 || rest[0] != literal(verb) {
				continue
			}
			rest = rest[1:]
		}

		rest = parseOptions(rest, "+p:c:", "package", "from", "with", "modfile", "python", "group", "extra",
			"prefix", "filter").rest
		if name == "go" && (verb == "tool" || verb == "run") {
			rest = parseGo(args[1:], []string{"modfile", "mod", "exec", "tags"}).rest
		}

		if len(rest) == 0 || !rest[0].ok {
			continue
		}

		program := programInPackage(rest[0].text)
		_, formats := formatters()[program]
		if !formats && len(rest) > 1 {
			formats = slices.Contains(formatterVerbs(program), rest[1].text)
		}
		if formats {
			return append([]word{literal(program)}, rest[1:]...), true
		}
	}
	return nil, false
}

// formatterVerbs lists the subcommands with which a program formats.
func formatterVerbs(program string) (verbs []string) {
	for name := range formatters() {
		if verb, ok := strings.CutPrefix(name, program+" "); ok {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// programInPackage returns the program in a package, such as prettier in prettier@3 and gofumpt in
// mvdan.cc/gofumpt@latest.
func programInPackage(name string) string {
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}

	if name == "@biomejs/biome" {
		return "biome"
	}
	return path.Base(name)
}

// parseGo parses arguments as Go's package flag does: long options after one dash or two, before all others.
func parseGo(args []word, takes []string) options {
	o := options{given: map[string]word{}, dash: -1}
	for len(args) > 0 {
		a := args[0]
		if !a.ok || len(a.text) < 2 || a.text[0] != '-' {
			break
		}

		args = args[1:]
		if a.text == "--" {
			break
		}

		name, value, has := strings.Cut(strings.TrimPrefix(a.text[1:], "-"), "=")
		o.given[name] = literal(value)
		if value == "false" {
			delete(o.given, name)
		}

		// The value stands in the next argument.
		if slices.Contains(takes, name) && !has && len(args) > 0 {
			args = args[1:]
		}
	}
	o.rest = args
	return o
}
