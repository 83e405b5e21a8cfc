package runner

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/engine/core"
	"talkingstick/stick/tasks"
)

// TestOutput_LongInParts writes far more than is kept. The start and the end stay, every byte where it
// was, and little space is used.
func TestOutput_LongInParts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x-1-1")
	w := newOutput(dir)
	const lines, width = 4 << 20, 16

	var chunk bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&chunk, "%015d\n", i)
		if chunk.Len() >= 60_000 {
			if _, err := w.Write(chunk.Bytes()); err != nil {
				t.Fatal(err)
			}
			chunk.Reset()
		}
	}

	_, _ = w.Write(chunk.Bytes())
	w.closePart()
	if w.err != nil || w.size != lines*width {
		t.Fatalf("%d bytes, %v", w.size, w.err)
	}

	var used int64
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}

	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %s", e.Name(), info.Mode())
		}
		used += info.Size()
	}

	if used > firstPart+2*laterPart || used < firstPart+laterPart {
		t.Errorf("%d bytes are kept in %d parts", used, len(entries))
	}
	o := output{dir: dir}
	if end, err := o.endOffset(); err != nil || end != lines*width {
		t.Errorf("it ends at %d, %v", end, err)
	}

	read, gaps := int64(0), 0
	buf := make([]byte, 100_000)
	for at := int64(0); ; {
		n, from, err := o.readAt(buf, at)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}

		if from != at {
			gaps++
		}

		if first := (from + width - 1) / width; first*width+width <= from+int64(n) {
			if line := string(buf[first*width-from:][:width]); line != fmt.Sprintf("%015d\n", first) {
				t.Fatalf("at byte %d stands %q", first*width, line)
			}
		}
		read, at = read+int64(n), from+int64(n)
	}

	if read != used || gaps != 1 {
		t.Errorf("%d bytes with %d gaps were read", read, gaps)
	}

	for _, c := range []struct {
		lines int
		most  int64
		want  int64
	}{{1, 1 << 20, lines*width - width}, {3, 1 << 20, lines*width - 3*width}, {100, 5 * width, lines*width - 5*width}, {lines, 1 << 40, lines*width - (used - firstPart)}} {
		if at, err := o.tailStart(c.lines, c.most); err != nil || at != c.want {
			t.Errorf("the last %d lines of at most %d bytes begin at %d, want %d (%v)",
				c.lines, c.most, at, c.want, err)
		}
	}

	if b := o.lastBytes(20); len(b) != 20 || !strings.HasSuffix(string(b), fmt.Sprintf("%015d\n", lines-1)) {
		t.Errorf("the last bytes are %q", b)
	}
}

// TestOutputWithoutLines: what has no line break, or nothing in it at all, can be shown.
func TestOutputWithoutLines(t *testing.T) {
	o := output{dir: filepath.Join(t.TempDir(), "missing")}
	if at, err := o.tailStart(5, 100); at != 0 || err != nil {
		t.Errorf("of nothing: %d, %v", at, err)
	}

	o = output{whole: []byte("abc"), size: 10}
	if at, err := o.tailStart(5, 100); at != 7 || err != nil {
		t.Errorf("of what is left: %d, %v", at, err)
	}

	buf := make([]byte, 10)
	if n, from, err := o.readAt(buf, 0); n != 3 || from != 7 || err != nil {
		t.Errorf("read: %d, %d, %v", n, from, err)
	}

	w := newOutput(filepath.Join(t.TempDir(), "x"))
	_, _ = w.Write(bytes.Repeat([]byte{0, 0xff}, 1<<20))
	w.closePart()
	o = output{dir: w.dir}
	if at, err := o.tailStart(5, 1<<20); at != 1<<20 || err != nil {
		t.Errorf("of bytes: %d, %v", at, err)
	}

	w = newOutput(filepath.Join(t.TempDir(), "x"))
	if err := os.Remove(w.dir); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write([]byte("x\n")); n != 2 || err != nil || w.err == nil || string(w.tail.Bytes()) != "x\n" {
		t.Errorf("where nothing can be kept: %d, %v, %v", n, err, w.err)
	}
}

// TestOutput_EmptyDirectory: somebody who waited for the output on another host may have made it. The end of the
// output is in the database.
func TestOutput_EmptyDirectory(t *testing.T) {
	o := output{dir: t.TempDir()}
	if o.hasParts() {
		t.Error("an empty directory counts as output")
	}

	appendOutput(o.dir, "x")
	if !o.hasParts() {
		t.Error("a part doesn't count as output")
	}
}

// TestLinesOfAnOutput: pieces that end anywhere become lines, and a very long line is cut.
func TestLinesOfAnOutput(t *testing.T) {
	var shown []string
	l := logReader{show: func(s string) error { shown = append(shown, s); return nil }}
	for _, piece := range []string{"on", "e\ntwo\r\n", "\nthr", "ee"} {
		if err := l.showBytes([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}

	if err := l.showRest(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(shown, "|"); got != "one\ntwo\r\n|\n|three\n" {
		t.Errorf("shown is %q", got)
	}

	shown = nil
	if err := l.showBytes(bytes.Repeat([]byte("x"), mostLine+10)); err != nil {
		t.Fatal(err)
	}
	if err := l.showRest(); err != nil {
		t.Fatal(err)
	}
	if len(shown) != 2 || len(shown[0]) != mostLine+1 || shown[1] != "xxxxxxxxxx\n" {
		t.Errorf("%d pieces are shown", len(shown))
	}
}

// TestOutput_Grows: a reading that doesn't follow ends although the command writes as fast as it reads.
func TestOutput_Grows(t *testing.T) {
	rs := New(Config{Kernel: core.New(core.Config{Dir: t.TempDir()})})
	run := tasks.Run{Task: "x", Attempt: 1, Number: 1}
	w := newOutput(rs.outputDir("r", run))
	_, _ = w.Write([]byte("one\ntwo\n"))
	pieces, all := 0, 0
	l := logReader{runs: rs, room: "r", run: run, p: WorkerLogsParams{Lines: &all}}
	text := ""
	l.show = func(s string) error {
		if pieces++; pieces > 10 {
			return errors.New("it doesn't end")
		}
		text += s
		_, _ = w.Write([]byte("more\n"))
		return nil
	}

	err := errors.Join(l.findStart(t.Context()), l.showAvailable(), l.showRest())
	if err != nil || text != "one\ntwo\n" {
		t.Errorf("%q, %v", text, err)
	}
	w.closePart()
}

// TestOutput_SameNumber: a database that was restored gives the number of a run again. The output of
// the earlier one goes then.
func TestOutput_SameNumber(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	for _, text := range []string{strings.Repeat("old\n", firstPart), "new\n"} {
		w := newOutput(dir)
		_, _ = w.Write([]byte(text))
		w.closePart()
		o := output{dir: dir}
		end, err := o.endOffset()
		if w.err != nil || err != nil || end != int64(len(text)) || string(o.lastBytes(4)) != text[:4] {
			t.Errorf("%q of %d bytes, %v, %v", o.lastBytes(4), end, err, w.err)
		}
	}
}
