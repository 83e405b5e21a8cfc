package confedit

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonStyle is the layout of a file.
type jsonStyle struct {
	newline string
	unit    string // one step of indentation
	colon   string // between a colon and the value on one line: " " or nothing
	comma   string // between a comma and the next item on one line
}

// fileStyle takes the layout from the first place in the file that shows it. The default is an indentation of
// two spaces, and a space after colons and commas.
func (d *jsonDoc) fileStyle() jsonStyle {
	st := jsonStyle{newline: newlineOf(d.src), unit: "  ", colon: " ", comma: " "}
	unit, colon, comma := false, false, false

	for v := range d.root.All() {
		if unit && colon && comma {
			break
		}

		l, ok := d.listOf(v)
		if !ok || len(l.items) == 0 {
			continue
		}

		if !unit && bytes.ContainsRune(d.src[l.open:l.items[0].start], '\n') {
			inner, outer := lineIndent(d.src, l.items[0].start), lineIndent(d.src, v.StartOffset)
			if rest, ok := strings.CutPrefix(inner, outer); ok && rest != "" {
				st.unit, unit = rest, true
			}
		}

		if obj, ok := v.Value.(*hujson.Object); ok && !colon {
			colon = true
			if len(obj.Members[0].Value.BeforeExtra) == 0 {
				st.colon = ""
			}
		}

		if len(l.items) > 1 && !comma {
			_, comments, lines := l.readGap(l.items[0].end, l.items[1].start)
			if !lines && len(comments) == 0 {
				comma = true
				if d.src[l.items[1].start-1] == ',' {
					st.comma = ""
				}
			}
		}
	}

	// Where no comma shows its space, that of a colon counts.
	if colon && !comma {
		st.comma = st.colon
	}

	return st
}

// marshalCompact writes a value as compact plain JSON.
func marshalCompact(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}

	var c bytes.Buffer
	if err := json.Compact(&c, b.Bytes()); err != nil {
		return nil, err
	}
	return c.Bytes(), nil
}

// renderJSON lays out compact JSON in the file's style: on several lines, indented from base on, or on one
// line.
func (st jsonStyle) renderJSON(compact []byte, spread bool, base string) string {
	var b bytes.Buffer
	if spread {
		if err := json.Indent(&b, compact, base, st.unit); err != nil {
			return string(compact)
		}
		return strings.ReplaceAll(b.String(), "\n", st.newline)
	}

	// Only outside of strings do colons and commas get their spaces.
	quoted, escaped := false, false
	for _, c := range compact {
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && c == ':':
			b.WriteString(st.colon)
		case !quoted && c == ',':
			b.WriteString(st.comma)
		}
	}
	return b.String()
}

// insertItem adds an item at the end of the last step: a key and value to an object, a value to an array. It
// follows the items beside it, or else what is around it, in taking one line or several.
func (d *jsonDoc) insertItem(steps []*hujson.Value, key string, compact []byte) []splice {
	in := steps[len(steps)-1]
	l, _ := d.listOf(in)
	style, outer := d.fileStyle(), lineIndent(d.src, in.StartOffset)
	lay := layout{newline: style.newline, closeIndent: outer, indent: outer + style.unit, space: style.comma}

	// The new item is indented like the last one that begins its line.
	for i := len(l.items) - 1; i >= 0; i-- {
		if l.beginsLine(i) {
			lay.indent = lineIndent(d.src, l.items[i].start)
			break
		}
	}

	lay.spread = d.spreadAt(steps)
	spread, base := lay.spread, lay.indent

	// A value of several lines beside the new one has it spread, too.
	if n := len(l.items); n > 0 && !spread {
		spread = bytes.ContainsRune(d.src[l.items[n-1].start:l.items[n-1].end], '\n')
		base = lineIndent(d.src, l.items[n-1].end)
	}

	text := style.renderJSON(compact, spread, base)
	if in.Value.Kind() == '{' {
		colon := style.colon
		if spread {
			colon = " "
		}
		text = string(hujson.String(key)) + ":" + colon + text
	}

	return l.addItem(text, lay)
}

// spreadAt reports whether items of the last step get lines of their own: the innermost step that isn't empty
// shows it.
func (d *jsonDoc) spreadAt(steps []*hujson.Value) bool {
	for i := len(steps) - 1; i >= 0; i-- {
		if l, ok := d.listOf(steps[i]); ok && (len(l.items) > 0 || l.isSpread()) {
			return l.isSpread()
		}
	}
	return true
}

// replaceValue writes another value in the place of v, which is in the last step.
func (d *jsonDoc) replaceValue(steps []*hujson.Value, v *hujson.Value, compact []byte) []splice {
	spread := d.spreadAt(steps) || bytes.ContainsRune(d.src[v.StartOffset:v.EndOffset], '\n')
	text := d.fileStyle().renderJSON(compact, spread, lineIndent(d.src, v.StartOffset))
	return []splice{{v.StartOffset, v.EndOffset, text}}
}
