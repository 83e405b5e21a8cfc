package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// KnownPairs holds what comparisons of two commits have found, so that what hasn't changed since isn't compared
// again. A commit is all that git merges of a side: also of its uncommitted changes, which the scratch commits
// with the same name, and at the same time, whenever it does.
type KnownPairs map[string][]KnownCollision

// KnownCollision is a [Collision] of a known pair.
type KnownCollision struct {
	Path     string  `json:"path"`
	Conflict bool    `json:"conflict,omitempty"`
	Kind     string  `json:"kind,omitempty"`
	ALines   []Lines `json:"a,omitempty"`
	BLines   []Lines `json:"b,omitempty"`
}

// readSettings sums up what decides, besides the commits, how git merges: its version, its configuration, and the
// attributes that aren't in commits.
func (x *comparison) readSettings(ctx context.Context, version string) {
	sum := sha256.New()
	config, err := x.git.runLine(ctx, x.dir, "config", "--list", "-z")
	if err != nil {
		return // then nothing is known, and nothing is remembered
	}

	sum.Write([]byte(version + "\x00" + config))
	for _, path := range []string{
		filepath.Join(filepath.Dir(x.objects), "info", "attributes"), filepath.Join(x.dir, ".gitattributes"),
	} {
		text, _ := os.ReadFile(path)
		sum.Write(append(text, 0))
	}
	x.settings = hex.EncodeToString(sum.Sum(nil))
}

// pairKey returns the key of two sides among the known pairs, empty if they can't be known.
func (x *comparison) pairKey(a, b *Side) string {
	if x.settings == "" {
		return ""
	}
	return strings.Join([]string{x.settings, a.commit, b.commit}, " ")
}

// findKnown returns what is known of a pair, and keeps it for the next run.
func (x *comparison) findKnown(a, b *Side) (found []Collision, ok bool) {
	key := x.pairKey(a, b)
	known, ok := x.known[key]
	if key == "" || !ok {
		return nil, false
	}

	x.keepPair(key, known)
	for _, k := range known {
		found = append(found, Collision{
			A: a, B: b, Path: k.Path, Conflict: k.Conflict, Kind: k.Kind, ALines: k.ALines, BLines: k.BLines,
		})
	}
	return found, true
}

// remember keeps what a comparison has found.
func (x *comparison) remember(a, b *Side, found []Collision) {
	key := x.pairKey(a, b)
	if key == "" {
		return
	}

	known := []KnownCollision{}
	for _, c := range found {
		known = append(known, KnownCollision{
			Path: c.Path, Conflict: c.Conflict, Kind: c.Kind, ALines: c.ALines, BLines: c.BLines,
		})
	}
	x.keepPair(key, known)
}

func (x *comparison) keepPair(key string, known []KnownCollision) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.result.Known[key] = known
}

// keepUnreached keeps what is known of pairs that the time didn't reach.
func (x *comparison) keepUnreached() {
	for key, known := range x.known {
		if _, ok := x.result.Known[key]; !ok {
			x.result.Known[key] = known
		}
	}
}
