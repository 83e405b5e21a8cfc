// Command manpages writes the manual page of each command into a directory:
//
//	go run ./internal/manpages dist/man
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra/doc"

	"talkingstick/internal/cli"
	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/full"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manpages <directory>")
		os.Exit(2)
	}

	if err := writePages(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}

// writePages writes the pages. They carry no date, so that two builds of one commit are the same byte by byte.
func writePages(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory for manual pages: %w", err)
	}

	root := cli.Commands(full.Commands())
	root.DisableAutoGenTag = true

	undated := time.Unix(0, 0).UTC()
	return doc.GenManTree(root, &doc.GenManHeader{
		Section: "1", Date: &undated, Source: "tt " + app.Version(), Manual: "Talking Stick",
	}, dir)
}
