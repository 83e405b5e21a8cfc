package app

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/term"
	"talkingstick/stick"
)

// What a release says of itself. The linker sets all of it (internal/release); another build has only the
// version.
var (
	version  = "0.1.0" // without the v of its tag
	commit   string    // the whole hash
	date     string    // of the commit, in UTC, as RFC 3339 writes it
	releases string    // the address where releases are published; empty while they are published nowhere
)

// Version returns the version of the program.
func Version() string { return version }

// IsReleased reports whether the linker has said of which commit the program is, as for a release.
func IsReleased() bool { return commit != "" }

// PublishedAt returns the address where releases are published, or nothing.
func PublishedAt() string { return releases }

// VersionResult is which program this is.
type VersionResult struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"`     // of the commit
	Modified bool   `json:"modified,omitempty"` // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild returns which program this is. A release knows its commit from the linker, a build in a clone
// from git, if Go asked git, and a program of go install path@version its version from Go.
func ThisBuild() VersionResult {
	res := VersionResult{
		Version: version, Commit: commit, Date: date, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}

	// The linker's values come first; the build information knows only clones.
	info, ok := debug.ReadBuildInfo()
	if !ok || commit != "" {
		return res
	}

	res.Version = installedVersion(info)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			res.Commit = s.Value
		case "vcs.time":
			res.Date = s.Value
		case "vcs.modified":
			res.Modified = s.Value == "true"
		}
	}

	return res
}

// installedVersion returns the version that go install was given. In a clone, Go makes one up from the last tag
// and the commit, which says nothing that the commit doesn't say.
func installedVersion(info *debug.BuildInfo) string {
	isClone := slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" })
	given, isVersion := strings.CutPrefix(info.Main.Version, "v")
	if isClone || !isVersion {
		return version
	}

	return given
}

// FullName is the version with its commit and the commit's day, as far as they are known.
func (v VersionResult) FullName() stick.Words {
	if v.Commit == "" {
		return stick.Wordsf("%s", v.Version)
	}

	of := term.ShortCommit(v.Commit)
	if at, err := time.Parse(time.RFC3339, v.Date); err == nil {
		of += ", " + stick.Words(at.UTC().Format(time.DateOnly))
	}
	if v.Modified {
		of += ", with changes"
	}
	return stick.Wordsf("%s (%s)", v.Version, of)
}

// VersionCmd makes tt version.
func VersionCmd(a *Run) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			a.Reads = true
			res := ThisBuild()
			return a.Print(res, func(p *term.Page) { p.Linef("tt %s %s %s", res.FullName(), res.Go, res.Platform) })
		},
	}
}

// VersionFlag is what --version prints. Reading who built the program takes time, so it is done only for
// somebody who asks.
func (a *Run) VersionFlag() string {
	if slices.Contains(a.Args, "--version") {
		return string(ThisBuild().FullName())
	}
	return version
}
