package confedit

import "bytes"

// list is what is between two brackets, items with commas between them: a JSON object or array, a TOML array
// or inline table. One method adds an item at the end, another removes an item. Removing what was added
// restores the bytes, whatever comments, blank lines and commas there are, because of these rules:
//
//   - An item with a comma after it was added after one with a comma (a trailing comma stays trailing). One
//     without was added after one that had none, and which then got one.
//   - An item that begins its line was added with that line's end and indentation. Any other was added with
//     the blanks before it.
//   - The only item of a list, without a comment before it, was added with the line end after it.
type list struct {
	src   []byte
	open  int // just after the opening bracket
	close int // just before the closing bracket
	items []span
	hash  bool // comments are TOML's: # to the end of the line
}

// layout is how an item is added to a list.
type layout struct {
	newline     string // where no line end nearby shows it
	indent      string // of an item that begins a line
	closeIndent string // of the closing bracket of a list that was empty
	spread      bool   // an empty list gets its item on a line of its own
	space       string // between a comma and the next item on the same line
}

// readGap reads what is between items: the place of the comma (-1 if there is none), the comments without
// their line ends, and whether there is a line end outside comments.
func (l list) readGap(from, to int) (comma int, comments []span, lines bool) {
	comma = -1
	for i := from; i < to; {
		switch c := l.src[i]; {
		case c == ',':
			comma = i
			i++
		case c == '\n':
			lines = true
			i++
		case c == '#' && l.hash, l.hasSlashAnd('/', i, to):
			end := to
			if n := bytes.IndexByte(l.src[i:to], '\n'); n >= 0 {
				end = i + n - newlineBefore(l.src, i+n+1) + 1
			}
			comments = append(comments, span{i, end})
			i = end
		case l.hasSlashAnd('*', i, to):
			end := to
			if n := bytes.Index(l.src[i+2:to], []byte("*/")); n >= 0 {
				end = i + 2 + n + 2
			}
			comments = append(comments, span{i, end})
			i = end
		default:
			i++
		}
	}
	return comma, comments, lines
}

// hasSlashAnd reports whether a comment of JSON begins at src[i], of the kind that its second character tells.
func (l list) hasSlashAnd(second byte, i, to int) bool {
	return !l.hash && i+1 < to && l.src[i] == '/' && l.src[i+1] == second
}

// isLineComment reports whether a comment goes to the end of its line.
func (l list) isLineComment(c span) bool { return l.src[c.start] == '#' || l.src[c.start+1] == '/' }

// gapStart and gapEnd are the outer ends of the gaps around item i.
func (l list) gapStart(i int) int {
	if i == 0 {
		return l.open
	}
	return l.items[i-1].end
}

func (l list) gapEnd(i int) int {
	if i == len(l.items)-1 {
		return l.close
	}
	return l.items[i+1].start
}

// beginsLine reports whether item i begins its line.
func (l list) beginsLine(i int) bool {
	from := l.gapStart(i)
	at := skipBlanksBack(l.src, l.items[i].start, from)
	return at > from && newlineBefore(l.src, at) > 0
}

// isSpread reports whether the list's last items have lines of their own.
func (l list) isSpread() bool {
	n := len(l.items)
	if n == 0 {
		_, _, lines := l.readGap(l.open, l.close)
		return lines
	}

	_, _, lead := l.readGap(l.gapStart(n-1), l.items[n-1].start)
	_, _, tail := l.readGap(l.items[n-1].end, l.close)
	return lead || tail
}

// hasComment reports whether there is a comment in the list outside its items.
func (l list) hasComment() bool {
	from := l.open
	for i, it := range l.items {
		if _, c, _ := l.readGap(from, it.start); len(c) > 0 {
			return true
		}
		from = l.items[i].end
	}

	_, c, _ := l.readGap(from, l.close)
	return len(c) > 0
}

// lineEndAt returns the line end to write at a place: that of the line that ends there. After a lone carriage
// return it is the long one, so that removing it doesn't remove that one too.
func (l list) lineEndAt(at int, otherwise string) string {
	if n := newlineAt(l.src, at); n > 0 {
		return string(l.src[at : at+n])
	}
	if at > 0 && l.src[at-1] == '\r' {
		return "\r\n"
	}
	return otherwise
}

