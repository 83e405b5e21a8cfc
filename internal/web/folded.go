package web

import (
	"path"
	"slices"
	"strings"

	"talkingstick/stick"
)

// maxOpenLines is how many lines of a diff a file may have that the page shows open.
const maxOpenLines = 600

// maxReadLine is how long the lines of a file are on average that somebody has written, at most.
const maxReadLine = 400

// explainFold says why the page shows a file folded. It is empty for one that is read.
func (f *diffFile) explainFold() stick.Words {
	name := path.Base(f.Path)
	switch {
	case f.Comments > 0:
		return "" // somebody speaks of it
	case isLockFile(name):
		return "a lock file"
	case strings.Contains(name, ".min.") || f.hasLongLines():
		return "minified"
	case f.isGenerated():
		return "generated"
	case len(f.Lines) > maxOpenLines:
		return stick.Count(len(f.Lines), "line")
	}

	return ""
}

// isLockFile reports whether a file with that name lists exact versions, and is written by a program.
func isLockFile(name string) bool {
	return strings.HasSuffix(name, ".lock") || slices.Contains([]string{
		"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum", "Package.resolved", "packages.lock.json",
	}, name)
}

// hasLongLines reports whether the lines of a file are longer than somebody writes them.
func (f *diffFile) hasLongLines() bool {
	bytes := 0
	for _, l := range f.Lines {
		bytes += len(l.Text)
	}
	return len(f.Lines) > 0 && bytes/len(f.Lines) > maxReadLine
}

// isGenerated reports whether a file says near its beginning that a program has written it.
func (f *diffFile) isGenerated() bool {
	for _, l := range f.Lines[:min(len(f.Lines), 20)] {
		if strings.Contains(l.Text, "@generated") ||
			strings.Contains(l.Text, "Code generated") && strings.Contains(l.Text, "DO NOT EDIT") {
			return true
		}
	}
	return false
}
