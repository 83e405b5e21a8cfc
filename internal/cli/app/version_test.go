package app

import (
	"runtime/debug"
	"testing"
)

// TestVersionName: a version names its commit and that commit's day, as far as the program knows them.
func TestVersionName(t *testing.T) {
	for want, v := range map[string]VersionResult{
		"0.1.0":              {Version: "0.1.0"},
		"0.1.0 (7c3d1d6aaa)": {Version: "0.1.0", Commit: "7c3d1d6aaabbb"},
		"0.1.0 (7c3d1d6aaa, 2026-11-24)": {
			Version: "0.1.0", Commit: "7c3d1d6aaabbb", Date: "2026-11-25T01:00:00+02:00",
		},
		"0.1.0 (7c3d1d6aaa, 2026-11-24, with changes)": {
			Version: "0.1.0", Commit: "7c3d1d6aaabbb", Date: "2026-11-24T10:00:00Z", Modified: true,
		},
	} {
		if got := string(v.FullName()); got != want {
			t.Errorf("%+v is called %q, want %q", v, got, want)
		}
	}
}

// TestInstalledVersion: a program that go install built has the version that it was given; what was built in a
// directory or a clone has the version in the code.
func TestInstalledVersion(t *testing.T) {
	inClone := []debug.BuildSetting{{Key: "vcs.revision", Value: "7c3d1d6aaabbb"}}
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{main: "v1.2.3", want: "1.2.3"},
		{main: "v1.2.4-0.20261124100000-7c3d1d6aaabb", want: "1.2.4-0.20261124100000-7c3d1d6aaabb"},
		{main: "(devel)", want: version},
		{main: "", want: version},
		{main: "v0.0.0-20261124100000-7c3d1d6aaabb+dirty", settings: inClone, want: version},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings}
		if got := installedVersion(info); got != c.want {
			t.Errorf("installedVersion of %q with %v is %q, want %q", c.main, c.settings, got, c.want)
		}
	}
}
