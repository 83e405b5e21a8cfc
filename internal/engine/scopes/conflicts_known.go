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

// knownPairsFile returns the file of the repository in a directory.
func (sc *Scopes) knownPairsFile(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(sc.core.Config.Dir, core.ComparisonsName, hex.EncodeToString(sum[:8])+".json")
}

// readKnownPairs reads what is known of a repository's pairs, which may be nothing.
func readKnownPairs(file string) (known git.KnownPairs) {
	text, err := plainfile.Read(file)
	if err == nil && json.Unmarshal(text, &known) != nil {
		return nil
	}
	return known
}

// keepKnownPairs replaces what is known. Where it can't, the next run compares again.
func keepKnownPairs(file string, known git.KnownPairs) {
	text, err := json.Marshal(known)
	if err != nil || plainfile.MkdirAll(filepath.Dir(file)) != nil {
		return
	}
	if plainfile.Replace(file, text) != nil {
		_ = os.Remove(file)
	}
}
