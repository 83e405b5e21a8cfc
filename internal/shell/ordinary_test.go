package shell

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateOrdinary = flag.Bool("ordinary.update", false,
	"write what is said of the commands in testdata/ordinary.txt into it")

// projectDir makes a directory like that of a project, with a repository that git wouldn't take for one.
func projectDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	for name := range strings.FieldsSeq(`.git/HEAD go.mod main.go cmd/app/main.go internal/store/store.go internal/store/store_test.go package.json
		tsconfig.json src/index.ts src/app.tsx src/api/client.ts src/api/client.test.ts dist/index.js node_modules/left-pad/index.js Makefile
		README.md docs/guide.md docs/api.md tests/test_app.py app/__init__.py app/models.py app/__pycache__/models.pyc pyproject.toml Cargo.toml src/main.rs
		target/debug/app Dockerfile docker-compose.yml .env .env.example build/out.o coverage/index.html notes.txt notes.txt.orig old.go
		scripts/deploy.sh config/app.yaml config/app.yaml.bak data/rows.csv logs/app.log tmp/a.txt feature.patch`) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

// said is what the analysis says of a command, as testdata/ordinary.txt has it.
func said(command, dir string) string {
	c := Edits(command, dir, Env{Home: "/home/ann", Alias: func(_, name string) string {
		return map[string]string{"st": "status -sb", "lg": "log --graph --oneline"}[name]
	}})
	var b strings.Builder
	if c.Reads {
		b.WriteString("  reads\n")
	}

	for _, list := range []struct {
		name  string
		paths []string
	}{{"changes", c.Paths}, {"any of", c.Trees}} {
		if len(list.paths) > 0 {
			b.WriteString("  " + list.name)
			for _, p := range list.paths {
				b.WriteString(" " + below(dir, p))
			}
			b.WriteString("\n")
		}
	}

	for _, a := range c.Acts {
		fmt.Fprintf(&b, "  %s (%s)\n", showAct(a, dir), a.Form)
	}
	return b.String()
}

// TestOrdinaryCommands compares what is said of the commands of a working day with what a person has looked
// through.
func TestOrdinaryCommands(t *testing.T) {
	const file = "testdata/ordinary.txt"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := projectDir(t)
	var out strings.Builder

	n := 0
	for entry := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n\n") {
		var command []string
		for line := range strings.Lines(entry) {
			line = strings.TrimSuffix(line, "\n")
			if text, ok := strings.CutPrefix(line, "$ "); ok {
				command = append(command, text)
			} else if text, ok := strings.CutPrefix(line, "> "); ok || line == ">" {
				command = append(command, text)
			} else if strings.HasPrefix(line, "#") {
				out.WriteString(line + "\n")
			}
		}

		if len(command) == 0 {
			out.WriteString("\n")
			continue
		}

		n++
		fmt.Fprintf(&out, "$ %s\n", strings.ReplaceAll(strings.Join(command, "\n"), "\n", "\n> "))
		out.WriteString(said(strings.Join(command, "\n"), dir) + "\n")
	}

	if n < 300 {
		t.Errorf("there are %d commands", n)
	}
	got := strings.TrimSpace(out.String()) + "\n"
	if *updateOrdinary {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(b), got); diff != "" {
		t.Error(diff)
	}
}
