package scopes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/plainfile"
)

// What comparisons of working trees have found lies in the data directory, a file for each repository. It is
// derived: without it, all pairs are compared.

// knownFile returns the file of the repository in a directory.
func (sc *Scopes) knownFile(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(sc.core.Config.Dir, core.ComparisonsName, hex.EncodeToString(sum[:8])+".json")
}

// readKnown reads what is known of a repository, which may be nothing.
func readKnown(file string) (known git.Known) {
	text, err := plainfile.Read(file)
	if err == nil && json.Unmarshal(text, &known) != nil {
		return git.Known{}
	}
	return known
}

// keepKnown replaces what is known. Where it can't, the next run compares again.
func keepKnown(file string, known git.Known) {
	text, err := json.Marshal(known)
	if err != nil || plainfile.MkdirAll(filepath.Dir(file)) != nil {
		return
	}
	if plainfile.Replace(file, text) != nil {
		_ = os.Remove(file)
	}
}
