package recording

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Sizes in pixels.
const (
	size = 14 // of the letters
	// column is what a letter of that size takes. Every text is stretched to it, so that columns stand below
	// each other in any font.
	column = 8.4
	row    = 19
	edge   = 14 // inside of a window
	bar    = 28 // with the title of a window
	space  = 12 // between windows
)

// themes are the colours of a window: for dark screens, which is what is drawn where nobody knows, and for
// light ones.
var themes = [2]struct {
	ground, edge, bar, ink, soft string
	colors                       map[int]string
}{
	{"#0d1117", "#30363d", "#161b22", "#dbe2ea", "#98a2ad", map[int]string{31: "#ff8f86", 32: "#6fce80", 33: "#e5b84c", 34: "#79b8ff", 35: "#d2a8ff", 36: "#6cc7d6"}},
	{"#ffffff", "#d0d7de", "#f6f8fa", "#1f2328", "#59636e", map[int]string{31: "#b3261e", 32: "#14713a", 33: "#855a00", 34: "#0550ae", 35: "#7a3fc2", 36: "#0b6b7d"}},
}

// SVG draws a film, as moving pictures that begin again at the end. Where nothing moves, because a reader
// wants that or a program can't, it shows the last picture. It has no script, and asks for nothing that isn't
// in it.
func (f *Film) SVG() []byte {
	wide, high := 0, 0
	for _, p := range f.panes {
		wide, high = max(wide, p.width), high+bar+p.height*row+edge+space
	}

	width := int(float64(wide)*column+.5) + 2*edge

	// The styles come first, but need the times of all panes.
	var body bytes.Buffer
	times := map[[2]time.Duration]int{}
	y := 0
	for _, p := range f.panes {
		p.drawPane(&body, y, width, f.time, times)
		y += bar + p.height*row + edge + space
	}

	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"title\">\n",
		width, high-space, width, high-space)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<style>\n", escapeText(f.Title))
	b.WriteString("text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }\n.b { font-weight: 700 }\n")

	writeTheme(&b, 0)
	b.WriteString("@media (prefers-color-scheme: light) {\n")
	writeTheme(&b, 1)
	b.WriteString("}\n")
	f.writeAnimations(&b, times)

	b.WriteString("</style>\n")
	b.Write(body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// writeTheme writes the colours of windows.
func writeTheme(b *bytes.Buffer, i int) {
	t := themes[i]
	fmt.Fprintf(b, ".w { fill: %s; stroke: %s }\n.bar { fill: %s }\n.t, .cur { fill: %s }\n.f, .title { fill: %s }\n.r { fill: %s }\n",
		t.ground, t.edge, t.bar, t.ink, t.soft, t.ground)
	for n := 30; n < 38; n++ {
		if c := t.colors[n]; c != "" {
			fmt.Fprintf(b, ".c%d { fill: %s }\n", n, c)
		}
	}
}

// writeAnimations writes when what is shown. Until it moves, the last picture is shown.
func (f *Film) writeAnimations(b *bytes.Buffer, times map[[2]time.Duration]int) {
	at := func(t time.Duration) string {
		return strconv.FormatFloat(float64(t)/float64(f.time)*100, 'f', 2, 64) + "%"
	}

	ordered := make([][2]time.Duration, len(times))
	for span, n := range times {
		ordered[n] = span
	}

	// A row that is gone at the end isn't in the last picture.
	for n, span := range ordered {
		if span[1] < f.time {
			fmt.Fprintf(b, ".k%d { visibility: hidden }\n", n)
		}
	}

	b.WriteString("@media (prefers-reduced-motion: no-preference) {\n")
	for n, span := range ordered {
		fmt.Fprintf(b, ".k%d { animation: k%d %gs step-end infinite }\n@keyframes k%d { ", n, n, f.time.Seconds(), n)
		if span[0] > 0 {
			b.WriteString("0% { visibility: hidden } ")
		}
		fmt.Fprintf(b, "%s { visibility: visible } ", at(span[0]))
		if span[1] < f.time {
			fmt.Fprintf(b, "%s { visibility: hidden } ", at(span[1]))
		}
		b.WriteString("}\n")
	}
	b.WriteString("}\n")
}

// drawPane draws a terminal at a height, and gives each of its times a number.
func (p *pane) drawPane(b *bytes.Buffer, y, width int, whole time.Duration, times map[[2]time.Duration]int) {
	height := bar + p.height*row + edge
	fmt.Fprintf(b, "<rect class=\"w\" x=\".5\" y=\"%d.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", y, width-1, height-1)
	fmt.Fprintf(b, "<path class=\"bar\" d=\"M1 %dv-19a7 7 0 0 1 7-7h%da7 7 0 0 1 7 7v19z\"/>\n", y+bar-1, width-16)
	fmt.Fprintf(b, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", edge, y+19, escapeText(p.title))

	for _, l := range p.lines {
		if l.to == 0 {
			l.to = whole
		}

		span := [2]time.Duration{l.from, l.to}
		if span == [2]time.Duration{0, whole} {
			b.WriteString("<g>")
		} else {
			if _, ok := times[span]; !ok {
				times[span] = len(times)
			}
			fmt.Fprintf(b, "<g class=\"k%d\">", times[span])
		}

		for _, r := range l.runs {
			r.drawRun(b, y+bar+l.row*row)
		}
		b.WriteString("</g>\n")
	}
}

// drawRun draws a piece of a row at a height.
func (r textRun) drawRun(b *bytes.Buffer, y int) {
	x, w := formatNumber(edge+float64(r.column)*column), formatNumber(float64(r.width)*column)

	class := "t"
	switch {
	case r.Reverse:
		fmt.Fprintf(b, "<rect class=\"cur\" x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\"/>", x, y, w, row)
		class = "r"
	case r.Color != 0:
		class = "c" + strconv.Itoa(r.Color)
	case r.Faint:
		class = "f"
	}

	if r.Strong {
		class += " b"
	}

	if text := strings.TrimRight(r.text, " "); text != "" {
		// Blanks are single bytes.
		w = formatNumber(float64(r.width-len(r.text)+len(text)) * column)
		fmt.Fprintf(b, "<text class=\"%s\" x=\"%s\" y=\"%d\" textLength=\"%s\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\">%s</text>",
			class, x, y+size, w, escapeText(text))
	}
}

func formatNumber(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

func escapeText(s string) string {
	var b bytes.Buffer

	// A buffer takes everything.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
