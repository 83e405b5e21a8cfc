package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// Known is what comparisons have found, so that what hasn't changed since isn't compared again. A commit is all
// that git merges of a side: also of its uncommitted changes, which the scratch commits with the same name, and at
// the same time, whenever it does.
type Known struct {
	Pairs map[string][]KnownCollision `json:"pairs"`

	// Commits are those of uncommitted changes, by what [comparison.changesKey] returns.
	Commits map[string]string `json:"commits"`
}

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

// isKnown reports whether a pair needn't be compared.
func (x *comparison) isKnown(a, b *Side) bool {
	key := x.pairKey(a, b)
	_, ok := x.known.Pairs[key]
	return ok && key != ""
}

// findKnown returns what is known of a pair, and keeps it for the next run.
func (x *comparison) findKnown(a, b *Side) (found []Collision, ok bool) {
	if !x.isKnown(a, b) {
		return nil, false
	}

	key := x.pairKey(a, b)
	known := x.known.Pairs[key]
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
	x.result.Known.Pairs[key] = known
}

// keepUnreached keeps what is known of pairs that the time didn't reach.
func (x *comparison) keepUnreached() {
	for key, known := range x.known.Pairs {
		if _, ok := x.result.Known.Pairs[key]; !ok {
			x.result.Known.Pairs[key] = known
		}
	}
}
