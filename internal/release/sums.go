package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sumsName is the file with the sums of all others, as sha256sum --check reads it.
const sumsName = "SHA256SUMS"

// writeFiles writes the files of the release and their sums. It first removes those of an earlier release,
// which the earlier sums name, and nothing else.
func (r *release) writeFiles(files []file) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}

	old, err := os.ReadFile(filepath.Join(r.out, sumsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	for line := range strings.Lines(string(old)) {
		_, name, ok := strings.Cut(strings.TrimSpace(line), "  ")

		// A name with a directory isn't one that an earlier release has written.
		if !ok || name != filepath.Base(name) {
			continue
		}
		if err := os.Remove(filepath.Join(r.out, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	var sums strings.Builder
	for _, f := range sortFiles(files) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.data), f.name)
		r.printProgress("%10d %s", len(f.data), f.name)
		if err := os.WriteFile(filepath.Join(r.out, f.name), f.data, f.mode); err != nil {
			return err
		}
	}

	return os.WriteFile(filepath.Join(r.out, sumsName), []byte(sums.String()), 0o644)
}
