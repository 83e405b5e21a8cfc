// Package manifest says what a rescue is: its manifest, how each path was, what it lacks, and its id. It reads
// and writes these as they are kept, and touches no file.
package manifest

import (
	"encoding/json"
	"fmt"

	"talkingstick/stick"
)

// Manifest says what a rescue is. It is the message of its commit.
type Manifest struct {
	ID        string            `json:"id"`                  // six characters of its start are enough
	At        stick.Time        `json:"at"`                  // when it was taken
	Top       string            `json:"checkout"`            // the top level of the checkout
	Common    string            `json:"git_common_dir"`      // of the repository
	Head      string            `json:"head"`                // the commit; empty on a branch without commits
	Branch    string            `json:"branch,omitempty"`    // what was checked out
	Operation map[string]string `json:"operation,omitempty"` // MERGE_HEAD and its like
	Facts
	Files   int       `json:"files"`            // how many paths it covers, deleted ones included
	Bytes   int64     `json:"bytes"`            // the size of that, with what was staged
	LeftOut []LeftOut `json:"left_out"`         // what it lacks
	Nested  []Nested  `json:"nested,omitempty"` // the rescues of repositories inside the checkout

	Loss *Loss `json:"loss,omitempty"` // what a call took after it; nil if nobody has told of any

	Needs []string `json:"-"` // the ids of the snapshots whose packs it needs beside its own
}

// manifestJSON is a manifest as it is written, with texts of any bytes.
type manifestJSON struct {
	Manifest
	Top     BytesText       `json:"checkout"`
	Common  BytesText       `json:"git_common_dir"`
	Branch  BytesText       `json:"branch,omitempty"`
	Command BytesText       `json:"command,omitempty"`
	LeftOut []leftOutJSON   `json:"left_out"`
	Nested  []nestedPathsID `json:"nested,omitempty"`
	Needs   []string        `json:"needs,omitempty"`
}

type leftOutJSON struct {
	LeftOut
	Path BytesText `json:"path"`
}

type nestedPathsID struct {
	Nested
	Path BytesText `json:"path"`
}

// EncodeJSON writes a manifest, with texts of any bytes.
func (m Manifest) EncodeJSON() ([]byte, error) {
	// The loss is written beside the rescue.
	m.Loss = nil
	j := manifestJSON{
		Manifest: m, Top: BytesText(m.Top), Common: BytesText(m.Common),
		Branch: BytesText(m.Branch), Command: BytesText(m.Command),
		LeftOut: []leftOutJSON{}, Needs: m.Needs,
	}

	for _, l := range m.LeftOut {
		j.LeftOut = append(j.LeftOut, leftOutJSON{l, BytesText(l.Path)})
	}

	for _, n := range m.Nested {
		j.Nested = append(j.Nested, nestedPathsID{n, BytesText(n.Path)})
	}

	return json.Marshal(j)
}

// Decode reads what [Manifest.EncodeJSON] has written.
func Decode(b []byte) (Manifest, error) {
	var j manifestJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return Manifest{}, fmt.Errorf("read the manifest of a rescue: %w", err)
	}

	m := j.Manifest
	m.Top, m.Common, m.Branch, m.Command = string(j.Top), string(j.Common), string(j.Branch), string(j.Command)
	m.LeftOut, m.Needs = []LeftOut{}, j.Needs

	for _, l := range j.LeftOut {
		l.LeftOut.Path = string(l.Path)
		m.LeftOut = append(m.LeftOut, l.LeftOut)
	}

	for _, n := range j.Nested {
		n.Nested.Path = string(n.Path)
		m.Nested = append(m.Nested, n.Nested)
	}

	return m, nil
}
