package pack

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
)

// TreeBuilder makes a tree of git's.
type TreeBuilder struct {
	files   map[string]treeFile
	folders map[string]*TreeBuilder
}

type treeFile struct{ mode, name string } // name of the object

// PutFile adds a file by its path in the tree, its mode, and the name of its bytes.
func (d *TreeBuilder) PutFile(path, mode, object string) {
	first, rest, below := strings.Cut(path, "/")
	if !below {
		if d.files == nil {
			d.files = map[string]treeFile{}
		}
		d.files[first] = treeFile{mode, object}
		return
	}

	if d.folders == nil {
		d.folders = map[string]*TreeBuilder{}
	}
	if d.folders[first] == nil {
		d.folders[first] = &TreeBuilder{}
	}

	d.folders[first].PutFile(rest, mode, object)
}

// PutTree adds a tree at the top level.
func (d *TreeBuilder) PutTree(name string, tree *TreeBuilder) {
	if d.folders == nil {
		d.folders = map[string]*TreeBuilder{}
	}
	d.folders[name] = tree
}

// AddTo writes the tree and those below it, and returns its name.
func (d *TreeBuilder) AddTo(p *Writer) string {
	type line struct{ key, text string }
	var lines []line

	add := func(key, mode, name, object string) {
		// The name comes from [Writer.AddObject], so it is hexadecimal.
		raw, _ := hex.DecodeString(object)
		lines = append(lines, line{key, mode + " " + name + "\x00" + string(raw)})
	}

	for name, f := range d.files {
		add(name, f.mode, name, f.name)
	}
	for name, sub := range d.folders {
		// Git sorts directories as if their names ended with a slash.
		add(name+"/", ModeTree, name, sub.AddTo(p))
	}

	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return p.AddObject(KindTree, []byte(b.String()))
}

// TreeLine is one line of a tree.
type TreeLine struct{ Mode, Name, Object string }

// ParseTree parses lines of <mode> <name>, a NUL, and the bytes of the name of an object.
func ParseTree(data []byte) (lines []TreeLine, err error) {
	for len(data) > 0 {
		facts, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, found := strings.Cut(string(facts), " ")
		if !ok || !found || len(rest) < NameSize {
			return nil, ErrObject
		}

		lines = append(lines, TreeLine{mode, name, hex.EncodeToString(rest[:NameSize])})
		data = rest[NameSize:]
	}
	return lines, nil
}

// Modes, as git writes them.
const (
	ModeFile      = "100644"
	ModeProgram   = "100755"
	ModeLink      = "120000"
	ModeTree      = "40000"
	ModeSubmodule = "160000"
)
