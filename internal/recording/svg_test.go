package recording

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// A film shows each row as long as it looks the same, and where nothing moves, its last picture.
func TestFilmShowsWhatChanges(t *testing.T) {
	s := NewScreen(20, 2)
	f := &Film{Title: "a <film>"}
	f.Add("shop & co", 20, 2, func() *Screen { return s })

	writes := func(text string, long time.Duration) {
		t.Helper()
		if _, err := s.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		f.Shot(long)
	}

	writes("\x1b[?25lstays\r\n$ ", time.Second)
	writes("\x1b[31mgo & \x1b[0m漢  far", 2*time.Second)
	writes("\x1b[2;1H\x1b[K\x1b[7mend\x1b[0m", time.Second)

	got := string(f.SVG())
	for _, want := range []string{
		`<title id="title">a &lt;film&gt;</title>`, `>shop &amp; co</text>`,
		`<g><text class="t" x="14" y="42" textLength="42" lengthAdjust="spacingAndGlyphs" xml:space="preserve">stays</text></g>`,
		`<g class="k0"><text class="t" x="14"`,
		`<g class="k1">`, `<text class="c31"`, `>go &amp;</text>`,
		`textLength="16.8" lengthAdjust="spacingAndGlyphs" xml:space="preserve">漢</text>`, `>far</text>`,
		`<g class="k2"><rect class="cur" x="14" y="47" width="25.2" height="19"/><text class="r"`,
		".k0 { visibility: hidden }\n.k1 { visibility: hidden }\n@media",
		"@keyframes k0 { 0.00% { visibility: visible } 25.00% { visibility: hidden } }",
		"@keyframes k1 { 0% { visibility: hidden } 25.00% { visibility: visible } 75.00% { visibility: hidden } }",
		"@keyframes k2 { 0% { visibility: hidden } 75.00% { visibility: visible } }",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %s", want)
		}
	}

	if n := len(regexp.MustCompile(`<g[ >]`).FindAllString(got, -1)); n != 4 || t.Failed() {
		t.Errorf("it has %d rows:\n%s", n, got)
	}
}
