package rescue

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
)

// treeBuilder makes a tree of git's.
type treeBuilder struct {
	files   map[string]treeFile
	folders map[string]*treeBuilder
}

type treeFile struct{ mode, name string } // name of the object

func (d *treeBuilder) putFile(path, mode, object string) {
	first, rest, below := strings.Cut(path, "/")
	if !below {
		if d.files == nil {
			d.files = map[string]treeFile{}
		}
		d.files[first] = treeFile{mode, object}
		return
	}

	if d.folders == nil {
		d.folders = map[string]*treeBuilder{}
	}
	if d.folders[first] == nil {
		d.folders[first] = &treeBuilder{}
	}

	d.folders[first].putFile(rest, mode, object)
}

// putTree adds a tree at the top level.
func (d *treeBuilder) putTree(name string, tree *treeBuilder) {
	if d.folders == nil {
		d.folders = map[string]*treeBuilder{}
	}
	d.folders[name] = tree
}

// addTo writes the tree and those below it, and returns its name.
func (d *treeBuilder) addTo(p *pack) string {
	type line struct{ key, text string }
	var lines []line

	add := func(key, mode, name, object string) {
		// The name comes from addObject, so it is hexadecimal.
		raw, _ := hex.DecodeString(object)
		lines = append(lines, line{key, mode + " " + name + "\x00" + string(raw)})
	}

	for name, f := range d.files {
		add(name, f.mode, name, f.name)
	}
	for name, sub := range d.folders {
		// Git sorts directories as if their names ended with a slash.
		add(name+"/", modeTree, name, sub.addTo(p))
	}

	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return p.addObject(kindTree, []byte(b.String()))
}

// treeLine is one line of a tree.
type treeLine struct{ mode, name, object string }

// parseTree parses lines of <mode> <name>, a NUL, and the bytes of the name of an object.
func parseTree(data []byte) (lines []treeLine, err error) {
	for len(data) > 0 {
		facts, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, found := strings.Cut(string(facts), " ")
		if !ok || !found || len(rest) < nameSize {
			return nil, errObject
		}

		lines = append(lines, treeLine{mode, name, hex.EncodeToString(rest[:nameSize])})
		data = rest[nameSize:]
	}
	return lines, nil
}

// Modes, as git writes them.
const (
	modeFile      = "100644"
	modeProgram   = "100755"
	modeLink      = "120000"
	modeTree      = "40000"
	modeSubmodule = "160000"
)
