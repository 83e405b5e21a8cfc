package app

import "testing"

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
