package pull

import "testing"

func TestNumberIn(t *testing.T) {
	for address, want := range map[string]int{
		"https://git.example.org/acme/app/pulls/7":        7,
		"https://review.example.org:8443/c/app/+/1234":    1234,
		"https://example.org/acme/pull-requests/12/files": 12,
		"https://example.org:8443/new":                    0,
		"https://example.org/new?id=3#4":                  0,
		"done":                                            0,
		"":                                                0,
		"://7":                                            0,
	} {
		if got := numberIn(address); got != want {
			t.Errorf("%q has %d, want %d", address, got, want)
		}
	}
}