// skipSpaces skips white space that ends no line, from i on and not beyond end. A lone carriage return ends
// none: nobody ends lines that way any more, but a file may have one.
func (l list) skipSpaces(i, end int) int {
	for i < end && (l.src[i] == ' ' || l.src[i] == '\t' || l.src[i] == '\r' && newlineAt(l.src, i) == 0) {
		i++
	}
	return i
}

// endOfLine returns where the line of from ends: before its line end or, if the list ends on that line,
// after the last comment.
func (l list) endOfLine(from int) int {
	_, comments, _ := l.readGap(from, l.close)
	at, i := from, from

	for {
		i = l.skipSpaces(i, l.close)
		if newlineAt(l.src, i) > 0 && i < l.close {
			return i
		}
		if len(comments) == 0 || comments[0].start != i {
			return at
		}
		at, i = comments[0].end, comments[0].end
		comments = comments[1:]
	}
}

// addItem adds an item at the end.
func (l list) addItem(text string, lay layout) []splice {
	n := len(l.items)
	if n == 0 {
		return l.addFirstItem(text, lay)
	}

	last := l.items[n-1]
	comma, _, _ := l.readGap(last.end, l.close)

	// A trailing comma stays trailing. Without one, the item that was last gets a comma.
	from := last.end
	var out []splice
	if comma >= 0 {
		from, text = comma+1, text+","
	} else {
		out = append(out, splice{last.end, last.end, ","})
	}

	if l.isSpread() {
		at := l.endOfLine(from)
		return append(out, splice{at, at, l.lineEndAt(at, lay.newline) + lay.indent + text})
	}

	at := from
	if _, comments, _ := l.readGap(from, l.close); len(comments) > 0 {
		at = comments[len(comments)-1].end
	}
	return append(out, splice{at, at, lay.space + text})
}

func (l list) addFirstItem(text string, lay layout) []splice {
	_, comments, lines := l.readGap(l.open, l.close)

	switch {
	case !lines && !lay.spread:
		return []splice{{l.open, l.open, text}}
	case len(comments) == 0:
		nl := l.lineEndAt(l.close, lay.newline)
		return []splice{{l.close, l.close, nl + lay.indent + text + lay.newline + lay.closeIndent}}
	}

	// The comments stay above the new item.
	at := comments[len(comments)-1].end
	if i := l.skipSpaces(at, l.close); newlineAt(l.src, i) > 0 {
		at = i
	}
	return []splice{{at, at, l.lineEndAt(at, lay.newline) + lay.indent + text}}
}

// removeItem removes item i, its comma, and its line if it had one for itself. Comments around it stay.
func (l list) removeItem(i int) []splice {
	it := l.items[i]
	from, to := l.gapStart(i), l.gapEnd(i)
	comma, comments, _ := l.readGap(it.end, to)
	prevComma, lead, _ := l.readGap(from, it.start)

	var out []splice
	// The removed piece ends at end, and tail is behind the comma.
	end := it.end
	tail := it.end
	if comma >= 0 {
		tail = comma + 1
		if len(comments) == 0 || comments[0].start > comma {
			end = tail
		} else {
			out = append(out, splice{comma, tail, ""})
		}
	} else if i > 0 && prevComma >= 0 {
		// The removed item had no comma, so the one that is last now gets none.
		out = append(out, splice{prevComma, prevComma + 1, ""})
	}

	next := l.skipSpaces(end, to)
	lineEnds := newlineAt(l.src, next) > 0 && next < to
	closes := next == l.close

	start := skipBlanksBack(l.src, it.start, max(from, prevComma+1))
	nl := newlineBefore(l.src, start)
	if start-nl < max(from, prevComma+1) {
		nl = 0
	}

	switch {
	case nl > 0:
		start -= nl
		inComment := len(lead) > 0 && lead[len(lead)-1].end == start && l.isLineComment(lead[len(lead)-1])
		goesOn := !lineEnds && (!closes || inComment)
		if goesOn || inComment && bytes.ContainsRune(l.src[end:next], '\r') {
			// What follows takes the item's place, and doesn't join the comment above.
			start = it.start
			end = next
			break
		}

		// The only item was added with the line end after it.
		if len(l.items) == 1 && len(lead) == 0 && len(comments) == 0 && end == tail {
			if n := newlineAt(l.src, end); n > 0 && end < l.close {
				end = skipBlanks(l.src, end+n, l.close)
			}
		}
	case !lineEnds && !closes:
		start = it.start
		if i < len(l.items)-1 {
			end = next
		}
	}

	return append(out, splice{start, end, ""})
}
