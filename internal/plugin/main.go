// Command plugin writes our plugins into a directory, which can be published as a repository, and from which
// harnesses install them:
//
//	go run ./internal/plugin -version 0.1.0 dist/plugins
//
// The directory is a marketplace in Claude Code's format. In gemini lies an extension of Gemini CLI, in
// opencode a package of npm. All that they hold comes from the rows of package harness, from the skill and
// from the entries of package install. They bring no program.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	var p plugins
	flag.StringVar(&p.version, "version", "0.0.0", "the version of the plugins")
	flag.StringVar(&p.author, "author", "Talking Stick contributors", "whose they are")
	flag.StringVar(&p.homepage, "homepage", "", "the address where they are published; empty for none")
	flag.Parse()

	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: plugin [flags] <directory>")
		os.Exit(2)
	}

	if err := p.writeFiles(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "plugin:", err)
		os.Exit(1)
	}
}

// writeFiles writes the plugins.
func (p plugins) writeFiles(dir string) error {
	for name, text := range p.allFiles() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make directory for plugins: %w", err)
		}

		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
