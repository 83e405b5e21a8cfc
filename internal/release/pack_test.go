package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	when  = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	given = []file{{"b/tt", 0o755, []byte("program")}, {"a.txt", 0o644, []byte("text")}}
)

// TestTar: what is packed comes out, in the order of the names, below folders that the archive names as well.
func TestTar(t *testing.T) {
	b, err := packTarGz(given, when, ".")
	if err != nil {
		t.Fatal(err)
	}
	in := entries(t, b)
	if len(in) != 4 || in["./"] == nil || in["./b/"] == nil || in["./b/tt"].Mode != 0o755 || in["./a.txt"].Size != 4 {
		t.Errorf("it holds %v", in)
	}

	turned := []file{given[1], given[0]}
	if again, err := packTarGz(turned, when, "."); err != nil || !bytes.Equal(b, again) {
		t.Errorf("the order of the files shows (%v)", err)
	}
}

// TestZip: an archive for Windows holds the same in its own format.
func TestZip(t *testing.T) {
	r := release{commit: commit{version: "1.2.3", date: when}}
	f, err := r.makeArchive(program{system: system{"windows", "arm64"}, data: []byte("program")},
		[]file{{"man/tt.1", 0o644, []byte("page")}, {"completions/tt.ps1", 0o644, []byte("lines")}}, nil)
	if err != nil || f.name != "tt_1.2.3_windows_arm64.zip" {
		t.Fatal(f.name, err)
	}

	z, err := zip.NewReader(bytes.NewReader(f.data), int64(len(f.data)))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range z.File {
		list = append(list, e.Name)
		if !e.Modified.Equal(when) {
			t.Errorf("%s is of %s", e.Name, e.Modified)
		}
	}

	const top = "tt_1.2.3_windows_arm64/"
	if got := strings.Join(list, " "); got != top+"completions/tt.ps1 "+top+"man/man1/tt.1 "+top+"tt-full.exe "+top+"tt.exe" {
		t.Errorf("it holds %s", got)
	}

	exe, err := z.File[3].Open()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(exe); err != nil || string(b) != "program" {
		t.Errorf("the program is %q (%v)", b, err)
	}
}

// TestAr: each file has a header of sixty bytes, and begins at an even place.
func TestAr(t *testing.T) {
	b := string(packAr([]file{{"one", 0o644, []byte("abc")}, {"two", 0o644, []byte("de")}}, time.Unix(1770091506, 0)))
	want := "!<arch>\n" +
		"one             1770091506  0     0     100644  3         `\nabc\n" +
		"two             1770091506  0     0     100644  2         `\nde"
	if b != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
}

// TestOlderFilesGo: a release takes away the files of the one before it, by the sums of that one, and no
// others.
func TestOlderFilesGo(t *testing.T) {
	dir := t.TempDir()
	r := release{out: filepath.Join(dir, "dist"), progress: io.Discard}
	if err := r.writeFiles([]file{{"old.tgz", 0o644, []byte("old")}, {"both.tgz", 0o644, []byte("old")}}); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"outside", "dist/mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	sums, err := os.OpenFile(filepath.Join(r.out, sumsName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sums.WriteString("0000  ../outside\n\n"); err != nil {
		t.Fatal(err)
	}

	sums.Close()
	if err := r.writeFiles([]file{{"both.tgz", 0o644, []byte("new")}}); err != nil {
		t.Fatal(err)
	}
	if got := names(content(t, r.out)); strings.Join(got, " ") != "SHA256SUMS both.tgz mine" {
		t.Errorf("there are %q", got)
	}

	if _, err := os.Stat(filepath.Join(dir, "outside")); err != nil {
		t.Error(err)
	}
}
